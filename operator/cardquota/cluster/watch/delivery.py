"""From the lines of a watch, or the objects of a list, to the calls of a sink: seen, gone,
undecodable; how far that has come; and who waits for what it changes in the ledger.

Decoded only as far as needed: objects stay raw until they are used.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from itertools import islice
from sys import intern
from typing import Final, Generic, Protocol, TypeVar, cast

import msgspec

from ...quota.objects.meta import Meta
from ..api.api_error import ApiError, read_status

log = logging.getLogger(__name__)
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
T_contra = TypeVar("T_contra", bound=WatchedObject, contravariant=True)


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


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = "0"
    continue_: str = msgspec.field(default="", name="continue")


class Page(msgspec.Struct):
    """One page of a list. `items` may be null: no items."""

    metadata: _ListMeta
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


_STEP: Final = 1_000
"""Objects that one step compares: half a millisecond."""


class ObjectIndex:
    """(namespace, name) -> uid, in two levels: no tuple per object, strings shared.

    100,000 pods take about 10 MB besides the strings, which the ledger shares.
    """

    def __init__(self) -> None:
        self._names: dict[str, dict[str, str]] = {}

    def put(self, namespace: str, name: str, uid: str) -> str | None:
        """Remember an object. Returns the uid of another that had this name until now."""
        names = self._names.setdefault(intern(namespace), {})
        before = names.get(name)
        if before == uid:
            return None
        names[intern(name)] = intern(uid)
        return before

    def drop(self, namespace: str, name: str, uid: str) -> None:
        """Forget the object, unless another one now has its name."""
        names = self._names.get(namespace)
        if names is not None and names.get(name) == uid:
            del names[name]
            if not names:
                del self._names[namespace]

    def uid(self, namespace: str, name: str) -> str | None:
        """The uid of the object of that name."""
        return self._names.get(namespace, {}).get(name)

    def missing_from(self, other: "ObjectIndex") -> Iterator[list[tuple[str, str, str]]]:
        """Namespace, name and uid of the objects known here and not there, some at a time. Returned
        ones may be dropped before the next are requested.
        """
        everything = ((ns, name) for ns in list(self._names) for name in list(self._names[ns]))
        while looked_at := list(islice(everything, _STEP)):
            there = ((ns, name, self.uid(ns, name)) for ns, name in looked_at)
            yield [
                (ns, name, uid)
                for ns, name, uid in there
                if uid is not None and uid != other.uid(ns, name)
            ]

    def __len__(self) -> int:
        return sum(map(len, self._names.values()))


class Sink(Protocol[T_contra]):
    """The receiver. Called in the event loop: must not block and never awaits."""

    def seen(self, obj: T_contra) -> None:
        """Added or changed. May repeat. Never older than what was delivered of that object."""

    def gone(self, namespace: str, name: str, uid: str) -> None:
        """Deleted, also while the stream was cut. May repeat."""

    def undecodable(self, namespace: str, name: str, uid: str, error: str) -> None:
        """The object exists, but its content is not known: it could not be read, or `seen` failed.

        Names are empty if not even they could be read. Ends with `seen` or `gone`. Never raises.
        """


class StreamError(ApiError):
    """An ERROR event on a stream that had been opened."""


class BrokenStreamError(Exception):
    """The stream cannot be followed from here: list again."""


class Delivery(Generic[T]):
    """Delivers raw objects of one kind to a sink, and remembers which exist, and how far it came.

    Guarantees: one bad object, or a sink that raises, never stops the delivery of others. If an
    object takes the name of another one, the sink gets gone, then seen.
    """

    def __init__(self, kind: str, decoder: type[T], sink: Sink[T]) -> None:
        self.kind = kind
        """For people."""
        self._decode = decoder_of(decoder)
        self._sink = sink
        self.objects = ObjectIndex()
        """The objects that exist, as far as was delivered."""
        self.unreadable: set[str] = set()
        """The uids of those whose content is not known."""
        self.revision = 0
        """The newest resourceVersion up to which everything was delivered; 0 before a list."""
        self.applied = 0
        """The newest change that was delivered, or the last list; bookmarks do not count."""

    def read(self, line: bytes) -> None:
        """Deliver what one line of a watch says. Raises StreamError where it is an error of the API
        server's, and BrokenStreamError where it cannot be read.
        """
        try:
            event = decode_event(line)
            if event.type in (ADDED, MODIFIED):
                revision = self.changed(event.object, newer_than=self.revision)
            elif event.type == DELETED:
                revision = self.deleted(event.object)
            elif event.type == BOOKMARK:
                revision = revision_of(decode_identity(event.object).metadata.resource_version)
            elif event.type == ERROR:
                status = read_status(event.object)
                after = status.details.retry_after_seconds if status.details else None
                raise StreamError(status.code, status.reason, status.message, retry_after=after)
            else:
                raise BrokenStreamError(f"unknown event type {event.type[:40]!r}")
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise BrokenStreamError(f"unreadable line of {len(line)} bytes: {error}") from error
        if event.type != BOOKMARK:
            self.applied = max(self.applied, revision)
        self.revision = max(self.revision, revision)

    def listed(self, revision: int) -> None:
        """A list of this revision was delivered whole."""
        self.applied = revision
        self.revision = max(self.revision, revision)

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
            meta: Meta | IdentityMeta = obj.metadata
            if not meta.uid:  # without one, its deletion could not be recognised
                obj, error = None, "it has no uid"
        except (msgspec.MsgspecError, ValueError, RecursionError) as reason:
            error = str(reason)
            meta = identity_of(raw)
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
            except (ValueError, TypeError) as reason:
                error = str(reason)
            except Exception as reason:
                log.exception("%s %s/%s: not taken in", self.kind, meta.namespace, meta.name)
                error = f"{type(reason).__name__}: {reason}"
        if error:
            self.unreadable.add(intern(meta.uid))
            self._sink.undecodable(meta.namespace, meta.name, meta.uid, error)
        else:
            self.unreadable.discard(meta.uid)
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
        self.unreadable.discard(uid)
        try:
            self._sink.gone(namespace, name, uid)
        except Exception:
            log.exception("%s %s/%s: its end was not taken in", self.kind, namespace, name)


class ChangeNotifier:
    """Lets any task in the loop wait until the ledger has changed."""

    def __init__(self) -> None:
        self._waiters: set[asyncio.Future[None]] = set()
        self._listeners: list[Callable[[], None]] = []

    @property
    def waiting(self) -> int:
        """How many tasks wait for the next change."""
        return len(self._waiters)

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` at every notification, in the loop. It must be quick."""
        self._listeners.append(listener)

    def notify(self) -> None:
        """The ledger changed."""
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
        for listener in self._listeners:
            listener()

    async def wait_for(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Wait until `condition` holds. Returns whether it did within `timeout` seconds."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while not condition():
            left = end - loop.time()
            if left <= 0:
                return False
            waiter: asyncio.Future[None] = loop.create_future()
            self._waiters.add(waiter)
            try:
                async with asyncio.timeout(left):
                    await waiter
            except TimeoutError:
                return condition()
            finally:
                self._waiters.discard(waiter)
        return True
