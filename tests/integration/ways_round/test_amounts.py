"""Cards named and amounts asked for in odd ways."""

from builders import GPU
from cardquota.quota import vocabulary as v
from integration.team import Team


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
