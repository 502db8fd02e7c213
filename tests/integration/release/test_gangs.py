"""Pod groups: written ahead, released whole, the rest one by one (E1, E2, T2)."""

import json

from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import Object
from integration.pod_watch import SeenChange
from integration.roomy_nodes import T1000
from integration.team import Team, notes, released


def member(team: Team, name: str, gang: str = "gang", cards: int = 1) -> PodBody:
    return team.a_pod(name, cards, T1000).in_group(gang)


def revision(thing: Object) -> int:
    """One store holds all kinds: its revisions tell which write came first."""
    return int(thing["metadata"]["resourceVersion"])


def phase(team: Team, group: GroupBody) -> str | None:
    found = team.get(group).get("status", {}).get("phase")
    return None if found is None else str(found)


def holding(team: Team, cards: int) -> PodBody:
    """A pod that holds some of the quota."""
    pod = team.a_pod("holder", cards, T1000)
    assert team.create(pod).ok
    team.until_open("holder")
    return pod


def test_the_reservation_is_written_before_the_first_gate_and_goes_when_they_run(
    team: Team,
) -> None:
    """Write-ahead (T2): a foreign gate on one member keeps the reservation in sight."""
    queue = team.has_queue({T1000: 3})
    gang = team.a_gang("gang", 2)
    assert team.create(gang).ok
    with team.watching() as watch, team.watching(gang) as groups:
        assert team.create(member(team, "a").gated("example.com/theirs")).ok
        assert team.create(member(team, "b")).ok
        team.until_bound("b")
        team.until_open("a")
        first = watch.first(
            lambda s: s.type == "MODIFIED" and released(s.object), "first gate open"
        )
        written = groups.first(lambda s: v.RESERVATION in notes(s.object), "reservation")
    group = team.get(gang)
    reservation = json.loads(notes(group)[v.RESERVATION])
    pod = team.pod("b")
    assert reservation["queue"] == queue
    assert reservation["cards"] == {T1000: 2}
    assert reservation["term"] == notes(pod)[v.TERM]
    assert phase(team, gang) == "Inqueue"
    assert revision(written.object) < revision(first.object)
    team.until_row(T1000, inqueue=1, allocated=1, requested=2)

    assert team.patch(team.a_pod("a"), {"spec": {"schedulingGates": None}}).ok

    team.until_bound("a")
    team.until(lambda: v.RESERVATION not in notes(team.get(gang)), "reservation removed")
    team.until(lambda: phase(team, gang) == "Running", "phase Running")


def test_no_gate_is_seen_open_without_the_other(team: Team) -> None:
    """Ten gangs at once: at the end each has all gates open or none, and the quota is full."""
    team.has_queue({T1000: 10})
    with team.watching() as watch:
        for number in range(10):
            gang = f"g{number}"
            assert team.create(team.a_gang(gang, 2)).ok
            for name in ("a", "b"):
                assert team.create(member(team, f"{gang}-{name}", gang=gang)).ok
        team.until_row(T1000, allocated=10, inqueue=0, requested=20)
        last: dict[str, SeenChange] = {seen.name: seen for seen in watch.caught_up()}
    by_gang: dict[str, set[bool]] = {}
    for name, seen in last.items():
        by_gang.setdefault(name.split("-")[0], set()).add(released(seen.object))
    assert all(len(states) == 1 for states in by_gang.values()), by_gang
    assert sum(states == {True} for states in by_gang.values()) == 5


def test_i1_a_group_that_changes_its_queue_takes_nothing_reserved_along(team: Team) -> None:
    """What its members hold in their queue is no part of what it reserves in another."""
    team.has_queue({T1000: 8}, "own")
    team.has_queue({T1000: 3}, "victim")
    gang = team.a_gang("gang", 2, "own")
    assert team.create(gang).ok
    for name in ("a", "b"):
        assert team.create(team.a_pod(name, 4, T1000, "own").in_group("gang")).ok
    team.until_bound("a", "b")
    victim = team.queue_name("victim")
    assert team.patch(gang, {"spec": {"queue": victim, "minMember": 3}}).ok
    further = team.a_pod("c", queue="victim").in_group("gang")
    # Admission knows the group's new queue a moment later, and until then the two disagree.
    team.until(lambda: team.create(further).ok, "a member for the group's new queue")
    team.until_open("c")
    assert team.create(team.a_pod("other", 3, T1000, "victim")).ok
    team.until_open("other")
    team.until_row(T1000, "victim", allocated=3, inqueue=0)
    team.until_row(T1000, "own", allocated=8, inqueue=0)


def test_whose_group_does_not_exist_is_in_nobodys_way(team: Team) -> None:
    """It waits for something else than quota: the others are judged as if it were not there."""
    team.has_queue({T1000: 4})
    holder = holding(team, 3)
    assert team.create(team.a_pod("lost", 1, T1000).in_group("nowhere")).ok
    team.until_row(T1000, requested=4, allocated=3)
    assert team.create(team.a_pod("next", 1, T1000)).ok
    team.until_open("next")
    assert team.create(team.a_gang("nowhere", 1)).ok
    assert team.delete(holder).ok
    team.until_open("lost")
