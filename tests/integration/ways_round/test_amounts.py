"""Cards named and amounts asked for in odd ways."""

from builders import GPU
from cardquota.quota import vocabulary as v
from integration.roomy_nodes import T1000, T2000
from integration.team import Team, notes


def test_a_card_named_twice_is_one_alternative(people: Team) -> None:
    """P2: `A|A` is A: it neither doubles the quota nor counts twice."""
    people.has_queue({T1000: 1})
    twice = people.a_pod("a", 2, f"{T1000}|{T1000}")
    assert people.create(twice).reason == v.Reason.INSUFFICIENT_CARD
    assert people.create(people.a_pod("b", 1, f"{T1000} | {T1000}|{T1000}")).ok
    people.until_open("b")
    assert notes(people.pod("b"))[v.ALLOCATED] == f'{{"{T1000}": 1}}'
    refused = people.create(people.a_pod("c", 1, f"{T1000}|{T1000}"))
    assert refused.message.count(f"<{T1000}> quota") == 1


def test_alternatives_are_not_added_up(people: Team) -> None:
    """Two of one and two of another are not four of either. Nor is there a pod of no card at all
    under a card's name (P4): charged nothing, it might be given something later.
    """
    people.has_queue({T1000: 2, T2000: 2})
    reply = people.create(people.a_pod("a", 3, f"{T1000}|{T2000}"))
    assert reply.reason == v.Reason.INSUFFICIENT_CARD
    none = people.a_pod("a", 0, T1000)
    for pod in (none, none.asking_for(0)):
        reply = people.create(pod)
        assert reply.reason == v.Reason.INVALID_CARD
        assert "no container asks for a card resource" in reply.message


def test_the_containers_of_a_pod_are_added_up(people: Team) -> None:
    """P1: init containers, sidecars and several containers hide nothing."""
    people.has_queue({T1000: 3})
    two = {"name": "x", "image": "i", "resources": {"limits": {GPU: 2}}}
    for spec in (
        {"containers": [two, {**two, "name": "y"}]},
        {"containers": [two], "initContainers": [{**two, "name": "y", "restartPolicy": "Always"}]},
        {
            "containers": [{"name": "x", "image": "i"}],
            "initContainers": [{**two, "name": "y", "resources": {"limits": {GPU: 4}}}],
        },
    ):
        reply = people.create(people.a_pod("a").naming(T1000).with_spec(**spec))
        assert reply.reason == v.Reason.INSUFFICIENT_CARD
        assert "requested <4>" in reply.message


def test_a_card_that_no_node_has_shown_has_the_resource_name_of_who_came_first(
    people: Team,
) -> None:
    """D7. Of two of one moment the second waits; those who come later are refused."""
    card, other = f"{people.prefix}-card", "amd.com/gpu"
    queue = people.has_queue(people.a_queue({card: 8}).with_policy("Gate"))
    first = people.a_pod("first").naming(card).asking_for(1)
    assert people.create(first).ok
    people.until_open("first")
    people.until_row(card, inqueue=1, resource=GPU)

    later = people.a_pod("later").naming(card).asking_for(1, other)
    people.until(lambda: not people.create(later, dry=True).ok, "every replica knows it")
    refused = people.create(later)
    assert (refused.code, refused.reason) == (403, v.Reason.INVALID_CARD)
    assert f"Queue <{queue}>" in refused.message
    assert f"card <{card}> is counted as {GPU}, but the containers ask for {other}" in (
        refused.message
    )
    assert people.create(people.a_pod("alike").naming(card).asking_for(1)).ok
    people.until_open("alike")
