"""Volcano's question which pod groups to enqueue, and our vote (V3).

In: `POST /volcano/jobEnqueueable` of the plugin `extender` of Volcano's scheduler. Out: a number,
and what is asked for the group from now on, in the ledger.
"""
