"""Counts Bindings, and groups of pods, that the policies refuse to whoever is not named as Volcano
(V1). The answer is always yes: the policies decide. The API server asks us only about what they
refuse, before it asks them.
"""

from typing import Final

from prometheus_client import Counter

from cardquota.quota.vocabulary import RefusedWrite

from .review import AdmissionResponse, Request

BINDINGS: Final = (("", "pods/binding"), ("", "bindings"))


class RefusedWriteReviews:
    """One for each, but for dry runs."""

    def __init__(self, counter: Counter) -> None:
        """`counter`: with the label `what`."""
        self._by_kind = {what: counter.labels(what.value) for what in RefusedWrite}

    async def binding(self, request: Request) -> AdmissionResponse:
        """A Binding that repeats annotations of the pod."""
        return self._count(RefusedWrite.BINDING, request)

    async def group(self, request: Request) -> AdmissionResponse:
        """A pod that is given a group when it is past its gate."""
        return self._count(RefusedWrite.GROUP, request)

    def _count(self, what: RefusedWrite, request: Request) -> AdmissionResponse:
        if not request.dry_run:
            self._by_kind[what].inc()
        return AdmissionResponse()
