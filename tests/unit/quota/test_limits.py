"""P8: all that users write and we read has a bound; beyond it a pod is refused, or waits."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from typing import Final

import pytest

from builders import CARDS, GPU, H200, a_group, a_ledger, a_namespace, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import Limit, Outcome, Reason, limits, read_allocated, read_reservation
from cardquota.quota import vocabulary as v
from cardquota.quota.accounts import QueueError
from cardquota.quota.accounts.queue_facts import queue_facts
from cardquota.quota.decisions import judge_create
from cardquota.quota.decisions.queue_write import check_queue
from cardquota.quota.ledger import Ledger
from cardquota.quota.ledger.groups import GroupFacts
from cardquota.quota.messages import beyond_limit
from cardquota.quota.nodes import NodeFacts
from cardquota.quota.nodes.node_facts import node_facts
from cardquota.quota.objects import Container, Node, Pod, PodSpec, Resources, Taint
from cardquota.quota.plan_record import PlanRecord, plan_text, read_plan
from cardquota.quota.pods import oversized_totals
from cardquota.quota.pods.pod_facts import pod_facts
from cardquota.quota.release import Opening, Refusal
from cardquota.quota.release.cycle import openings
from cardquota.quota.reports.drift import drift

from ..containers import containers as containers_in
from ..steps import steps_of

STOCK: Final = a_pod("p").in_queue("red").asking_for(1)
HAS_ZONE: Final[list[tuple[str, str, list[str]]]] = [("zone", "Exists", [])]
RED: Final = a_queue("red").with_quota({H200: 400})


def a_world() -> Ledger:
    return a_ledger(*CARDS, RED)


def of_length(size: int) -> str:
    """Names of cards, so many bytes together."""
    parts = ["A" * 300] * (size // 301)
    return "|".join([*parts, "A" * (size - 301 * len(parts))])


def containers(number: int, entries: int = 0) -> PodBody:
    """So many of them, with so many entries in all; the first asks for the cards, too."""
    found = [{"name": f"c{n}", "resources": {"limits": {}}} for n in range(number)]
    for n in range(entries):
        found[n % number]["resources"]["limits"][f"a.b/r{n // number}"] = "1"  # type: ignore[index]
    return STOCK.with_spec(containers=found)


def devices(number: int) -> PodBody:
    amounts = {f"a.b/r{n}": "1" for n in range(number)}
    return STOCK.with_spec(containers=[{"name": "main", "resources": {"limits": amounts}}])


def expressions(number: int, operator: str, values: int = 0) -> PodBody:
    return STOCK.requiring([("zone", operator, [f"{n}" for n in range(values)])] * number)


def tolerating(number: int, key: str = "k") -> PodBody:
    return STOCK.with_spec(tolerations=[{"key": key}] * number)


def owned(number: int, name: str = "o") -> PodBody:
    owner = {"apiVersion": "v1", "kind": "Job", "name": name, "uid": "o"}
    return STOCK.put([owner] * number, "metadata", "ownerReferences")


OF_PODS: Final[dict[Limit, Callable[[int], PodBody]]] = {
    limits.CARD_TEXT: lambda n: STOCK.naming(of_length(n)),
    limits.ALTERNATIVES: lambda n: STOCK.naming("|".join(f"A{i}" for i in range(n))),
    limits.QUEUE_TEXT: lambda n: STOCK.in_queue("q" * n),
    limits.GROUP_TEXT: lambda n: STOCK.in_group("g" * n),
    limits.CONTAINERS: containers,
    limits.RESOURCE_ENTRIES: lambda n: containers(32, n),
    limits.RESOURCES: devices,
    limits.RESOURCE_TEXT: lambda n: STOCK.asking_for(1, "a.b/" + "r" * (n - 4)),
    limits.TERMS: lambda n: STOCK.requiring(*[HAS_ZONE] * n),
    limits.EXPRESSIONS: lambda n: expressions(n, "Exists"),
    limits.COMPARISONS: lambda n: expressions(n, "Gt", 1),
    limits.VALUES: lambda n: expressions(1, "In", n),
    limits.SELECTOR_TEXT: lambda n: STOCK.on_nodes_labelled({"k": "v" * (n - 1)}),
    limits.TOLERATIONS: tolerating,
    limits.TOLERATION_TEXT: lambda n: tolerating(1, "k" * n),
    limits.GATES: lambda n: STOCK.gated(*[f"x/{i}" for i in range(n - 1)]),
    limits.GATE_TEXT: lambda n: STOCK.gated("x" * (n - len(v.GATE))),
    limits.OWNERS: owned,
    limits.OWNER_TEXT: lambda n: owned(1, "o" * (n - len("Job"))),
}
"""By limit: a pod that has so much of it."""

EVERY: Final = tuple(OF_PODS.items())
CASES: Final = pytest.mark.parametrize(
    ("limit", "pod"), EVERY, ids=[limit.what.replace(" ", "-") for limit in OF_PODS]
)


ELSEWHERE: Final = {
    *("BODY", "GANG_KINDS"),  # `test_large_bodies`, `test_gang_judgement`
    *("WAITING_PODS", "WAITING_PODS_OF_ONE", "IDLE_GROUPS", "IDLE_GROUPS_OF_ONE", "QUEUES"),
    *("REQUEST_TEXT", "REQUEST_CARDS", "MIN_MEMBER", "TASKS"),  # `test_group_request`
    *("TEMPLATE_TEXT", "WORKLOADS", "WORKLOADS_OF_ONE", "BORROWERS", "JOB_TASKS"),
}
"""Limits that are tested where what they bound is: those of all together in `test_left_out`."""


def test_every_limit_is_tested() -> None:
    found = {name: one for name, one in vars(limits).items() if isinstance(one, Limit)}
    here = {*OF_PODS, *OF_QUEUES, *OF_NODES, *OF_OURS}
    assert {name for name, one in found.items() if one not in here} == ELSEWHERE
    assert here <= {*found.values()}


@CASES
def test_as_much_as_the_limit_is_read(limit: Limit, pod: Callable[[int], PodBody]) -> None:
    facts = pod(limit.most).facts()
    assert not facts.oversized
    assert "are read" not in facts.problem


@CASES
def test_beyond_it_a_pod_is_refused_with_both_numbers(
    limit: Limit, pod: Callable[[int], PodBody]
) -> None:
    for found in (limit.most + 1, 3 * limit.most):
        verdict = judge_create(a_world(), pod(found).facts())
        assert (verdict.outcome, verdict.reason) == (Outcome.NEVER, Reason.INVALID_CARD)
        assert beyond_limit(limit, found) in verdict.text
        assert f"<{found}>" in verdict.text
        assert f"at most <{limit.most}> are read" in verdict.text


@CASES
def test_stored_all_the_same_it_waits_is_told_and_is_let_go_once_it_is_corrected(
    limit: Limit, pod: Callable[[int], PodBody]
) -> None:
    gates = [] if limit in (limits.GATES, limits.GATE_TEXT) else [v.GATE]
    body = pod(limit.most + 1)
    ledger = a_ledger(*CARDS, RED, body.gated() if gates else body)
    queues = [account.name for account in ledger.accounts() if account.pending]
    (refusal,) = [found for queue in queues for found in openings(ledger, queue)]
    assert isinstance(refusal, Refusal)
    assert refusal.verdict.reason is Reason.INVALID_CARD
    assert beyond_limit(limit, limit.most + 1) in refusal.verdict.text
    assert [list(openings(ledger, queue)) for queue in queues] == [[]]
    see(ledger, STOCK.gated().at_revision(9))
    (opening,) = openings(ledger, "red")
    assert isinstance(opening, Opening)
    assert drift(ledger) == {}


@CASES
def test_nothing_of_it_is_kept(limit: Limit, pod: Callable[[int], PodBody]) -> None:
    facts = pod(20 * limit.most).gated().facts()
    if limit in (limits.GATES, limits.GATE_TEXT):
        facts = pod(20 * limit.most).facts()
    assert facts.oversized
    assert (facts.selector, facts.tolerations, facts.foreign_gates) == (b"", (), ())
    assert facts.card_text is None
    kept = sum(sys.getsizeof(getattr(facts, field.name)) for field in fields(facts))
    assert kept + sum(len(name) for name, _ in facts.devices) < 8_000


@CASES
@pytest.mark.parametrize("mode", ["audit", "off"])
def test_its_gate_opens_nowhere(limit: Limit, pod: Callable[[int], PodBody], mode: str) -> None:
    """It would be written with what was read of it, which is not what stands there."""
    body = pod(limit.most + 1)
    if limit not in (limits.GATES, limits.GATE_TEXT):
        body = body.gated()
    ledger = a_ledger(*CARDS, RED, a_namespace("team").in_mode(mode), body)
    found = [one for account in list(ledger.accounts()) for one in openings(ledger, account.name)]
    assert not [one for one in found if isinstance(one, Opening)]


@CASES
def test_it_costs_no_more_the_larger_it_is(limit: Limit, pod: Callable[[int], PodBody]) -> None:
    """Beside its decoding. What is gone through at all is gone through by Python itself."""
    ledger = a_world()
    for times in (2, 40):
        wire = pod(times * limit.most).wire()
        assert steps_of(partial(_review, ledger, wire)) < 30_000


def _review(ledger: Ledger, pod: Pod) -> None:
    judge_create(ledger, pod_facts(pod))


def test_a_gang_of_which_one_is_beyond_a_limit_waits_and_is_told() -> None:
    gang = a_group("train").in_queue("red").of(2)
    fine = STOCK.in_queue(None).in_group("train").gated()
    beyond = fine.requiring(*[HAS_ZONE] * 300).with_uid("beyond")
    ledger = a_ledger(*CARDS, RED, gang, fine, beyond)
    (refusal,) = openings(ledger, "red")
    assert isinstance(refusal, Refusal)
    assert beyond_limit(limits.TERMS, 300) in refusal.verdict.text
    see(ledger, fine.with_uid("beyond").at_revision(9))
    (opening,) = openings(ledger, "red")
    assert isinstance(opening, Opening)


# --- what came past us is charged ------------------------------------------------------------


def unadmitted() -> Iterator[tuple[str, PodBody, int]]:
    gpu = {"limits": {"nvidia.com/gpu": "1"}}
    many = [{"name": f"c{n}", "resources": gpu} for n in range(300)]
    yield "containers", STOCK.with_spec(containers=many), 300
    junk = {f"a.b/r{n}": "0" for n in range(20_000)}
    last = [{"name": "junk", "resources": {"limits": junk}}, {"name": "c", "resources": gpu}]
    yield "behind entries of nothing", STOCK.with_spec(containers=last), 1
    first = [{"name": f"c{n}", "resources": {"limits": {"cpu": "1m"}}} for n in range(5_000)]
    yield "behind cpu", STOCK.with_spec(containers=[*first, {"name": "c", "resources": gpu}]), 1
    yield "affinity", STOCK.requiring(*[HAS_ZONE] * 500), 1
    yield "card", STOCK.naming(of_length(100_000)), 1
    yield "group", STOCK.in_group("g" * 300), 1


@pytest.mark.parametrize(
    ("pod", "cards"), [case[1:] for case in unadmitted()], ids=[case[0] for case in unadmitted()]
)
def test_i3_a_pod_beyond_a_limit_that_came_past_us_is_never_free(pod: PodBody, cards: int) -> None:
    bound = a_ledger(*CARDS, RED, pod.on_node("h200-a"))
    account = bound.account("red")
    assert account is not None
    assert account.row(H200).allocated == cards
    open_yet = a_ledger(*CARDS, RED, pod).account("red")
    assert open_yet is not None
    assert open_yet.row(H200).inqueue == cards


def test_i3_with_a_queue_that_nobody_can_have_it_is_charged_outside() -> None:
    ledger = a_ledger(*CARDS, STOCK.in_queue("q" * 250_000).on_node("h200-a"))
    outside, named = sorted(ledger.accounts(), key=lambda account: account.name)
    assert (outside.name, outside.row(H200).allocated) == ("", 1)
    assert named.name == "q" * 80 + "..."
    assert not limits.is_object_name(named.name)
    assert not named.rows


def test_a_pod_that_has_nothing_to_do_with_us_is_not_even_remembered() -> None:
    ledger = a_ledger(a_pod("p").with_spec(containers=[{"name": f"c{n}"} for n in range(1_000)]))
    assert not ledger.pods


@pytest.mark.parametrize(
    ("name", "can_be"),
    [("a", True), ("a.b-c", True), ("q" * 253, True), ("q" * 254, False), ("", False)]
    + [(name, False) for name in ("A", "a_b", "a/b", "-a", "a-", "a.", "<unknown>", "aa...")],
)
def test_what_can_be_the_name_of_an_object(name: str, can_be: bool) -> None:
    assert limits.is_object_name(name) is can_be


def test_sizes_are_bytes_as_kubernetes_counts_them() -> None:
    assert (limits.size_of("abc"), limits.size_of("ä€𝄞"), limits.size_of("\ud800")) == (3, 9, 3)


# --- queues -------------------------------------------------------------------------------------


def names(number: int, text: str) -> str:
    return "[" + ",".join(f'"{text}{n}"' for n in range(number)) + "]"


OF_QUEUES: Final[dict[Limit, Callable[[int], str]]] = {
    limits.NAMESPACES_TEXT: lambda n: "[" + '"t",' * 500 + f'"t"{" " * (n - 2_005)}]',
    limits.NAMESPACES: lambda n: names(n, "t"),
    limits.NAMESPACE_TEXT: lambda n: f'["{"t" * n}"]',
    limits.PATTERNS: lambda n: names(n, "t*"),
}


@pytest.mark.parametrize("limit", OF_QUEUES, ids=lambda limit: limit.what.split()[0])
def test_a_queue_beyond_a_limit_is_refused_and_open_to_nobody(limit: Limit) -> None:
    fine, beyond = (
        RED.annotated(v.NAMESPACES, OF_QUEUES[limit](n)) for n in (limit.most, limit.most + 1)
    )
    check_queue(fine.wire())
    with pytest.raises(QueueError, match=f"<{limit.most + 1}>.* at most <{limit.most}> are read"):
        check_queue(beyond.wire())
    assert queue_facts(beyond.wire()).namespaces == ()


@pytest.mark.parametrize("pattern", ["a*" * 62, "[a-z]" * 25, "*" + "a" * 55, "[!" + "b" * 120])
def test_as_many_and_as_long_patterns_as_there_may_be_are_compared_once(pattern: str) -> None:
    facts = queue_facts(RED.annotated(v.NAMESPACES, names(100, pattern + "]")).wire())
    assert len(facts.namespaces or ()) == 100
    assert steps_of(lambda: facts.admits("a" * 63)) < 50_000
    assert steps_of(lambda: facts.admits("a" * 63)) < 50


def test_whether_a_queue_admits_is_remembered_of_a_bounded_number_of_namespaces() -> None:
    facts = RED.open_to("team-*").facts()
    assert all(facts.admits(f"team-{n}") for n in range(2_500))
    assert not facts.admits("red")
    assert max(containers_in(facts).values()) <= 1_000


# --- nodes --------------------------------------------------------------------------------------


def a_node_with(labels: int = 0, taints: int = 0, resources: int = 0) -> NodeFacts:
    node: Node = a_node("n").with_cards(H200, 8).wire()
    assert node.metadata.labels is not None
    assert node.status.allocatable is not None
    node.metadata.labels.update({f"x{n}": "y" for n in range(labels - len(node.metadata.labels))})
    allocatable = node.status.allocatable
    allocatable.update({f"a.b/r{n}": "1" for n in range(resources - len(allocatable))})
    node.spec.taints = tuple(Taint(key=f"t{n}", effect="NoSchedule") for n in range(taints))
    return node_facts(node, a_ledger().vendors)


OF_NODES: Final[dict[Limit, Callable[[int], NodeFacts]]] = {
    limits.NODE_LABELS: lambda n: a_node_with(labels=n),
    limits.NODE_TAINTS: lambda n: a_node_with(taints=n),
    limits.NODE_RESOURCES: lambda n: a_node_with(resources=n),
}


@pytest.mark.parametrize("limit", OF_NODES, ids=lambda limit: limit.what.split()[0])
def test_d9_the_cards_of_a_node_beyond_a_limit_are_not_counted(limit: Limit) -> None:
    fine, beyond = OF_NODES[limit](limit.most), OF_NODES[limit](limit.most + 1)
    assert (len(fine.cards), fine.problems) == (1, ())
    assert beyond.problems == (
        f"it has <{limit.most + 1}> {limit.what}, at most <{limit.most}> are read",
    )
    assert (beyond.cards, beyond.labels, beyond.taints) == ((), (), ())


# --- what only we write -------------------------------------------------------------------------


def stamp_with(**notes: str) -> object:
    pod = STOCK.stamped("red", {H200: 1})
    for key, text in notes.items():
        pod = pod.annotated({"term": v.TERM, "allocated": v.ALLOCATED}[key], text)
    return pod.facts().stamp


def group_with(cards: str) -> GroupFacts:
    return a_group().put(cards, "status", "columns", "cards").facts()


PLAN: Final = PlanRecord("t", 1_800_000_000, "reclaim", H200, ())


def allocated(size: int) -> str:
    return f'{{"{"A" * (size - 6)}":1}}'


def reservation(size: int) -> str:
    text = '{"term":"t","queue":"red","cards":{},"cpu":"0","memory":"0"}'
    return text + " " * (size - len(text))


OF_OURS: Final[dict[Limit, Callable[[int], object]]] = {
    limits.ALLOCATED_TEXT: lambda n: stamp_with(allocated=allocated(n)),
    limits.TERM_TEXT: lambda n: stamp_with(term="t" * n),
    limits.RESERVATION_TEXT: lambda n: read_reservation(reservation(n)),
    limits.GROUP_CARDS_TEXT: lambda n: group_with("c" * n).cards or None,
    limits.PLAN_TEXT: lambda n: read_plan(plan_text(PLAN).ljust(n)),
    limits.PLAN_VICTIMS: lambda n: read_plan(plan_text(PLAN._replace(victims=("u",) * n))),
}


@pytest.mark.parametrize("limit", OF_OURS, ids=lambda limit: limit.what.split()[1])
def test_what_is_longer_than_anything_that_we_write_is_none_of_ours(limit: Limit) -> None:
    assert OF_OURS[limit](limit.most) is not None
    assert OF_OURS[limit](limit.most + 1) is None


def test_a_stamp_of_more_cards_than_a_pod_can_ask_for_is_none_of_ours() -> None:
    assert read_allocated("{" + ",".join(f'"A{n}":1' for n in range(32)) + "}") is not None
    assert read_allocated("{" + ",".join(f'"A{n}":1' for n in range(33)) + "}") is None
    assert STOCK.stamped("q" * 254, {H200: 1}).facts().stamp is None


def test_p8_of_a_pod_of_very_many_containers_no_more_is_read_than_a_node_could_serve() -> None:
    one = Container(resources=Resources(limits={GPU: 1, "cpu": "1"}))
    found = oversized_totals(PodSpec(containers=(one,) * 3_000))
    assert found.devices == ((GPU, 1_024),)
    assert found.cpu == 1_024_000
