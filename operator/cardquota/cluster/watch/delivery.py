"""From raw objects to the calls of a sink: seen, gone, undecodable."""

import logging
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

import msgspec

from ..api.wire import (
    PartialObjectMetadata,
    WatchedObject,
    decode_identity,
    decoder_of,
    revision_of,
)
from .object_index import ObjectIndex

log = logging.getLogger(__name__)

T = TypeVar("T", bound=WatchedObject)
T_contra = TypeVar("T_contra", bound=WatchedObject, contravariant=True)


class Sink(Protocol[T_contra]):
    """The receiver. Called in the event loop: must not block and never awaits."""

    def seen(self, obj: T_contra) -> None:
        """Added or changed. May repeat. Never older than what was delivered of that object."""

    def gone(self, namespace: str, name: str, uid: str) -> None:
        """Deleted, also while the stream was cut. May repeat."""

    def undecodable(self, namespace: str, name: str, uid: str, error: str) -> None:
        """The object exists, but its content is not known: it could not be read, or `seen` failed.

        Names are empty if not even they could be read. Ends with `seen` or `gone`.
        """


class Delivery(Generic[T]):
    """Delivers raw objects of one kind to a sink, and remembers which exist.

    Guarantees: one bad object, or a sink that raises, never stops the delivery of others. If an
    object takes the name of another one, the sink gets gone, then seen.
    """

    def __init__(self, kind: str, decoder: type[T], sink: Sink[T]) -> None:
        self._kind = kind
        self._decode = decoder_of(decoder)
        self._sink = sink
        self.objects = ObjectIndex()
        """The objects that exist, as far as was delivered."""

    def changed(
        self, raw: msgspec.Raw, *, newer_than: int = -1, listed: ObjectIndex | None = None
    ) -> int:
        """Deliver an existing object, unless its revision is at most `newer_than`.

        Also notes it in `listed`. Returns its revision, 0 if unreadable.
        """
        error = ""
        obj: T | None = None
        try:
            obj = self._decode(raw)
            meta = obj.metadata
            if not meta.uid:  # without one, its deletion could not be recognised
                obj, error = None, "it has no uid"
        except (msgspec.MsgspecError, ValueError, RecursionError) as reason:
            error = str(reason)
            meta = self._identity(raw).metadata
        revision = revision_of(meta.resource_version)
        if 0 < revision <= newer_than:
            return revision
        if meta.uid:
            replaced = self.objects.put(meta.namespace, meta.name, meta.uid)
            if replaced is not None:
                self._gone(meta.namespace, meta.name, replaced)
            if listed is not None:
                listed.put(meta.namespace, meta.name, meta.uid)
        if obj is not None:
            try:
                self._sink.seen(obj)
            except Exception as reason:
                log.exception("%s %s/%s: not taken in", self._kind, meta.namespace, meta.name)
                error = f"{type(reason).__name__}: {reason}"
        if error:
            self._undecodable(meta.namespace, meta.name, meta.uid, error)
        return revision

    def deleted(self, raw: msgspec.Raw) -> int:
        """Deliver a deletion. Returns the revision of the deletion.

        Errors: msgspec.MsgspecError if not even its name can be read.
        """
        meta = decode_identity(raw).metadata
        self.objects.drop(meta.namespace, meta.name, meta.uid)
        self._gone(meta.namespace, meta.name, meta.uid)
        return revision_of(meta.resource_version)

    def only_in_steps(self, listed: ObjectIndex) -> Iterator[int]:
        """Deliver as gone all objects not in `listed`. Yields in short steps how many each had.

        Iterate over it to its end, and deliver nothing else of this kind in between.
        """
        for some in self.objects.missing_from(listed):
            for namespace, name, uid in some:
                self.objects.drop(namespace, name, uid)
                self._gone(namespace, name, uid)
                yield 1
            yield 0

    def _gone(self, namespace: str, name: str, uid: str) -> None:
        try:
            self._sink.gone(namespace, name, uid)
        except Exception:
            log.exception("%s %s/%s: its end was not taken in", self._kind, namespace, name)

    def _undecodable(self, namespace: str, name: str, uid: str, error: str) -> None:
        try:
            self._sink.undecodable(namespace, name, uid, error)
        except Exception:
            log.exception("%s %s/%s: unreadable, and that not noted", self._kind, namespace, name)

    @staticmethod
    def _identity(raw: msgspec.Raw) -> PartialObjectMetadata:
        try:
            return decode_identity(raw)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return PartialObjectMetadata()
