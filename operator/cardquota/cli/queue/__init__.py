"""`kubectl cardquota queue NAME`: what a queue holds, who holds it, who waits, what would fit now.

In: the operator's answer. Out: lines for people, or data for programs.
"""
