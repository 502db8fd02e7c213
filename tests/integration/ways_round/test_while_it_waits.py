"""What may be edited while a pod waits is judged when its gate would open, by what then stands."""

import pytest

from cardquota.quota import vocabulary as v
from integration.roomy_nodes import T1000, T2000
from integration.team import Team, notes, released

from .people import TENANT


def waiting(team: Team) -> None:
    """Pod `b` waits for the card that `a` holds; another queue is not for this team."""
    team.has_queue(team.a_queue({T1000: 1}).with_policy("Gate"))
    team.has_queue(team.a_queue({T1000: 5, T2000: 5}, "theirs").open_to("somebody"), name="theirs")
    assert team.create(team.a_pod("a", 1, T1000)).ok
    team.until_open("a")
    assert team.create(team.a_pod("b", 1, T1000), as_user=TENANT).ok
    team.until_told("b", v.Reason.INSUFFICIENT_CARD)


@pytest.mark.slow
def test_what_it_is_changed_to_is_judged_like_a_create(people: Team) -> None:
    """It stays at the gate and is told why."""
    waiting(people)
    pod = people.a_pod("b")
    for key, value, reason in (
        (v.CARD_NAME, T2000, v.Reason.CARD_NOT_IN_QUOTA),
        (v.QUEUE_NAME, people.queue_name("theirs"), v.Reason.QUEUE_NOT_OPEN),
    ):
        assert people.annotate(pod, key, value, as_user=TENANT).ok
        people.until_told("b", reason)
    assert not released(people.pod("b"))
    people.until_row(T1000, allocated=1)


@pytest.mark.parametrize("key", [v.QUEUE_NAME, v.CARD_NAME])
def test_what_it_no_longer_says_lets_nothing_through(people: Team, key: str) -> None:
    """Without a queue nobody opens its gate; without a card it gets one of its queue's."""
    waiting(people)
    assert people.annotate(people.a_pod("b"), key, None, as_user=TENANT).ok
    if key == v.QUEUE_NAME:
        people.until_row(T1000, requested=1, allocated=1)
    people.set_quota({T1000: 2})
    if key == v.QUEUE_NAME:
        people.until_row(T1000, quota=2)
        assert not released(people.pod("b"))
    else:
        people.until_open("b")
        assert notes(people.pod("b"))[v.ALLOCATED] == f'{{"{T1000}": 1}}'
