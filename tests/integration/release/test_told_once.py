"""Section 9: an event per change of the reason, not per try. A thousand tries, one event."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from cardquota.quota import vocabulary as v
from integration.asking import MERGE, Object, ask
from integration.roomy_nodes import T1000, T2000
from integration.team import QUEUES, Team

WAITING = ("alone", "gang-0", "gang-1")
EDITS = 60
"""Of the quota: all who wait are judged anew."""
TOUCHES = 250
"""Of the card of each who waits: that one is."""


def edit(team: Team, annotations: Object) -> None:
    """Of the queue."""
    change = {"metadata": {"annotations": annotations}}
    path = f"{QUEUES}/{team.queue_name()}"
    assert (reply := ask(team.cluster, "PATCH", path, change, content_type=MERGE)).ok, reply


def stir(team: Team) -> None:
    """300 tries for each of those who wait, 1,000 in all with the gang's, and never room.

    Each edit of the quota changes the numbers in the sentence.
    """

    def edits() -> None:
        for number in range(1, EDITS + 1):
            edit(team, {v.QUOTA: json.dumps({T1000: 1 + number % 2, T2000: number})})

    def touches(name: str) -> None:
        for number in range(TOUCHES):
            card = T1000 if number % 2 else f"{T1000}|{T1000}"
            assert team.annotate(team.a_pod(name), v.CARD_NAME, card).ok

    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(edits), *(pool.submit(touches, name) for name in WAITING)]:
            done.result()
    team.until_row(T2000, quota=EDITS)


def told(team: Team) -> dict[str, Counter[str]]:
    """How many events of ours there are, by the name of the object and the reason."""
    path = f"/api/v1/namespaces/{team.namespace}/events"
    found: dict[str, Counter[str]] = {}
    for event in ask(team.cluster, "GET", path).body["items"]:
        if event.get("reportingComponent") == "cardquota":
            found.setdefault(event["involvedObject"]["name"], Counter())[event["reason"]] += 1
    return found


@pytest.mark.slow
def test_a_thousand_tries_are_one_event_and_another_reason_is_one_more(team: Team) -> None:
    """Of a pod, of a gang and its members; of creates that are refused there is none of ours.

    Events of a namespace are written in order: with the last one all before it are there.
    """
    team.has_queue(team.a_queue({T1000: 2}).with_policy("Gate"))
    assert team.create(team.a_pod("first", 2, T1000)).ok
    team.until_open("first")
    assert team.create(team.a_gang("gang", 2)).ok
    for name in ("gang-0", "gang-1"):
        assert team.create(team.a_pod(name, 1, T1000).in_group("gang")).ok
    assert team.create(team.a_pod("alone", 2, T1000)).ok
    for name in (*WAITING, "gang"):
        team.until_told(name, v.Reason.INSUFFICIENT_CARD)

    stir(team)
    refused = {team.create(team.a_pod(f"no-{n}", 9, T1000)).reason for n in range(20)}
    assert refused == {v.Reason.INSUFFICIENT_CARD}
    edit(team, {v.QUEUE_STATE: "Closed"})
    for name in WAITING:
        team.until_told(name, v.Reason.QUEUE_NOT_OPEN)
    edit(team, {v.QUOTA: json.dumps({T1000: 1})})
    edit(team, {v.QUEUE_STATE: None, v.QUOTA: json.dumps({T1000: 6})})
    for name in WAITING:
        team.until_told(name, v.RELEASED)

    waited: dict[str, int] = {v.Reason.INSUFFICIENT_CARD: 1, v.Reason.QUEUE_NOT_OPEN: 1}
    released = {**waited, v.RELEASED: 1}
    assert told(team) == {"gang": waited, **dict.fromkeys(WAITING, released)}
