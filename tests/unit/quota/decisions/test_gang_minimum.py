"""Gangs that their pods alone can never start, by what they ask for (E5): exact, and no fault where
others have to come that may ask for less.
"""

import pytest

from builders import CARDS, H200, H800, a_group, a_ledger, a_pod, a_queue
from builders.body import Body
from builders.pod import PodBody
from cardquota.quota import Shortfall
from cardquota.quota.decisions import GangFault, fault_of_members, fault_of_workload
from cardquota.quota.ledger import Ledger

GANG = a_group("gang").in_queue("red").of(4)
RED = a_queue("red").with_quota({H200: 3})


def a_world(*things: Body) -> Ledger:
    return a_ledger(*CARDS, *things)


def a_member(name: str = "m", cards: int = 1, card: str | None = H200) -> PodBody:
    body = a_pod(name).with_uid(name).in_group("gang").naming(card)
    return body.asking_for(cards) if cards else body


def members(number: int, cards: int = 1, card: str | None = H200) -> list[PodBody]:
    return [a_member(f"{card}-{cards}-{n}", cards, card).gated() for n in range(number)]


def of_workload(ledger: Ledger, pod: PodBody, makes: int) -> GangFault | None:
    account, group = ledger.account("red"), ledger.groups["team/gang"]
    assert account is not None
    return fault_of_workload(account, group, ledger.request_of(pod.facts(), "red"), makes)


def of_members(ledger: Ledger, minimum: int, queue: str = "red") -> GangFault | None:
    account = ledger.account(queue)
    assert account is not None
    return fault_of_members(ledger, account, ledger.groups["team/gang"], minimum)


def most(found: GangFault | None) -> int | None:
    return None if found is None else found.most


@pytest.mark.parametrize(
    ("quota", "cards", "card", "largest"),
    [
        ({H200: 4}, 1, H200, None),
        ({H200: 7}, 2, H200, 3),
        ({H200: 8}, 2, H200, None),
        ({H200: 3, H800: 1}, 1, f"{H200}|{H800}", None),
        ({H200: 3, H800: 3}, 2, f"{H200}|{H800}", 2),  # a pod is on one card: of each one is left
        ({H200: 3}, 1, f"{H200}|{H800}", 3),  # the other is not in the quota
        ({H200: 9}, 0, None, None),
    ],
)
def test_t3_by_amount_and_alternatives(
    quota: dict[str, int], cards: int, card: str | None, largest: int | None
) -> None:
    ledger = a_world(a_queue("red").with_quota(quota), GANG)
    assert most(of_workload(ledger, a_member("m", cards, card), 4)) == largest


def test_p6_cpu_and_memory_count_too() -> None:
    red = a_queue("red").with_quota({H200: 9}).limited_to(cpu="3", memory="8Gi")
    ledger = a_world(red, GANG)
    found = of_workload(ledger, a_member().with_cpu("1500m"), 4)
    assert found == GangFault(4, 2, (Shortfall("cpu", 6000, 6000, 3000),))
    assert of_workload(ledger, a_member().with_cpu("750m"), 4) is None


def test_p6_its_own_pods_that_wait_ask_for_cpu_and_memory_too() -> None:
    """Whatever minimum is proposed would start."""
    red = a_queue("red").with_quota({H200: 9}).limited_to(cpu="3")
    pod = a_member().with_cpu("1500m")
    own = [pod.put(f"w{n}", "metadata", "name").with_uid(f"w{n}").gated() for n in range(2)]
    found = of_workload(a_world(red, GANG, *own), pod, 4)
    assert found == GangFault(4, 2, (Shortfall("cpu", 6000, 6000, 3000),))
    assert most(of_workload(a_world(red, GANG, *own, *members(1)), pod, 4)) == 3


def test_a_workload_of_fewer_pods_than_the_minimum_needs_others_who_may_ask_for_less() -> None:
    ledger = a_world(RED, GANG)
    assert of_workload(ledger, a_member(), 3) is None


def test_pods_alone_and_gangs_that_have_started_have_no_minimum() -> None:
    """The quota may be lowered after that."""
    assert of_workload(a_world(RED, GANG.of(1)), a_member(), 4) is None
    started = [
        a_member(f"s{n}").stamped("red", {H200: 1}).on_node("h200-a").with_uid(f"s{n}")
        for n in range(4)
    ]
    assert of_workload(a_world(RED, GANG, *started), a_member(), 9) is None


def test_a_group_is_judged_by_the_pods_that_wait_for_it() -> None:
    ledger = a_world(RED, GANG, *members(4))
    assert of_members(ledger, 4) == GangFault(4, 3)
    for minimum in (0, 1, 3, 5):  # of five one is not there, and may ask for nothing
        assert of_members(ledger, minimum) is None


def test_t3_its_members_are_judged_together() -> None:
    red = a_queue("red").with_quota({H200: 2, H800: 2})
    kinds = [*members(2, 1, H200), *members(2, 1, f"{H200}|{H800}")]
    assert of_members(a_world(red, GANG, *kinds), 4) is None
    kinds = [*members(3, 1, H200), *members(2, 1, f"{H200}|{H800}")]
    assert most(of_members(a_world(red, GANG, *kinds), 5)) == 4
    assert of_members(a_world(red, GANG, *kinds), 4) is None


def test_what_is_not_exact_is_not_told() -> None:
    """Members of unequal amounts, of too many kinds, without cards, or released already."""
    assert of_members(a_world(RED, GANG, *members(3), *members(1, 2)), 4) is None
    many = [a_member(f"k{n}").with_cpu(f"{n + 1}m").gated() for n in range(33)]
    assert of_members(a_world(RED, GANG, *many), 33) is None
    assert of_members(a_world(RED, GANG, *members(4, 0, None)), 4) is None
    one = a_member("s").stamped("red", {H200: 1}).on_node("h200-a")
    assert of_members(a_world(RED, GANG, one, *members(4)), 5) is None


def test_as_many_kinds_as_are_looked_at_are_told() -> None:
    kinds = [a_member(f"k{n}").with_cpu(f"{n + 1}m").gated() for n in range(32)]
    assert most(of_members(a_world(RED, GANG, *kinds), 32)) == 3


def test_in_another_queue_they_are_judged_by_that_one() -> None:
    """P3: who names no card may have any card of its queue."""
    blue = a_queue("blue").with_quota({H800: 4})
    ledger = a_world(RED, blue, GANG, *members(4, 1, None))
    assert most(of_members(ledger, 4)) == 3
    assert of_members(ledger, 4, "blue") is None
