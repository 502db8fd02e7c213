"""Audit mode's events, and the ledger's numbers as metrics."""

import pytest

from builders import H200, H800, Body, a_group, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.control.queues import UNDECIDED, UNKNOWN, measure_drift, refresh
from cardquota.control.reports import report_unadmitted
from cardquota.metrics import Metrics
from cardquota.quota import time_text
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.release.cycle import openings

from ..fakes import Told, a_world

THREE = a_queue().with_quota({H200: 3}).limited_to(cpu="4", memory="8Gi")


def passed(name: str, cards: int, card: str = H200) -> PodBody:
    """It came by without a gate."""
    return a_pod(name).in_queue("queue").naming(card).asking_for(cards)


def runs(name: str, cards: int, node: str = "h200-a") -> PodBody:
    """The same, on a node by now: in audit mode it counts from then on (I3)."""
    return passed(name, cards).on_node(node)


def told(ledger: Ledger) -> list[tuple[str, str, str]]:
    events = Told()
    report_unadmitted(ledger, events)
    return events.events


def test_who_would_not_have_been_released_hears_it_once() -> None:
    ledger = a_world(THREE, runs("five", 5), audit=True)
    ((name, reason, text),) = told(ledger)
    assert (name, reason) == ("five", v.Reason.INSUFFICIENT_CARD)
    assert text.startswith(
        f"audit: would be refused or wait: Queue <queue> has insufficient <{H200}> quota: "
        "requested <5>, total would be <5>, but capability is <3>"
    )
    assert told(ledger) == []


def test_the_advice_is_what_a_refusal_would_say() -> None:
    """E5: what can never fit is not told to wait."""
    ((_, _, never),) = told(a_world(THREE, runs("five", 5), audit=True))
    assert never.endswith("ask for at most 3, or ask the queue's owner for a higher quota")
    first = runs("first", 2)
    *_, (_, _, later) = told(a_world(THREE, first, runs("second", 2), audit=True))
    assert "; wait until some of it is free" in later


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        (runs("a", 1, "h800-a"), v.Reason.CARD_NOT_IN_QUOTA),
        (runs("a", 1).with_cpu("5"), v.Reason.INSUFFICIENT_CPU),
        (runs("a", 1).with_memory("9Gi"), v.Reason.INSUFFICIENT_MEMORY),
        (runs("a", 4).with_cpu("5"), v.Reason.INSUFFICIENT_CARD),
    ],
)
def test_the_reason_is_that_of_the_first_dimension(pod: PodBody, reason: str) -> None:
    assert [found for _, found, _ in told(a_world(THREE, pod, audit=True))] == [reason]


def test_only_in_audit() -> None:
    """Elsewhere they are counted as having got past (I3); a namespace may be audited alone."""
    assert told(a_world(THREE, runs("a", 5))) == []
    assert len(told(a_world(a_namespace().in_mode("audit"), THREE, runs("a", 5)))) == 1


def test_outside_every_queue_nothing_is_said() -> None:
    assert told(a_world(a_pod().asking_for(5).on_node("h200-a"), audit=True)) == []
    assert told(a_world(runs("a", 5), audit=True)) == []


def test_before_it_is_on_a_node_nothing_is_said() -> None:
    ledger = a_world(THREE, passed("five", 5), audit=True)
    assert told(ledger) == []
    see(ledger, runs("five", 5).at_revision(2))
    assert len(told(ledger)) == 1


def values(metrics: Metrics, name: str) -> dict[tuple[str, ...], float]:
    """All rows of a metric by their labels' values."""
    samples = (one for metric in metrics.registry.collect() for one in metric.samples)
    found = (one for one in samples if one.name == f"cardquota_{name}")
    return {tuple(one.labels.values()): one.value for one in found}


async def refreshed(*things: Body, audit: bool = False) -> Metrics:
    metrics = Metrics()
    await refresh(a_world(*things, audit=audit), metrics)
    return metrics


async def test_the_totals_of_each_queue_and_card() -> None:
    metrics = await refreshed(
        a_queue().with_quota({H200: 3, H800: 2}),
        passed("bound", 1).stamped("queue", {H200: 1}).on_node("h200-a"),
        passed("open", 1).stamped("queue", {H200: 1}),
        passed("gated", 2).gated(),
    )
    for total, value in {"quota": 3, "allocated": 1, "inqueue": 1, "requested": 4}.items():
        assert values(metrics, f"queue_card_{total}")["queue", H200] == value
    assert values(metrics, "queue_card_quota")["queue", H800] == 2
    assert values(metrics, "gated_pods") == {("queue",): 1}
    assert values(metrics, "cluster_card_allocatable")[(H200,)] == 8
    assert values(metrics, "cluster_card_allocated")[(H200,)] == 1
    assert values(metrics, "cluster_card_quota")[(H200,)] == 3


async def test_guarantee_and_deserved_of_each_queue_and_card() -> None:
    """Sixteen promised of eight: half is deserved."""
    metrics = await refreshed(*(a_queue(name).with_quota({H200: 8}) for name in ("red", "blue")))
    assert values(metrics, "queue_card_guarantee")["red", H200] == 8
    assert values(metrics, "queue_card_deserved")["red", H200] == 4


async def test_cpu_in_cores_and_memory_in_bytes() -> None:
    queue = THREE.guaranteeing(cpu="2").deserving(memory="4Gi")
    pod = passed("a", 1).with_cpu("1500m").with_memory("1Gi").stamped("queue", {H200: 1})
    metrics = await refreshed(queue, pod.on_node("h200-a"))
    shown = {
        total: values(metrics, f"queue_resource_{total}")
        for total in ("quota", "allocated", "guarantee", "deserved")
    }
    assert shown == {
        "quota": {("queue", "cpu"): 4, ("queue", "memory"): 8 * 2**30},
        "allocated": {("queue", "cpu"): 1.5, ("queue", "memory"): 2**30},
        "guarantee": {("queue", "cpu"): 2},
        "deserved": {("queue", "memory"): 4 * 2**30},
    }


async def test_the_totals_of_the_cluster_and_whose_use_it_is() -> None:
    """Section 6: on-line is Deny, off-line is Gate."""
    metrics = await refreshed(
        a_queue("serving").with_quota({H200: 3}).with_policy("Deny"),
        a_queue("training").with_quota({H200: 7}).with_policy("Gate"),
        a_pod().in_queue("training").naming(H200).asking_for(2).on_node("h200-a"),
    )
    assert values(metrics, "cluster_card_guarantee")[(H200,)] == 10
    assert values(metrics, "cluster_card_oversold")[(H200,)] == 2
    deny, gate = (H200, "Deny"), (H200, "Gate")
    assert values(metrics, "cluster_card_guarantee_by_policy") == {deny: 3, gate: 7}
    assert values(metrics, "cluster_card_allocated_by_policy") == {deny: 0, gate: 2}


async def test_cards_used_outside_every_queue_are_counted() -> None:
    """Section 2: in metrics, under no queue's name."""
    metrics = await refreshed(a_pod().asking_for(2).on_node("h200-a"))
    assert values(metrics, "queue_card_allocated") == {("", H200): 2}


async def test_a_queue_that_is_gone_leaves_no_row() -> None:
    ledger, metrics = a_world(THREE), Metrics()
    await refresh(ledger, metrics)
    ledger.queue_gone("queue")
    await refresh(ledger, metrics)
    for name in ("queue_card_quota", "queue_resource_quota", "cluster_card_guarantee_by_policy"):
        assert values(metrics, name) == {}
    assert values(metrics, "gated_pods") == {}


@pytest.mark.parametrize(("audit", "count"), [(False, 1), (True, 0)])
async def test_pods_that_got_past_admission(audit: bool, count: int) -> None:
    """I3: charged, though we opened no gate of theirs; in audit they are as they should be."""
    ours = passed("ours", 1).stamped("queue", {H200: 1})
    pods = passed("past", 1), passed("gated", 1).gated(), ours
    metrics = await refreshed(THREE, *pods, audit=audit)
    assert values(metrics, "unadmitted_pods") == {("queue",): count}


async def test_drift_is_zero_and_seen_if_it_is_not() -> None:
    """I2: ledger and recount."""
    ledger, metrics = a_world(THREE, passed("a", 1).stamped("queue", {H200: 1})), Metrics()
    await measure_drift(ledger, metrics)
    assert values(metrics, "ledger_drift") == {(): 0}
    account = ledger.account("queue")
    assert account is not None
    account.rows[H200].reserved += 1
    await measure_drift(ledger, metrics)
    assert values(metrics, "ledger_drift") == {(): 1}
    see(ledger, THREE)


# --- labels are names of what exists (P8) -------------------------------------------------------


def series(metrics: Metrics) -> set[str]:
    samples = (one for metric in metrics.registry.collect() for one in metric.samples)
    return {text for one in samples for text in one.labels.values()}


async def test_p8_queues_that_do_not_exist_share_one_label() -> None:
    strays = [runs(f"p{n}", 2).stamped(f"stray-{n}", {H200: 2}) for n in range(3)]
    named = a_pod("long").in_queue("q" * 250_000).asking_for(1).gated()
    metrics = await refreshed(THREE, *strays, named)
    assert values(metrics, "unadmitted_pods") == {("queue",): 0, (UNKNOWN,): 0}
    assert values(metrics, "gated_pods") == {("queue",): 0, (UNKNOWN,): 1}
    assert values(metrics, "queue_card_allocated")[UNKNOWN, H200] == 6
    assert not [text for text in series(metrics) if "stray" in text or "qqq" in text]


async def test_p8_cards_that_nobody_has_share_one_label() -> None:
    made_up = [passed(f"p{n}", 2, f"MADE-UP-{n}").gated() for n in range(3)]
    metrics = await refreshed(THREE, *made_up, passed("runs", 2, "MADE-UP-9").on_node("not-seen"))
    assert values(metrics, "queue_card_requested") == {("queue", H200): 0, ("queue", UNKNOWN): 8}
    assert values(metrics, "queue_card_allocated") == {("queue", H200): 0, ("queue", UNKNOWN): 2}
    assert not [text for text in series(metrics) if "MADE-UP" in text]
    assert values(metrics, "cluster_card_allocated")[UNKNOWN,] == 2


def waiting(name: str, created: str, queue: str = "queue", cards: int = 1) -> PodBody:
    return a_pod(name).in_queue(queue).naming(H200).asking_for(cards).gated().created(created)


NOW = 1_700_000_000.0


async def shown_now(ledger: Ledger, metrics: Metrics, *, leads: bool = True) -> None:
    await refresh(ledger, metrics, leads=leads, time_of_day=lambda: NOW)


async def test_t7_the_oldest_and_the_median_wait_count_from_creation() -> None:
    metrics = Metrics()
    ages = (600, 5, 60, 30)
    pods = [waiting(f"a{age}", time_text(int(NOW) - age)) for age in ages]
    ledger = a_world(THREE, a_queue("idle"), *pods)
    await shown_now(ledger, metrics, leads=False)
    assert values(metrics, "queue_oldest_wait_seconds") == {("queue",): 600, ("idle",): 0}
    assert values(metrics, "queue_median_wait_seconds") == {("queue",): 60, ("idle",): 0}
    for age in ages:
        ledger.pod_gone(f"uid-a{age}")
    await shown_now(ledger, metrics, leads=False)
    assert set(values(metrics, "queue_oldest_wait_seconds").values()) == {0}
    assert set(values(metrics, "queue_median_wait_seconds").values()) == {0}


def deleted(pod: PodBody, gone_by: object) -> PodBody:
    """Being deleted: its grace period ends then."""
    return pod.put(gone_by, "metadata", "deletionTimestamp")


def holding(name: str, late: int, cards: int = 1) -> PodBody:
    """A pod that should have been gone for so many seconds."""
    pod = passed(name, cards).stamped("queue", {H200: cards}).on_node("h200-a")
    return deleted(pod, time_text(int(NOW) - late))


async def test_r7_how_late_the_oldest_pod_is_that_should_be_gone_and_holds_cards() -> None:
    metrics = Metrics()
    outside = a_pod("outside").asking_for(2).on_node("h200-a")
    no_cards = a_pod("cpu").in_queue("queue").with_cpu("1").on_node("h200-a")
    ledger = a_world(
        THREE,
        a_queue("idle"),
        holding("old", 900),
        holding("young", 60),
        deleted(waiting("gated", time_text(int(NOW) - 5_000)), time_text(int(NOW) - 5_000)),
        deleted(outside, time_text(int(NOW) - 5_000)),
        deleted(no_cards, time_text(int(NOW) - 5_000)),
        deleted(passed("odd", 1).stamped("queue", {H200: 1}).on_node("h200-a"), "some day"),
        holding("ended", 5_000).in_phase("Succeeded"),
    )

    async def late() -> dict[tuple[str, ...], float]:
        await shown_now(ledger, metrics, leads=False)
        return values(metrics, "queue_oldest_terminating_seconds")

    assert await late() == {("queue",): 900, ("idle",): 0}
    ledger.pod_gone("uid-old")
    assert (await late())["queue",] == 60
    see(ledger, holding("young", -30).at_revision(2))
    assert (await late())["queue",] == 0, "its grace period runs"
    see(ledger, holding("stray", 70).in_queue("stray").stamped("stray", {H200: 1}))
    assert (await late())[(UNKNOWN,)] == 70


async def test_t7_a_creation_time_in_the_future_is_no_wait() -> None:
    metrics = Metrics()
    ledger = a_world(THREE, waiting("a", time_text(int(NOW) + 5)))
    await shown_now(ledger, metrics)
    assert values(metrics, "queue_oldest_wait_seconds") == {("queue",): 0}


async def test_t7_waiting_pods_by_the_reason_that_they_were_last_judged_to_have() -> None:
    metrics = Metrics()
    pods = [waiting(f"p{n}", time_text(int(NOW) - n), cards=4) for n in range(3)]
    ledger = a_world(THREE, *pods)
    await shown_now(ledger, metrics)
    assert values(metrics, "waiting_pods") == {("queue", UNDECIDED): 3}
    list(openings(ledger, "queue"))
    await shown_now(ledger, metrics)
    short = ("queue", v.Reason.INSUFFICIENT_CARD)
    assert values(metrics, "waiting_pods") == {("queue", UNDECIDED): 0, short: 3}
    for pod in pods:
        ledger.pod_gone(f"uid-{pod.name}")
    await shown_now(ledger, metrics)
    assert set(values(metrics, "waiting_pods").values()) == {0}
    ledger.queue_gone("queue")
    await shown_now(ledger, metrics)
    assert values(metrics, "waiting_pods") == {}


async def test_t7_who_does_not_lead_judges_nobody_and_tells_no_reason() -> None:
    metrics = Metrics()
    ledger = a_world(THREE, waiting("a", time_text(int(NOW) - 9)))
    await shown_now(ledger, metrics, leads=False)
    assert values(metrics, "waiting_pods") == {}
    await shown_now(ledger, metrics, leads=True)
    assert values(metrics, "waiting_pods") == {("queue", UNDECIDED): 1}
    await shown_now(ledger, metrics, leads=False)
    assert values(metrics, "waiting_pods") == {}


async def test_e8_what_groups_reserve_and_do_not_use_by_namespace() -> None:
    metrics = Metrics()
    group = a_group("gang").in_queue("queue").of(3).reserving("queue", {H200: 3, "cpu": 1})
    member = a_pod("a").in_group("gang").asking_for(1).stamped("queue", {H200: 1})
    ledger = a_world(THREE, group, member)
    await refresh(ledger, metrics)
    assert list(metrics.totals.shown("queue_card_reserved")) == [(("queue", "team", H200), 2)]
    ledger.group_gone("team/gang")
    await refresh(ledger, metrics)
    assert list(metrics.totals.shown("queue_card_reserved")) == []
