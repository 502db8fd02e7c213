"""W1, L1: what is kept of each card is what the rounds give, after any history; who is told."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import H200, H800, a_ledger, a_node, a_pod, a_queue, see
from builders.queue_order import queue_order
from cardquota.quota import to_its_end
from cardquota.quota.ledger import Ledger, shares
from cardquota.quota.reports import CardRow, report

from ..plain_rounds import PlainSharer, rounds, whole

QUEUES = ("red", "blue", "green")
CARDS = (H200, H800)
Written = tuple[dict[str, int], int, dict[str, int], dict[str, int]]
"""Of a queue: quota, weight, guarantee, and what it is owed."""


class OversoldCluster:
    """Queues of two cards, of which there are few: most of the time they are oversold."""

    def __init__(self) -> None:
        self.ledger = a_ledger()
        self.totals = dict.fromkeys(CARDS, 0)
        self.queues: dict[str, Written] = {}
        self.pods: dict[str, tuple[str, str, int]] = {}
        """Queue, card and amount, by name."""
        self.shown: dict[str, object] = {}

    # --- what happens -------------------------------------------------------------------------

    def node(self, card: str, amount: int) -> None:
        self.totals[card] = amount
        see(self.ledger, a_node(card).with_cards(card, amount))

    def node_goes(self, card: str) -> None:
        self.totals[card] = 0
        self.ledger.node_gone(card)

    def queue(self, name: str, written: Written) -> None:
        self.queues[name] = written
        quota, weight, guarantee, owed = written
        queue = a_queue(name).with_quota(quota).weighing(weight)
        see(self.ledger, queue.guaranteeing_cards(guarantee).deserving_cards(owed))

    def weight(self, name: str, weight: int) -> None:
        if name in self.queues:
            quota, _, guarantee, owed = self.queues[name]
            self.queue(name, (quota, weight, guarantee, owed))

    def guarantee(self, name: str, guarantee: dict[str, int]) -> None:
        if name in self.queues:
            quota, weight, _, owed = self.queues[name]
            self.queue(name, (quota, weight, guarantee, owed))

    def owed(self, name: str, owed: dict[str, int]) -> None:
        if name in self.queues:
            quota, weight, guarantee, _ = self.queues[name]
            self.queue(name, (quota, weight, guarantee, owed))

    def queue_goes(self, name: str) -> None:
        self.queues.pop(name, None)
        self.ledger.queue_gone(name)

    def pod(self, name: str, queue: str, card: str, amount: int) -> None:
        """Or another one in its place: one that is released, or at the gate."""
        self.pod_goes(name)
        self.pods[name] = queue, card, amount
        body = a_pod(name).in_queue(queue).naming(card).asking_for(amount).owned_by("Job")
        see(self.ledger, body.stamped(queue, {card: amount}) if amount % 2 else body.gated())

    def pod_goes(self, name: str) -> None:
        self.pods.pop(name, None)
        self.ledger.pod_gone(a_pod(name).uid)

    # --- who looks ----------------------------------------------------------------------------

    def nobody(self) -> None:
        pass

    def follower(self) -> None:
        """A replica that does not lead has its metrics scraped."""
        to_its_end(self.ledger.shares.refresh())
        self.ledger.dirty.clear()
        self.shown.clear()

    def leader(self) -> None:
        """Everybody whose numbers are others than it was told is reported again."""
        to_its_end(self.ledger.shares.refresh())
        told = self.ledger.dirty.take_changed()
        for name in self.queues:
            found = report(self.ledger, name)
            assert found is not None
            assert name in told or self.shown.get(name, found) == found
            self.shown[name] = found
        assert not self.ledger.dirty.take_changed()

    def interrupted(self) -> None:
        """A leader's time for it is over after a step."""
        next(self.ledger.shares.refresh(), None)

    def reader(self) -> None:
        """As if everybody asked for its quota."""
        for card, total in self.totals.items():
            sharers = self.sharers(card, by_quota=True)
            expected = whole(rounds(total, sharers), total)
            if sum(quota.get(card, 0) for quota, *_ in self.queues.values()) <= total:
                expected = {name: one.cap for name, one in sharers.items()}
            found = {name: self.ledger.shares.shown(name, card) for name in QUEUES}
            assert found == {name: expected.get(name, 0) for name in QUEUES}
            for name in self.queues:
                account = self.ledger.account(name)
                assert account is not None
                pods = [n for queue, what, n in self.pods.values() if (queue, what) == (name, card)]
                quota, _, _, owed = self.queues[name]
                deserved = found[name] if total or card in owed else quota.get(card, 0)
                borrowed = max(0, sum(n for n in pods if n % 2) - deserved)
                assert self.ledger.shares.borrowed(account, card) == borrowed

    def order(self) -> None:
        """By what is asked."""
        queue_order(self.ledger, QUEUES)
        # Of what nobody of a queue waits for, its place does not depend.
        asked = {(queue, card) for queue, card, amount in self.pods.values() if amount % 2 == 0}
        for card, total in self.totals.items():
            exact = rounds(total, self.sharers(card, by_quota=False))
            quotas = sum(quota.get(card, 0) for quota, *_ in self.queues.values())
            for name, (quota, _, _, owed) in self.queues.items():
                account = self.ledger.account(name)
                assert account is not None
                if quota.get(card) and (name, card) in asked:
                    found = Fraction(*self.ledger.shares.by_request(account, card))
                    most = min(quota[card], owed.get(card, quota[card]))
                    assert found == (exact[name] if 0 < total < quotas else most)

    def sharers(self, card: str, *, by_quota: bool) -> dict[str, PlainSharer]:
        asked = dict.fromkeys(QUEUES, 0)
        for queue, named, amount in self.pods.values():
            asked[queue] += amount if named == card else 0
        found = {}
        for name, (quota, weight, guarantee, owed) in self.queues.items():
            if card in quota:
                most = min(quota[card], owed.get(card, quota[card]))
                cap = most if by_quota else min(most, asked[name])
                least = cap if card in owed else guarantee.get(card, 0)
                found[name] = PlainSharer(weight, cap, least)
        return found


Event = Callable[[OversoldCluster], None]


def events(what: Callable[..., None], *of: st.SearchStrategy[Any]) -> st.SearchStrategy[Event]:
    return st.tuples(*of).map(lambda drawn: lambda world: what(world, *drawn))


names, cards = st.sampled_from(QUEUES), st.sampled_from(CARDS)
amounts, weights = st.integers(0, 7), st.integers(1, 3)
rows = st.dictionaries(cards, amounts)
pods = st.sampled_from(("a", "b", "c", "d"))
queues = events(OversoldCluster.queue, names, st.tuples(rows, weights, rows, rows))
happens = st.one_of(
    queues,
    events(OversoldCluster.node, cards, amounts),
    events(OversoldCluster.node_goes, cards),
    events(OversoldCluster.weight, names, weights),
    events(OversoldCluster.guarantee, names, rows),
    events(OversoldCluster.owed, names, rows),
    events(OversoldCluster.queue_goes, names),
    events(OversoldCluster.pod, pods, names, cards, st.integers(1, 5)),
    events(OversoldCluster.pod_goes, pods),
)
looks = st.sampled_from(
    (
        OversoldCluster.nobody,
        OversoldCluster.follower,
        OversoldCluster.leader,
        OversoldCluster.interrupted,
        OversoldCluster.reader,
        OversoldCluster.order,
    )
)
begins = st.tuples(
    *(events(OversoldCluster.node, st.just(card), st.integers(1, 6)) for card in CARDS),
    *(
        events(
            OversoldCluster.queue,
            st.just(name),
            st.tuples(quota, weights, st.just({}), st.just({})),
        )
        for name in QUEUES
        for quota in (st.fixed_dictionaries({card: st.integers(2, 7) for card in CARDS}),)
    ),
    *(
        events(OversoldCluster.pod, st.just(name), st.just(queue), st.just(H200), st.integers(1, 5))
        for name, queue in zip("abc", QUEUES, strict=True)
    ),
)


histories = st.lists(st.tuples(looks, looks, happens), min_size=1, max_size=12)


@pytest.mark.slow
@given(begins, histories)
@settings(max_examples=150)
def test_w1_after_any_history_it_is_what_the_rounds_give(
    begin: tuple[Event, ...], history: list[tuple[Event, Event, Event]]
) -> None:
    world = OversoldCluster()
    for event in begin:
        event(world)
    for one, other, event in history:
        for step in (one, other, event):
            step(world)
    for look in (world.leader, world.reader, world.order):
        look()


def oversold() -> Ledger:
    """Eight of a card, and forty-one promised."""
    ledger = a_ledger(
        a_node().with_cards(H200, 8),
        a_queue("red").with_quota({H200: 20}),
        a_queue("blue").with_quota({H200: 20}),
        a_queue("small").with_quota({H200: 1}),
        a_queue("other").with_quota({H800: 1}),
    )
    told(ledger)
    return ledger


def told(ledger: Ledger) -> set[str]:
    to_its_end(ledger.shares.refresh())
    return ledger.dirty.take_changed()


def deserved(ledger: Ledger) -> dict[str, int]:
    return {name: ledger.shares.shown(name, H200) for name in ("red", "blue", "small", "other")}


def test_a_weight_is_news_to_those_who_are_shown_another_share_and_to_nobody_else() -> None:
    ledger = oversold()
    assert deserved(ledger) == {"red": 3, "blue": 4, "small": 1, "other": 0}
    see(ledger, a_queue("red").with_quota({H200: 20}).weighing(6))
    assert told(ledger) == {"red", "blue"}
    assert deserved(ledger) == {"red": 6, "blue": 1, "small": 1, "other": 0}


def test_l1_what_a_queue_is_owed_is_set_aside_and_the_others_share_the_rest() -> None:
    ledger = oversold()
    see(ledger, a_queue("red").with_quota({H200: 20}).deserving_cards({H200: 5, H800: 2}))
    assert told(ledger) == {"red", "blue"}
    assert deserved(ledger) == {"red": 5, "blue": 2, "small": 1, "other": 0}
    assert ledger.shares.shown("red", H800) == 0
    see(ledger, a_queue("red").with_quota({H200: 20}).deserving_cards({H200: 0}))
    assert deserved(ledger) == {"red": 0, "blue": 7, "small": 1, "other": 0}


def test_l1_it_counts_where_all_quotas_fit_too_and_what_is_held_beyond_is_borrowed() -> None:
    ledger = a_ledger(
        a_node().with_cards(H200, 8),
        a_queue("red").with_quota({H200: 6}).deserving_cards({H200: 2}),
        a_queue("blue").with_quota({H200: 2}).deserving_cards({H200: 9}),
        a_pod("a").in_queue("red").stamped("red", {H200: 5}),
    )
    assert (ledger.shares.shown("red", H200), ledger.shares.shown("blue", H200)) == (2, 2)
    rows = [row_of(ledger, name) for name in ("red", "blue")]
    assert [(row.deserved, row.borrowed) for row in rows] == [(2, 3), (2, None)]
    ledger.node_gone(a_node().name)
    assert row_of(ledger, "red").borrowed == 3, "it says so itself"


def test_l1_of_a_card_that_no_node_has_now_what_is_beyond_the_quota_is_borrowed() -> None:
    ledger = oversold()
    see(ledger, a_pod("a").in_queue("red").stamped("red", {H200: 5}))
    assert row_of(ledger, "red").borrowed == 2
    ledger.node_gone(a_node().name)
    assert row_of(ledger, "red").borrowed is None


def row_of(ledger: Ledger, queue: str) -> CardRow:
    found = report(ledger, queue)
    assert found is not None
    return next(row for row in found.cards if row.name == H200)


def test_it_is_worked_out_once_until_something_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = oversold()
    deserved(ledger)
    monkeypatch.setattr(shares, "ProgressiveFilling", None)
    queue_order(ledger, QUEUES)
    see(ledger, a_pod().in_queue("red").naming(H200).asking_for(1).gated())
    assert deserved(ledger) == {"red": 3, "blue": 4, "small": 1, "other": 0}
    assert list(ledger.shares.refresh()) == []


def test_a_step_works_out_one_card() -> None:
    quota = {f"card-{number}": 5 for number in range(7)}
    ledger = a_ledger(a_queue("red").with_quota(quota), a_queue("blue").with_quota(quota))
    assert len(list(ledger.shares.refresh())) == 7
    see(ledger, a_queue("red").with_quota(quota).weighing(2))
    assert len(list(ledger.shares.refresh())) == 7


def test_nothing_is_left_of_queues_and_cards_that_are_gone() -> None:
    ledger = oversold()
    see(ledger, a_pod().in_queue("red").naming(H200).asking_for(1).gated())
    queue_order(ledger, ["red"])
    see(
        ledger, a_queue("blue").with_quota({H200: 20}).deserving_cards({H200: 1}).lending({H200: 0})
    )
    for name in ("red", "blue", "small", "other"):
        ledger.queue_gone(name)
    left = {
        name: kept for name, kept in vars(ledger.shares).items() if isinstance(kept, dict | set)
    }
    assert {name: kept for name, kept in left.items() if kept and name != "_accounts"} == {}
