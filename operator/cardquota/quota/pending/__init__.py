"""Who waits in a queue, in the order of release, filed by how much room each needs (E6).

In: pods and gangs that begin or end to wait, and what a judgement said of them. Out: whom to try
next for so much room, and who has not been told yet why he waits. Judges nothing.
"""
