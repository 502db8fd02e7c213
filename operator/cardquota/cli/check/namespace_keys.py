"""Keys on Namespaces that were meant to be ours.

No webhook sees Namespaces, so nobody warns of them when they are written.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import Client
from ...cluster.watch.listing import Unreadable, list_objects
from ...quota import vocabulary as v
from ...quota.objects.meta import Meta, Wire
from ...quota.own_keys import KEYS_OF_NAMESPACES, LABELS_OF_NAMESPACES
from .. import sentences
from ..cluster_error import ClusterError

_PATH: Final = "/api/v1/namespaces"
_KIND: Final = "namespaces"


class _KeyedMeta(Meta):
    annotations: dict[str, Any] | None = None
    labels: dict[str, Any] | None = None


class Keyed(Wire):
    """An object, of which only the keys matter."""

    metadata: _KeyedMeta


class NamespaceKeys(NamedTuple):
    """What is wrong with the keys of one Namespace. Each key with the one that was meant, or with
    an empty text.
    """

    namespace: str
    annotations: tuple[tuple[str, str], ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    misplaced: tuple[str, ...] = ()
    """Keys of ours: a label that is written as an annotation, or the reverse."""

    def __bool__(self) -> bool:
        """Whether anything is wrong."""
        return bool(self.annotations or self.labels or self.misplaced)


async def read_namespace_keys(client: Client, namespace: str) -> list[NamespaceKeys]:
    """Page by page; of `namespace` alone unless it is empty. Only what is wrong is kept. Empty
    where the user may not list namespaces: that is said with all else that is not known of them.
    Errors: ClusterError, also if there is no such namespace.
    """
    exists = not namespace
    selector = {"fieldSelector": f"metadata.name={namespace}"} if namespace else {}
    found: list[NamespaceKeys] = []
    try:
        async for one in list_objects(client, _PATH, Keyed, selector=selector):
            exists = True
            if not isinstance(one, Unreadable):
                meta = one.metadata
                wrong = wrong_keys(meta.name, meta.annotations or {}, meta.labels or {})
                found += [wrong] if wrong else []
    except ApiError as error:
        if not error.absent:
            raise ClusterError(sentences.not_listed(_KIND, str(error))) from error
        return found
    except OutcomeUnknown as error:
        raise ClusterError(sentences.not_listed(_KIND, str(error))) from error
    except msgspec.MsgspecError as error:
        raise ClusterError(sentences.not_listed(_KIND, sentences.NO_LIST)) from error
    if not exists:
        raise ClusterError(sentences.no_namespace(namespace))
    return found


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
