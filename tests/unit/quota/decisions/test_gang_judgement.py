"""E2, E7, T3: members are judged kind by kind, and all get their cards at once, or none."""

import random

import pytest

from builders import CARDS, H200, H800, R4090, Body, a_group, a_ledger, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import GANG_KINDS, Outcome, Verdict
from cardquota.quota.decisions import judge_gang
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import PodRecord
from cardquota.quota.release import Opening
from cardquota.quota.release.cycle import openings
from unit.steps import steps_of

from ..brute_force import can_be_served
from ..releasing import release

EITHER = f"{H200}|{H800}"
POOL = "example.com/pool"
TAINT = {"key": "team", "value": "blue", "effect": "NoSchedule"}


def member(name: str, cards: int = 1, names: str = EITHER) -> PodBody:
    pod = a_pod(name).in_queue("red").naming(names).asking_for(cards).gated()
    return pod.in_group("gang")


def a_gang(*members: Body) -> list[Body]:
    return [a_group().in_queue("red").of(len(members)), *members]


def members_of(ledger: Ledger) -> list[PodRecord]:
    records = (r for r in ledger.pods.values() if r.gated and r.facts.group)
    return sorted(records, key=lambda record: record.sort_key)


def a_world(dice: random.Random) -> Ledger:
    """Few cards, some nodes that are partly full, and a gang of few kinds."""
    cards = (H200, H800, R4090)
    nodes = [
        a_node(f"n{n}").with_cards(dice.choice(cards), dice.choice((1, 2, 4, 8)))
        for n in range(dice.randint(0, 6))
    ]
    for place, node in enumerate(nodes):
        if dice.random() < 0.5:
            nodes[place] = node.labelled(POOL, dice.choice("xy"))
        if dice.random() < 0.2:
            nodes[place] = nodes[place].put([TAINT], "spec", "taints")
    quota = {card: dice.randint(0, 9) for card in cards}
    queue = a_queue("red").with_quota(quota)
    if dice.random() < 0.3:
        queue = queue.limited_to(cpu=str(dice.randint(1, 9)))
    past = a_pod("past").in_queue("red").naming(dice.choice((EITHER, f"{H800}|{R4090}")))
    others: list[Body] = [past.asking_for(1)] if dice.random() < 0.5 else []
    members = []
    kinds = [a_kind(dice) for _ in range(dice.randint(1, 3))]
    for number in range(dice.randint(2, 7)):
        names, amount, pool, tolerates, cpu = dice.choice(kinds)
        pod = member(f"m{number}", amount, names).with_cpu(cpu)
        if pool:
            pod = pod.on_nodes_labelled({POOL: pool})
        if tolerates:
            pod = pod.with_spec(tolerations=[{"operator": "Exists", "key": "team"}])
        members.append(pod)
    return a_ledger(*CARDS, queue, *nodes, *others, *a_gang(*members))


def a_kind(dice: random.Random) -> tuple[str, int, str, bool, str]:
    names = dice.sample((H200, H800, R4090), dice.randint(1, 3))
    return (
        "|".join(names),
        dice.choice((1, 1, 2, 3)),
        dice.choice(("", "", "x", "y")),
        dice.random() < 0.3,
        dice.choice(("0", "1", "500m")),
    )


@pytest.mark.parametrize("seed", range(400))
def test_e2_they_start_only_if_all_of_them_fit(seed: int) -> None:
    """By plain sums: what they get is theirs, and beside all that is charged within every limit."""
    ledger = a_world(random.Random(seed))
    members, account = members_of(ledger), ledger.account("red")
    assert account is not None
    verdict, cards = judge_gang(ledger, members)
    requests = [record.request for record in members if record.request is not None]
    left = {card: n - account.row(card).charged for card, n in account.quota.items()}
    wants = [(request.cards, request.amount) for request in requests]
    cpu = sum(request.cpu for request in requests)
    limits = account.facts.limits if account.facts is not None else {}
    has_cpu = cpu + account.row("cpu").charged <= limits.get(
        "cpu", cpu + account.row("cpu").charged
    )
    can_start = has_cpu and all(cards for cards, _ in wants) and can_be_served(left, wants)
    if not verdict.fits:
        alike = len({amount for cards, amount in wants if len(cards) > 1}) < 2
        assert not (can_start and alike)
        assert not (verdict.outcome is Outcome.NEVER and can_start)
        return
    assert can_start
    for request, charge in zip(requests, cards, strict=True):
        ((card, amount),) = charge
        assert card in request.cards
        assert amount == request.amount
        left[card] -= amount
    assert min(left[card] for charge in cards for card, _ in charge) >= 0


def members_of_amounts(*amounts: int) -> list[Body]:
    return a_gang(*(member(f"m{n}", amount) for n, amount in enumerate(amounts)))


def test_e5_a_gang_for_which_no_way_was_found_waits_and_is_tried_when_anything_is_free() -> None:
    """Two cards of five take two of 2 and two of 3 each, if the quota is free."""
    amounts = (2, 2, 3, 3)
    holder = a_pod("held").in_queue("red").stamped("red", {H200: 1}).on_node("h200-a")
    queue = a_queue("red").with_quota({H200: 5, H800: 5})
    ledger = a_ledger(*CARDS, queue, holder, *members_of_amounts(*amounts))
    opened, refusals = release(ledger)
    assert (opened, {r.verdict.outcome for r in refusals}) == ([], {Outcome.WAITS})
    ledger.pod_gone("uid-held")
    assert [len(pods) for pods in release(ledger)[0]] == [len(amounts)]


@pytest.mark.parametrize(
    ("amounts", "outcome"),
    [
        ((3, 3, 4), Outcome.WAITS),
        ((3, 3, 3), Outcome.NEVER),
        ((5, 5, 1), Outcome.NEVER),
        ((6, 1), Outcome.NEVER),
    ],
    ids=["which no sum proves", "alike", "in sum", "by one of them"],
)
def test_e5_never_is_said_only_of_what_is_proven_not_to_fit(
    amounts: tuple[int, ...], outcome: Outcome
) -> None:
    queue = a_queue("red").with_quota({H200: 5, H800: 5})
    ledger = a_ledger(*CARDS, queue, *members_of_amounts(*amounts))
    assert judge_gang(ledger, members_of(ledger))[0].outcome is outcome


def test_a_gang_of_too_many_kinds_is_told_so() -> None:
    unlike = [member(f"m{n:03}", 1, H200).with_cpu(f"{n + 1}m") for n in range(GANG_KINDS.most + 1)]
    queue = a_queue("red").with_quota({H200: 1_000})
    opened, refusals = release(a_ledger(*CARDS, queue, *a_gang(*unlike)))
    assert opened == []
    assert refusals[0].verdict.outcome is Outcome.NEVER
    assert f"in more than <{GANG_KINDS.most}> ways" in refusals[0].verdict.text
    assert refusals[0].gang is not None
    assert len(release(a_ledger(*CARDS, queue, *a_gang(*unlike[1:])))[0][0]) == GANG_KINDS.most


def test_thousands_alike_with_a_choice_are_one_kind() -> None:
    queue = a_queue("red").with_quota({H200: 1_500, H800: 1_500})
    ledger = a_ledger(*CARDS, queue, *a_gang(*(member(f"m{n:05}") for n in range(3_000))))
    found = next(openings(ledger, "red"))
    assert isinstance(found, Opening)
    assert found.asked == ((H200, 1_500), (H800, 1_500))


# --- what it costs ----------------------------------------------------------------------------


def many_alternatives(kinds: int, pods: int, quota: int) -> tuple[Ledger, list[PodRecord]]:
    """Kinds of pods that may use nearly all of 16 cards each, and a queue with this quota of each
    card.
    """
    cards = [f"NVIDIA-C{n}" for n in range(16)]
    nodes = [a_node(f"c{n}").with_cards(f"C{n}", 8) for n in range(16)]
    things: list[Body] = []
    for kind in range(kinds):
        names = "|".join(cards[: 16 - kind % 4])
        for n in range(pods):
            pod = member(f"m{kind:03}-{n}", 1 + kind % 5, names)
            things.append(pod.with_cpu(f"{kind + 1}m"))
    queue = a_queue("red").with_quota(dict.fromkeys(cards, quota))
    ledger = a_ledger(*nodes, queue, *a_gang(*things))
    return ledger, members_of(ledger)


def test_i5_many_alternatives_of_which_none_fits_cost_little() -> None:
    ledger, members = many_alternatives(GANG_KINDS.most, 1, 0)
    found: list[Verdict] = []
    assert steps_of(lambda: found.append(judge_gang(ledger, members)[0])) < 16_000
    assert len(found[0].shortfalls) == 16


def test_i5_pods_on_many_cards_cost_little() -> None:
    """What one pod after the other gets is searched once for each that gets another card."""
    ledger, members = many_alternatives(16, 40, 124)
    found: list[Verdict] = []
    assert steps_of(lambda: found.append(judge_gang(ledger, members)[0])) < 500_000
    assert found[0].fits
