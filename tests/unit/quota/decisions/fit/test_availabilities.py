"""E7: what it takes to find which cards pods could have at once, and what holds beyond a bound."""

import pytest

from builders import H200, H800, Body, a_group, a_ledger, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import GANG_KINDS, TOLERATIONS
from cardquota.quota.decisions.fit import Availabilities, availabilities
from cardquota.quota.decisions.groups import judge_gang
from cardquota.quota.ledger import Ledger
from cardquota.quota.nodes import FreeCards
from cardquota.quota.selectors import PodToleration

from ...releasing import cards_of, release

POOL = "example.com/pool"
EITHER = f"{H200}|{H800}"
QUEUE = a_queue("red").with_quota({H200: 999, H800: 999})


def member(name: str, *keys: str, names: str = EITHER) -> PodBody:
    """Tolerates taints with these keys."""
    tolerations = [{"operator": "Exists", "key": key} for key in keys]
    pod = a_pod(name).in_queue("red").naming(names).asking_for(1).gated().in_group("gang")
    return pod.with_spec(tolerations=tolerations)


def tainted(name: str, card: str, *keys: str, cards: int = 8) -> Body:
    taints = [{"key": key, "value": "blue", "effect": "NoSchedule"} for key in keys]
    return a_node(name).with_cards(card, cards).labelled(POOL, "x").put(taints, "spec", "taints")


def of_gang(*things: Body, number: int) -> Ledger:
    return a_ledger(QUEUE, a_group().in_queue("red").of(number), *things)


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


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The nodes that were walked over because a selector picks them."""
    found: list[str] = []
    walk = FreeCards.of_nodes

    def noted(self: FreeCards, card: str, nodes: list[str]) -> object:
        found.extend(nodes)
        return walk(self, card, nodes)

    monkeypatch.setattr(FreeCards, "of_nodes", noted)
    return found


@pytest.mark.parametrize("picks", [True, False])
def test_the_nodes_are_walked_over_once_however_many_tolerate_differently(
    picks: bool, walked: list[str], covers: list[PodToleration]
) -> None:
    """What they tolerate is compared with each different taint, and not with each node."""
    nodes = [tainted(f"n{n:03}", H200 if n % 2 else H800, "team") for n in range(200)]
    kinds = range(GANG_KINDS.most)
    keys = [[f"k{n}-{i}" for i in range(TOLERATIONS.most - 1)] + ["team"] for n in kinds]
    members = [member(f"m{n:02}", *keys[n]) for n in kinds]
    if picks:
        members = [pod.on_nodes_labelled({POOL: "x"}) for pod in members]
    ledger = of_gang(*nodes, *members, number=len(members))
    records = sorted(ledger.pods.values(), key=lambda record: record.sort_key)
    verdict, cards = judge_gang(ledger, records)
    assert verdict.fits
    assert cards == [((H200, 1),)] * len(members)
    assert len(walked) == (100 if picks else 0)
    assert len(covers) == len(members)


def test_a_toleration_is_compared_with_taints_of_its_key_alone(covers: list[PodToleration]) -> None:
    """Each of many nodes has a taint of its own, and a pod tolerates many."""
    nodes = [tainted(f"n{n:03}", H800, f"team{n}") for n in range(100)]
    keys = [f"team{n}" for n in range(99, 99 + TOLERATIONS.most)]
    ledger = a_ledger(QUEUE, *nodes, tainted("full", H200, "team99", cards=0), member("p", *keys))
    availability_of = Availabilities(ledger).of(ledger.pods["uid-p"])
    assert availability_of is not None
    assert [availability_of(H200), availability_of(H800)] == [0, 2]
    assert {one.key for one in covers} == {"team99"}


def test_e7_those_who_tolerate_the_same_of_the_nodes_share_what_is_looked_at() -> None:
    """Each card costs one look, and not one for every kind of pod."""
    names = [f"CARD-{n:02}" for n in range(16)]
    nodes = [tainted(name.lower(), name, "team") for name in names]
    members = [
        member(f"m{n:02}", f"else{n}", names="|".join(names)).with_cpu(f"{n + 1}m")
        for n in range(GANG_KINDS.most)
    ]
    queue = a_queue("red").with_quota(dict.fromkeys(names, 99))
    ledger = a_ledger(queue, *nodes, *members)
    asked = Availabilities(ledger)
    for n in range(len(members)):
        availability_of = asked.of(ledger.pods[f"uid-m{n:02}"])
        assert availability_of is not None
        assert {availability_of(name) for name in names} == {0}
    assert asked.steps_left == availabilities.MOST_STEPS - 16 * (1 + 1 + 1) - 16 * 17


def test_e7_beyond_the_bound_of_comparisons_the_first_card_with_quota(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where nodes have very many different taints that are all to be compared."""
    nodes = [tainted(f"n{n:02}", H800, f"team{n}") for n in range(10)]
    pods = [member("a", "team0"), member("b", "team1"), member("c", "team0")]
    ledger = of_gang(*nodes, tainted("full", H200, "team0", cards=0), *pods, number=3)
    # One of them: its toleration, ten kinds of nodes with a taint each; one of them has H200.
    compared, looked = 1 + 20, (16 + 1) + (16 + 10)
    monkeypatch.setattr(availabilities, "MOST_STEPS", compared + looked + compared - 1)
    release(ledger)
    assert cards_of(ledger, "a", "b", "c") == [{H800: 1}, {H200: 1}, {H800: 1}]


def test_e7_beyond_the_bound_of_looks_the_first_card_that_is_not_known_to_be_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    third = "CARD-3"
    nodes = tainted("n1", H200, cards=0), tainted("n2", H800, cards=0), tainted("n3", third)
    names = f"{EITHER}|{third}"
    things = a_queue("red").with_quota({H200: 9, H800: 9, third: 9}), *nodes
    found = []
    for looks in (0, 1, 2, 3):
        monkeypatch.setattr(availabilities, "MOST_STEPS", 1 + looks * 17)
        group = a_group().in_queue("red").of(2)
        ledger = a_ledger(*things, group, member("p", names=names), member("q", names=names))
        release(ledger)
        found.append(cards_of(ledger, "p", "q"))
    assert found == [[{card: 1}] * 2 for card in (H200, H800, third, third)]
