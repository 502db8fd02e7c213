"""The stand-in for volcano-scheduler: sessions that enqueue pod groups and bind gangs.

In: an `AccountClient`, a configuration in the form of Volcano's. Out: `VolcanoScheduler`, which
works until it is cancelled.
"""
