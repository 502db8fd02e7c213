"""Section 6: what a group asks for, as `kubectl get podgroups` prints it."""

from builders import CARDS, H200, a_group, a_ledger, a_pod, a_queue
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.quota.reports import group_cards

RED = a_queue("red").with_quota({H200: 9, "NVIDIA-H800": 9})


def shown(group: GroupBody, *pods: PodBody) -> str:
    return group_cards(a_ledger(*CARDS, RED, group, *pods).groups["team/gang"])


def member(name: str, cards: int = 1, card: str = H200) -> PodBody:
    return a_pod(name).in_group("gang").naming(card).asking_for(cards)


GANG = a_group().in_queue("red").of(2)


def test_it_is_what_its_pods_ask_for_together() -> None:
    """Those at the gate, released and bound; of each model for itself."""
    bound = member("a", 2).stamped("red", {H200: 2}).on_node("h200-a")
    open_ = member("b").stamped("red", {H200: 1})
    waiting = member("c").gated(), member("d").gated(), member("e", card="NVIDIA-H800").gated()
    assert shown(GANG, bound, open_, *waiting[:2]) == f"{H200} 5"
    assert shown(GANG, *waiting) == f"{H200} 2, NVIDIA-H800 1"


def test_what_it_says_itself_comes_first() -> None:
    assert shown(GANG.asking({H200: 4}), member("a").gated()) == f"{H200} 4"


def test_a_choice_is_named_by_its_first_cards() -> None:
    assert shown(GANG.asking({f"{H200}|NVIDIA-H800": 2})) == f"{H200}|NVIDIA-H800 2"
    assert shown(GANG.asking({"A|B|C|D": 2})) == "A|B|+2 2"


def test_the_line_is_short() -> None:
    assert shown(GANG.asking({"A": 1, "B": 4, "C": 3, "D": 2})) == "B 4, C 3, D 2, +1 more"
    long = shown(GANG.asking({"|".join(f"{c}" * 63 for c in "ABCD"): 2}))
    assert len(long) < 200


def test_without_cards_there_is_nothing_to_show() -> None:
    assert shown(GANG) == ""
    assert shown(GANG, a_pod("a").in_group("gang").with_cpu("1")) == ""
