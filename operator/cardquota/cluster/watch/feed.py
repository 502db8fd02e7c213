"""From the watches into the ledger: one sink per kind, which notifies when the ledger has changed.

All sinks run in the ledger's event loop. A bad object is logged and left out; the rest goes on.

What one change means for very many pods is worked off in slices. A node may change what fits for
tens of thousands of waiting pods. A namespace, queue or pod group may have to be read again for as
many: some 40 us each, or a few ms if one is as large as it may be.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, TypeVar

import msgspec

from ...loop.timing import TimeSlice
from ...quota.accounts.queue_facts import queue_facts
from ...quota.kept_objects import KeptObjects, LeftOut
from ...quota.ledger.groups.group_facts import group_facts, namespace_facts
from ...quota.ledger.ledger import Ledger
from ...quota.ledger.ledger_reader import LedgerReader, LedgerSettings
from ...quota.nodes.node_facts import node_facts
from ...quota.objects.cluster import DeviceClass, LimitRange, Namespace, PriorityClass, RuntimeClass
from ...quota.objects.node import ConfigMap, Node, node_of
from ...quota.objects.pod import Pod
from ...quota.objects.pod_group import PodGroup
from ...quota.objects.queue import Queue
from ...quota.objects.workload import Workload
from ...quota.pods.owner_kinds import POLICY_BY_OWNER
from ...quota.pods.pod_facts import pod_facts
from ...quota.pods.workload_facts import KINDS, workload_facts
from ...quota.vocabulary import ReclaimMode
from ...settings import CoveredNamespaces, InstallationMode, Settings
from ..api.api_error import ApiError, OutcomeUnknown
from ..api.client import Client
from .delivery import ChangeNotifier, Delivery, decoder_of

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
_MOST_SAID = 400
"""Characters of a name, or of an error in an object, in a log line."""
AT_ONCE: Final = 100
"""Pods that one event may re-read itself before the rest is left to `CatchingUp`. A large pod
counts as several.
"""
_READ_AGAIN: Final = 0.5
"""Seconds between two looks for room."""
_AT_ONCE: Final = 64
"""Objects of a kind that one look reads, one after the other."""
_READ_TIMEOUT: Final = 2.0
"""Seconds."""
PAUSE: Final = 0.02
"""Seconds between two slices of what nodes have moved, each of which takes some milliseconds."""


@dataclass(slots=True, frozen=True)
class WatchedKind(Generic[T]):
    """One kind to be reflected, and the sink of its objects."""

    kind: str
    path: str
    struct: type[T]
    take: Callable[[T], None]
    drop: Callable[[str, str, str], None]
    notifier: ChangeNotifier
    needed: bool = True
    """Whether decisions depend on it. If not, nothing waits long for it: an API server may not
    serve it, and right after an upgrade we may not be allowed to read it yet."""
    older: tuple[str, ...] = ()
    """The paths of its older versions that we read."""

    def delivery(self) -> Delivery[Any]:
        """A new one, that knows of no object yet."""
        struct: type[Any] = self.struct
        return Delivery(self.kind, struct, self)

    def seen(self, obj: T) -> None:
        """An object was added or changed."""
        try:
            self.take(obj)
        finally:
            self.notifier.notify()

    def gone(self, namespace: str, name: str, uid: str) -> None:
        """An object was deleted."""
        self.drop(namespace, name, uid)
        self.notifier.notify()

    def undecodable(self, namespace: str, name: str, uid: str, error: str) -> None:
        """An object could not be decoded, or taken."""
        which = f"{namespace}/{name} ({uid})"[:_MOST_SAID]
        _LOG.error("%s %s cannot be read and is left out: %s", self.kind, which, error[:_MOST_SAID])


class CatchingUp:
    """Works on what the ledger has put off until nothing is left. Starts by itself, in its loop.

    Its work changes the ledger, so it notifies listeners once in each slice.
    """

    def __init__(self, ledger: Ledger, notifier: ChangeNotifier) -> None:
        self._ledger = ledger
        self._notifier = notifier
        self._read: asyncio.Handle | None = None
        self._move: asyncio.TimerHandle | None = None
        notifier.listen(self._look)

    def _look(self) -> None:
        """Cheap if nothing is put off."""
        if self._read is None and self._ledger.overdue:
            self._read = asyncio.get_running_loop().call_soon(self._read_some)
        if self._move is None and self._ledger.behind:
            self._move = asyncio.get_running_loop().call_later(PAUSE, self._move_some)

    def _read_some(self) -> None:
        """Of the pods that are to be read again."""
        self._read = None
        slice_ = TimeSlice()
        self._ledger.reassessment.read_overdue(lambda: slice_.over)
        self._notifier.notify()  # and look again

    def _move_some(self) -> None:
        """Of the pods that may go to other nodes now."""
        self._move = None
        self._ledger.catch_up()
        self._notifier.notify()  # and look again


class LeftOutReads:
    """Objects of which only the name is kept are read again once there is room (P8).

    Guarantee: what the watch has reported gone is not brought back, and nothing older replaces what
    the watch has shown. Belongs to the ledger's event loop.
    """

    def __init__(
        self, ledger: LedgerReader, client: Client, kinds: Sequence[WatchedKind[Any]]
    ) -> None:
        by_name = {one.kind: one for one in kinds}
        self._client = client
        self._kinds: tuple[tuple[KeptObjects, WatchedKind[Any]], ...] = (
            (ledger.kept_queues, by_name["queues"]),
            (ledger.kept_groups, by_name["podgroups"]),
            (ledger.kept_pods, by_name["pods"]),
        )

    async def run(self) -> None:
        """Look for room until cancelled."""
        while True:
            await asyncio.sleep(_READ_AGAIN)
            await self.read_some()

    async def read_some(self) -> None:
        """Read some of those for which there is room."""
        for kept, kind in self._kinds:
            for key, one in kept.to_read(_AT_ONCE):
                found = await self._read(kind, one)
                left_out = kept.left_out(key)
                if found is None or left_out != one:
                    continue
                try:
                    kind.seen(found)
                except Exception:  # noqa: BLE001
                    _LOG.exception("%s %s: not taken in", kind.kind, key)

    async def _read(self, kind: WatchedKind[Any], one: LeftOut) -> Any:
        """None: it is gone, or that is not known now."""
        root, _, plural = kind.path.rpartition("/")
        within = f"/namespaces/{one.namespace}" if one.namespace else ""
        try:
            body = await self._client.get(
                f"{root}{within}/{plural}/{one.name}", timeout=_READ_TIMEOUT
            )
            found = decoder_of(kind.struct)(msgspec.Raw(body))
        except (ApiError, OutcomeUnknown, ValueError, RecursionError) as error:
            _LOG.info("reading %s %s/%s again: %s", kind.kind, one.namespace, one.name, error)
            return None
        return found if found.metadata.uid == one.uid else None


def ledger_settings(settings: Settings) -> LedgerSettings:
    """How a ledger reads what is fed into it, by these settings."""
    with_volcano = settings.scheduler == "volcano"
    return LedgerSettings(
        default_queue=settings.default_queue,
        exempt_cpu_memory=settings.card_unlimited_cpu_memory,
        audit=settings.mode is InstallationMode.AUDIT,
        enqueues=not with_volcano,
        group_priority_classes=frozenset(settings.release.group_priority_classes),
        memory_by_row=settings.memory_by_row,
        makes_groups=with_volcano,
        policy_by_owner={**POLICY_BY_OWNER, **settings.policy_by_owner},
        exempt=frozenset(settings.unwatched_namespaces),
        labelled=settings.namespaces is CoveredNamespaces.LABELLED,
        require_namespaces=settings.require_namespaces,
        lends_what_is_there=settings.reclaim.mode is ReclaimMode.ON,
    )


def watched_kinds(
    ledger: Ledger,
    notifier: ChangeNotifier,
    *,
    broken_cards: bool = False,
) -> tuple[WatchedKind[Any], ...]:
    """All kinds that the ledger needs; the optional kinds are last. What a change means for very
    many pods is worked off after it, in slices.

    `broken_cards`: whether ConfigMaps are read that say which cards of a node are broken.
    """
    group = "/apis/scheduling.volcano.sh/v1beta1"
    devices = [f"/apis/resource.k8s.io/{v}/deviceclasses" for v in ("v1", "v1beta2", "v1beta1")]
    CatchingUp(ledger, notifier)
    reads = ledger.settings

    def workload_seen(name: str, workload: Workload) -> None:
        facts = workload_facts(name, workload, ledger.defaults)
        if facts is None:
            ledger.workloads.gone(workload.metadata.uid)
        else:
            ledger.workloads.see(facts)

    def kind(
        name: str,
        path: str,
        struct: type[T],
        take: Callable[[T], None],
        drop: Callable[[str, str, str], None],
        *,
        needed: bool = True,
        older: Sequence[str] = (),
    ) -> WatchedKind[Any]:
        return WatchedKind(name, path, struct, take, drop, notifier, needed, tuple(older))

    found = (
        kind(
            "pods",
            "/api/v1/pods",
            Pod,
            lambda x: ledger.pod_seen(pod_facts(x)),
            lambda _, __, uid: ledger.pod_gone(uid),
        ),
        kind(
            "nodes",
            "/api/v1/nodes",
            Node,
            lambda x: ledger.node_seen(node_facts(x, ledger.vendors)),
            lambda _, name, __: ledger.node_gone(name),
        ),
        kind(
            "queues",
            f"{group}/queues",
            Queue,
            lambda x: ledger.queue_seen(queue_facts(x, open_to_all=not reads.require_namespaces)),
            lambda _, name, __: ledger.queue_gone(name),
        ),
        kind(
            "podgroups",
            f"{group}/podgroups",
            PodGroup,
            lambda x: ledger.group_seen(group_facts(x)),
            lambda namespace, name, _: ledger.group_gone(f"{namespace}/{name}"),
        ),
        kind(
            "namespaces",
            "/api/v1/namespaces",
            Namespace,
            lambda x: ledger.namespace_seen(namespace_facts(x, labelled=reads.labelled)),
            lambda _, name, __: ledger.namespace_gone(name),
        ),
        kind(
            "priorityclasses",
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            PriorityClass,
            lambda x: ledger.priority_class_seen(x.metadata.name, x.value),
            lambda _, name, __: ledger.priority_class_gone(name),
        ),
        kind(
            "limitranges",
            "/api/v1/limitranges",
            LimitRange,
            ledger.defaults.limit_range_seen,
            lambda namespace, name, _: ledger.defaults.limit_range_gone(namespace, name),
            needed=False,
        ),
        kind(
            "runtimeclasses",
            "/apis/node.k8s.io/v1/runtimeclasses",
            RuntimeClass,
            ledger.defaults.runtime_class_seen,
            lambda _, name, __: ledger.defaults.runtime_class_gone(name),
            needed=False,
        ),
        kind(
            "deviceclasses",
            devices[0],
            DeviceClass,
            lambda x: ledger.device_class_seen(
                x.metadata.name, x.spec.extended_resource_name or ""
            ),
            lambda _, name, __: ledger.device_class_gone(name),
            needed=False,
            older=devices[1:],
        ),
        *(
            kind(
                f"{name.lower()}s",
                f"/apis/{'batch' if name == 'Job' else 'apps'}/v1/{name.lower()}s",
                Workload,
                partial(workload_seen, name),
                lambda _, __, uid: ledger.workloads.gone(uid),
                needed=False,
            )
            for name in KINDS
        ),
    )
    if not broken_cards:
        return found
    memory = ledger.card_memory

    def list_gone(name: str) -> None:
        if node := node_of(name):
            memory.unhealthy_gone(node)

    lists = kind(
        "configmaps",
        "/api/v1/namespaces/kube-system/configmaps",
        ConfigMap,
        lambda x: memory.unhealthy_seen(x.node, x.text) if x.node else None,
        lambda _, name, __: list_gone(name),
        needed=False,
    )
    return *found, lists
