"""Where the numbers of a queue are published: in the fields of its status, or in an annotation.

Volcano's own definition of Queues refuses our fields. There the annotation `volcano.sh/card.status`
holds what the status would, as JSON, but for what is Volcano's: state and `allocated`.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, Client
from ...cluster.watch.delivery import decode_page
from ...quota import vocabulary as v
from ...quota.accounts.queue_facts import LONGEST_TEXT

PATH: Final = f"/apis/{v.API_GROUP}/{v.VERSION}/queues"
_ALL_ANNOTATIONS: Final = 262_144
"""Bytes that keys and values of an object's annotations may have together."""
_IN_USE: Final = ("allocated", "inqueue", "requested", "elastic", "borrowed")
_KEY: Final = f"/metadata/annotations/{v.STATUS.replace('/', '~1')}"
_ESCAPED: Final = re.compile("[<>&\x7f]")
_PLAIN: Final = re.compile("[ -%'-;=?-~]*")
"""What `_json` is made of: printable, and neither `<`, `>` nor `&`."""
LEFT_OUT: Final = "cardsLeftOut"
"""How many rows have no room. Rows of cards that nobody uses are left out first."""


class Published(NamedTuple):
    """What is published of a queue, as it was seen."""

    status: dict[str, Any]
    """Empty: nothing, or nothing that can be read."""
    text: str | None = None
    """The text of the annotation."""
    room: int = LONGEST_TEXT
    """Bytes that the annotation may have."""
    annotated: bool = False
    """Whether the queue has annotations at all."""


class Write(NamedTuple):
    """One write of a queue's numbers."""

    queue: str
    path: str
    content_type: str
    body: object
    published: Published
    """What is published once it has landed."""
    tests: bool = False
    """Whether it is refused as 422 where the annotation, or the queue, is another one."""
    version: str = ""
    """The resourceVersion that the queue must have; empty: any."""


class StatusFields:
    """The fields of the status, by server-side apply. The API server refuses one that it does not
    know, and all others with it.
    """

    has_state = True
    """Whether the state of the queue, and Volcano's `allocated`, stand there as well."""

    def __init__(self, *, instead: bool = False) -> None:
        """`instead`: whether there may be annotations, which we have the right to take away."""
        self._instead = instead

    def seen(self, queue: Mapping[str, Any], before: Published | None = None) -> Published:
        """What is published of a queue that was read. `before`: what was known of that until now,
        so that it is not read again where it is the same.
        """
        text = _annotations(queue).get(v.STATUS) if self._instead else None
        return Published(dict(queue.get("status") or {}), text)

    def fitted(self, status: dict[str, Any], seen: Published) -> dict[str, Any] | None:
        """As much of it as has room; None: nothing has."""
        return status

    def write(
        self, metadata: Mapping[str, str], fitted: dict[str, Any], before: Published
    ) -> Write:
        """Refused if the queue is another one, or of another version than is named.

        `metadata`: name and uid of the queue, and the resourceVersion that it must have, if any.
        """
        body = {
            "apiVersion": f"{v.API_GROUP}/{v.VERSION}",
            "kind": "Queue",
            "metadata": metadata,
            "status": fitted,
        }
        published = before._replace(status={**before.status, **fitted})
        name = metadata["name"]
        return Write(name, f"{PATH}/{name}/status", APPLY_PATCH, body, published)

    def leftover(self, metadata: Mapping[str, str], seen: Published) -> Write | None:
        """The write that takes away what stands in the other place, if anything does: an annotation
        would say for ever what it said last.
        """
        if seen.text is None:
            return None
        changes = [
            {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
            {"op": "remove", "path": _KEY},
        ]
        published = seen._replace(text=None)
        name = metadata["name"]
        return Write(name, f"{PATH}/{name}", JSON_PATCH, changes, published, tests=True)


class StatusAnnotation:
    """The annotation. It is changed only as it was last seen, whatever else of the queue changes
    meanwhile: Volcano writes the queue's status all the time, and is in nobody's way.
    """

    has_state = False

    def seen(self, queue: Mapping[str, Any], before: Published | None = None) -> Published:
        """The annotation of any origin; what cannot be read is taken for nothing."""
        notes = _annotations(queue)
        others = sum(
            _size(key) + _size(str(text)) for key, text in notes.items() if key != v.STATUS
        )
        room = max(0, min(LONGEST_TEXT, _ALL_ANNOTATIONS - others - _size(v.STATUS)))
        text = notes.get(v.STATUS)
        if before is not None and text == before.text:
            # Volcano writes the queue all the time, and to read a long text takes a while.
            return before._replace(room=room, annotated=bool(notes))
        return Published(_read(text), None if text is None else str(text), room, bool(notes))

    def fitted(self, status: dict[str, Any], seen: Published) -> dict[str, Any] | None:
        """Where not all rows have room, those of cards that nobody uses are left out first, then
        the last ones by name.
        """
        return with_room(status, seen.room)

    def write(
        self, metadata: Mapping[str, str], fitted: dict[str, Any], before: Published
    ) -> Write:
        """Refused if the queue is another one, or the annotation another than was seen. A text that
        cannot be ours is replaced whatever stands there by now.
        """
        name, text = metadata["name"], _json(fitted)
        path = f"{PATH}/{name}"
        published = before._replace(status=fitted, text=text)
        if not before.annotated or not _PLAIN.fullmatch(before.text or ""):
            # Nothing can be tested: so it names the version that it has seen, if it was told.
            about = {key: value for key, value in metadata.items() if key != "name"}
            body = {"metadata": {**about, "annotations": {v.STATUS: text}}}
            return Write(name, path, MERGE_PATCH, body, published._replace(annotated=True))
        changes = [
            {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
            {"op": "test", "path": _KEY, "value": before.text},  # null: there is none
            {"op": "add", "path": _KEY, "value": text},
        ]
        return Write(name, path, JSON_PATCH, changes, published, tests=True)

    def leftover(self, metadata: Mapping[str, str], seen: Published) -> Write | None:
        """Nothing: the definition of Queues drops the fields by itself."""
        return None


StatusPlace = StatusFields | StatusAnnotation
"""Where the numbers are published: one of the two places."""


def with_room(status: dict[str, Any], room: int) -> dict[str, Any] | None:
    """The status, if its JSON has at most `room` bytes; else without some rows, and with their
    number. None if it has no room at all.
    """
    if _size(_json(status)) <= room:
        return status
    rows = status.get("cards") or []
    left = room - _size(_json({**status, "cards": [], LEFT_OUT: len(rows)}))
    if left < 0:
        return None
    kept = []
    for row in sorted(rows, key=lambda row: not any(row.get(key) for key in _IN_USE)):
        left -= _size(_json(row)) + 1
        if left < 0:
            break
        kept.append(row)
    kept.sort(key=lambda row: str(row["name"]))
    return {**status, "cards": kept, LEFT_OUT: len(rows) - len(kept)}


def _annotations(queue: Mapping[str, Any]) -> Mapping[str, Any]:
    return (queue.get("metadata") or {}).get("annotations") or {}


class _Rows(msgspec.Struct, rename="camel"):
    """What is read of it again, with the types that it must have."""

    cards: list[dict[str, Any]] = []
    resources: list[dict[str, Any]] = []
    conditions: list[dict[str, str | int]] = []
    columns: dict[str, str] = {}


def _read(text: object) -> dict[str, Any]:
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        return {}
    try:
        found = msgspec.json.decode(text)
        msgspec.convert(found, _Rows)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return {}
    return dict(found)


def _json(value: object) -> str:
    """Only of characters that the API server writes as we do. The test of a JSON patch compares how
    a string is written, and not what it says: a `<` of ours is not the escaped one of the API
    server.
    """
    text = json.dumps(value, separators=(",", ":"))
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _size(text: str) -> int:
    return len(text.encode())


NAME: Final = f"queues.{v.API_GROUP}"
"""Of the CustomResourceDefinition."""
_DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_KEEPS_ALL: Final = "x-kubernetes-preserve-unknown-fields"
_CARDS: Final = "cards"


class _DefinitionVersion(msgspec.Struct):
    name: str = ""
    schema: Any = None


class _DefinitionSpec(msgspec.Struct):
    versions: list[_DefinitionVersion] = []


class _Definition(msgspec.Struct):
    spec: _DefinitionSpec


async def find_place(client: Client, *, standalone: bool) -> StatusPlace | None:
    """Where the cluster's definition of Queues has room for the numbers (T6). None: the API server
    does not say. Where there is no definition, or we may not read it, Volcano's is taken to be
    there if Volcano is, else ours.
    """
    params = {"fieldSelector": f"metadata.name={NAME}"}
    keeps = standalone
    try:
        page = decode_page(await client.get(_DEFINITIONS, params=params))
        for raw in page.items or ():
            versions = msgspec.json.decode(raw, type=_Definition).spec.versions
            schemas = [one.schema for one in versions if one.name == v.VERSION]
            keeps = keeps_numbers(schemas[0] if schemas else None)
    except ApiError as error:
        if not error.absent:
            return None
    except (OutcomeUnknown, msgspec.MsgspecError, RecursionError):
        return None
    return StatusFields(instead=not standalone) if keeps else StatusAnnotation()


def keeps_numbers(schema: object) -> bool:
    """Whether a definition with this schema keeps `status.cards`."""
    root = _child(schema, "openAPIV3Schema")
    status = _child(_child(root, "properties"), "status")
    fields = _child(status, "properties")
    # Where the fields of the status are named, only its own word counts, not that of the root.
    if _child(status, _KEEPS_ALL) is True or (fields is None and _child(root, _KEEPS_ALL) is True):
        return True
    return isinstance(fields, dict) and _CARDS in fields


def _child(parent: object, key: str) -> object:
    return parent.get(key) if isinstance(parent, dict) else None
