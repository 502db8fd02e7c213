"""Requests to the API server: who we are, how we reach it, and what its answers mean.

In: a kubeconfig or the pod's own credentials. Out: a `Client`, and of what it says `ApiError` (the
write did not happen) or `OutcomeUnknown` (it may have). Knows no kinds of objects.
"""
