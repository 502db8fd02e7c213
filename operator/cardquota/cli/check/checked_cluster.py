"""A ledger of one moment, with all that the operator reads, as far as the user may list it."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from ...cluster.api.api_error import ApiError
from ...cluster.api.client import Client
from ...cluster.watch.change_notifier import ChangeNotifier
from ...cluster.watch.feed import WatchedKind, ledger_settings, watched_kinds
from ...cluster.watch.listing import Unreadable
from ...quota import vocabulary as v
from ...quota.ledger.ledger import Ledger
from ...quota.objects.meta import Meta, Wire
from ...quota.own_keys import KEYS_OF_NAMESPACES, KEYS_OF_QUEUES, LABELS_OF_NAMESPACES
from ...quota.words import logged, show
from ...settings import Settings
from ..reading import ClusterError, listed, no_namespace

PODS: Final = "pods"
NODES: Final = "nodes"
QUEUES: Final = "queues"
NAMESPACES: Final = "namespaces"
JUDGED_BY: Final = frozenset({PODS, NODES, QUEUES, "podgroups", NAMESPACES})
"""What decides to whom what is charged: these are read."""
_NAMESPACED: Final = frozenset({PODS, "podgroups"})
_MANAGED: Final = {"labelSelector": v.MANAGED}


class _KeyedMeta(Meta):
    annotations: dict[str, Any] | None = None
    labels: dict[str, Any] | None = None


class _Keyed(Wire):
    """An object, of which only the keys matter."""

    metadata: _KeyedMeta


_decode_keyed: Final = msgspec.json.Decoder(_Keyed).decode


class NamespaceKeys(NamedTuple):
    """What is wrong with the keys of one Namespace. Each key with the one that was meant, or with
    an empty text. No webhook sees Namespaces, so nobody warns of them when they are written.
    """

    namespace: str
    annotations: tuple[tuple[str, str], ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    misplaced: tuple[str, ...] = ()
    """Keys of ours: a label that is written as an annotation, or the reverse."""

    def __bool__(self) -> bool:
        """Whether anything is wrong."""
        return bool(self.annotations or self.labels or self.misplaced)


@dataclass(slots=True)
class CheckedCluster:
    """What was read, and what was not."""

    ledger: Ledger
    namespace: str = ""
    """All that is asked for is in it; empty: it is asked for the whole cluster."""
    queue_keys: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """By queue: annotations that look like ours and mean nothing, each with the one that was meant.
    """
    namespace_keys: list[NamespaceKeys] = field(default_factory=list)
    """Of each Namespace with wrong keys, or of the one that is asked for alone."""
    namespace_seen: bool = False
    """Whether the one that is asked for is there."""
    unread: dict[str, str] = field(default_factory=dict)
    """By kind that may not be listed: the answer."""
    partly: set[str] = field(default_factory=set)
    """Kinds of which only the namespace was read, though others matter too."""
    unreadable: list[str] = field(default_factory=list)
    """Objects that do not have the form of their kind."""
    unreadable_kinds: set[str] = field(default_factory=set)
    """Their kinds."""

    def not_known(self, kinds: Collection[str]) -> list[str]:
        """Those of these kinds of which not all could be listed and read, sorted. Where a namespace
        is asked for, what is in it is all.
        """
        lacking = self.unread.keys() | self.unreadable_kinds
        if not self.namespace:
            lacking |= self.partly
        return sorted(lacking & set(kinds))


async def read_cluster(client: Client, namespace: str, settings: Settings) -> CheckedCluster:
    """Page by page. What may not be listed is left out. Errors: ClusterError, also if there is no
    such namespace.
    """
    ledger = Ledger(settings.vendor_table, ledger_settings(settings), bounded=False)
    found = CheckedCluster(ledger, namespace)
    kinds = watched_kinds(ledger, ChangeNotifier(), lambda _: None)
    # Pods come last: what decides on them is then known, and none is read twice.
    for kind in sorted(kinds, key=lambda one: one.kind == PODS):
        if kind.kind in JUDGED_BY:
            await _read(client, found, kind)
    if namespace and not found.namespace_seen and NAMESPACES not in found.unread:
        raise ClusterError(no_namespace(namespace))
    while ledger.behind:
        ledger.catch_up()
        await asyncio.sleep(0)
    return found


async def _read(client: Client, found: CheckedCluster, kind: WatchedKind[Any]) -> None:
    """One kind; in a namespace where only that is asked for, or may be read."""
    selector = _MANAGED if kind.kind == PODS else {}
    lists = [(path, selector) for path in (kind.path, *kind.older)]
    of_all = len(lists)
    if found.namespace and kind.kind in _NAMESPACED:
        head, _, plural = kind.path.rpartition("/")
        lists.append((f"{head}/namespaces/{found.namespace}/{plural}", selector))
    elif found.namespace and kind.kind == NAMESPACES:
        lists.append((kind.path, {"fieldSelector": f"metadata.name={found.namespace}"}))
    for number, (path, selecting) in enumerate(lists):
        try:
            await _each(client, found, kind, path, selecting)
        except ClusterError as error:
            cause = error.__cause__
            if not isinstance(cause, ApiError) or not cause.absent:
                raise
            found.unread.setdefault(kind.kind, str(cause))
        else:
            found.unread.pop(kind.kind, None)
            if number >= of_all:
                found.partly.add(kind.kind)
            return


async def _each(
    client: Client,
    found: CheckedCluster,
    kind: WatchedKind[Any],
    path: str,
    selector: Mapping[str, str],
) -> None:
    take: Callable[[Any], None] = kind.take
    looks = {QUEUES: _note_queue_keys, NAMESPACES: _note_namespace_keys}
    look = partial(looks[kind.kind], found) if kind.kind in looks else None
    every = listed(client, path, kind.struct, selector=selector, ahead=True, look=look)
    async for one in every:
        if isinstance(one, Unreadable):
            _leave_out(found, kind.kind, (one.namespace, one.name), one.error)
            continue
        try:
            take(one)
        except (ValueError, TypeError) as error:
            meta = one.metadata
            _leave_out(found, kind.kind, (meta.namespace, meta.name), str(error))


def _note_queue_keys(found: CheckedCluster, raw: msgspec.Raw) -> None:
    """One that cannot be read is left out for that."""
    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
        meta = _decode_keyed(raw).metadata
        if wrong := KEYS_OF_QUEUES.meaningless(sorted(meta.annotations or {})):
            found.queue_keys[meta.name] = wrong


def _note_namespace_keys(found: CheckedCluster, raw: msgspec.Raw) -> None:
    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
        meta = _decode_keyed(raw).metadata
        found.namespace_seen = found.namespace_seen or meta.name == found.namespace
        wrong = wrong_keys(meta.name, meta.annotations or {}, meta.labels or {})
        if wrong and found.namespace in ("", meta.name):
            found.namespace_keys.append(wrong)


def _leave_out(found: CheckedCluster, kind: str, names: tuple[str, str], error: str) -> None:
    name = logged(*filter(None, names)) or "one of them"
    found.unreadable.append(f"{kind}: {name} cannot be read: {show(error)}")
    found.unreadable_kinds.add(kind)


def wrong_keys(
    namespace: str, annotations: Mapping[str, Any], labels: Mapping[str, Any]
) -> NamespaceKeys:
    """Of one Namespace. At most five keys of a kind."""
    notes = [
        (key, meant)
        for key, meant in KEYS_OF_NAMESPACES.meaningless(sorted(annotations))
        if key != v.NAMESPACE_MODE
    ]
    if v.QUEUE_NAME_VOLCANO_JOB in annotations and v.QUEUE_NAME not in annotations:
        notes.append((v.QUEUE_NAME_VOLCANO_JOB, v.QUEUE_NAME))
    misplaced: list[str] = []
    if v.NAMESPACE_MODE in annotations and v.NAMESPACE_MODE not in labels:
        misplaced.append(v.NAMESPACE_MODE)
    if v.QUEUE_NAME in labels and v.QUEUE_NAME not in annotations:
        misplaced.append(v.QUEUE_NAME)
    found = LABELS_OF_NAMESPACES.meaningless(sorted(labels))
    return NamespaceKeys(namespace, tuple(notes), tuple(found), tuple(misplaced))
