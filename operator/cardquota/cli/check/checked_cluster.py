"""A ledger of one moment, with all that the operator reads, as far as the user may list it."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import Client
from ...cluster.api.find_access import find_access
from ...cluster.watch.change_notifier import ChangeNotifier
from ...cluster.watch.feed import WatchedKind, watched_kinds
from ...cluster.watch.listing import Unreadable, list_objects
from ...quota import vocabulary as v
from ...quota.ledger.ledger import Ledger
from ...quota.ledger.ledger_reader import LedgerSettings
from ...quota.names.meaningless_keys import KEYS_OF_QUEUES
from ...quota.words import logged, show
from ...settings import InstallationMode, Settings
from .. import sentences
from ..cluster_error import ClusterError
from .namespace_keys import Keyed

PODS: Final = "pods"
NODES: Final = "nodes"
QUEUES: Final = "queues"
JUDGED_BY: Final = frozenset({PODS, NODES, QUEUES, "podgroups", "namespaces"})
"""What decides to whom what is charged: these are read."""
_NAMESPACED: Final = frozenset({PODS, "podgroups"})
_MANAGED: Final = {"labelSelector": v.MANAGED}
_ALL: Final[Mapping[str, str]] = {}
_decode_keyed: Final = msgspec.json.Decoder(Keyed).decode


@dataclass(slots=True)
class CheckedCluster:
    """What was read, and what was not."""

    ledger: Ledger
    namespace: str = ""
    """All that is asked for is in it; empty: it is asked for the whole cluster."""
    queue_keys: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """By queue: annotations that look like ours and mean nothing, each with the one that was meant.
    """
    unread: dict[str, str] = field(default_factory=dict)
    """By kind that may not be listed: the answer."""
    partly: set[str] = field(default_factory=set)
    """Kinds of which only the namespace was read, though others matter too."""
    unreadable: list[str] = field(default_factory=list)
    """Objects that do not have the form of their kind."""
    unreadable_kinds: set[str] = field(default_factory=set)
    """Their kinds."""


async def read_cluster(
    kubeconfig: Path | None,
    context: str,
    namespace: str,
    settings: Settings,
    *,
    only: frozenset[str] | None = None,
) -> CheckedCluster:
    """The cluster that the options select, page by page. What may not be listed is left out.

    `only`: read these kinds instead of those that decide.
    Errors: AccessError, ClusterError.
    """
    client = Client(await find_access(kubeconfig, context))
    ledger = Ledger(
        settings.vendor_table,
        LedgerSettings(
            default_queue=settings.default_queue,
            exempt_cpu_memory=settings.card_unlimited_cpu_memory,
            audit=settings.mode is InstallationMode.AUDIT,
            enqueues=settings.scheduler == "standalone",
            group_priority_classes=frozenset(settings.release.group_priority_classes),
            memory_by_row=settings.memory_by_row,
            makes_groups=settings.scheduler == "volcano",
            exempt=frozenset(settings.unwatched_namespaces),
        ),
        bounded=False,
    )
    found = CheckedCluster(ledger, namespace)
    kinds = watched_kinds(ledger, ChangeNotifier(), lambda _: None)
    try:
        # Pods come last: what decides on them is then known, and none is read twice.
        for kind in sorted(kinds, key=lambda one: one.kind == PODS):
            if kind.kind in (only or JUDGED_BY):
                await _read(client, found, kind)
        while ledger.behind:
            ledger.catch_up()
            await asyncio.sleep(0)
    finally:
        await client.close()
    return found


async def _read(client: Client, found: CheckedCluster, kind: WatchedKind) -> None:
    """One kind; in a namespace where only that is asked for, or may be read."""
    paths = [kind.path, *kind.older]
    inside = _inside(kind.path, found.namespace) if kind.kind in _NAMESPACED else ""
    if inside:
        paths.append(inside)
    for path in paths:
        try:
            if kind.kind == PODS:
                await _each(client, found, kind, path, _MANAGED)
            else:
                await _each(client, found, kind, path)
        except ClusterError as error:
            cause = error.__cause__
            if not isinstance(cause, ApiError) or not cause.absent:
                raise
            found.unread.setdefault(kind.kind, str(cause))
        else:
            found.unread.pop(kind.kind, None)
            if inside and path == inside:
                found.partly.add(kind.kind)
            return


def _inside(path: str, namespace: str) -> str:
    """The path of the same kind in a namespace; empty without one."""
    head, _, kind = path.rpartition("/")
    return f"{head}/namespaces/{namespace}/{kind}" if namespace else ""


async def _each(
    client: Client,
    found: CheckedCluster,
    kind: WatchedKind,
    path: str,
    selector: Mapping[str, str] = _ALL,
) -> None:
    take: Callable[[Any], None] = kind.sink.take
    try:
        look = partial(_note_keys, found) if kind.kind == QUEUES else None
        every = list_objects(client, path, kind.struct, selector=selector, ahead=True, look=look)
        async with aclosing(every) as listed:
            async for one in listed:
                if isinstance(one, Unreadable):
                    _leave_out(found, kind.kind, (one.namespace, one.name), one.error)
                    continue
                try:
                    take(one)
                except (ValueError, TypeError) as error:
                    meta = one.metadata
                    _leave_out(found, kind.kind, (meta.namespace, meta.name), str(error))
    except (ApiError, OutcomeUnknown) as error:
        raise ClusterError(sentences.not_listed(kind.kind, str(error))) from error
    except msgspec.MsgspecError as error:
        raise ClusterError(sentences.not_listed(kind.kind, sentences.NO_LIST)) from error


def _note_keys(found: CheckedCluster, raw: msgspec.Raw) -> None:
    """Of a queue. One that cannot be read is left out for that."""
    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
        meta = _decode_keyed(raw).metadata
        if wrong := KEYS_OF_QUEUES.meaningless(sorted(meta.annotations or {})):
            found.queue_keys[meta.name] = wrong


def _leave_out(found: CheckedCluster, kind: str, names: tuple[str, str], error: str) -> None:
    name = logged(*filter(None, names)) or "one of them"
    found.unreadable.append(f"{kind}: {name} cannot be read: {show(error)}")
    found.unreadable_kinds.add(kind)
