"""`cardquota run`: assembles everything, and shuts it down in order. Nothing imports this.

In: the settings. Out: one replica: watches, election, admission, probes, and, while it leads,
release and status.
"""
