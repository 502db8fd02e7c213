"""The pods that wait at each queue's gate, in the order of release, by how much room each needs.

In: pods and gangs that begin or end to wait, and what a judgement said of them. Out: whom to try
next for so much room (E6), and who has not been told yet why he waits. Judges nothing.
"""
