"""Section 6: what people see of a queue."""

import pytest

from builders import CARDS, GPU, H200, H800, R4090, R4090D, Body, a_group, a_ledger, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import CardRow, QueueReport, columns, report

QUEUE = a_queue("red").with_quota({H200: 3})


def of(*things: Body) -> QueueReport:
    found = report(a_ledger(*things), "red")
    assert found is not None
    return found


def pod(name: str, cards: int, card: str = H200) -> PodBody:
    return a_pod(name).in_queue("red").naming(card).asking_for(cards)


def test_a_queue_that_does_not_exist_has_no_report() -> None:
    ledger: Ledger = a_ledger(pod("orphan", 1))
    assert report(ledger, "red") is None
    assert report(ledger, "unknown") is None


def test_a_row_has_all_totals() -> None:
    found = of(
        *CARDS,
        QUEUE,
        a_pod("bound").in_queue("red").naming(H200).asking_for(1).on_node("h200-a"),
        pod("open", 1),
        a_pod("gated").in_queue("red").naming(H200).asking_for(2).gated(),
    )
    assert found.cards == (
        CardRow(
            name=H200,
            resource=GPU,
            quota=3,
            allocated=1,
            inqueue=1,
            requested=4,
            elastic=0,
            guarantee=3,
            deserved=3,
        ),
    )


@pytest.mark.parametrize(("policy", "offline"), [("Deny", 0), ("Gate", 3), (None, 1)])
def test_what_is_off_line_is_told_by_the_queues_policy_or_by_who_made_the_pods(
    policy: str | None, offline: int
) -> None:
    """Section 6."""
    job = pod("job", 1).owned_by("Job").on_node("h200-a")
    found = of(*CARDS, QUEUE.with_policy(policy), job, pod("chat", 2).on_node("h200-a"))
    assert (found.cards[0].allocated, found.cards[0].offline) == (3, offline)


def test_p4_the_resource_name_of_a_card_is_kept_over_a_restart() -> None:
    kept = QUEUE.having_reported(H200, 3, GPU)
    assert of(kept).cards[0].resource == GPU
    assert of(QUEUE).cards[0].resource is None
    assert of(QUEUE.having_reported(H200, 3, None)).cards[0].resource is None


def test_guarantee_and_deserved_of_cpu_and_memory_are_what_the_spec_says() -> None:
    found = of(QUEUE.guaranteeing(cpu="2", memory="2Gi").deserving(cpu="2500m"))
    texts = [row.texts() for row in found.resources]
    assert [(row["guarantee"], row["deserved"]) for row in texts] == [
        ("2", "2500m"),
        ("2Gi", None),
    ]


def test_columns_show_each_model_never_a_sum() -> None:
    running = a_pod().in_queue("red").naming(H200).asking_for(2).on_node("h200-a")
    running = running.with_cpu("1").with_memory("1Gi")
    queue = a_queue("red").with_quota({H200: 3, H800: 2}).limited_to(cpu="4", memory="4Gi")
    shown = columns(of(*CARDS, queue, running, pod("open", 1)))
    assert shown.cards == f"{H200} 2/3, {H800} 0/2"
    assert (shown.inqueue, shown.elastic, shown.requested) == (f"{H200} 1", "-", f"{H200} 3")
    assert (shown.cpu, shown.memory) == ("1/4", "1Gi/4Gi")


def test_columns_show_what_is_elastic_of_cards_cpu_and_memory() -> None:
    ran = [pod(name, n).in_group("gang").on_node("h200-a") for name, n in (("a", 1), ("b", 2))]
    ran = [one.with_cpu("1500m").with_memory("2Gi") for one in ran]
    found = of(*CARDS, QUEUE, a_group("gang").in_queue("red").of(1), *ran)
    assert columns(found).elastic == f"{H200} 2, cpu 1.5, memory 2Gi"


def test_columns_of_many_models_show_the_busiest() -> None:
    queue = a_queue("red").with_quota({H200: 3, H800: 2, R4090: 2, R4090D: 1, "PPU": 5})
    shown = columns(of(*CARDS, queue, pod("busy", 1, R4090D)))
    assert shown.cards == f"{R4090D} 0/1, {R4090} 0/2, {H200} 0/3, +2 more"


def test_q7_q3_the_note_says_what_is_over_its_quota_and_oversold() -> None:
    queue = a_queue("red").with_quota({H200: 100, H800: 0}).limited_to(cpu="1")
    found = of(*CARDS, queue, pod("big", 2, H800).with_cpu("2500m"))
    assert columns(found).note == f"over quota: {H800} 2/0, cpu 2.5/1; oversold: {H200}"


def test_q4_q6_the_note_says_that_a_quota_is_unreadable_or_the_queue_closed() -> None:
    assert columns(of(QUEUE.with_quota_text("{").closed())).note == "quota unreadable; closed"
    assert columns(of(QUEUE.limited_to(cpu="1e400"))).note.startswith("limit unreadable")


def test_the_note_of_many_cards_is_short() -> None:
    queue = a_queue("red").with_quota({f"card-{n}": 1 for n in range(1_000)})
    assert columns(of(queue)).note == "oversold: card-0, card-1, card-10, +997 more"
