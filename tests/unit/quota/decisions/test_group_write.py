"""Which writes of a pod group are admitted: of an existing one only changes are judged (E5)."""

from collections.abc import Mapping

import pytest

from builders import CARDS, GPU, H200, H800, a_group, a_ledger, a_node, a_pod, a_queue
from builders.body import Body
from builders.group import GroupBody
from cardquota.quota import Outcome, Reason, Verdict
from cardquota.quota.decisions import judge_group_write
from cardquota.quota.ledger import Ledger
from cardquota.quota.messages import group_messages

MIG = "nvidia.com/mig-1g.18gb"
GANG = a_group("gang").in_queue("red").of(2).requesting({H200: 2})
RED = a_queue("red").with_quota({H200: 3})
BLUE = a_queue("blue").with_quota({H200: 3})
NOT_READ = GANG.requesting("[]")
GONE = GANG.in_queue("gone")
BAD = {
    "a request that cannot be read": NOT_READ,
    "more than the quota": GANG.requesting({H200: 9}),
    "a card outside the quota": GANG.requesting({H800: 1}),
    "an unknown card": GANG.requesting({"H2000": 1}),
    "a minimum of nothing": GANG.of(0),
    "a bad minimum by task": GANG.of_tasks({"worker": 3}),
}


def a_world(*things: Body, **settings: bool) -> Ledger:
    return a_ledger(*CARDS, *(things or (RED, BLUE)), **settings)


def write(group: GroupBody, before: GroupBody | None = None, *things: Body) -> Verdict:
    ledger = a_world(*things)
    return judge_group_write(ledger, group.written(), before.written() if before else None)


@pytest.mark.parametrize("group", BAD.values(), ids=BAD)
def test_what_is_wrong_is_refused_at_create_and_when_it_is_changed(group: GroupBody) -> None:
    assert write(GANG).fits
    for before in (None, GANG):
        assert write(group, before).outcome is Outcome.NEVER


@pytest.mark.parametrize("group", BAD.values(), ids=BAD)
def test_what_is_stored_wrong_stands_in_the_way_of_no_other_write(group: GroupBody) -> None:
    for changed in (
        group.in_phase("Inqueue"),
        group.annotated("volcano.sh/card.reservation", "{}"),
        group.put(["keep"], "metadata", "finalizers"),
        group.put("high", "spec", "priorityClassName"),
    ):
        assert write(changed, group).fits


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (NOT_READ, NOT_READ.of(3)),
        (NOT_READ, NOT_READ.needing({"cpu": "1"})),
        (NOT_READ, NOT_READ.in_queue("blue")),
        (GANG.requesting({H200: 9}), GANG.requesting({H200: 9}).of(3)),
        (GANG.in_queue("gone"), GANG.in_queue("gone").of(3)),
        (GANG.of(0), GANG.of(0).requesting({H200: 1})),
        (GANG.in_queue("gone"), GANG.in_queue("gone").requesting({H200: 1})),
    ],
)
def test_only_what_changes_is_judged(before: GroupBody, after: GroupBody) -> None:
    assert write(after, before).fits


def test_in_another_queue_all_that_it_asks_for_is_judged() -> None:
    small = a_queue("small").with_quota({H200: 1}).limited_to(cpu="2")
    verdict = write(GANG.in_queue("small"), GANG, RED, small)
    assert verdict.reason is Reason.INSUFFICIENT_CARD
    assert not write(GANG.in_queue("small").requesting("["), GANG, RED, small).fits
    assert not write(NOT_READ.in_queue("gone"), NOT_READ, RED).fits
    assert write(GANG.in_queue("closed"), GANG, a_queue("closed").closed()).reason is (
        Reason.QUEUE_NOT_OPEN
    )


def test_q6_a_closed_queue_is_no_reason_to_refuse_a_change_of_what_is_in_it() -> None:
    assert write(GANG.requesting({H200: 3}), GANG, RED.closed()).fits
    assert not write(GANG.requesting({H200: 4}), GANG, RED.closed()).fits


def test_a_group_of_a_controller_is_admitted_and_told_what_can_become_right() -> None:
    """It would give up (E5)."""
    group = BAD["a card outside the quota"]
    verdict = write(group.made_by_a_controller())
    assert verdict.outcome is Outcome.WAITS
    assert verdict.text == write(group).text


@pytest.mark.parametrize("group", [GONE, GONE.made_by_a_controller(), GONE.requesting({H200: 1})])
@pytest.mark.parametrize("before", [None, GANG])
def test_e5_a_group_of_a_queue_that_is_not_there_yet_is_admitted_and_told(
    group: GroupBody, before: GroupBody | None
) -> None:
    """Helm writes pod groups before queues."""
    verdict = write(group, before)
    assert (verdict.outcome, verdict.reason) == (Outcome.WAITS, Reason.QUEUE_NOT_FOUND)
    assert "Queue <gone> does not exist" in verdict.text


@pytest.mark.parametrize(
    "what", ["a request that cannot be read", "more than the quota", "an unknown card"]
)
def test_a_group_of_a_controller_is_refused_what_its_request_says(what: str) -> None:
    assert write(BAD[what].made_by_a_controller()).outcome is Outcome.NEVER


def test_a_group_of_a_controller_that_asks_for_no_cards_is_never_refused() -> None:
    """Its minimum, and its cpu and memory, are what the controller made of a workload."""
    plain = GANG.requesting(None).of(0).of_tasks({"worker": 3}).needing({"cpu": "9"})
    queue = RED.limited_to(cpu="8")
    assert write(plain.made_by_a_controller(), None, queue).outcome is Outcome.WAITS
    assert write(plain.made_by_a_controller(), None, RED).fits
    # Beside Volcano the API server accepts this.
    odd = plain.needing({"cpu": "-1"}).made_by_a_controller()
    assert write(odd, None, queue).outcome is Outcome.WAITS
    # The same where nobody is named as the controller, but it is known to be one.
    ledger = a_world(queue)
    assert not judge_group_write(ledger, plain.written(), by_controller=False).fits
    found = judge_group_write(ledger, plain.written(), by_controller=True)
    assert found.outcome is Outcome.WAITS


def test_a_group_without_a_queue_is_one_of_the_default_queue_where_there_is_one() -> None:
    group, moved = GANG.in_queue(None), GANG.in_queue("default")
    ledger = a_world(a_queue("default").with_quota({H200: 1}))
    assert judge_group_write(ledger, group.written()).fits
    found = judge_group_write(ledger, group.written(), default_queue="default")
    assert (found.outcome, found.queue) == (Outcome.NEVER, "default")
    same = judge_group_write(ledger, moved.written(), group.written(), default_queue="default")
    assert same.fits


def test_v5_one_that_volcano_made_for_pods_is_not_judged_in_its_default_queue() -> None:
    """Its pods may have another one, and `default` may have no quota."""
    made = GANG.in_queue("default").put(
        "podgroup-0d9c39a2-8a4b-4c39-9d0e-3f4d2f0e6a11", "metadata", "name"
    )
    ledger = a_world(a_queue("default").with_quota({H200: 1}))
    for group in (made, made.in_queue(None)):
        assert judge_group_write(ledger, group.written(), default_queue="default").fits
    changed = made.of(2).written()
    assert judge_group_write(ledger, changed, made.written(), default_queue="default").fits


def test_e6_a_class_that_does_not_count_is_told_when_it_is_named() -> None:
    named = GANG.put("system-cluster-critical", "spec", "priorityClassName")
    told = group_messages.priority_class_not_counted("system-cluster-critical")
    assert write(named, None, RED).warnings == (told,)
    assert write(named, GANG, RED).warnings == (told,)
    assert write(named.of(3), named, RED).warnings == ()
    assert write(GANG.put("high", "spec", "priorityClassName"), GANG, RED).warnings == ()


@pytest.mark.parametrize(
    ("resources", "told"),
    [
        ({GPU: 2}, ()),
        ({GPU: "2", "cpu": "64"}, ()),
        ({"cpu": "64", "pods": 2}, ()),
        ({GPU: 4}, (group_messages.minimum_disagrees(GPU, 4, 2),)),
        (
            {GPU: 2, "nvidia.com/mig-1g.18gb": 1},
            (group_messages.minimum_disagrees("nvidia.com/mig-1g.18gb", 1, 0),),
        ),
        ({GPU: "two"}, ()),
    ],
)
def test_min_resources_that_contradict_the_request_are_warned_of(
    resources: Mapping[str, str | int], told: tuple[str, ...]
) -> None:
    """A warning: Volcano changes minResources with its Job, and never the annotation."""
    group = GANG.needing(resources)
    things = (RED, a_node("mig-a").showing(H200).with_slices("1g.18gb", 7))
    for before in (None, GANG):
        verdict = write(group, before, *things)
        assert (verdict.fits, verdict.warnings) == (True, told)
    assert write(group.of(3), group, *things).warnings == ()


def test_p6_where_cards_free_of_cpu_nobody_knows_what_the_minimum_counts() -> None:
    queue = RED.limited_to(cpu="8")
    asked = GANG.requesting(None).needing({"cpu": "9", GPU: 2})
    many = {f"a.b/r{n}": 1 for n in range(65)}
    free, plain = a_world(queue, exempt_cpu_memory=True), a_world(queue)
    for group in (asked, GANG.requesting(None).needing({"cpu": "9", **many})):
        assert judge_group_write(free, group.written()).fits
        assert not judge_group_write(plain, group.written()).fits
    alone = GANG.requesting(None).needing({"cpu": "9"})
    assert not judge_group_write(free, alone.written()).fits
    assert judge_group_write(free, GANG.written()).fits


# --- a group that runs --------------------------------------------------------------------------


def running(members: int, group: GroupBody = GANG, *things: Body) -> Ledger:
    pods = [
        a_pod(f"p{n}").in_group("gang").naming(H200).asking_for(1).stamped("red", {H200: 1})
        for n in range(members)
    ]
    return a_world(RED, BLUE, group, *(pod.on_node("h200-a") for pod in pods), *things)


def told(ledger: Ledger, after: GroupBody, before: GroupBody = GANG) -> tuple[str, ...]:
    verdict = judge_group_write(ledger, after.written(), before.written())
    assert verdict.fits
    return verdict.warnings


def test_e10_another_queue_moves_nothing_that_was_released() -> None:
    assert told(running(2), GANG.in_queue("blue")) == (
        group_messages.group_moved("blue"),
        group_messages.group_goes_on(2, 0),
    )


def test_t2_another_queue_ends_the_reservation_and_those_missing_start_together() -> None:
    reserved = GANG.of(4).reserving("red", {H200: 3})
    ledger = running(2, reserved)
    assert told(ledger, reserved.in_queue("blue"), reserved)[1:] == (
        group_messages.group_reservation_ends("red"),
        group_messages.group_goes_on(2, 2),
    )
    # Nothing of it was released yet.
    assert told(running(0, reserved), reserved.in_queue("blue"), reserved) == (
        group_messages.group_reservation_ends("red"),
    )


def test_e2_a_larger_minimum_takes_back_nobody() -> None:
    assert told(running(2), GANG.of(5)) == (group_messages.group_goes_on(2, 3),)
    assert told(running(2), GANG.of(1)) == (group_messages.group_goes_on(2, 0),)
    # What is reserved is for members that start one by one, however many are to start.
    reserved = GANG.of(4).reserving("red", {H200: 3})
    assert told(running(2, reserved), reserved.of(6), reserved) == (
        group_messages.group_goes_on(2, 0),
    )


def test_a_group_that_does_not_run_is_changed_without_a_word() -> None:
    assert told(running(0), GANG.in_queue("blue").of(5)) == ()
    assert told(a_world(), GANG.in_queue("blue").of(5)) == ()
    assert told(running(2), GANG.requesting({H200: 3})) == ()


@pytest.mark.parametrize(
    ("resources", "told"),
    [
        ({GPU: 4}, (group_messages.minimum_never_fits("red", GPU, 4, 3),)),
        ({GPU: 3, "cpu": "64"}, ()),
        ({GPU: "two"}, ()),
        ({"cpu": "64"}, ()),
        ({MIG: 1}, (group_messages.minimum_never_fits("red", MIG, 1, 0),)),
    ],
)
def test_e5_min_resources_beyond_the_whole_quota_are_told(
    resources: Mapping[str, str | int], told: tuple[str, ...]
) -> None:
    """Whoever makes a group for pods of his own, without `card.request`, counts their cards."""
    group = GANG.requesting(None).needing(resources)
    things = RED, BLUE, a_node("mig-a").showing(H200).with_slices("1g.18gb", 7)
    for one in (group, group.made_by_another_controller()):
        for before in (None, GANG, one.in_queue("blue")):
            verdict = write(one, before, *things)
            assert (verdict.fits, verdict.warnings) == (True, told)
        assert write(one.of(3), one, *things).warnings == ()
    assert write(group.in_queue(None), None, *things).warnings == ()


def test_e5_several_cards_of_one_resource_count_together() -> None:
    both = a_queue("red").with_quota({H200: 3, H800: 1})
    group = GANG.requesting(None)
    assert write(group.needing({GPU: 4}), None, both).warnings == ()
    assert len(write(group.needing({GPU: 5}), None, both).warnings) == 1
    # A card that no node has shown may be counted by any resource.
    more = a_queue("red").with_quota({H200: 3, "NVIDIA-B300": 1})
    assert write(group.needing({GPU: 9}), None, more).warnings == ()
