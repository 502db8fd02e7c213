"""V1: `check` names what somebody may not schedule, from the events that say so."""

import json
from pathlib import Path
from typing import Any

import pytest

from cardquota.cli.check.check import lines
from cardquota.cli.check.finding import FindingKind
from cardquota.cli.check.refused_section import RefusedEvent, refused_events, refused_section
from cardquota.cluster.api.api_error import ApiError
from cardquota.cluster.api.client import Client
from cardquota.cluster.api.find_access import find_access

from ..answering_api import Answer, answering

EVENTS = "/api/v1/events"
NOW = 1_767_225_700
SAYS = "<volcano-scheduler> may not bind this pod: name it"


def event(name: str, at: str = "2026-01-01T00:00:00Z", **fields: Any) -> dict[str, Any]:
    about = {"kind": "Pod", "namespace": "team", "name": name}
    meta = {"name": f"{name}.1", "namespace": "team"}
    return {
        "metadata": meta,
        "involvedObject": about,
        "message": SAYS,
        "firstTimestamp": at,
    } | fields


async def read(answer: Answer, folder: Path) -> list[RefusedEvent] | str:
    asked: list[dict[str, str]] = []
    async with answering({EVENTS: answer}, folder, lambda _, query: asked.append(query)) as config:
        client = Client(await find_access(config, ""))
        try:
            return await refused_events(client, EVENTS)
        finally:
            await client.close()
            assert asked[0]["fieldSelector"] == "reason=VolcanoNotKnown,involvedObject.kind=Pod"


def listing(*items: object) -> Answer:
    return 200, json.dumps({"metadata": {"resourceVersion": "1"}, "items": items})


async def test_each_pod_is_named_once_the_oldest_first(tmp_path: Path) -> None:
    late, early = "2026-01-01T00:01:00Z", "2026-01-01T00:00:30Z"
    events = await read(
        listing(event("b", late), event("b", early), event("a", late), {"metadata": 7}), tmp_path
    )
    section = refused_section(events, NOW)
    assert section.complete
    assert [(one.name, one.age) for one in section.findings] == [("b", 70), ("a", 40)]
    assert {one.finding for one in section.findings} == {FindingKind.REFUSED}
    shown = [line.plain for line in lines([section])]
    assert shown[0].split()[:2] == ["FINDING", "OBJECT"]
    assert shown[-1] == f"refused: Pod team/b, Pod team/a: {SAYS}"
    plain = section.plain()["findings"][0]
    assert (plain["finding"], plain["reason"]) == ("refused", "VolcanoNotKnown")
    assert plain["message"] == f"an account may not bind it, or give it a group: {SAYS}"
    assert plain["since"] == "2026-01-01T00:00:30Z"


async def test_where_nothing_is_refused_nothing_is_said(tmp_path: Path) -> None:
    section = refused_section(await read(listing(), tmp_path), NOW)
    assert list(lines([section])) == []


async def test_who_may_not_list_events_is_told_what_he_misses(tmp_path: Path) -> None:
    forbidden = (403, '{"code": 403, "reason": "Forbidden", "message": "no events for you"}')
    section = refused_section(await read(forbidden, tmp_path), NOW)
    (note,) = section.notes
    assert "no events for you" in note
    assert note.endswith("it is not known whether Bindings are refused")
    assert section.complete


async def test_any_other_answer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ApiError):
        await read((400, "{}"), tmp_path)


async def test_what_anybody_may_write_into_an_event_is_short_and_harmless(tmp_path: Path) -> None:
    odd = event("a", "never", message="\x1b[31m" + "x" * 100_000, involvedObject={})
    section = refused_section(await read(listing(odd), tmp_path), NOW)
    (found,) = section.findings
    assert (found.since, found.age) == (None, None)
    text = "\n".join(line.plain for line in lines([section]))
    assert "\x1b" not in text
    assert len(text) < 2_000
