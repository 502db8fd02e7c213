"""T6: whether a definition of Queues keeps our numbers, and so where they are published."""

import json
from typing import Any, cast

import pytest

from cardquota.api import QUEUE
from cardquota.cluster.api import ApiError, Client, OutcomeUnknown
from cardquota.control.queues import StatusAnnotation, StatusFields, find_place, keeps_numbers
from cardquota.quota import vocabulary as v

KEEPS = {"x-kubernetes-preserve-unknown-fields": True}
VOLCANOS = {"properties": {"state": {"type": "string"}, "allocated": {"type": "object"}}}
ODD: list[object] = [None, {}, [], {"openAPIV3Schema": None}, {"openAPIV3Schema": []}]
(OURS,) = (
    one["schema"]["openAPIV3Schema"]["properties"]["status"]
    for one in QUEUE.definition()["spec"]["versions"]
    if one["name"] == v.VERSION
)


def schema(status: object, **root: object) -> dict[str, Any]:
    return {"openAPIV3Schema": {"type": "object", **root, "properties": {"status": status}}}


@pytest.mark.parametrize(
    ("found", "keeps"),
    [
        (schema(OURS), True),
        (schema(VOLCANOS), False),
        ({"openAPIV3Schema": {"type": "object", **KEEPS}}, True),
        # Not of what is named below it: there the API server drops what has no name.
        (schema(VOLCANOS, **KEEPS), False),
        (schema({"type": "object", **KEEPS}), True),
        *((odd, False) for odd in (*ODD, schema(None))),
        (schema({"properties": [1]}), False),
    ],
)
def test_what_a_definition_keeps(found: object, *, keeps: bool) -> None:
    assert keeps_numbers(found) is keeps


class DefinitionServer:
    def __init__(self, answer: Exception | dict[str, Any] | None) -> None:
        self.answer = answer

    async def get(self, _: str, **__: object) -> bytes:
        if isinstance(self.answer, Exception):
            raise self.answer
        items = [] if self.answer is None else [{"spec": {"versions": [self.answer]}}]
        return json.dumps({"metadata": {}, "items": items}).encode()


class DeepServer:
    async def get(self, *_: object, **__: object) -> bytes:
        deep = b'{"a":' * 5_000 + b"1" + b"}" * 5_000
        return b'{"metadata":{},"items":[{"spec":{"versions":[{"schema":%s}]}}]}' % deep


async def test_a_definition_that_is_too_deep_says_nothing() -> None:
    """So numbers are published as before: an error would end whoever follows it."""
    assert await find_place(cast("Client", DeepServer()), standalone=True) is None


@pytest.mark.parametrize(
    ("answer", "with_ours", "with_volcano"),
    [
        ({"name": v.VERSION, "schema": schema(OURS)}, StatusFields, StatusFields),
        ({"name": v.VERSION, "schema": schema(VOLCANOS)}, StatusAnnotation, StatusAnnotation),
        ({"name": "v2", "schema": schema(OURS)}, StatusAnnotation, StatusAnnotation),
        (None, StatusFields, StatusAnnotation),
        (ApiError(403, "Forbidden", "no"), StatusFields, StatusAnnotation),
        (ApiError(429, "TooManyRequests", "later"), None, None),
        (OutcomeUnknown("no answer"), None, None),
        ({"name": 7}, None, None),
    ],
)
async def test_where_it_is_not_known_the_setting_tells(
    answer: Exception | dict[str, Any] | None, with_ours: type | None, with_volcano: type | None
) -> None:
    client = cast("Client", DefinitionServer(answer))
    for standalone, wanted in ((True, with_ours), (False, with_volcano)):
        found = await find_place(client, standalone=standalone)
        assert (None if found is None else type(found)) is wanted
