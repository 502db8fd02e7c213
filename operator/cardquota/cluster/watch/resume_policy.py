"""Whether a watch can continue from its last revision, or only a list helps."""

from ..api.api_error import ApiError

_LIST_AGAIN = frozenset({400, 410})
"""Answers to a watch that say that its revision is no longer usable."""
OVERLOAD = frozenset({429, 503, 504})
"""Answers that a list from the start would only make worse."""


class StreamError(ApiError):
    """An ERROR event on a stream that had been opened."""


class ResumePolicy:
    """What the errors of one kind's watch say about the revision that it watches from."""

    def __init__(self) -> None:
        self._failed_at: int | None = None
        """The revision at which the last stream ended in an error, if no list followed."""

    def list_done(self) -> None:
        """A list was delivered whole: earlier failures no longer matter."""
        self._failed_at = None

    def is_lost(self, error: ApiError, revision: int) -> bool:
        """Whether watching from `revision` leads nowhere, so that only a list helps.

        An error on an open stream may be about the very next event ("unable to decode an object in
        the watch stream"): a watch from the same revision meets it for ever, and sees nothing. But
        the first error may also be a change of etcd's leader, which all streams of all replicas
        meet at once; lists from all of them would be the worst response. So this returns True at
        the second error in a row without progress. Only a stream that progresses or lasts resets
        the back-off, a list does not: if lists do not help either, there is one for every two of
        its longest delays.
        """
        if error.status in _LIST_AGAIN:
            return True
        if not isinstance(error, StreamError) or error.status in OVERLOAD:
            return False
        again, self._failed_at = self._failed_at == revision, revision
        return again
