"""A ledger of one moment, for a look at card memory: nodes, pods, and lists of broken cards."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import Client
from ...cluster.api.find_access import find_access
from ...cluster.watch.listing import Unreadable, list_objects
from ...quota import vocabulary as v
from ...quota.accounts.queue_facts import queue_facts
from ...quota.cards.vendor_table import VendorTable
from ...quota.ledger.ledger import Ledger
from ...quota.nodes.node_facts import node_facts
from ...quota.objects.node import ConfigMap, Node
from ...quota.objects.pod import Pod
from ...quota.objects.queue import Queue
from ...quota.pods.pod_facts import pod_facts
from ...quota.words import show
from .. import sentences
from ..cluster_error import ClusterError

T = TypeVar("T", bound=msgspec.Struct)
_FORBIDDEN = 403
_NOT_FOUND = 404
_QUEUES = f"/apis/{v.API_GROUP}/{v.VERSION}/queues"


@dataclass(slots=True)
class ClusterMemory:
    """What was read, and what was not."""

    ledger: Ledger
    notes: list[str] = field(default_factory=list)
    knows_queues: bool = True
    """Whether the quotas of the queues could be read."""


async def read_cluster(
    kubeconfig: Path | None, context: str, vendors: VendorTable
) -> ClusterMemory:
    """The cluster that the options select. Needs the right to list nodes and pods; where queues may
    not be listed, it is not known whether they limit card memory.

    Errors: AccessError, ClusterError.
    """
    client = Client(await find_access(kubeconfig, context))
    found = ClusterMemory(Ledger(vendors))
    ledger = found.ledger

    def list_of_broken(lists: ConfigMap) -> None:
        if lists.node:
            ledger.card_memory.unhealthy_seen(lists.node, lists.text)

    try:
        await _each(
            client, found, "/api/v1/nodes", Node, lambda x: ledger.node_seen(node_facts(x, vendors))
        )
        await _each(client, found, "/api/v1/pods", Pod, lambda x: ledger.pod_seen(pod_facts(x)))
        try:
            path = "/api/v1/namespaces/kube-system/configmaps"
            await _each(client, found, path, ConfigMap, list_of_broken)
        except ClusterError as error:
            if not isinstance(error.__cause__, ApiError) or error.__cause__.status != _FORBIDDEN:
                raise
            found.notes.append(sentences.lists_forbidden(str(error.__cause__)))
        try:
            await _each(client, found, _QUEUES, Queue, lambda x: ledger.queue_seen(queue_facts(x)))
        except ClusterError as error:
            status = error.__cause__.status if isinstance(error.__cause__, ApiError) else 0
            if status not in (_FORBIDDEN, _NOT_FOUND):
                raise
            # Without Queues nothing is limited; those that may not be seen may limit it.
            found.knows_queues = status == _NOT_FOUND
    finally:
        await client.close()
    return found


async def _each(
    client: Client, found: ClusterMemory, path: str, struct: type[T], take: Callable[[T], None]
) -> None:
    what = path.rpartition("/")[2]
    try:
        async for one in list_objects(client, path, struct):
            if isinstance(one, Unreadable):
                found.notes.append(f"{what}: {show(one.name)} cannot be read: {show(one.error)}")
            else:
                take(one)
    except (ApiError, OutcomeUnknown) as error:
        raise ClusterError(sentences.not_listed(what, str(error))) from error
    except msgspec.MsgspecError as error:
        raise ClusterError(sentences.not_listed(what, sentences.NO_LIST)) from error
