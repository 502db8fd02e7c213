"""P2-P5: which cards could serve a pod, and what is wrong with the request itself."""

import pytest

from builders import (
    CARDS,
    GPU,
    H200,
    H200_MIG,
    H800,
    H800_MPS,
    R4090,
    SHARED,
    Body,
    a_ledger,
    a_node,
    a_pod,
    a_queue,
)
from builders.pod import PodBody
from cardquota.quota import Reason
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import InvalidRequest, invalid_request

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
    facts = pod.facts()
    return invalid_request(facts, ledger.request_of(facts, "queue"), account.quota, ledger)


def assert_refused(pod: PodBody, *words: str, ledger: Ledger | None = None) -> None:
    """As an invalid card annotation, in words that are fit for a message."""
    found = objection_to(pod, ledger)
    assert found is not None
    assert found.reason is Reason.INVALID_CARD
    assert [word for word in words if word not in found.text] == []
    assert len(found.text) < 1_000
    assert found.text.isprintable()


def test_p2_a_pod_that_names_its_card_asks_for_it() -> None:
    request = a_cluster().request_of(a_pod().naming(H200).asking_for(2).facts(), "queue")
    assert (request.cards, request.resource, request.amount) == ((H200,), GPU, 2)
    assert objection_to(a_pod().naming(H200).asking_for(2)) is None


def test_p2_alternatives_keep_the_users_order() -> None:
    assert cards_of(a_pod().naming(f"{R4090}| {H200}|{R4090}").asking_for(1)) == (R4090, H200)


@pytest.mark.parametrize("text", [f"{H200}||{H800}", f"|{H200}", "|", "", "  ", "||||"])
def test_p2_an_empty_alternative_is_refused(text: str) -> None:
    assert_refused(a_pod().naming(text).asking_for(1), "cannot be read", "write one card name")
    assert cards_of(a_pod().naming(text).asking_for(1)) == ()


@pytest.mark.parametrize("text", ["x" * 10_000, "A\x00B", "A\x1b[31mB", "A|" * 5_000])
def test_p2_odd_text_is_refused_in_short_words(text: str) -> None:
    assert_refused(a_pod().naming(text).asking_for(1))


def test_p2_a_pod_may_not_ask_for_two_card_resources() -> None:
    pod = a_pod().asking_for(1).asking_for(1, SHARED)
    assert_refused(pod, "2 card resources", GPU, SHARED, "split it")
    assert cards_of(pod) == ()


def test_p7_other_devices_beside_a_card_are_not_counted() -> None:
    pod = a_pod().naming(H200).asking_for(1).asking_for(2, "rdma/hca")
    assert objection_to(pod) is None
    assert cards_of(pod) == (H200,)


def test_p2_all_alternatives_must_have_one_resource_name() -> None:
    ledger = a_cluster(a_node("mps").sharing(H800, 8, "81559"))
    pod = a_pod().naming(f"{H200}|{H800_MPS}").asking_for(1)
    assert_refused(pod, H800_MPS, SHARED, GPU, "one or the other", ledger=ledger)


def test_p2_a_card_is_asked_for_by_its_own_resource() -> None:
    assert_refused(a_pod().naming(H200).asking_for(1, SHARED), H200, GPU, SHARED)


def test_p3_a_pod_that_names_no_card_may_have_all_of_its_quota_most_first() -> None:
    assert cards_of(a_pod().asking_for(1)) == (H800, H200, R4090)


def test_p3_its_node_selector_says_which_product() -> None:
    assert cards_of(a_pod().asking_for(1).on_nodes_labelled({PRODUCT: H200})) == (H200,)


def test_p3_its_affinity_says_which_products_in_which_order() -> None:
    pod = a_pod().asking_for(1).requiring([(PRODUCT, "In", [H200, H800])])
    assert cards_of(pod) == (H200, H800)


def test_p3_what_affinity_allows_alike_comes_most_quota_first() -> None:
    pod = a_pod().asking_for(1).requiring([(PRODUCT, "NotIn", [R4090])])
    assert cards_of(pod) == (H800, H200)


def test_p3_cards_without_quota_are_taken_only_where_no_other_is_allowed() -> None:
    pod = a_pod().asking_for(1)
    assert cards_of(pod.requiring([(PRODUCT, "In", [R4090, H200])])) == (H200,)
    assert cards_of(pod.on_nodes_labelled({PRODUCT: R4090})) == (R4090,)


@pytest.mark.parametrize("pod", [a_pod(), a_pod().naming(f"{H200}|{H800}")])
def test_p3_a_pod_whose_nodes_are_all_to_come_has_no_card_unless_there_is_one(pod: PodBody) -> None:
    pod = pod.asking_for(1).on_nodes_labelled({"zone": "a"})
    assert cards_of(pod) == ()
    assert (found := objection_to(pod)) is not None
    assert found.reason is Reason.CARD_UNCLEAR
    assert cards_of(pod.requiring([(PRODUCT, "In", [H200, R4090])])) == (H200,)


def test_p3_the_operating_system_tells_no_card() -> None:
    pod = a_pod().asking_for(1).on_nodes_labelled({"kubernetes.io/os": "linux"})
    assert cards_of(pod) == (H800, H200)


def test_p3_where_no_card_is_left_it_is_refused_with_the_queues_cards() -> None:
    for pod in (
        a_pod().asking_for(1, SHARED),
        a_pod().asking_for(1).on_nodes_labelled({PRODUCT: "NVIDIA-A100"}),
    ):
        found = objection_to(pod)
        assert found is not None
        assert found.reason is Reason.CARD_NOT_IN_QUOTA
        assert f"{R4090}, {H200}, {H800}" in found.text


def test_p4_a_card_without_a_card_resource_is_refused() -> None:
    assert_refused(a_pod().naming(H200), H200, "no container asks for a card resource")
    assert_refused(a_pod().naming(H200).asking_for(0), "no container asks")


@pytest.mark.parametrize("amount", ["-1", "0.5", "one"])
def test_p4_an_amount_that_is_no_whole_number_is_refused(amount: str) -> None:
    assert_refused(a_pod().naming(H200).asking_for(amount), amount, "correct the pod's amounts")


def test_p4_an_unknown_name_is_refused() -> None:
    assert_refused(a_pod().naming("NVIDIA-H20").asking_for(1), "NVIDIA-H20", "not known")
    assert_refused(a_pod().naming(f"{H200}|typo").asking_for(1), "typo")


def test_p4_a_card_with_quota_that_no_node_has_at_present_is_known() -> None:
    """A pool scaled to zero: its resource is the one the pod asks for."""
    ledger = a_ledger(a_queue().with_quota({H200: 3}))
    assert objection_to(a_pod().naming(H200).asking_for(1), ledger) is None
    assert objection_to(a_pod().naming(H200).asking_for(1, "new.example/xpu"), ledger) is None


@pytest.mark.parametrize("name", ["NVIDIA H200", GPU, "A" * 64, "NVIDIA-B300/half"])
def test_p4_a_name_that_no_node_can_show_is_refused_in_spite_of_its_quota(name: str) -> None:
    """D9: it would wait for ever, for a node that cannot be."""
    ledger = a_cluster(a_queue("other").with_quota({name: 1}))
    assert_refused(
        a_pod().naming(name).asking_for(1), "no node can have card", "correct", ledger=ledger
    )


def test_p4_a_quota_in_any_queue_makes_a_card_known() -> None:
    ledger = a_cluster(a_queue("other").with_quota({"NVIDIA-B300": 1}))
    assert objection_to(a_pod().naming("NVIDIA-B300").asking_for(1), ledger) is None


def test_p4_a_card_whose_product_is_there_without_it_is_unknown() -> None:
    ledger = a_cluster(a_queue("other").with_quota({H200_MIG: 1}))
    pod = a_pod().naming(H200_MIG).asking_for(1, "nvidia.com/mig-1g.18gb")
    assert_refused(pod, H200_MIG, "nodes have its product", ledger=ledger)


def test_p4_a_resource_name_from_a_queues_status_is_enough() -> None:
    reported = a_queue().with_quota({H200: 3}).having_reported(H200, 3, GPU)
    ledger = a_ledger(reported)
    assert objection_to(a_pod().naming(H200).asking_for(1), ledger) is None
    assert_refused(a_pod().naming(H200).asking_for(1, SHARED), GPU, SHARED, ledger=ledger)
    assert cards_of(a_pod().asking_for(1), ledger) == (H200,)


def test_p5_affinity_takes_alternatives_away() -> None:
    pod = a_pod().naming(f"{H200}|{H800}").asking_for(1).on_nodes_labelled({PRODUCT: H800})
    assert cards_of(pod) == (H800,)
    assert objection_to(pod) is None


def test_p5_affinity_that_excludes_every_card_is_refused_naming_both() -> None:
    pod = a_pod().naming(f"{H200}|{H800}").asking_for(1)
    pod = pod.requiring([(PRODUCT, "In", [R4090])])
    assert_refused(
        pod, PRODUCT, R4090, H200, H800, "change the selector or affinity, or name other cards"
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


def test_p6_cpu_and_memory_are_asked_for_too() -> None:
    pod = a_pod().naming(H200).asking_for(1).with_cpu("500m").with_memory("1Gi")
    request = a_cluster().request_of(pod.facts(), "queue")
    assert (request.cpu, request.memory) == (500, 2**30)


def test_p6_not_with_cards_where_the_setting_says_so() -> None:
    ledger = a_ledger(*CARDS, a_queue().with_quota(QUOTA), exempt_cpu_memory=True)
    pod = a_pod().in_queue("queue").with_cpu("500m").with_memory("1Gi")
    with_cards = ledger.request_of(pod.asking_for(1).facts(), "queue")
    without = ledger.request_of(pod.facts(), "queue")
    assert (with_cards.cpu, with_cards.memory) == (0, 0)
    assert (without.cpu, without.memory) == (500, 2**30)


def test_a_pod_without_cards_has_nothing_to_object_to() -> None:
    assert objection_to(a_pod().with_cpu("1")) is None


def test_p3_a_pod_that_names_no_card_has_nothing_to_object_to_if_one_is_left() -> None:
    assert objection_to(a_pod().asking_for(1)) is None
