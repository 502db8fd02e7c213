"""Lists and watch events, decoded only as far as needed: objects stay raw until they are used."""

from collections.abc import Callable
from typing import Final, Protocol, TypeVar, cast

import msgspec

from ...quota.objects.meta import Meta

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"
BOOKMARK: Final = "BOOKMARK"
ERROR: Final = "ERROR"


class WatchedObject(Protocol):
    """An object that a reflector can decode: a msgspec struct with metadata."""

    @property
    def metadata(self) -> Meta:
        """Which object, at which revision."""


T = TypeVar("T", bound=WatchedObject)


def decoder_of(kind: type[T]) -> Callable[[msgspec.Raw], T]:
    """The decoder for objects of a kind: its own `decode`, if it has one for large objects."""
    own = getattr(kind, "decode", None)
    if own is not None:
        return cast("Callable[[msgspec.Raw], T]", own)
    return msgspec.json.Decoder(kind).decode


class IdentityMeta(msgspec.Struct, rename="camel", frozen=True):
    """Metadata that identifies an object and its revision."""

    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = "0"


class PartialObjectMetadata(msgspec.Struct, frozen=True):
    """Any object, reduced to its identity."""

    metadata: IdentityMeta = IdentityMeta()


class WatchEvent(msgspec.Struct):
    """One line of a watch. The raw object is a view into the line: do not keep it."""

    type: str
    object: msgspec.Raw


class ListMeta(msgspec.Struct, rename="camel"):
    """The revision of a list, and where its next page continues."""

    resource_version: str = "0"
    continue_: str = msgspec.field(default="", name="continue")


class Page(msgspec.Struct):
    """One page of a list. `items` may be null: no items."""

    metadata: ListMeta
    items: list[msgspec.Raw] | None = None


decode_event = msgspec.json.Decoder(WatchEvent).decode
decode_page = msgspec.json.Decoder(Page).decode
decode_identity = msgspec.json.Decoder(PartialObjectMetadata).decode


def identity_of(raw: msgspec.Raw) -> IdentityMeta:
    """Of an object that cannot be read otherwise: what can be read of it, maybe nothing."""
    try:
        return decode_identity(raw).metadata
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return IdentityMeta()


def revision_of(text: str) -> int:
    """A resourceVersion as a whole number, for comparison; 0 if it is none."""
    return int(text) if text.isdecimal() and text.isascii() else 0


class LineSplitter:
    """Collects chunks and returns whole lines, without their ends.

    Guarantees: empty lines are left out; a line of any length costs time linear in it. What follows
    the last line end is never returned: it may be half an object.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, in order."""
        if b"\n" not in chunk:
            if chunk:
                self._parts.append(chunk)
            return []
        whole = b"".join((*self._parts, chunk))
        *lines, rest = whole.split(b"\n")
        self._parts = [rest] if rest else []
        return [line for line in lines if line and not line.isspace()]
