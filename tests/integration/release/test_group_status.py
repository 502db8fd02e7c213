"""The status of a group that people see: phase, counts, condition, columns (section 2, E6)."""

from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import Object
from integration.roomy_nodes import T1000
from integration.team import Team


def member(team: Team, name: str, gang: str = "gang") -> PodBody:
    return team.a_pod(name, 1, T1000).in_group(gang)


def status(team: Team, group: GroupBody) -> Object:
    return dict(team.get(group).get("status") or {})


def condition(team: Team, group: GroupBody) -> Object:
    """Its only one; one without a type while there is none."""
    found = status(team, group).get("conditions") or [{"type": ""}]
    assert len(found) == 1
    return dict(found[0])


def until_phase(team: Team, group: GroupBody, phase: str) -> Object:
    team.until(lambda: status(team, group).get("phase") == phase, f"phase {phase}")
    return status(team, group)


def until_condition(team: Team, group: GroupBody, kind: str, reason: str, words: str) -> Object:
    def there() -> bool:
        found = condition(team, group)
        return (found["type"], found.get("reason")) == (kind, reason) and words in found["message"]

    team.until(there, f"{kind}, {reason}: {words}")
    return condition(team, group)


def line(team: Team, group: GroupBody) -> dict[str, str]:
    """What kubectl prints of it, by column."""
    shown = team.cluster.kubectl("get", "podgroup", group.name, "-n", team.namespace)
    header, row = shown.stdout.splitlines()
    starts = [header.index(name) for name in header.split()]
    ends = [*starts[1:], len(row) + 1]
    cells = [row[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    return dict(zip(header.split(), cells, strict=True))


def test_the_life_of_a_group(team: Team) -> None:
    """Pending, Inqueue, Running, Unknown when a member fails, Running again, Completed."""
    queue = team.has_queue({T1000: 2})
    holder = team.a_pod("holder", 1, T1000)
    assert team.create(holder).ok
    team.until_open("holder")
    gang = team.a_gang("gang", 2)
    assert team.create(gang).ok
    # A gate of others on one of them keeps the group between its two steps.
    assert team.create(member(team, "a").gated("example.com/theirs")).ok
    assert team.create(member(team, "b")).ok

    told = team.until_told("gang", v.Reason.INSUFFICIENT_CARD)
    place = f"; number <1> of <1> that wait in Queue <{queue}>"
    found = until_condition(team, gang, "Unschedulable", v.Reason.INSUFFICIENT_CARD, place)
    assert told["message"] == found["message"]
    assert found["message"].endswith("; held by holder 1")
    assert found["status"] == "True"
    assert status(team, gang)["phase"] == "Pending"
    cells = line(team, gang)
    assert cells.pop("AGE")
    assert cells == {
        "NAME": "gang",
        "PHASE": "Pending",
        "QUEUE": queue,
        "CARDS": f"{T1000} 2",
        "MIN": "2",
        "RUNNING": "0",
        "REASON": "InsufficientCardQuota",
    }

    assert team.delete(holder).ok
    until_phase(team, gang, "Inqueue")
    scheduled = until_condition(team, gang, "Scheduled", v.RELEASED, queue)
    assert line(team, gang)["REASON"] == ""

    assert team.patch(team.a_pod("a"), {"spec": {"schedulingGates": None}}).ok
    assert until_phase(team, gang, "Running")["running"] == 2
    assert condition(team, gang)["lastTransitionTime"] == scheduled["lastTransitionTime"]
    assert line(team, gang)["RUNNING"] == "2"

    team.finish(team.a_pod("a"), "Failed")
    found = until_phase(team, gang, "Unknown")
    assert (found["running"], found["succeeded"], found["failed"]) == (1, 0, 1)
    until_condition(team, gang, "Unschedulable", v.Reason.GANG_INCOMPLETE, "<1> of the <2> pods")

    assert team.create(member(team, "c")).ok
    found = until_phase(team, gang, "Running")
    assert (found["running"], found["failed"]) == (2, 1)
    until_condition(team, gang, "Scheduled", v.RELEASED, queue)

    for name in ("b", "c"):
        team.finish(team.a_pod(name), "Succeeded")
    found = until_phase(team, gang, "Completed")
    team.until(lambda: status(team, gang)["succeeded"] == 2, "both have succeeded")
    for name in ("a", "b", "c"):
        assert team.delete(team.a_pod(name)).ok
    assert team.create(team.a_pod("next", 2, T1000)).ok
    team.until_open("next")
    found = status(team, gang)
    assert (found["phase"], found["succeeded"], found["failed"]) == ("Completed", 2, 1)
