"""B10: the memory of cards counts as a card, exactly while some quota has a row for any."""

import pytest

from builders import Body, a_ledger, a_node, a_pod, a_queue, see
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.quota import GPU_MEMORY, GPU_PRODUCT, Outcome, Reason, Verdict, to_its_end
from cardquota.quota.decisions import judge_create
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import Opening
from cardquota.quota.release.cycle import openings
from cardquota.quota.reports import memory_report, report, unlimited_use

from ..events import totals as all_totals

A10, V100 = "NVIDIA-A10/gpu-mem", "Tesla-V100/gpu-mem"
PART = 8_138
RED = a_queue("red").with_quota({A10: 2 * PART})
FREE = a_queue("red").with_quota({})


def a_shared(name: str = "a10-1", product: str = "NVIDIA-A10", memory: int = 32_552) -> NodeBody:
    return a_node(name).labelled(GPU_PRODUCT, product).sharing_memory(memory, 2)


def asking(name: str = "p", card: str | None = A10, memory: int = PART) -> PodBody:
    return a_pod(name).in_queue("red").naming(card).asking_for_memory(memory)


def allocated(ledger: Ledger, card: str = A10, queue: str = "red") -> int:
    """And a recount agrees."""
    found = all_totals(ledger).get((queue, card))
    return found.allocated if found is not None else 0


def created(pod: PodBody, *things: Body) -> Verdict:
    ledger = a_ledger(a_shared(), *things)
    return judge_create(ledger, pod.facts())


# --- units ------------------------------------------------------------------------------------


def test_b10_amounts_in_another_unit_are_never_added() -> None:
    """The first node's unit counts, until no node has it any more."""
    ledger = a_ledger(a_shared(), a_shared("a10-2", memory=48), RED)
    assert ledger.nodes.total(A10) == 32_552
    assert list(ledger.nodes.problems) == [
        ("a10-2", f"card <{A10}> is counted in MiB on other nodes, but in GiB here")
    ]
    ledger.node_gone("a10-1")
    assert ledger.nodes.total(A10) == 48
    assert not list(ledger.nodes.problems)


def test_b10_a_gate_opens_with_a_label_and_an_amount() -> None:
    ledger = a_ledger(a_shared(), RED, asking().gated())
    (opening,) = (one for one in openings(ledger, "red") if isinstance(one, Opening))
    assert [dict(cards) for _, cards in opening.pods] == [{A10: PART}]
    card = ledger.known_card(A10, GPU_MEMORY)
    assert card.labels == ((GPU_PRODUCT, "NVIDIA-A10"),)
    assert ledger.known_card(V100, GPU_MEMORY).labels == ((GPU_PRODUCT, "Tesla-V100"),)


# --- who may use it ---------------------------------------------------------------------------


@pytest.mark.parametrize("card", [A10, None])
def test_b10_a_queue_without_a_row_has_none(card: str | None) -> None:
    """Q1: as soon as any queue has one."""
    blue = a_queue("blue").with_quota({A10: PART})
    verdict = created(asking(card=card), FREE, blue)
    assert (verdict.outcome, verdict.reason) == (Outcome.NEVER, "CardNotInQuota")


def test_p4_b10_a_pool_at_zero() -> None:
    zero = a_queue("red").with_quota({V100: PART})
    pod = asking(card=V100)
    verdict = judge_create(a_ledger(zero), pod.facts())
    assert (verdict.outcome, verdict.cards) == (Outcome.FITS, ((V100, PART),))
    assert verdict.warnings == (
        f"no node has card <{V100}> at present: the pod waits until one has",
    )
    ledger = a_ledger(zero, pod.stamped("red", {V100: PART}))
    found = report(ledger, "red")
    assert found is not None
    assert [row.resource for row in found.cards] == [GPU_MEMORY]


@pytest.mark.parametrize("queue", [RED, FREE])
def test_b10_the_product_alone_is_refused(queue: Body) -> None:
    verdict = created(asking(card="NVIDIA-A10"), queue)
    assert (verdict.outcome, verdict.reason) == (Outcome.NEVER, "InvalidCardAnnotation")
    assert f"write <{A10}>" in verdict.text


def test_p4_b10_memory_named_and_cards_asked_for() -> None:
    pod = a_pod().in_queue("red").naming(A10).asking_for(1)
    assert "is counted as aliyun.com/gpu-mem" in created(pod, RED).text
    assert (
        "nvidia.com/gpu does not count"
        in created(pod.naming(V100), a_queue("red").with_quota({V100: 1})).text
    )


def test_b10_without_a_row_a_pod_is_told_so() -> None:
    verdict = created(asking(), FREE)
    assert verdict.fits
    assert verdict.warnings == (
        "Queue <red>: aliyun.com/gpu-mem is not limited: no quota has a row for it",
    )
    assert created(asking(), RED).warnings == ()
    assert created(asking(card=None).in_queue(None), FREE).outcome is Outcome.UNMANAGED


def test_b9_memory_needs_a_queue_with_a_row() -> None:
    """Whether any other queue has one."""
    for queues in ((FREE,), (FREE, a_queue("blue").with_quota({A10: 9_999}))):
        ledger = a_ledger(a_shared(), *queues, memory_by_row=True)
        verdict = judge_create(ledger, asking(card=None).facts())
        assert (verdict.outcome, verdict.reason) == (Outcome.NEVER, Reason.CARD_NOT_IN_QUOTA)
        without = judge_create(ledger, asking(card=None).in_queue(None).facts())
        assert (without.outcome, without.reason) == (Outcome.NEVER, Reason.QUEUE_NOT_FOUND)
        assert "requests aliyun.com/gpu-mem and has no queue: name one whose" in without.text
    assert judge_create(a_ledger(a_shared(), RED, memory_by_row=True), asking().facts()).fits
    plain = a_pod("plain").in_queue(None)
    assert judge_create(ledger, plain.facts()).outcome is Outcome.UNMANAGED


# --- what is told -----------------------------------------------------------------------------


def test_b10_what_nobody_limits_is_reported() -> None:
    ledger = a_ledger(
        a_shared(),
        a_shared("a10-2", memory=48),
        a_node("plain"),
        FREE,
        asking("a", None).on_card("a10-1", 0, PART),
        asking("b", None).on_card("a10-1", 1, 7),
        asking("c", None).on_card("gone", 1, 5),
    )
    assert unlimited_use(ledger) == {"MiB": (2, PART + 7), "GiB": (0, 0), "": (1, 5)}
    assert to_its_end(memory_report(ledger)).limited is False
    see(ledger, RED)
    assert unlimited_use(ledger) == {"MiB": (0, 0), "GiB": (0, 0), "": (0, 0)}
    assert to_its_end(memory_report(ledger)).limited is True
