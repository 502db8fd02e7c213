"""L5: while pods end for somebody nobody else is released for that card, in whatever queue."""

from collections.abc import Iterable

import pytest

from builders import H200, H800, a_group, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import Reason
from cardquota.quota.ledger import KeptRoom, Ledger

from ..releasing import a_cluster, later, names, release, waiting
from ..rollouts import full, pod

RED = a_queue("red").with_quota({H200: 4, H800: 4})
BLUE = a_queue("blue").with_quota({H200: 4, H800: 4})


def in_blue(name: str, card: str = H200) -> PodBody:
    return a_pod(name).in_queue("blue").naming(card).asking_for(1).gated()


def keep(ledger: Ledger, name: str, *, group: bool = False, card: str = H200) -> None:
    key = f"team/{name}" if group else f"uid-{name}"
    ledger.decisions.keep_rooms({key: KeptRoom("team", name, group, frozenset((card,)))})


def opened(ledger: Ledger, queues: Iterable[str] = ("red", "blue")) -> list[list[str]]:
    return [found for queue in queues for found in release(ledger, queue)[0]]


@pytest.mark.parametrize("fifo", [True, False])
def test_the_one_passes_and_all_others_wait_until_the_plan_ends(*, fifo: bool) -> None:
    """Also equal ones that come before it, and those of a choice."""
    red = RED.fifo() if fifo else RED
    choice = waiting("choice", 1, f"{H800}|{H200}")
    ledger = a_cluster(red, BLUE, waiting("a"), later(waiting("b")), in_blue("c"), choice)
    keep(ledger, "b")
    assert opened(ledger) == [["b"]]
    ledger.dirty.clear()
    ledger.decisions.keep_rooms({})
    assert ledger.dirty.pending == {"red", "blue"}
    assert sorted(opened(ledger)) == [["a"], ["c"], ["choice"]]


def test_who_was_judged_before_stays_behind_and_goes_afterwards() -> None:
    """They share a class then, which the one has to leave."""
    ledger = a_cluster(RED, waiting("held", 4).stamped("red", {H200: 4}).on_node("h200-a"))
    see(ledger, waiting("a"), later(waiting("b")))
    assert opened(ledger, ["red"]) == []
    keep(ledger, "b")
    ledger.pod_gone("uid-held")
    assert opened(ledger, ["red"]) == [["b"]]
    assert opened(ledger, ["red"]) == []
    ledger.decisions.keep_rooms({})
    assert opened(ledger, ["red"]) == [["a"]]


def test_what_one_queue_gave_is_kept_in_that_queue_alone() -> None:
    ledger = a_cluster(RED, BLUE, waiting("a"), in_blue("b"))
    room = KeptRoom("team", "x", group=False, cards=frozenset((H200,)))
    ledger.decisions.keep_rooms({"uid-x": room._replace(queue="red")})
    assert opened(ledger) == [["b"]]
    see(ledger, in_blue("c"))
    ledger.decisions.keep_rooms({"uid-x": room})
    assert opened(ledger) == []
    ledger.dirty.clear()
    ledger.decisions.keep_rooms({"uid-x": room._replace(queue="red")})
    assert "blue" in ledger.dirty.pending
    assert opened(ledger) == [["c"]]


def test_who_is_given_a_room_by_its_queue_passes_where_all_queues_are_closed() -> None:
    ledger = a_cluster(RED, BLUE, waiting("a"), later(waiting("y")), in_blue("b"))
    room = KeptRoom("team", "x", group=False, cards=frozenset((H200,)))
    own = room._replace(name="y", queue="red")
    ledger.decisions.keep_rooms({"uid-x": room, "uid-y": own})
    assert opened(ledger) == [["y"]]
    ledger.decisions.keep_rooms({"uid-y": own})
    assert opened(ledger) == [["b"]]
    ledger.dirty.clear()
    ledger.decisions.keep_rooms({})
    assert ledger.dirty.pending == {"red"}
    assert opened(ledger) == [["a"]]


def test_other_cards_go_on() -> None:
    ledger = a_cluster(RED, BLUE, waiting("a", 1, H800), in_blue("b", H800), in_blue("c"))
    keep(ledger, "elsewhere")
    assert opened(ledger) == [["a"], ["b"]]


def test_a_gang_passes_as_a_whole() -> None:
    gang = [waiting(f"m{n}").in_group("gang") for n in range(2)]
    like = [later(waiting(f"o{n}")).in_group("other") for n in range(2)]
    groups = a_group("gang").in_queue("red").of(2), a_group("other").in_queue("red").of(2)
    held = waiting("held", 4).stamped("red", {H200: 4}).on_node("h200-a")
    ledger = a_cluster(RED, *groups, *gang, *like, held)
    assert opened(ledger, ["red"]) == []
    keep(ledger, "other", group=True)
    ledger.pod_gone("uid-held")
    assert opened(ledger, ["red"]) == [["o0", "o1"]]
    # What comes beyond its minimum is as all others.
    see(ledger, waiting("o2").in_group("other"))
    assert opened(ledger, ["red"]) == []


def test_who_waits_is_told_that_room_is_made_for_another() -> None:
    ledger = a_cluster(RED, waiting("a"), waiting("b").in_namespace("other"))
    keep(ledger, "c")
    _, refusals = release(ledger, "red")
    texts = dict(zip((name for (name,) in names(refusals)), refusals, strict=True))
    assert {one.verdict.reason for one in refusals} == {Reason.BEHIND}
    told = "Queue <red> releases no <NVIDIA-H200> now: pods are being ended to make room for "
    assert texts["a"].verdict.text.startswith(f"{told}pod <team/c>, and no other")
    assert "for a pod, and no other" in texts["b"].verdict.text


def test_nobody_borrows_it_for_a_rolling_update() -> None:
    ledger = full("1", new=1)
    see(ledger, pod("new-0").gated())
    keep(ledger, "x")
    assert release(ledger, "queue")[0] == []
    ledger.decisions.keep_rooms({})
    assert release(ledger, "queue")[0] == [["new-0"]]
