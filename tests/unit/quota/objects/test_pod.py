"""Pods that are stored, however large they are: what they hold is read."""

import json

import pytest

from builders import CARDS, H200, a_ledger, a_pod, a_queue
from builders.pod import PodBody
from cardquota.cluster.watch import ChangeNotifier, Delivery, watched_kinds
from cardquota.quota import BODY, Reason
from cardquota.quota.ledger import Ledger
from cardquota.quota.objects import LargePod, Pod
from cardquota.quota.release import Refusal
from cardquota.quota.release.cycle import openings

RED = a_queue("red").with_quota({H200: 4})
STOCK = a_pod("p").in_queue("red").asking_for(1).gated("other.io/gate")
LARGE = STOCK.requiring(*[[]] * (BODY.most // 20)).with_spec(tolerations=[{}] * 9)


def told(ledger: Ledger, pod: PodBody) -> None:
    """As the watch tells it."""
    (pods,) = (one for one in watched_kinds(ledger, ChangeNotifier()) if one.kind == "pods")
    encoded = json.dumps(pod.body, separators=(",", ":")).encode()
    Delivery("pods", pods.struct, pods).changed(encoded)  # type: ignore[arg-type]


def decoded(pod: PodBody) -> Pod:
    return Pod.decode(json.dumps(pod.body, separators=(",", ":")).encode())


def test_of_one_that_is_too_long_it_is_not_read_where_it_may_go() -> None:
    found = decoded(LARGE)
    assert isinstance(found, LargePod)
    assert found.size > BODY.most
    assert (found.spec.affinity, found.spec.tolerations) == (None, ())
    small = decoded(STOCK)
    assert found.metadata == small.metadata
    assert found.spec == small.spec


def test_any_other_is_read_as_it_stands() -> None:
    long = STOCK.annotated("example.com/long", "x" * (BODY.most - 2_000))
    for pod in (STOCK, long, STOCK.requiring(*[[]] * 100)):
        assert decoded(pod) == pod.wire()
        assert not isinstance(decoded(pod), LargePod)


def test_p8_it_waits_and_is_told_and_goes_on_once_it_is_corrected() -> None:
    ledger = a_ledger(*CARDS, RED)
    told(ledger, LARGE)
    (refusal,) = openings(ledger, "red")
    assert isinstance(refusal, Refusal)
    assert refusal.verdict.reason is Reason.INVALID_CARD
    assert f"at most <{BODY.most}> are read: write less" in refusal.verdict.text
    told(ledger, STOCK.at_revision(9))
    assert not ledger.pods[STOCK.uid].facts.oversized


@pytest.mark.parametrize("many", ["terms", "tolerations"])
def test_i3_one_that_came_past_us_is_charged(many: str) -> None:
    pod = (
        LARGE
        if many == "terms"
        else STOCK.with_spec(tolerations=[{"key": "k" * 90}] * (BODY.most // 90))
    )
    ledger = a_ledger(*CARDS, RED)
    told(ledger, pod.ungated().on_node("h200-a"))
    account = ledger.account("red")
    assert account is not None
    assert account.row(H200).allocated == 1
