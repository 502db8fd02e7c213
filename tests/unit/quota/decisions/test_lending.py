"""L2: what a queue may hold of a card of which something is kept for others; what it is told."""

import pytest

from builders import H200, H800, Body, a_group, a_ledger, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.quota import Outcome, Reason, Stamp
from cardquota.quota import vocabulary as v
from cardquota.quota.decisions import judge_create
from cardquota.quota.decisions.create_judgement import number_admitted
from cardquota.quota.ledger import Ledger

from ...steps import steps_of
from ..releasing import cards_of, release
from ..rollouts import deployment, lending, pod, replica_set

NODES = a_node("h200").with_cards(H200, 10)
OWNER = a_queue("owner").with_quota({H200: 8}).deserving_cards({H200: 5}).lending({H200: 0})
RED_QUOTA = 8
RED = a_queue("red").with_quota({H200: RED_QUOTA}).deserving_cards({H200: 3})


def holds(queue: str, cards: int, name: str = "") -> PodBody:
    return asks(queue, cards, name or f"of-{queue}").ungated().stamped(queue, {H200: cards})


def asks(queue: str, cards: int = 1, name: str = "new", card: str = H200) -> PodBody:
    return a_pod(name).in_queue(queue).naming(card).asking_for(cards).owned_by("Job").gated()


def a_cluster(*things: Body, owner: QueueBody = OWNER, red: QueueBody = RED) -> Ledger:
    return a_ledger(NODES, owner, red, *things)


def allowed(ledger: Ledger, queue: str = "red", card: str = H200) -> int | None:
    account = ledger.account(queue)
    assert account is not None
    return account.allowed(card)


@pytest.mark.parametrize(
    ("owner", "red", "red_may", "owner_may"),
    [
        (0, 0, 5, 8),  # five are kept for the owner
        (3, 0, 5, 8),  # whether it holds some of them or not
        (3, 4, 5, 6),
        (5, 5, 5, 5),
        (7, 0, 3, 8),  # the owner borrows too
        (8, 2, 3, 8),
        (8, 3, 3, 8),  # more than there is: what is owed is given all the same
        (2, 7, 7, 5),  # came when nothing was kept: nobody is ended, nobody else comes
    ],
)
def test_l2_a_queue_gets_more_than_it_deserves_only_while_it_is_there(
    owner: int, red: int, red_may: int, owner_may: int
) -> None:
    ledger = a_cluster(holds("owner", owner), holds("red", red))
    assert (allowed(ledger), allowed(ledger, "owner")) == (red_may, owner_may)


def test_l2_what_pods_outside_every_queue_hold_is_not_there() -> None:
    ledger = a_cluster(a_pod("x").asking_for(2).naming(H200).on_node("h200"))
    assert allowed(ledger) == 3


def test_l2_where_nothing_is_kept_the_quota_counts_alone() -> None:
    lends_all = (
        OWNER.lending({H200: 5}),
        OWNER.annotated(v.LENDABLE, None),
        OWNER.lending({H800: 0}),
    )
    for owner in lends_all:
        assert allowed(a_cluster(holds("owner", 8), owner=owner)) == 8
    ledger = a_cluster(holds("owner", 8), owner=OWNER.lending({H200: 4}))
    assert allowed(ledger) == 3


def test_l2_with_the_setting_every_oversold_card_is_lent_of_which_the_cluster_has_any() -> None:
    queues = a_queue("a").with_quota({H200: 8, H800: 8}), a_queue("b").with_quota({H200: 8})
    held = holds("a", 7, "x")
    ledger = a_ledger(NODES, *queues, held, lends_what_is_there=True)
    assert (allowed(ledger, "b"), allowed(ledger, "a")) == (5, 8)
    assert allowed(ledger, "a", H800) == 8, "of this card there is none"
    see(ledger, a_node("more").with_cards(H200, 6))
    assert allowed(ledger, "b") == 8
    ledger.node_gone("more")
    ledger.node_gone("h200")
    assert allowed(ledger, "b") == 8


def test_l2_the_part_by_weight_is_deserved_too() -> None:
    owner, red = OWNER.annotated(v.DESERVED, None), RED.annotated(v.DESERVED, None)
    ledger = a_cluster(owner=owner.weighing(4), red=red)
    assert (ledger.shares.shown("owner", H200), allowed(ledger)) == (8, 2)
    see(ledger, owner.weighing(1))
    assert allowed(ledger) == 5


# --- words ----------------------------------------------------------------------------------------


def test_l2_the_sentence_says_why_it_is_no_more() -> None:
    ledger = a_cluster(holds("owner", 3), holds("red", 5))
    found = judge_create(ledger, asks("red").facts())
    assert (found.outcome, found.reason) == (Outcome.WAITS, Reason.INSUFFICIENT_CARD)
    assert found.text == (
        f"Queue <red> has insufficient <{H200}> quota: requested <1>, total would be <6>, but "
        "capability is <5>, since its quota is <8>, it deserves <3>, and of the <10> in the "
        "cluster others hold <3>, <2> are kept for others; it holds <5>, <2> of them borrowed; "
        "wait until others hold less of it or the cluster has more, or ask the queue's owner to "
        "have more owed to the queue (volcano.sh/card.deserved)"
    )


def test_l2_e5_that_it_never_fits_is_said_by_the_quota_alone() -> None:
    ledger = a_cluster(holds("owner", 3))
    found = judge_create(ledger, asks("red", 9).facts())
    assert found.outcome is Outcome.NEVER
    assert "capability is <8>; ask for at most 8, or" in found.text
    gang = a_group().in_queue("red").of(3)
    members = [asks("red", 3, f"m{n}").in_group("gang") for n in range(3)]
    see(ledger, gang, *members)
    (refusal,) = release(ledger)[1]
    assert refusal.verdict.outcome is Outcome.NEVER
    assert "total would be <9>, but capability is <8>; ask for at most 8" in refusal.verdict.text


def test_l1_a_queue_that_borrows_is_told_how_much_of_what_it_holds_where_somebody_says_it() -> None:
    red = RED.annotated(v.LENDABLE, None)
    ledger = a_cluster(holds("red", 8), red=red, owner=OWNER.annotated(v.LENDABLE, None))
    text = judge_create(ledger, asks("red").facts()).text
    assert "but capability is <8>; it holds <8>, <5> of them borrowed; wait until some of" in text
    plain = a_queue("red").with_quota({H200: 8}), a_queue("owner").with_quota({H200: 8})
    ledger = a_ledger(NODES, *plain, holds("red", 8))
    assert "borrowed" not in judge_create(ledger, asks("red").facts()).text


# --- all judgements -------------------------------------------------------------------------------


def test_l2_a_gang_gets_the_card_of_which_enough_is_there() -> None:
    choice = f"{H200}|{H800}"
    red = RED.with_quota({H200: 8, H800: 4})
    members = [asks("red", 2, f"m{n}", choice).in_group("gang") for n in range(2)]
    group = a_group().in_queue("red").of(2)
    ledger = a_cluster(a_node("h800").with_cards(H800, 8), holds("red", 2), red=red)
    see(ledger, group, *members)
    assert release(ledger)[0] == [["m0", "m1"]]
    assert cards_of(ledger, "m0", "m1") == [{H800: 2}] * 2


def test_e8_whether_there_is_enough_for_a_reservation_goes_by_what_is_there() -> None:
    """L2: what is reserved over what is elastic waits for that, and loses nothing by it."""
    service = a_group("service").in_queue("red").of(1)
    pods = [holds("red", 2, f"e{n}").in_group("service").on_node("h200") for n in range(2)]
    train = a_group("train").in_queue("red").of(2).enqueued("red", {H200: 3}, "t")
    account = a_cluster(service, *pods, train).account("red")
    assert account is not None
    assert account.row(H200).charged < RED_QUOTA
    assert account.overcommitted([H200])


def test_l2_a_scale_up_gets_what_is_there_with_what_updates_may_borrow() -> None:
    queue = lending("2", a_queue("queue").with_quota({H200: 3}))
    old = [pod(f"old-{n}", "web-old").stamped("queue", {H200: 1}) for n in range(3)]
    ledger = a_ledger(NODES, OWNER.deserving_cards({H200: 6}), queue, *old)
    deployment(ledger, 3)
    replica_set(ledger, "web-old", 3)
    replica_set(ledger, "web-new", 2)
    assert number_admitted(ledger, pod("any").facts(), "queue", 2, ()) == 1


def test_l2_a_group_is_enqueued_only_for_what_is_there_and_over_what_is_elastic() -> None:
    service = a_group("service").in_queue("red").of(1)
    pods = [holds("red", 2, f"e{n}").in_group("service").on_node("h200") for n in range(2)]
    train = a_group("train").in_queue("red").of(1)
    ledger = a_cluster(service, *pods, train.asking({H200: 4}))
    assert release(ledger)[0] == []
    see(ledger, train.asking({H200: 3}).at_revision(2))
    assert release(ledger)[0] == [["team/train"]]
    written = train.asking({H200: 3}).enqueued("red", {H200: 3}, "t").at_revision(3)
    see(ledger, written, asks("red", 3, "t").in_group("train"))
    assert release(ledger)[0] == [], "no gate opens over what is elastic"
    ledger.dirty.pending.take()
    ledger.pod_gone(pods[1].uid)
    assert ledger.dirty.pending.take() == {"red"}
    assert release(ledger)[0] == [["t"]]


def test_l2_an_update_borrows_only_what_is_there() -> None:
    queue = lending(queue=a_queue("queue").with_quota({H200: 3}))
    old = [pod(f"old-{n}", "web-old").stamped("queue", {H200: 1}) for n in range(3)]
    ledger = a_ledger(NODES, OWNER.deserving_cards({H200: 7}), queue, *old)
    deployment(ledger, 3)
    replica_set(ledger, "web-old", 3)
    replica_set(ledger, "web-new", 1)
    see(ledger, pod("new").gated())
    assert release(ledger, "queue")[0] == []
    ledger.dirty.pending.take()
    see(ledger, OWNER.deserving_cards({H200: 6}))
    assert "queue" in ledger.dirty.pending.take()
    assert release(ledger, "queue")[0] == [["new"]]


def test_l2_who_waits_at_a_review_counts_for_it() -> None:
    red = RED.with_policy("Deny")
    ledger = a_cluster(asks("red", 4, "on-its-way"), red=red)
    assert judge_create(ledger, asks("red", 1, "fits").facts()).fits
    assert judge_create(ledger, asks("red", 2, "more").facts()).outcome is Outcome.WAITS


# --- who is judged again --------------------------------------------------------------------------


def waiting() -> Ledger:
    """Red waits for what is kept for the owner; nobody else waits."""
    ledger = a_cluster(holds("owner", 6), holds("red", 4), a_queue("idle").with_quota({H200: 9}))
    see(ledger, asks("red"))
    assert release(ledger)[0] == []
    allowed(ledger, "idle")
    ledger.dirty.pending.take()
    return ledger


def test_l2_when_others_hold_less_who_waits_for_it_is_judged_again() -> None:
    ledger = waiting()
    ledger.pod_gone(holds("owner", 6).uid)
    assert ledger.dirty.pending.take() == {"owner", "red"}
    assert release(ledger)[0] == [["new"]]


def test_l2_that_a_pod_is_bound_is_no_news() -> None:
    ledger = waiting()
    see(ledger, holds("owner", 6).on_node("h200"))
    assert ledger.dirty.pending.take() == {"owner"}


def test_l2_a_gate_that_was_not_opened_gives_back_what_others_wait_for() -> None:
    ledger = a_cluster(holds("owner", 5), holds("red", 4))
    see(ledger, asks("owner", 1, "mine"), asks("red"))
    ledger.decisions.assume("uid-mine", (stamp := Stamp("owner", ((H200, 1),), "t")))
    assert release(ledger)[0] == []
    ledger.dirty.pending.take()
    ledger.decisions.retract("uid-mine", stamp, back_off=True)
    assert "red" in ledger.dirty.pending.take()
    assert release(ledger)[0] == [["new"]]


@pytest.mark.parametrize(
    "event",
    [
        a_node("more").with_cards(H200, 1),
        OWNER.lending({H200: 1}),
        OWNER.annotated(v.LENDABLE, None),
        OWNER.deserving_cards({H200: 4}),
        OWNER.with_quota({H200: 4}),
        OWNER.annotated(v.QUEUE_STATE, "Closed"),
        RED.deserving_cards({H200: 6}),
    ],
    ids=lambda event: str(event.body["metadata"].get("annotations", "node")),
)
def test_l2_when_there_is_more_or_others_are_owed_less_too(event: Body) -> None:
    ledger = a_cluster(holds("owner", 4), holds("red", 5))
    see(ledger, asks("red"))
    assert release(ledger)[0] == []
    ledger.dirty.pending.take()
    see(ledger, event)
    assert "red" in ledger.dirty.pending.take()
    assert release(ledger)[0] == [["new"]]


def test_l2_once_a_queue_is_open_again_its_part_is_kept_again() -> None:
    ledger = a_cluster(owner=OWNER.annotated(v.QUEUE_STATE, "Closed").lending({H200: 1}))
    assert allowed(ledger) == RED_QUOTA
    see(ledger, OWNER.lending({H200: 1}))
    assert allowed(ledger) == 6


def test_l2_when_the_owner_goes_too() -> None:
    ledger = a_cluster(holds("red", 5))
    see(ledger, asks("red"))
    assert release(ledger)[0] == []
    ledger.dirty.pending.take()
    ledger.queue_gone("owner")
    assert "red" in ledger.dirty.pending.take()
    assert release(ledger)[0] == [["new"]]


def test_l2_a_queue_of_which_pods_were_refused_is_another_one_when_it_may_hold_more() -> None:
    """By that the waker sees that it is to look again (R5)."""
    ledger = a_cluster(holds("owner", 6), holds("red", 4), red=RED.with_policy("Deny"))
    account = ledger.account("red")
    assert account is not None
    assert judge_create(ledger, asks("red").facts()).outcome is Outcome.WAITS
    before = account.changes
    ledger.pod_gone(holds("owner", 6).uid)
    ledger.lending.settle()
    assert account.changes != before


# --- what it costs --------------------------------------------------------------------------------


def many(number: int, **settings: bool) -> Ledger:
    """Queues that share a card; each holds one."""
    queues = [a_queue(f"q{n}").with_quota({H200: 5}) for n in range(number)]
    held = [holds(f"q{n}", 1) for n in range(number)]
    ledger = a_ledger(a_node("n").with_cards(H200, 2 * number), *queues, *held, **settings)
    allowed(ledger, "q0")
    return ledger


def test_l2_a_charge_of_a_lent_card_looks_at_no_other_queue() -> None:
    def cost(number: int) -> int:
        ledger = many(number, lends_what_is_there=True)

        def charge() -> None:
            see(ledger, holds("q0", 2, "more"))
            ledger.dirty.pending.take()
            allowed(ledger, "q1")

        return steps_of(charge)

    assert cost(400) < cost(4) + 20


def test_l2_where_nothing_is_lent_a_judgement_costs_as_much_as_without() -> None:
    """Not a step more than of a card that has one queue alone."""
    new, others = asks("q0").facts(), many(400)
    for ledger in (alone := many(1), others):
        judge_create(ledger, new)
    plain = steps_of(lambda: judge_create(alone, new))
    assert steps_of(lambda: judge_create(others, new)) == plain


def test_l2_nobody_is_judged_again_while_there_is_no_more_to_be_had() -> None:
    """As after nodes went: the others hold more than there is."""
    ledger = a_cluster(holds("owner", 8), holds("red", 4), holds("owner", 1, "small"))
    see(ledger, asks("red"))
    assert release(ledger)[0] == []
    ledger.dirty.pending.take()
    ledger.pod_gone(holds("owner", 1, "small").uid)
    assert ledger.dirty.pending.take() == {"owner"}
