"""Q1-Q6: what is kept of a queue, and what is refused at write."""

import json

import pytest

from builders import GPU, H200, H800, a_ledger, a_node, a_queue, see
from builders.queue import QueueBody
from cardquota.quota import vocabulary as v
from cardquota.quota.accounts import LONGEST_TEXT, QueueError
from cardquota.quota.decisions.queue_write import (
    check_queue,
    doubts_about,
    ignored_cards,
    not_deserved,
)
from cardquota.quota.messages import queue_write_messages
from cardquota.quota.objects import Guarantee, QueueSpec


@pytest.mark.parametrize(
    ("weight", "counts"), [(None, 1), (1, 1), (65_535, 65_535), (0, 1), (-3, 1), (65_536, 1)]
)
def test_w1_a_weight_that_is_missing_or_would_be_refused_counts_as_1(
    weight: int | None, counts: int
) -> None:
    assert a_queue().weighing(weight).facts().weight == counts


def test_w1_a_card_is_guaranteed_by_its_name_and_never_by_its_resource_name() -> None:
    """Several models may be counted by that; and what the queue may not hold is not guaranteed."""
    rows = {H200: "4", GPU: "9", H800: "2", "cpu": "2"}
    queue = a_queue("red").with_quota({H200: 8}).guaranteeing_cards(rows)
    check_queue(queue.wire())
    other = a_queue("blue").with_quota({H200: 8, H800: 8})
    ledger = a_ledger(a_node("n").with_cards(H200, 6), queue, other)
    assert ledger.shares.shown("red", H200) == 4
    assert ledger.shares.shown("red", H800) == 0
    assert queue.facts().guarantee == {"cpu": 2_000}


def test_q4_what_is_guaranteed_is_so_of_the_last_good_quota_too() -> None:
    queue = a_queue("red").with_quota({H200: 8}).guaranteeing_cards({H200: "4"})
    other = a_queue("blue").with_quota({H200: 8})
    ledger = a_ledger(a_node("n").with_cards(H200, 6), queue, other)
    see(ledger, queue.with_quota_text("{").at_revision(9))
    assert ledger.shares.shown("red", H200) == 4


@pytest.mark.parametrize("amount", ["1500m", "-1", "many"])
def test_w1_a_guarantee_of_a_card_is_a_whole_number(amount: str) -> None:
    queue = a_queue().with_quota({H200: 8}).guaranteeing_cards({H200: amount})
    with pytest.raises(QueueError, match=rf"^spec\.guarantee\.resource\.{H200}.* write "):
        check_queue(queue.wire())
    assert queue.facts().card_guarantee.get(H200, 0) == 0


@pytest.mark.parametrize(
    ("queue", "why"),
    [
        (a_queue().put(-1, "spec", "weight"), r"spec\.weight is -1"),
        (a_queue().put(0, "spec", "weight"), r"spec\.weight is 0, at least 1"),
        (a_queue().weighing(65_536), r"spec\.weight is 65536, at most 65535 is allowed"),
        (a_queue().limited_to(cpu="much"), r"spec\.capability\.cpu: <much>"),
        (a_queue().put({"cpu": "-1"}, "spec", "deserved"), r"spec\.deserved\.cpu"),
        (a_queue().guaranteeing(cpu="some"), r"spec\.guarantee\.resource\.cpu: <some>"),
        (a_queue().annotated(v.NAMESPACES, '{"a": 1}'), r"JSON list"),
        (a_queue().annotated(v.NAMESPACES, '[""]'), r"JSON list"),
        (a_queue().annotated(v.NAMESPACES, "[" * 60_000), r"JSON list"),
    ],
)
def test_q5_q8_what_is_refused_at_write_says_what_to_do(queue: QueueBody, why: str) -> None:
    with pytest.raises(QueueError, match=why):
        check_queue(queue.wire())


def test_a_stored_list_that_cannot_be_read_opens_it_to_none() -> None:
    assert not a_queue().annotated(v.NAMESPACES, "*").facts().admits("anything")


def test_what_is_stored_and_cannot_be_read_takes_the_safe_side() -> None:
    facts = a_queue().limited_to("much", "-1").with_policy("Maybe").facts()
    assert facts.limits == {"cpu": 0, "memory": 0}
    assert facts.policy is None


@pytest.mark.parametrize(
    ("queue", "state"),
    [
        (a_queue(), v.QueueState.OPEN),
        (a_queue().in_state("Open"), v.QueueState.OPEN),
        (a_queue().in_state("Unknown"), v.QueueState.OPEN),
        (a_queue().closed(), v.QueueState.CLOSED),
        (a_queue().closed().in_state("Open"), v.QueueState.CLOSED),
        (a_queue().in_state("Closed"), v.QueueState.CLOSED),
        (a_queue().in_state("Closing"), v.QueueState.CLOSING),
        (a_queue().annotated(v.QUEUE_STATE, "Open").in_state("Closed"), v.QueueState.CLOSED),
    ],
)
def test_q6_a_queue_is_closed_by_annotation_or_status(
    queue: QueueBody, state: v.QueueState
) -> None:
    assert queue.facts().state is state


def ours(queue: QueueBody, manager: str = v.FIELD_MANAGER) -> QueueBody:
    fields: dict[str, object] = {"f:status": {"f:state": {}}}
    return queue.put([{"manager": manager, "fieldsV1": fields}], "metadata", "managedFields")


def test_q6_a_state_we_wrote_is_an_echo_of_the_annotation() -> None:
    echo = ours(a_queue().in_state("Closed")).facts()
    assert (echo.state, echo.state_is_ours) == (v.QueueState.OPEN, True)


def test_q6_a_state_we_did_not_write_is_never_taken_back() -> None:
    theirs = ours(a_queue().in_state("Closed"), manager="vcctl").facts()
    assert (theirs.state, theirs.state_is_ours) == (v.QueueState.CLOSED, False)
    assert a_queue().in_state("Open").facts().state_is_ours


@pytest.mark.parametrize("status", [7, None, "f:state", ["f:state"], {"f:state": 7}])
def test_q6_managed_fields_of_any_form_are_read(status: object) -> None:
    fields = [{"manager": v.FIELD_MANAGER, "fieldsV1": {"f:status": status, "f:spec": 7}}]
    queue = a_queue().in_state("Closed").put(fields, "metadata", "managedFields")
    assert queue.facts().state_is_ours is isinstance(status, dict)


@pytest.mark.parametrize("queue", [a_queue(), a_queue().closed(), a_queue().in_state("Closed")])
def test_q8_a_queue_that_is_being_deleted_takes_nothing_new(queue: QueueBody) -> None:
    """A finalizer keeps it for a while: then it would go from under its pods."""
    leaving = queue.put("2026-01-01T00:00:00Z", "metadata", "deletionTimestamp")
    assert leaving.facts().state is v.QueueState.CLOSING


def test_q2_a_stored_limit_that_cannot_be_read_is_nothing_and_says_so() -> None:
    facts = a_queue().limited_to(cpu="1e400", memory="4Gi").facts()
    assert facts.limits == {"cpu": 0, "memory": 4 * 2**30}
    assert facts.spec_problem.startswith("spec.capability.cpu: <1e400> is more than can be counted")
    assert a_queue().limited_to(cpu="4").facts().spec_problem == ""


def nothing_meant(_: str) -> str:
    return ""


def test_d9_rows_that_no_node_can_have_are_doubtful() -> None:
    odd = [f"NVIDIA H{number}" for number in range(7)]
    queue = a_queue().with_quota(dict.fromkeys([H200, *odd], 1))
    found = doubts_about(queue.wire(), nothing_meant)
    assert found == tuple(queue_write_messages.row_impossible(name) for name in odd[:5])
    for quiet in (a_queue(), a_queue().with_quota({H200: 1})):
        assert doubts_about(quiet.wire(), nothing_meant) == ()


def test_v2_a_guarantee_has_to_be_deserved() -> None:
    """Volcano's webhook refuses such a queue, whatever the resource."""
    queue = a_queue().guaranteeing(cpu="2", memory="2Gi")
    assert not_deserved(a_queue().wire()) == ()
    assert not_deserved(queue.wire()) == (("cpu", "2"), ("memory", "2Gi"))
    less = queue.put({"cpu": "1999m", "memory": "2048Mi", "x": "1"}, "spec", "deserved")
    assert not_deserved(less.wire()) == (("cpu", "2"),)
    assert not_deserved(queue.put({"cpu": "2", "memory": "1e400"}, "spec", "deserved").wire()) == ()


def test_r6_what_may_be_borrowed_is_read_and_checked() -> None:
    queue = a_queue().with_quota({H200: 3})
    assert not queue.facts().surge
    assert queue.annotated(v.SURGE, "2").facts().surge.of(H200) == 2
    check_queue(queue.annotated(v.SURGE, f'{{"{H200}": 1}}').wire())
    with pytest.raises(QueueError, match=r"card\.surge cannot be read: .*whole number of cards"):
        check_queue(queue.annotated(v.SURGE, "some").wire())


def test_r6_what_is_stored_and_cannot_be_read_lends_nothing_and_is_reported() -> None:
    facts = a_queue().annotated(v.SURGE, "-1").facts()
    assert not facts.surge
    assert v.SURGE in facts.spec_problem


def test_r6_a_card_without_quota_is_doubted() -> None:
    queue = a_queue().with_quota({H200: 3}).annotated(v.SURGE, f'{{"{H800}": 1, "{H200}": 1}}')
    said = queue_write_messages.surge_without_quota(H800)
    assert doubts_about(queue.wire(), nothing_meant) == (said,)


@pytest.mark.parametrize("key", [v.DESERVED, v.LENDABLE])
def test_l1_what_is_owed_and_lent_is_read_and_checked(key: str) -> None:
    """What is stored and cannot be read counts as absent."""
    queue = a_queue().with_quota({H200: 3})
    check_queue(queue.annotated(key, f'{{"{H200}": 0}}').wire())
    for text in ("some", f'{{"{H200}": -1}}', f'{{"{H200}|{H800}": 1}}', "2"):
        odd = queue.annotated(key, text)
        with pytest.raises(QueueError, match=rf"{key} cannot be read: .* such as "):
            check_queue(odd.wire())
        assert (odd.facts().card_deserved, odd.facts().lendable) == ({}, {})
    facts = queue.deserving_cards({H200: 2}).lending({H200: 1}).facts()
    assert (facts.card_deserved, facts.lendable) == ({H200: 2}, {H200: 1})


# --- Q2: card resources in a queue's specification are no quota ----------------------------------


def counts(resource: str) -> bool:
    return resource == GPU


def test_q2_they_are_found_in_every_field() -> None:
    spec = QueueSpec(
        capability={"cpu": "4", GPU: "8"},
        deserved={GPU: 4},
        guarantee=Guarantee(resource={GPU: "2", "NVIDIA-H200": 1}),
    )
    assert ignored_cards(spec, counts) == (
        ("capability", GPU),
        ("deserved", GPU),
        ("guarantee.resource", GPU),
    )


def test_p8_no_more_than_a_thousand_names_are_looked_at() -> None:
    asked: list[str] = []

    def hears(resource: str) -> bool:
        asked.append(resource)
        return True

    spec = QueueSpec(capability={f"x/{number}": "1" for number in range(5_000)})
    found = ignored_cards(spec, hears)
    assert len(found) == len(asked) == 1_000


# --- What is read back of what we have published of a queue --------------------------------------


ROW = {"name": H200, "resource": "nvidia.com/gpu", "quota": 3, "allocated": 2}


def noted(text: str) -> QueueBody:
    return a_queue().annotated(v.STATUS, text)


def test_the_annotation_is_read_where_the_status_says_nothing() -> None:
    """Beside Volcano: the last good quota and the resource name."""
    facts = noted(json.dumps({"cards": [ROW]})).facts()
    assert facts.recorded == {H200: ("nvidia.com/gpu", 3)}


def test_what_the_status_says_comes_first() -> None:
    """As with our definition in place of Volcano's: the annotation is of the time before it."""
    queue = noted(json.dumps({"cards": [{**ROW, "quota": 1}]}))
    facts = queue.put([ROW], "status", "cards").facts()
    assert facts.recorded == {H200: ("nvidia.com/gpu", 3)}


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "[]", "{", "[" * 90_000, '{"cards": 1}', '{"cards": [1]}'),
        *('{"cards": [{"name": 7}]}', json.dumps({"cards": [ROW], "x": "y" * LONGEST_TEXT})),
    ],
)
def test_an_annotation_that_cannot_be_read_says_nothing(text: str) -> None:
    assert noted(text).facts().recorded == {}


@pytest.mark.parametrize(
    "odd",
    [
        *({"quota": 2**63}, {"quota": 10**400}, {"quota": -1}),
        *({"resource": "r" * 318}, {"name": "n" * 9_000}),
    ],
)
def test_a_row_beyond_all_bounds_says_nothing(odd: dict[str, object]) -> None:
    """No definition of Queues checks an annotation."""
    rows = [ROW, {**ROW, "name": "OTHER", **odd}]
    assert noted(json.dumps({"cards": rows})).facts().recorded == {H200: ("nvidia.com/gpu", 3)}


@pytest.mark.parametrize(
    ("written", "read"),
    [(None, None), ("on", "on"), (" dryRun\n", "dryRun"), ("off", "off"), ("ON", None), ("", None)],
)
def test_l6_what_a_queue_says_of_reclaiming_and_nothing_if_it_is_no_mode(
    written: str | None, read: str | None
) -> None:
    assert a_queue().reclaiming(written).facts().reclaim_mode == read


@pytest.mark.parametrize("mode", ["ON", "true", "dry-run", ""])
def test_l6_what_is_no_mode_of_reclaiming_is_refused_at_write(mode: str) -> None:
    with pytest.raises(QueueError, match=r"card\.reclaim is <.*>; write off or dryRun or on"):
        check_queue(a_queue().reclaiming(mode).wire())


@pytest.mark.parametrize(("written", "may_end"), [(None, True), (True, True), (False, False)])
def test_l4_a_queue_may_keep_its_pods(written: bool | None, may_end: bool) -> None:
    assert a_queue().reclaimable(written).facts().reclaimable is may_end
