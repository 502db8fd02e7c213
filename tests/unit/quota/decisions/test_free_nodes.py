"""E7: which of its cards a pod could have at once, and what it costs to know."""

import pytest

from builders import H200, H800, Body, a_ledger, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import TOLERATIONS
from cardquota.quota.decisions import has_free, queue_room
from cardquota.quota.ledger import Ledger
from cardquota.quota.selectors import PodToleration

POOL = "example.com/pool"
EITHER = f"{H200}|{H800}"
QUEUE = a_queue("red").with_quota({H200: 999, H800: 999})


def tolerating(*keys: str, names: str = EITHER) -> PodBody:
    """Tolerates taints with these keys."""
    tolerations = [{"operator": "Exists", "key": key} for key in keys]
    pod = a_pod("p").in_queue("red").naming(names).asking_for(1).gated()
    return pod.with_spec(tolerations=tolerations)


def tainted(name: str, card: str, *keys: str, cards: int = 8) -> Body:
    taints = [{"key": key, "value": "blue", "effect": "NoSchedule"} for key in keys]
    return a_node(name).with_cards(card, cards).labelled(POOL, name).put(taints, "spec", "taints")


def free_of(ledger: Ledger, amount: int = 1) -> list[bool]:
    is_free = has_free(ledger, ledger.pods["uid-p"].facts, amount)
    return [is_free(H200), is_free(H800)]


@pytest.fixture
def covers(monkeypatch: pytest.MonkeyPatch) -> list[PodToleration]:
    """The tolerations that were compared with a taint."""
    found: list[PodToleration] = []
    compare = PodToleration.covers

    def noted(self: PodToleration, taint: object) -> bool:
        found.append(self)
        return compare(self, taint)  # type: ignore[arg-type]

    monkeypatch.setattr(PodToleration, "covers", noted)
    return found


def test_nodes_that_it_tolerates_and_selects() -> None:
    nodes = tainted("a", H200, "team"), tainted("b", H800)
    assert free_of(a_ledger(QUEUE, *nodes, tolerating())) == [False, True]
    assert free_of(a_ledger(QUEUE, *nodes, tolerating("team"))) == [True, True]
    assert free_of(a_ledger(QUEUE, *nodes, tolerating("team")), 9) == [False, False]
    picks = tolerating("team").on_nodes_labelled({POOL: "a"})
    assert free_of(a_ledger(QUEUE, *nodes, picks)) == [True, False]


def test_a_toleration_is_compared_with_taints_of_its_key_alone(covers: list[PodToleration]) -> None:
    """Each of many nodes has a taint of its own, and a pod tolerates many."""
    nodes = [tainted(f"n{n:03}", H800, f"team{n}") for n in range(100)]
    keys = [f"team{n}" for n in range(99, 99 + TOLERATIONS.most)]
    full = tainted("full", H200, "team99", cards=0)
    ledger = a_ledger(QUEUE, *nodes, full, tolerating(*keys))
    assert free_of(ledger) == [False, True]
    assert {one.key for one in covers} == {"team99"}


def test_i5_beyond_the_bound_of_comparisons_nobody_looks(
    covers: list[PodToleration], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nodes have very many different taints that are all to be compared."""
    ledger = a_ledger(QUEUE, *(tainted(f"n{n}", H800, f"team{n}") for n in range(10)), tolerating())
    assert free_of(ledger) == [False, False]
    monkeypatch.setattr(queue_room, "MOST_COMPARED", 9)
    assert free_of(ledger) == [True, True]
    assert covers == []
