"""What the cluster's definition of Queues keeps of our status: ours has fields for all of it, one
of an older release lacks some, Volcano's has none. It is watched, so a change counts at once.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from ...cluster.api.client import Client
from ...cluster.api.wire import IdentityMeta
from ...cluster.watch.delivery import Delivery
from ...cluster.watch.optional_reflector import OptionalReflector
from ...quota import vocabulary as v
from .published_status import StatusAnnotation, StatusFields, StatusPlace

_LOG = logging.getLogger(__name__)
NAME: Final = f"queues.{v.API_GROUP}"
"""Of the CustomResourceDefinition."""
PATH: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_KEEPS_ALL: Final = "x-kubernetes-preserve-unknown-fields"
_CARDS: Final = "cards"


class _DefinitionVersion(msgspec.Struct):
    name: str = ""
    schema: Any = None


class _DefinitionSpec(msgspec.Struct):
    versions: list[_DefinitionVersion] = []


class Definition(msgspec.Struct):
    """A CustomResourceDefinition."""

    metadata: IdentityMeta
    spec: _DefinitionSpec


class QueueDefinition:
    """The sink of the watch. Where it is not known, because we may not read it, Volcano's is taken
    to be there if Volcano is, else ours.
    """

    def __init__(self, *, standalone: bool) -> None:
        self._changed: Callable[[], None] | None = None
        self._standalone = standalone
        self._kept: Mapping[str, frozenset[str]] | None = {} if standalone else None
        """Fields of the status, and of what is in them; empty: all. None: not `cards`."""

    def listen(self, changed: Callable[[], None]) -> None:
        """Call it when the numbers belong somewhere else than before, until another is named."""
        self._changed = changed

    def leave(self, changed: Callable[[], None]) -> None:
        """Call it no more. Another one that was named since stays."""
        if self._changed == changed:
            self._changed = None

    @property
    def place(self) -> StatusPlace:
        """Where the numbers of queues are published. Call it from any thread."""
        kept = self._kept
        if kept is None:
            return StatusAnnotation()
        return StatusFields(kept, instead=not self._standalone)

    def seen(self, obj: Definition) -> None:
        """It was added or changed."""
        schemas = [one.schema for one in obj.spec.versions if one.name == v.VERSION]
        self._set(kept_of(schemas[0] if schemas else None))

    def gone(self, namespace: str, name: str, uid: str) -> None:
        """There are no Queues; the next definition may be another."""
        self._set({} if self._standalone else None)

    def undecodable(self, namespace: str, name: str, uid: str, error: str) -> None:
        """It is as if we could not read it."""
        _LOG.warning("the definition of Queues cannot be read: %s", error)
        self.gone(namespace, name, uid)

    def reflector(self, client: Client) -> OptionalReflector[Definition]:
        """The watch of this one definition."""
        return OptionalReflector(
            client,
            paths=(PATH,),
            kind="definitions of Queues",
            delivery=Delivery("definition", Definition, self),
            params={"fieldSelector": f"metadata.name={NAME}"},
        )

    def _set(self, kept: Mapping[str, frozenset[str]] | None) -> None:
        if kept == self._kept:
            return
        self._kept = kept
        where = f"the annotation {v.STATUS}" if kept is None else "the status"
        _LOG.info("numbers of queues are published in %s", where)
        if self._changed is not None:
            self._changed()


def kept_of(schema: object) -> Mapping[str, frozenset[str]] | None:
    """Which fields of the status a definition keeps, each with the fields of its rows, or its own;
    no rows: all of them. Empty: all there are. None: it does not keep `cards`.
    """
    root = _child(schema, "openAPIV3Schema")
    status = _child(_child(root, "properties"), "status")
    fields = _child(status, "properties")
    # Where the fields of the status are named, only its own word counts, not that of the root.
    if _child(status, _KEEPS_ALL) is True or (fields is None and _child(root, _KEEPS_ALL) is True):
        return {}
    if not isinstance(fields, dict) or _CARDS not in fields:
        return None
    return {name: _inner(field) for name, field in fields.items()}


def _inner(field: object) -> frozenset[str]:
    rows = _child(field, "items")
    of = field if rows is None else rows
    properties = _child(of, "properties")
    if not isinstance(properties, dict) or _child(of, _KEEPS_ALL) is True:
        return frozenset()
    return frozenset(properties)


def _child(parent: object, key: str) -> object:
    return parent.get(key) if isinstance(parent, dict) else None
