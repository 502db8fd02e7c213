"""Requests to the API server: our identity, how to reach it, and what its answers mean.

In: a kubeconfig or the pod's own credentials. Out: a `Client`, and as its errors `ApiError` (the
write did not happen) or `OutcomeUnknown` (it may have). Knows no kinds of objects.
"""

from .access import (
    Access,
    AccessError,
    Shared,
    TokenFile,
    find_access,
    from_kubeconfig,
    in_cluster,
    open_session,
)
from .api_error import ApiError, OutcomeUnknown, in_words, read_failure
from .client import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, Client
from .token_access import (
    AT_ONCE,
    MOST,
    MOST_RIGHTS,
    REMEMBERED,
    AskedAccess,
    TokenAccess,
)
