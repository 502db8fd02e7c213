"""`kubectl cardquota queue`: what is printed of an answer."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from aiohttp import web
from msgspec.structs import replace

from builders import H200, H800
from cardquota.cli.commands.queue import queue_lines
from cardquota.quota.answers import CardAmount, CardRoom, Holder, QueueAnswer, ResourceRoom, Waiter

from ..answering_api import called, posting

NOON = "2026-01-02T12:00:00Z"
SENTENCE = f"Queue <research> has insufficient <{H200}> quota: requested <1>"
USED = {"quota": 4, "allocated": 3, "inqueue": 1, "elastic": 2, "requested": 6, "left": 0}
ROOM = {"allocatable": 14, "free": 9, "most_on_node": 8, "fits": 0}
CARD = CardRoom(name=H200, **USED, **ROOM)
HOLDER = Holder(
    kind="Deployment",
    namespace="team",
    name="chat",
    pods=3,
    cards=(CardAmount(name=H200, amount=3),),
    since="2026-01-02T09:00:00Z",
)
ASKS = (CardAmount(name=H200, amount=1),)
RESERVED = replace(HOLDER, kind="PodGroup", name="gang", pods=0, cards=ASKS, since="")


def waiter(place: int, name: str, reason: str, message: str) -> Waiter:
    return Waiter(
        place=place,
        kind="Pod",
        namespace="team",
        name=name,
        pods=1,
        asks=ASKS,
        since="2026-01-02T11:00:00Z",
        reason=reason,
        message=message,
    )


ANSWER = QueueAnswer(
    queue="research",
    state="Open",
    fifo=True,
    time=NOON,
    cards=(CARD,),
    more_cards=2,
    resources=(
        ResourceRoom(name="cpu", allocated="1", inqueue="0", requested="2", quota="4", left="3"),
        ResourceRoom(name="memory", allocated="0", inqueue="0", requested="0"),
    ),
    held_pods=3,
    holders=(HOLDER, RESERVED),
    more_holders=5,
    waiting_pods=9,
    waiters=(
        waiter(1, "a", "InsufficientCardQuota", SENTENCE),
        waiter(2, "b", "InsufficientCardQuota", SENTENCE),
        waiter(3, "c", "", "Queue <research> has room for it now"),
    ),
    more_waiters=6,
)
NONE: Any = dict.fromkeys(("cards", "resources", "holders", "waiters"), ())
NONE |= {f"more_{name}": 0 for name in ("cards", "holders", "waiters")}
NONE |= {"queue": "idle", "state": "Closed", "fifo": False, "held_pods": 0, "waiting_pods": 0}
EMPTY = replace(ANSWER, **NONE, quota_problem="not JSON")


def text_of(answer: QueueAnswer) -> list[str]:
    return [line.plain for line in queue_lines(answer)]


def test_all_of_it_is_shown() -> None:
    lines = text_of(ANSWER)
    assert lines[0] == f"Queue research: Open, strictly in order (fifo), at {NOON}"
    assert lines[3].split() == [H200, *map(str, (4, 3, 1, 2, 6, 0, 14, 9, 8, 0))]
    text = "\n".join(lines)
    assert [line.split() for line in lines if line.startswith(("cpu", "memory"))] == [
        ["cpu", "4", "1", "0", "2", "3"],
        ["memory", "-", "0", "0", "0", "-"],
    ]
    assert ["Deployment/chat", "team", "3", H200, "3", "3", "h"] in [one.split() for one in lines]
    assert ["PodGroup/gang", "team", "reserved", H200, "1", "-"] in [one.split() for one in lines]
    assert "and 2 more cards" in text
    assert "and 5 more holders" in text
    assert "and 6 more waiters" in text


def test_l1_what_is_borrowed_is_shown_beside_what_is_deserved_if_anything_is() -> None:
    other = replace(CARD, name=H800, deserved=5)
    lines = text_of(replace(ANSWER, cards=(replace(CARD, deserved=2, borrowed=1), other)))
    assert lines[2].split()[-2:] == ["DESERVED", "BORROWED"]
    assert [line.split()[-3:] for line in lines[3:5]] == [["0", "2", "1"], ["0", "5", "0"]]
    assert "DESERVED" not in "".join(text_of(replace(ANSWER, cards=(CARD, other))))


def test_each_sentence_is_said_once_with_the_places() -> None:
    lines = text_of(ANSWER)
    assert f"places 1, 2: {SENTENCE}" in lines
    assert "place 3: Queue <research> has room for it now" in lines
    assert lines[-1] == "9 pods at the gate in all"


def test_an_empty_queue_says_so() -> None:
    lines = text_of(EMPTY)
    assert lines[0] == f"Queue idle: Closed, at {NOON}"
    assert lines[1] == "note: the quota cannot be read, the last good one is in force: not JSON"
    assert "Nobody holds anything." in lines
    assert lines[-1] == "Nobody waits."


def test_names_of_tenants_are_made_safe() -> None:
    odd = waiter(1, "a\x1b[31m", "X", "y\x07")
    text = "\n".join(text_of(replace(ANSWER, waiters=(odd,))))
    assert "\x1b" not in text
    assert "\x07" not in text


@pytest.mark.parametrize("form", ["json", "yaml", "text"])
async def test_for_programs_it_is_the_answer_itself(form: str, tmp_path: Path) -> None:
    found = {**json.loads(msgspec.json.encode(ANSWER)), "notes": []}

    async def answer(request: web.Request) -> web.Response:
        assert (await request.json())["spec"] == {"queue": "research", "limit": 7}
        return web.json_response({"status": found}, status=201)

    async with posting(answer, tmp_path) as kubeconfig:
        done = await called(kubeconfig, "queue", "research", "--limit", "7", "-o", form)
    assert done.exit_code == 0, done.output
    if form == "text":
        assert done.output.startswith("Queue research: Open")
    else:
        assert (json.loads if form == "json" else yaml.safe_load)(done.output) == found
