"""Made-up owners and groups: they change how a pod waits, never how much a queue releases."""

import pytest

from cardquota.quota import MIN_MEMBER
from cardquota.quota import vocabulary as v
from integration.asking import Object
from integration.roomy_nodes import T1000
from integration.team import Team, notes, of_a_job, released

from .people import MIGHTY, TENANT

HUGE = MIN_MEMBER.most


def test_a_made_up_job_waits_instead_of_being_refused_and_gets_no_more(people: Team) -> None:
    """Section 2: the owner decides between Gate and Deny alone; nobody looks whether it exists."""
    people.has_queue({T1000: 1})
    assert people.create(people.a_pod("a", 1, T1000)).ok
    people.until_open("a")
    assert not people.create(people.a_pod("b", 1, T1000), as_user=TENANT).ok
    assert people.create(of_a_job(people.a_pod("b", 1, T1000)), as_user=TENANT).ok
    people.until_told("b", v.Reason.INSUFFICIENT_CARD)
    people.until_row(T1000, allocated=1, inqueue=0, requested=2)
    assert not released(people.pod("b"))
    never = of_a_job(people.a_pod("c", 2, T1000))
    assert people.create(never, as_user=TENANT).reason == v.Reason.INSUFFICIENT_CARD


def test_an_owner_that_is_taken_away_frees_nothing(people: Team) -> None:
    """A pod made an orphan is charged as before."""
    people.has_queue({T1000: 1})
    pod = of_a_job(people.a_pod("a", 1, T1000))
    assert people.create(pod).ok
    people.until_bound("a")
    orphan = {"metadata": {"ownerReferences": None}}
    assert people.patch(pod, orphan, as_user=TENANT).ok
    people.until_row(T1000, allocated=1)
    assert people.create(people.a_pod("b", 1, T1000)).reason == v.Reason.INSUFFICIENT_CARD


def test_the_group_of_another_namespace_is_not_ones_own(people: Team) -> None:
    """A group is one of the pod's own namespace: another one's is no name of a group."""
    theirs = f"other-{people.namespace}"
    people.has_queue({T1000: 1})
    pod = people.a_pod("a", 1, T1000).in_queue(None).in_group(f"{theirs}/gang")
    assert people.create(people.a_gang("gang", 1)).ok
    reply = people.create(pod, as_user=TENANT)
    assert reply.reason == v.Reason.INVALID_CARD
    assert f"<{theirs}/gang> is not the name of a pod group" in reply.message


def test_a_group_without_pods_holds_nothing(people: Team) -> None:
    """However many members it asks for, if it does not say what they will need (E1)."""
    people.has_queue({T1000: 3})
    gang = people.a_gang("gang", HUGE)
    assert people.create(gang, as_user=TENANT).ok
    pods = [people.a_pod("m", 1, T1000).in_group("gang"), people.a_pod("a", 3, T1000)]
    for pod in pods:
        assert people.create(pod, as_user=TENANT).ok
    people.until_bound("a")
    people.until_row(T1000, allocated=3, inqueue=0, requested=4)
    assert people.get(gang)["status"]["phase"] == "Inqueue"
    assert v.RESERVATION not in notes(people.get(gang))


def test_a_group_of_no_minimum_lets_its_pods_through_one_by_one(people: Team) -> None:
    people.has_queue({T1000: 1})
    assert not people.create(people.a_gang("gang", 0), as_user=TENANT).ok
    assert people.create(people.a_gang("gang", 0).of(None), as_user=TENANT).ok
    assert people.create(people.a_pod("a", 1, T1000).in_group("gang")).ok
    people.until_open("a")
    refused = people.create(people.a_pod("b", 1, T1000).in_group("gang"))
    assert refused.reason == v.Reason.INSUFFICIENT_CARD


def test_the_reservation_is_forged_by_nobody(people: Team) -> None:
    """At create, later, and by the status: also with every right over pod groups."""
    people.has_queue({T1000: 3})
    forged = people.a_gang("gang", 2).reserving(people.queue_name(), {T1000: 3})
    text = forged.body["metadata"]["annotations"][v.RESERVATION]
    for user in (TENANT, MIGHTY):
        reply = people.create(forged, as_user=user, dry=True)
        assert reply.ok, reply
        assert v.RESERVATION not in notes(reply.body)
    assert people.create(people.a_gang("gang", 2)).ok
    for sub in ("", "/status"):
        reply = people.annotate(forged, v.RESERVATION, text, as_user=MIGHTY, sub=sub)
        assert not reply.ok or v.RESERVATION not in notes(people.get(forged))
    people.until_row(T1000, quota=3, inqueue=0)
    assert people.create(people.a_pod("a", 3, T1000)).ok
    people.until_bound("a")


@pytest.mark.slow
def test_a_phase_written_by_hand_means_nothing_and_does_not_last(people: Team) -> None:
    people.has_queue({T1000: 1})
    assert people.create(people.a_pod("a", 1, T1000)).ok
    people.until_open("a")
    gang = people.a_gang("gang", 2)
    assert people.create(gang).ok
    for name in ("m", "n"):
        assert people.create(people.a_pod(name, 1, T1000).in_group("gang")).ok
    people.until_told("m", v.Reason.INSUFFICIENT_CARD)
    for phase in ("Inqueue", "Running", "Completed"):
        change: Object = {"status": {"phase": phase, "running": 2}}
        assert people.patch(gang, change, as_user=TENANT).ok
        people.until(lambda: people.get(gang)["status"]["phase"] == "Pending", "phase put right")
    assert not any(released(people.pod(name)) for name in ("m", "n"))
    people.until_row(T1000, allocated=1, inqueue=0, requested=3)


def test_a_started_gang_that_asks_for_more_members_reserves_no_more(people: Team) -> None:
    """T2: a reservation never grows; what comes later comes one by one."""
    people.has_queue({T1000: 3})
    gang = people.a_gang("gang", 2)
    assert people.create(gang).ok
    for name in ("m", "n"):
        assert people.create(people.a_pod(name, 1, T1000).in_group("gang")).ok
    people.until_bound("m", "n")
    assert people.patch(gang, {"spec": {"minMember": HUGE}}, as_user=TENANT).ok
    assert people.create(people.a_pod("a", 1, T1000)).ok
    people.until_bound("a")
    people.until_row(T1000, allocated=3, inqueue=0)


def test_a_group_in_somebody_elses_queue_opens_it_for_nobody(people: Team) -> None:
    """`card.namespaces` holds for groups as for pods."""
    people.has_queue(people.a_queue({T1000: 3}).open_to("somebody"))
    gang = people.a_gang("gang", 1)
    assert people.create(gang, as_user=TENANT).reason == v.Reason.QUEUE_NOT_OPEN
    # What a controller makes is admitted: it would give up.
    assert people.create(gang.made_by_a_controller(), as_user=TENANT).ok
    pod = people.a_pod("a", 1, T1000).in_queue(None).in_group("gang")
    people.until(lambda: not people.create(pod, dry=True).ok, "group seen")
    reply = people.create(pod, as_user=TENANT)
    assert reply.reason == v.Reason.QUEUE_NOT_OPEN
    assert f"is not open to namespace <{people.namespace}>" in reply.message
