"""P2-P5: which cards could serve a pod, and what is wrong with the request itself."""

import pytest

from builders import CARDS, GPU, H200, H800, R4090, Body, a_ledger, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import Reason
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import InvalidRequest

PRODUCT = f"{GPU}.product"
QUOTA = {H200: 3, H800: 5, R4090: 0}


def a_cluster(*things: Body) -> Ledger:
    return a_ledger(*CARDS, a_queue().with_quota(QUOTA), *things)


def cards_of(pod: PodBody, ledger: Ledger | None = None) -> tuple[str, ...]:
    return (ledger or a_cluster()).request_of(pod.facts(), "queue").cards


def objection_to(pod: PodBody, ledger: Ledger | None = None) -> InvalidRequest | None:
    ledger = ledger or a_cluster()
    account = ledger.account("queue")
    assert account is not None
    return ledger.reading_of(pod.facts(), account).invalid_request


def assert_refused(pod: PodBody, *words: str, ledger: Ledger | None = None) -> None:
    """As an invalid card annotation, in words that are fit for a message."""
    found = objection_to(pod, ledger)
    assert found is not None
    assert found.reason is Reason.INVALID_CARD
    assert [word for word in words if word not in found.text] == []
    assert len(found.text) < 1_000
    assert found.text.isprintable()


@pytest.mark.parametrize("pod", [a_pod(), a_pod().naming(f"{H200}|{H800}")])
def test_p3_a_pod_whose_nodes_are_all_to_come_has_no_card_unless_there_is_one(pod: PodBody) -> None:
    pod = pod.asking_for(1).on_nodes_labelled({"zone": "a"})
    assert cards_of(pod) == ()
    assert (found := objection_to(pod)) is not None
    assert found.reason is Reason.CARD_UNCLEAR
    assert cards_of(pod.requiring([(PRODUCT, "In", [H200, R4090])])) == (H200,)


@pytest.mark.parametrize("name", ["NVIDIA H200", GPU, "A" * 64, "NVIDIA-B300/half"])
def test_p4_a_name_that_no_node_can_show_is_refused_in_spite_of_its_quota(name: str) -> None:
    """D9: it would wait for ever, for a node that cannot be."""
    ledger = a_cluster(a_queue("other").with_quota({name: 1}))
    assert_refused(
        a_pod().naming(name).asking_for(1), "no node can have card", "correct", ledger=ledger
    )


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ([[("NotIn", H200, H800)]], f"({PRODUCT} not in {H200}, {H800})"),
        ([[("DoesNotExist",)]], f"({PRODUCT} does not exist)"),
        ([[("Gt", "5")]], f"({PRODUCT} > 5)"),
        ([[("Lt", "5")]], f"({PRODUCT} < 5)"),
        ([[("In", R4090, "EC")]], f"({PRODUCT} {R4090} or EC)"),
        ([[("Exists",), ("Gt", "5")]], f"({PRODUCT} exists and {PRODUCT} > 5)"),
        ([[("Odd", "x"), ("Gt", "5")]], f"({PRODUCT} Odd x and {PRODUCT} > 5)"),
        ([[("In", R4090)], [("Gt", "5")]], f"({PRODUCT} {R4090} or {PRODUCT} > 5)"),
        ([[("Gt", "5")], []], f"({PRODUCT} > 5)"),
        ([[("Gt", "5")], [("Gt", "5")]], f"({PRODUCT} > 5)"),
        ([[]], "(it selects no node at all)"),
    ],
)
def test_p5_of_an_affinity_is_said_what_is_written(
    terms: list[list[tuple[str, ...]]], said: str
) -> None:
    written = [[(PRODUCT, operator, values) for operator, *values in term] for term in terms]
    pod = a_pod().naming(f"{H200}|{H800}").asking_for(1).requiring(*written)
    assert_refused(pod, f"the pod's node selector or affinity {said} excludes every card")


def test_p5_of_many_terms_five_are_said_and_the_rest_is_counted() -> None:
    terms = [[(PRODUCT, "In", [f"C{n}"])] for n in range(7)]
    pod = a_pod().naming(H200).asking_for(1).requiring(*terms)
    assert_refused(pod, " or ".join(f"{PRODUCT} C{n}" for n in range(5)) + " and 2 more)")


def test_p5_an_affinity_that_leaves_the_card_open_is_not_what_excludes_it() -> None:
    pod = a_pod().naming(H200).asking_for(1).on_nodes_labelled({PRODUCT: H800, "zone": "a"})
    pod = pod.requiring([(PRODUCT, "In", [H200])], [("zone", "In", ["a"])])
    assert_refused(pod, f"({PRODUCT} {H800})")
    both = pod.requiring([(PRODUCT, "NotIn", [H200])])
    assert_refused(both, f"({PRODUCT} {H800}; {PRODUCT} not in {H200})")
