"""E1: groups are enqueued before their pods are there, which then start in what is reserved."""

import pytest

from builders.group import GroupBody
from cardquota.quota import vocabulary as v
from integration.roomy_nodes import T1000
from integration.team import Team, notes, released

from .test_gangs import member, phase

pytestmark = pytest.mark.slow


def enqueued(team: Team, group: GroupBody) -> None:
    team.until(lambda: phase(team, group) == "Inqueue", "phase Inqueue")
    team.until_told(group.name, v.ENQUEUED)


def test_elastic_pods_make_room_for_a_reservation_and_not_for_a_gate(team: Team) -> None:
    """I1: the gates open when elastic pods have gone."""
    team.has_queue({T1000: 3})
    service = team.a_gang("service", 1)
    assert team.create(service).ok
    pods = [member(team, name, "service") for name in ("s1", "s2", "s3")]
    for pod in pods:
        assert team.create(pod).ok
    team.until_bound("s1", "s2", "s3")
    team.until_row(T1000, allocated=3, elastic=2)
    group = team.a_gang("gang", 2).asking({T1000: 2})
    assert team.create(group).ok
    enqueued(team, group)
    team.until_row(T1000, allocated=3, elastic=2, inqueue=2)
    assert team.condition("OverQuota")["status"] == "False"
    for name in ("a", "b"):
        assert team.create(member(team, name)).ok
    for pod in pods[1:]:
        team.until_told("a", v.Reason.INSUFFICIENT_CARD)
        assert not any(released(team.pod(name)) for name in ("a", "b"))
        assert team.delete(pod).ok
    team.until_bound("a", "b")
    team.until_row(T1000, allocated=3, inqueue=0)


def test_nobody_but_the_operator_reserves(team: Team) -> None:
    """One that its owner takes off is put back, and one that he writes is refused."""
    team.has_queue({T1000: 3})
    group = team.a_gang("gang", 2).asking({T1000: 2})
    assert team.create(group).ok
    enqueued(team, group)
    text = notes(team.get(group))[v.RESERVATION].replace("2", "3")
    assert not team.annotate(group, v.RESERVATION, text).ok
    assert team.annotate(group, v.RESERVATION, None).ok
    assert v.RESERVATION in notes(team.get(group))
