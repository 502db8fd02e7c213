"""Looks at Bindings, and at pods that are given a group, by users whom the policies refuse that.

The answer is always yes: the policies decide. The API server asks us before it asks them, and only
about what they refuse, so this is how a Volcano that nobody has named is noticed.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from cardquota.cluster.events.event import ObjectReference
from cardquota.quota.vocabulary import RefusedWrite

from ..review import AdmissionResponse, Request

BINDINGS: Final = (("", "pods/binding"), ("", "bindings"))
PODS: Final = ("", "pods")
Note = Callable[[RefusedWrite, str, ObjectReference], None]


class _WrittenMeta(msgspec.Struct):
    name: str = ""
    uid: str = ""


class _Written(msgspec.Struct):
    metadata: _WrittenMeta = msgspec.field(default_factory=_WrittenMeta)


_DECODER = msgspec.json.Decoder(_Written)


class RefusedWriteReviews:
    """One note for each, but for dry runs."""

    def __init__(self, note: Note) -> None:
        self._note = note

    async def binding(self, request: Request) -> AdmissionResponse:
        """A Binding that repeats annotations of the pod."""
        return self._look(RefusedWrite.BINDING, request)

    async def group(self, request: Request) -> AdmissionResponse:
        """A pod that is given a group when it is past its gate."""
        return self._look(RefusedWrite.GROUP, request)

    def _look(self, what: RefusedWrite, request: Request) -> AdmissionResponse:
        if request.dry_run:
            return AdmissionResponse()
        try:
            meta = _DECODER.decode(request.object).metadata
        except (msgspec.DecodeError, RecursionError):
            meta = _WrittenMeta()
        name = request.name or meta.name
        pod = ObjectReference("Pod", "v1", request.namespace, name, meta.uid)
        self._note(what, request.user_info.username, pod)
        return AdmissionResponse()
