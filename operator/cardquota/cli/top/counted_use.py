"""What is used outside every queue, and free on nodes, counted from the pods themselves."""

import asyncio
from pathlib import Path
from typing import Final

import msgspec

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import Client
from ...cluster.api.find_access import find_access
from ...cluster.watch.listing import Unreadable, list_objects
from ...quota import vocabulary as v
from ...quota.ledger.ledger import Ledger
from ...quota.objects.pod import Pod
from ...quota.pods.pod_facts import pod_facts
from ...quota.reports.outside_use import outside_use
from ...settings import Settings
from .. import sentences
from ..check.checked_cluster import NODES, PODS, read_cluster
from ..cluster_error import ClusterError
from .card_use import CardUse

_PAGE: Final = 500
_DECIDING: Final = frozenset({NODES, "queues", "podgroups", "namespaces"})
"""What says which card a pod has, and in which queue it is, besides the pod."""
_NAMING: Final = ("namespaces", "podgroups")
"""Without these a pod that names no queue may still be in one."""


async def read_card_use(
    settings: Settings, kubeconfig: Path | None, context: str, *, most: int | None
) -> CardUse | str:
    """Or why that is not known. `most`: pods; of more than that nothing is read. Errors:
    AccessError.
    """
    try:
        pods = await _pods(kubeconfig, context, most)
        if pods is None:
            return sentences.too_many_pods(most or 0)
        read = await read_cluster(kubeconfig, context, "", settings, only=_DECIDING)
    except ClusterError as error:
        return str(error)
    if NODES in read.unread:  # without a node nobody knows which card a pod has there
        return sentences.not_listed(NODES, read.unread[NODES])
    for number, pod in enumerate(pods):
        try:
            read.ledger.pod_seen(pod_facts(pod))
        except (ValueError, TypeError):
            continue  # as for the operator: it is left out
        if not number % 100:
            await asyncio.sleep(0)
    while read.ledger.behind:
        read.ledger.catch_up()
        await asyncio.sleep(0)
    unread = next((kind for kind in _NAMING if _forbidden(read.unread.get(kind, ""))), None)
    if unread is None:
        return CardUse(outside_use(read.ledger), free_on_nodes(read.ledger))
    why = sentences.not_listed(unread, read.unread[unread])
    return CardUse(why, free_on_nodes(read.ledger))


def _forbidden(answer: str) -> bool:
    """Whether there may be such objects: not where the kind is not served."""
    return bool(answer) and not answer.startswith("404 ")


async def _pods(kubeconfig: Path | None, context: str, most: int | None) -> list[Pod] | None:
    """Those with the label; None if there are more than `most`."""
    client = Client(await find_access(kubeconfig, context))
    found: list[Pod] = []
    try:
        page = _PAGE if most is None else most + 1
        managed = {"labelSelector": v.MANAGED}
        listed = list_objects(client, "/api/v1/pods", Pod, page_size=page, selector=managed)
        async for pod in listed:
            if isinstance(pod, Unreadable):
                continue
            if most is not None and len(found) >= most:
                return None
            found.append(pod)
    except (ApiError, OutcomeUnknown) as error:
        raise ClusterError(sentences.not_listed(PODS, str(error))) from error
    except msgspec.MsgspecError as error:
        raise ClusterError(sentences.not_listed(PODS, sentences.NO_LIST)) from error
    finally:
        await client.close()
    return found


def free_on_nodes(ledger: Ledger) -> dict[str, int]:
    """By card, as the operator answers it. O(cards and the taints of nodes)."""
    return {card: ledger.nodes.free.total(card) for card in sorted(ledger.nodes.totals())}
