"""A ledger of one moment, with all that the operator reads, as far as the user may list it."""

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from ...cluster.api.client import Client
from ...quota import vocabulary as v
from ...quota.objects.meta import Meta, Wire
from ...quota.own_keys import KEYS_OF_NAMESPACES, KEYS_OF_QUEUES, LABELS_OF_NAMESPACES
from ...settings import Settings
from ..read_ledger import ReadLedger, empty_ledger, kinds_of
from ..reading import ClusterError, no_namespace

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
class CheckedCluster(ReadLedger):
    """What was read, and what was not."""

    namespace: str = ""
    """All that is asked for is in it; empty: it is asked for the whole cluster."""
    queue_keys: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """By queue: annotations that look like ours and mean nothing, each with the one that was meant.
    """
    namespace_keys: list[NamespaceKeys] = field(default_factory=list)
    """Of each Namespace with wrong keys, or of the one that is asked for alone."""
    namespace_seen: bool = False
    """Whether the one that is asked for is there."""
    partly: set[str] = field(default_factory=set)
    """Kinds of which only the namespace was read, though others matter too."""

    def not_known(self, kinds: Collection[str]) -> list[str]:
        """Those of these kinds of which not all could be listed and read, sorted. Where a namespace
        is asked for, what is in it is all.
        """
        lacking = self.unread.keys() | {one.kind for one in self.unreadable}
        if not self.namespace:
            lacking |= self.partly
        return sorted(lacking & set(kinds))


async def read_cluster(client: Client, namespace: str, settings: Settings) -> CheckedCluster:
    """Page by page. What may not be listed is left out. Errors: ClusterError, also if there is no
    such namespace.
    """
    ledger = empty_ledger(settings)
    found = CheckedCluster(ledger, namespace=namespace)
    looks = {QUEUES: _note_queue_keys, NAMESPACES: _note_namespace_keys}
    # Pods come last: what decides on them is then known, and none is read twice.
    for name, kind in sorted(kinds_of(ledger).items(), key=lambda one: one[0] == PODS):
        if name not in JUDGED_BY:
            continue
        selector, more = _MANAGED if name == PODS else {}, []
        if namespace and name in _NAMESPACED:
            head, _, plural = kind.path.rpartition("/")
            more.append((f"{head}/namespaces/{namespace}/{plural}", selector))
        elif namespace and name == NAMESPACES:
            more.append((kind.path, {"fieldSelector": f"metadata.name={namespace}"}))
        look = partial(looks[name], found) if name in looks else None
        if await found.read(client, kind, *more, selector=selector, look=look):
            found.partly.add(name)
    if namespace and not found.namespace_seen and NAMESPACES not in found.unread:
        raise ClusterError(no_namespace(namespace))
    while ledger.behind:
        ledger.catch_up()
        await asyncio.sleep(0)
    return found


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
