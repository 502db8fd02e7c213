"""Lists and watch events, decoded only as far as needed: objects stay raw until somebody asks."""

from collections.abc import Callable
from typing import Final, Protocol, TypeVar, cast

import msgspec

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"
BOOKMARK: Final = "BOOKMARK"
ERROR: Final = "ERROR"


class WatchedMeta(Protocol):
    """What every object's metadata has."""

    @property
    def namespace(self) -> str:
        """Empty for cluster-scoped objects."""

    @property
    def name(self) -> str:
        """Unique in the namespace, at one time."""

    @property
    def uid(self) -> str:
        """Unique for ever."""

    @property
    def resource_version(self) -> str:
        """The revision of its last change."""


class WatchedObject(Protocol):
    """What a reflector can decode: a msgspec struct with metadata."""

    @property
    def metadata(self) -> WatchedMeta:
        """Which object, at which revision."""


T = TypeVar("T", bound=WatchedObject)


def decoder_of(kind: type[T]) -> Callable[[msgspec.Raw], T]:
    """What reads objects of a kind: its own `decode`, where it has one for those that are large."""
    own = getattr(kind, "decode", None)
    if own is not None:
        return cast("Callable[[msgspec.Raw], T]", own)
    return msgspec.json.Decoder(kind).decode


class IdentityMeta(msgspec.Struct, rename="camel", frozen=True):
    """Metadata that tells which object it is, at which revision."""

    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = "0"


class PartialObjectMetadata(msgspec.Struct, frozen=True):
    """Any object, reduced to its identity."""

    metadata: IdentityMeta = IdentityMeta()


class WatchEvent(msgspec.Struct):
    """One line of a watch. The raw object is a view into the line: never keep it."""

    type: str
    object: msgspec.Raw


class ListMeta(msgspec.Struct, rename="camel"):
    """Where a list stands."""

    resource_version: str = "0"
    continue_: str = msgspec.field(default="", name="continue")


class Page(msgspec.Struct):
    """One page of a list; null items mean none."""

    metadata: ListMeta
    items: list[msgspec.Raw] | None = None


decode_event = msgspec.json.Decoder(WatchEvent).decode
decode_page = msgspec.json.Decoder(Page).decode
decode_identity = msgspec.json.Decoder(PartialObjectMetadata).decode


def revision_of(text: str) -> int:
    """A resourceVersion as a whole number; 0 where it is none. They are comparable as such."""
    return int(text) if text.isdecimal() and text.isascii() else 0
