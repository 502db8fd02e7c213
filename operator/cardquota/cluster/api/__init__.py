"""Requests to the API server: our identity, how to reach it, and what its answers mean.

In: a kubeconfig or the pod's own credentials. Out: a `Client`, and as its errors `ApiError` (the
write did not happen) or `OutcomeUnknown` (it may have). Knows no kinds of objects.
"""
