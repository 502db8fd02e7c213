"""D7, P4: of a card that no node has shown, the resource name of who comes first stays."""

import pytest

from builders import GPU, H200, a_group, a_ledger, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import Reason
from cardquota.quota.decisions import judge_create
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import report

from ..releasing import names, release, retract

B300 = "NVIDIA-B300"
AMD = "amd.com/gpu"
RED = a_queue("red").with_quota({B300: 4})
BLUE = a_queue("blue").with_quota({B300: 4})
NODE = a_node("h200-a").with_cards(H200, 8)


def asking(name: str, resource: str = GPU, cards: int = 1, queue: str = "red") -> PodBody:
    return a_pod(name).in_queue(queue).naming(B300).asking_for(cards, resource).gated()


def released(name: str, resource: str = GPU, queue: str = "red") -> PodBody:
    return asking(name, resource).stamped(queue, {B300: 1})


def refused(ledger: Ledger, pod: PodBody) -> str:
    verdict = judge_create(ledger, pod.facts())
    assert verdict.reason is Reason.INVALID_CARD, verdict
    return verdict.text


def fits(ledger: Ledger, pod: PodBody) -> bool:
    return judge_create(ledger, pod.facts()).fits


def recorded(ledger: Ledger, queue: str = "red") -> str | None:
    found = report(ledger, queue)
    assert found is not None
    return next(row.resource for row in found.cards if row.name == B300)


def test_of_two_that_come_at_the_same_moment_the_first_that_is_released_stays() -> None:
    """Both were admitted at create, perhaps by two replicas; the leader charges one first."""
    ledger = a_ledger(NODE, RED)
    a, b = asking("a"), asking("b", AMD)
    assert fits(ledger, a)
    assert fits(ledger, b)
    see(ledger, a, b)
    opened, told = release(ledger)
    assert opened == [["a"]]
    assert names(told) == [["b"]]
    assert f"card <{B300}> is counted as {GPU}, but the containers ask for {AMD}" in (
        told[0].verdict.text
    )
    assert fits(ledger, asking("c"))
    assert "is counted as nvidia.com/gpu" in refused(ledger, asking("d", AMD))
    assert recorded(ledger) == GPU


@pytest.mark.parametrize("first", ["pods", "queues"])
def test_a_restart_finds_it_on_the_pods_and_in_the_status(first: str) -> None:
    """Whichever is read first. Where they disagree, as audit mode may leave it, the status wins."""
    told = BLUE.having_reported(B300, 4, GPU)
    things = [released("a", AMD), told, RED]
    ledger = a_ledger(NODE, *(things if first == "pods" else reversed(things)))
    assert recorded(ledger) == GPU
    refused(ledger, asking("b", AMD))
    assert fits(ledger, asking("b"))
    from_pods = a_ledger(NODE, RED, released("a", AMD))
    refused(from_pods, asking("b"))


def test_what_was_not_released_after_all_fixes_nothing() -> None:
    ledger = a_ledger(NODE, RED, asking("a"), asking("b", AMD))
    release(ledger)
    retract(ledger, "a", back_off=True)
    assert release(ledger)[0] == [["b"]]
    refused(ledger, asking("c"))


def test_before_a_status_keeps_it_it_ends_with_the_last_who_holds_the_card() -> None:
    """And who waits for that is released, though nothing of the quota was freed for it."""
    waits = asking("w", AMD, queue="blue")
    ledger = a_ledger(NODE, RED, BLUE, released("a"), released("b"), waits)
    assert release(ledger, "blue")[0] == []
    see(ledger, released("a").in_phase("Succeeded"))
    assert release(ledger, "blue")[0] == []
    see(ledger, released("b").on_node("b300-a"))
    ledger.dirty.pending.take()
    ledger.pod_gone("uid-b")
    assert "blue" in ledger.dirty.pending.take()
    assert release(ledger, "blue")[0] == [["w"]]


def test_a_gang_that_asks_by_two_resource_names_does_not_start() -> None:
    gang = a_group("gang").in_queue("red").of(2)
    members = [asking("a").in_group("gang"), asking("b", AMD).in_group("gang")]
    ledger = a_ledger(NODE, RED, gang, *members)
    opened, told = release(ledger)
    assert opened == []
    assert told[0].verdict.text.startswith(
        f"Queue <red>, requested <1> of <{B300}>: card <{B300}> is counted as {GPU}, but"
    )
    see(ledger, asking("b").in_group("gang").at_revision(2))
    assert release(ledger)[0] == [["a", "b"]]


def test_what_is_in_no_vendor_row_is_in_no_status() -> None:
    """What a status says counts as a card for everybody: no tenant decides that."""
    ledger = a_ledger(NODE, RED, released("a", "new.example/xpu"))
    refused(ledger, asking("b"))
    assert recorded(ledger) is None
    assert not ledger.counts("new.example/xpu")


def test_out_of_every_quota_the_card_begins_anew() -> None:
    """How an administrator undoes what the first pod fixed."""
    told = RED.having_reported(B300, 4, AMD)
    ledger = a_ledger(NODE, told, BLUE)
    see(ledger, told.with_quota({}))
    refused(ledger, asking("a", queue="blue"))
    ledger.queue_gone("blue")
    assert ledger.catalog.resource(B300) is None
    # As long as somebody has the card, its row, with quota 0, stays in the status.
    see(ledger, told.with_quota({}), a_queue("red").with_quota({}), RED)
    assert ledger.catalog.resource(B300) is None
    assert fits(ledger, asking("a"))


def test_p4_who_came_past_admission_is_counted_by_it_too() -> None:
    """Whoever is first released says what counts the card: then another resource does not."""
    past = a_pod("past").in_queue("red").asking_for(1, AMD)
    ledger = a_ledger(NODE, RED, past, asking("a"))
    found = [dict(ledger.pods["uid-past"].charge)]
    assert release(ledger)[0] == [["a"]]
    found.append(dict(ledger.pods["uid-past"].charge))
    retract(ledger, "a", back_off=True)
    found.append(dict(ledger.pods["uid-past"].charge))
    assert found == [{B300: 1}, {}, {B300: 1}]


def test_i5_of_very_many_in_many_queues_most_are_read_again_later() -> None:
    queues = [a_queue(f"q{n}").with_quota({B300: 1}) for n in range(30)]
    past = [a_pod(f"p{n}").in_queue(f"q{n}").asking_for(1, AMD) for n in range(30)]
    ledger = a_ledger(NODE, RED, *queues, *past, at_once=10)
    ledger.reassessment.read_overdue()
    see(ledger, released("a"))
    assert sum(not ledger.pods[pod.uid].charge for pod in past) == 10
    ledger.reassessment.read_overdue()
    assert not any(ledger.pods[pod.uid].charge for pod in past)
