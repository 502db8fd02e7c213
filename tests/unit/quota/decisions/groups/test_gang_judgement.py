"""E2, E7, T3: members are judged kind by kind, and get what they would one by one."""

import random

import pytest

from builders import CARDS, H200, H800, R4090, Body, a_group, a_ledger, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import GANG_KINDS, Charge, Outcome, Verdict
from cardquota.quota.assignment import Assignment, assignment
from cardquota.quota.decisions.fit import MOST_SELECTORS
from cardquota.quota.decisions.groups import GangTrial, Kind, judge_gang, kinds_of
from cardquota.quota.decisions.room_together import room_together
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import PodRecord
from cardquota.quota.release import Opening
from cardquota.quota.release.openings import openings
from unit.steps import steps_of

from ...brute_force import plainly
from ...releasing import cards_of, release

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


def one_by_one(ledger: Ledger, members: list[PodRecord]) -> list[Charge] | None:
    """Their cards, each judged by itself when all before it have theirs, kind by kind; None where
    one of them does not fit then.
    """
    trial = GangTrial(ledger)
    found: list[Charge] = [()] * len(members)
    for kind in kinds_of(members, len(members)):
        for place in kind.places:
            verdict, served = trial.judge_each(Kind(members[place], [place]))
            if not verdict.fits:
                return None
            found[place] = served[0][0]
    return found


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
def test_e7_each_gets_what_it_would_get_one_by_one(seed: int) -> None:
    ledger = a_world(random.Random(seed))
    members, account = members_of(ledger), ledger.account("red")
    assert account is not None
    verdict, cards = judge_gang(ledger, members)
    expected = one_by_one(ledger, members)
    kinds = kinds_of(members, len(members))
    # Of those with a choice, equal ones get one card: that is told in `test_one_card_for_a_task`.
    if expected is not None and all(k.number == 1 or len(k.cards) == 1 for k in kinds):
        assert (verdict.fits, cards) == (True, expected)
    limited = account.facts is not None and account.facts.limits
    claims = [r.request and (r.request.cards, r.request.amount) for r in members]
    plain = plainly(ledger, account, at_create=False)
    if not limited and plain.fits() and all(claims):
        claims_of = [k.claim for k in kinds_of(members, 99) for _ in k.places]
        assert verdict.fits == plain.fits(*claims_of)
    with room_together(ledger, account) as room:
        assert verdict.fits == all(room.take(k.first, k.number) == k.number for k in kinds)
    if verdict.fits:
        given = [(card, n) for charge in cards for card, n in charge]
        assert [n for _, n in given] == [r.request.amount for r in members if r.request]


@pytest.mark.parametrize("order", [EITHER, f"{H800}|{H200}"])
def test_t3_thousands_that_must_be_assigned_together_are_moved_in_one_go(order: str) -> None:
    """Those who may choose prefer the only card of the others, or the card beside it."""
    may = [member(f"a{n:04}", 1, order) for n in range(1_000)]
    must = [member(f"b{n:04}", 1, H200) for n in range(1_000)]
    also = [member(f"c{n:04}", 1, f"{H800}|{R4090}") for n in range(500)]
    quota = {H200: 1_200, H800: 900, R4090: 400}
    queue = a_queue("red").with_quota(quota)
    ledger = a_ledger(*CARDS, queue, *a_gang(*may, *must, *also))
    verdict, cards = judge_gang(ledger, members_of(ledger))
    assert verdict.fits
    held = {card: sum(n for charge in cards for c, n in charge if c == card) for card in quota}
    assert held == quota
    assert set(cards[1_000:2_000]) == {((H200, 1),)}


AMOUNTS = (2, 2, 3, 3)
"""Two cards of five take them all, but not in any order."""


def members_of_amounts(*amounts: int) -> list[Body]:
    return a_gang(*(member(f"m{n}", amount) for n, amount in enumerate(amounts)))


def test_e5_a_gang_whose_search_was_cut_short_waits_and_is_tried_when_anything_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It could fit the empty queue, and nobody has looked to the end whether it does."""
    monkeypatch.setattr(assignment, "MOST_STEPS", 1)
    holder = a_pod("held").in_queue("red").stamped("red", {H200: 1}).on_node("h200-a")
    queue = a_queue("red").with_quota({H200: 5, H800: 5})
    ledger = a_ledger(*CARDS, queue, holder, *members_of_amounts(*AMOUNTS))
    opened, refusals = release(ledger)
    assert (opened, {r.verdict.outcome for r in refusals}) == ([], {Outcome.WAITS})
    monkeypatch.undo()
    ledger.pod_gone("uid-held")
    assert [len(pods) for pods in release(ledger)[0]] == [len(AMOUNTS)]


@pytest.mark.parametrize(
    ("amounts", "cut", "full"),
    [
        ((3, 3, 4), Outcome.WAITS, Outcome.NEVER),
        ((3, 3, 3), Outcome.NEVER, Outcome.NEVER),
        ((5, 5, 1), Outcome.NEVER, Outcome.NEVER),
        ((6, 1), Outcome.NEVER, Outcome.NEVER),
    ],
    ids=["by a search", "by what amounts like theirs can use", "in sum", "by one of them"],
)
def test_e5_never_is_said_only_of_what_is_proven_not_to_fit(
    amounts: tuple[int, ...], cut: Outcome, full: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = a_queue("red").with_quota({H200: 5, H800: 5})
    ledger = a_ledger(*CARDS, queue, *members_of_amounts(*amounts))
    assert judge_gang(ledger, members_of(ledger))[0].outcome is full
    monkeypatch.setattr(assignment, "MOST_STEPS", 1)
    assert judge_gang(ledger, members_of(ledger))[0].outcome is cut


def test_who_has_a_place_and_gets_no_card_is_a_loud_mistake(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Assignment, "fix", lambda *_: 0)
    queue = a_queue("red").with_quota({H200: 5, H800: 5})
    gang = a_gang(member("a"), member("b", 5, H200))
    ledger = a_ledger(*CARDS, queue, *gang)
    with pytest.raises(AssertionError, match="none of their cards"):
        judge_gang(ledger, members_of(ledger))


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


def test_e7_of_very_many_selectors_some_are_looked_at() -> None:
    """Each costs a walk over the nodes; who picks by another gets the first card with quota."""
    pools = range(MOST_SELECTORS + 1)
    nodes = [
        a_node(f"{card}-{n}").with_cards(card, amount).labelled(POOL, str(n))
        for n in pools
        for card, amount in ((H800, 8), (H200, 0))
    ]
    gang = a_gang(*(member(f"m{n}").on_nodes_labelled({POOL: str(n)}) for n in pools))
    queue = a_queue("red").with_quota({H200: 99, H800: 99})
    ledger = a_ledger(*CARDS, queue, *nodes, *gang)
    release(ledger)
    found = cards_of(ledger, *(f"m{n}" for n in pools))
    assert found == [{H800: 1}] * MOST_SELECTORS + [{H200: 1}]


def test_t3_no_member_gets_a_card_that_somebody_is_short_of() -> None:
    """Though an equal claim stands there, of one who came past us before."""
    other = "NVIDIA-A100"
    past = [
        a_pod("p").in_queue("red").naming(EITHER).asking_for(2),
        a_pod("x").in_queue("red").naming(f"{other}|{H200}").asking_for(3),
    ]
    quota = a_queue("red").with_quota({H200: 2, H800: 2, R4090: 2, other: 1})
    gang = a_gang(member("g0", 2, f"{H800}|{R4090}"), member("g1", 2, EITHER))
    ledger = a_ledger(*CARDS, quota, *past, *gang)
    for _ in range(2):
        verdict, cards = judge_gang(ledger, members_of(ledger))
        assert verdict.outcome is Outcome.FITS
        assert cards == [((R4090, 2),), ((H800, 2),)]


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
