"""Gangs that their pods alone can never start: whoever writes one is told (E5)."""

from integration.roomy_nodes import T1000
from integration.team import Team
from integration.workload_bodies import create


def test_e5_job_and_group_are_told_that_the_gang_never_starts(team: Team) -> None:
    """The Job at its write, though its group was written just before; the group by its pods."""
    queue = team.has_queue({T1000: 3})
    gang = team.a_gang("gang", 4)
    assert (reply := team.create(gang)).ok, reply
    assert reply.warnings == ()

    pod = team.a_pod("train", 1, T1000).in_group("gang")
    reply = create(team, "Job", pod, parallelism=4, completions=4)

    assert reply.ok
    never, why = reply.warnings
    assert never.startswith(
        f"train: its pods alone cannot start pod group <{team.namespace}/gang>: Queue <"
    )
    assert never.endswith("has quota for <3> of <4>; lower minMember to 3, or ask its owner")
    assert why == (
        f"Queue <{queue}> has insufficient <{T1000}> quota: "
        "requested <4>, total would be <4>, but capability is <3>"
    )

    team.until(lambda: len(team.pods()) == 4, "the pods of the Job")
    assert team.delete(gang).ok
    team.until(lambda: team.get(gang).get("code") == 404, "the group is gone")
    again = team.until(lambda: team.create(gang, dry=True).warnings, "a Warning by its pods")
    _, _, numbers = never.partition("/gang>")
    assert again == (f"<{team.namespace}/gang> cannot start with its pods{numbers}",)
    assert team.create(gang.of(3), dry=True).warnings == ()


def test_e5_a_group_in_a_missing_queue_waits_for_it_whatever_it_asks_for(team: Team) -> None:
    """A chart creates its objects in the order of their kinds."""
    team.has_queue({T1000: 3})
    gang = team.a_gang("gang", 2, queue="missing")
    for group in (gang, gang.requesting({T1000: 2})):
        reply = team.create(group, dry=True)
        assert reply.ok
        assert any("does not exist" in warning for warning in reply.warnings)
