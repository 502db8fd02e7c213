"""The sources of nodes and queues for `cardquota cards`: files, or a cluster as its user."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import Client
from ...cluster.api.find_access import find_access
from ...cluster.watch.listing import Unreadable, list_objects
from ...quota.cards.vendor_table import VendorTable
from ...quota.objects.cluster import DeviceClass, Namespace
from ...quota.objects.node import Node
from ...quota.objects.queue import Queue
from ...quota.vocabulary import API_GROUP, VERSION
from .. import sentences
from ..cluster_error import ClusterError
from ..files.inventory import sort_documents
from ..files.yaml_files import read_files
from .card_list import CardCount, CardList

T = TypeVar("T", bound=msgspec.Struct)
_NODES: Final = "/api/v1/nodes"
_NAMESPACES: Final = "/api/v1/namespaces"
_CLASSES: Final = tuple(
    f"/apis/resource.k8s.io/{version}/deviceclasses" for version in ("v1", "v1beta2", "v1beta1")
)
_COUNTED: Final = (
    ("", "Node"),
    ("", "Namespace"),
    (API_GROUP, "Queue"),
    ("resource.k8s.io", "DeviceClass"),
)
_QUEUES: Final = f"/apis/{API_GROUP}/{VERSION}/queues"
_FORBIDDEN, _NOT_FOUND = 403, 404


def from_files(files: Iterable[str], vendors: VendorTable) -> CardList:
    """The cards of YAML files. Objects of other kinds are skipped. Raises YamlFileError."""
    count = CardCount(vendors)
    documents = read_files(files)
    ours = [d for d in documents if (d.group, d.kind) in _COUNTED]
    inventory = sort_documents(ours)
    count.notes += inventory.notes
    if len(ours) < len(documents):
        count.notes.append(sentences.others_skipped(len(documents) - len(ours)))
    for node in inventory.nodes:
        count.take_node(node)
    for queue in inventory.queues:
        count.take_queue(queue)
    for namespace in inventory.namespaces:
        count.take_namespace(namespace)
    for device_class in inventory.device_classes:
        count.take_device_class(device_class)
    return count.listed()


async def from_cluster(kubeconfig: Path | None, context: str, vendors: VendorTable) -> CardList:
    """The cards of the cluster that the options select. Needs the right to list nodes.

    If Queues do not exist as a kind, or the user may not list them, they are left out with a note.
    Namespaces and DeviceClasses that the user may not list are left out without a note.
    Errors: AccessError, ClusterError.
    """
    client = Client(await find_access(kubeconfig, context))
    try:
        return await _read(client, CardCount(vendors))
    finally:
        await client.close()


async def _read(client: Client, count: CardCount) -> CardList:
    what = "nodes"
    try:
        async for node in list_objects(client, _NODES, Node):
            if isinstance(node, Unreadable):
                count.leave_out_node(node.name, node.error)
            else:
                count.take_node(node)
        what = "queues"
        async for queue in list_objects(client, _QUEUES, Queue):
            if isinstance(queue, Unreadable):
                count.leave_out_queue(queue.name, queue.error)
            else:
                count.take_queue(queue)
    except ApiError as error:
        if what == "nodes" or error.status not in (_FORBIDDEN, _NOT_FOUND):
            raise ClusterError(sentences.not_listed(what, str(error))) from error
        count.queues_readable = False
        count.notes.append(
            sentences.NO_QUEUES
            if error.status == _NOT_FOUND
            else sentences.queues_forbidden(str(error))
        )
    except OutcomeUnknown as error:
        raise ClusterError(sentences.not_listed(what, str(error))) from error
    except msgspec.MsgspecError as error:
        raise ClusterError(sentences.not_listed(what, sentences.NO_LIST)) from error
    await _read_beside(client, count, Namespace, (_NAMESPACES,), count.take_namespace)
    await _read_beside(client, count, DeviceClass, _CLASSES, count.take_device_class)
    return count.listed()


async def _read_beside(
    client: Client,
    count: CardCount,
    struct: type[T],
    paths: Iterable[str],
    take: Callable[[T], None],
) -> None:
    """Read an optional kind by the first path that is served, if the user may list it."""
    for path in paths:
        try:
            async for found in list_objects(client, path, struct):
                if not isinstance(found, Unreadable):
                    take(found)
        except (ApiError, OutcomeUnknown, msgspec.MsgspecError) as error:
            if isinstance(error, ApiError) and error.status in (_FORBIDDEN, _NOT_FOUND):
                continue
            known = sentences.NO_LIST if isinstance(error, msgspec.MsgspecError) else str(error)
            count.notes.append(sentences.not_listed(path.rpartition("/")[2], known))
        return
