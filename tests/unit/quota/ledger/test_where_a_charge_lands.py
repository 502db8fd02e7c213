"""I3: a charge lands only where it was judged, or where a pod that came past us was first seen."""

import pytest

from builders import CARDS, H200, Body, a_group, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import CHARGED_QUEUE, TERM, Stamp
from cardquota.quota.accounts import OUTSIDE
from cardquota.quota.decisions import judge_create
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import ChargeState
from cardquota.quota.reports.drift import drift

VOLCANOS = "podgroup-0d9c39a2-8a4b-4c39-9d0e-3f4d2f0e6a11"
VICTIM = a_queue("victim").with_quota({H200: 3}).limited_to(memory="100Gi")
RED, BLUE = (a_queue(name).with_quota({H200: 3}) for name in ("red", "blue"))
POD = a_pod().asking_for(2).with_memory("1Gi")
LAX = ("audit", "off")


def a_cluster(*things: Body, **settings: object) -> Ledger:
    """A replica that has read everything."""
    ledger = a_ledger(*CARDS, VICTIM, RED, BLUE, *things, **settings)
    ledger.fix_queues()
    return ledger


def charged(ledger: Ledger) -> dict[str, int]:
    """Of the card, by queue; outside every queue under an empty name."""
    assert drift(ledger) == {}
    rows = {account.name: account.row(H200) for account in ledger.accounts()}
    return {name: row.charged for name, row in rows.items() if row.charged}


def as_written(ledger: Ledger, pod: PodBody) -> PodBody:
    """The pod with what a leader writes on it."""
    record = ledger.pods[pod.uid]
    assert pod.uid in ledger.unnoted
    pod = pod.managed().at_revision(99)
    pod = pod.annotated(TERM, "term-1") if record.audited else pod
    return pod.annotated(CHARGED_QUEUE, record.fixed)


# --- where nothing is enforced -------------------------------------------------------------------


@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("mode", LAX)
def test_nothing_that_a_pod_says_counts_before_it_is_bound(mode: str, gated: bool) -> None:
    pod = POD.in_queue("victim").asking_for(1_000)
    ledger = a_cluster(a_namespace().in_mode(mode), pod.gated() if gated else pod)
    assert charged(ledger) == {}
    account = ledger.account("victim")
    assert account is not None
    assert account.rows == {}
    honest = a_pod("honest").in_namespace("other").in_queue("victim").asking_for(3).gated()
    assert judge_create(ledger, honest.facts()).fits


@pytest.mark.parametrize("setting", [{"audit": True}, {"exempt": ["team"]}])
def test_nor_in_audit_mode_nor_in_a_namespace_that_is_exempt(setting: dict[str, object]) -> None:
    ledger = a_cluster(a_namespace(), POD.in_queue("victim"), **setting)
    assert charged(ledger) == {}
    see(ledger, POD.in_queue("victim").on_node("h200-a").at_revision(2))
    assert charged(ledger) == {"victim": 2}


@pytest.mark.parametrize(
    ("mode", "open_to", "queue", "where"),
    [
        ("audit", ["team"], "victim", "victim"),
        ("audit", ["te*"], "victim", "victim"),
        ("audit", ["other"], "victim", OUTSIDE),
        ("audit", ["team"], "missing", OUTSIDE),
        ("off", ["team"], "victim", OUTSIDE),
        ("enforced", ["team"], "victim", "victim"),
        ("enforced", ["other"], "victim", OUTSIDE),
    ],
)
def test_a_bound_pod_counts_only_in_a_queue_that_is_open_to_its_namespace(
    mode: str, open_to: list[str], queue: str, where: str
) -> None:
    pod = POD.in_queue(queue).on_node("h200-a")
    ledger = a_cluster(a_namespace().in_mode(mode), VICTIM.open_to(*open_to), pod)
    assert charged(ledger) == {where: 2}


def test_a_queue_that_is_closed_counts_who_runs_in_it() -> None:
    closed = VICTIM.closed()
    ledger = a_cluster(closed, a_namespace().in_mode("audit"), POD.in_queue("victim").on_node("x"))
    assert ledger.pods[POD.uid].queue == "victim"


def test_a_pod_that_only_names_its_node_is_on_none() -> None:
    """Its author can name any node, also one that does not answer."""
    named = POD.in_queue("victim").on_node("h200-a", at=None)
    ledger = a_cluster(a_namespace().in_mode("audit"), named)
    assert charged(ledger) == {}
    see(ledger, named.in_phase("Running").at_revision(2))
    assert charged(ledger) == {"victim": 2}


def test_a_mirror_pod_is_fixed_like_any_other() -> None:
    """The annotation says nothing: anybody may write it."""
    mirror = POD.annotated("kubernetes.io/config.mirror", "x").on_node("h200-a")
    ledger = a_cluster(a_namespace(), mirror)
    see(ledger, a_namespace().with_default_queue("victim"))
    assert charged(ledger) == {OUTSIDE: 2}
    assert mirror.uid in ledger.unnoted


# --- what runs stays where it was ----------------------------------------------------------------


RUNS = [
    POD.in_queue("red").in_group("gang").on_node("h200-a"),
    POD.in_queue("red").in_group("gang").stamped("red", {H200: 2}),
    POD.in_queue("red").in_group("gang").stamped("red", {H200: 2}).on_node("h200-a"),
    POD.in_queue("red").in_group("gang"),  # came past us, and has no node yet
]
CHANGES: list[Body] = [
    a_group().in_queue("victim").at_revision(50),
    a_namespace().in_mode("off"),
    a_namespace().with_default_queue("victim"),
    RED.open_to("other"),
    VICTIM.open_to("team"),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("pod", RUNS)
def test_what_runs_or_was_released_stays_charged_where_it_was(pod: PodBody, change: Body) -> None:
    ledger = a_cluster(a_namespace(), a_group().in_queue("red"), VICTIM.open_to("other"), pod)
    assert charged(ledger) == {"red": 2}
    see(ledger, change)
    assert charged(ledger) == {"red": 2}
    see(ledger, pod.on_node("h200-a").at_revision(60))
    assert charged(ledger) == {"red": 2}
    ledger.group_gone("team/gang")
    ledger.namespace_gone("team")
    assert charged(ledger) == {"red": 2}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("pod", RUNS)
def test_so_it_does_after_a_restart(pod: PodBody, change: Body) -> None:
    before = a_cluster(a_namespace(), a_group().in_queue("red"), VICTIM.open_to("other"), pod)
    if pod.facts().stamp is None:
        pod = as_written(before, pod)
    after = a_cluster(a_namespace(), a_group().in_queue("red"), change, pod.on_node("h200-a"))
    assert charged(after) == {"red": 2}


@pytest.mark.parametrize(
    "change",
    [
        a_group(VOLCANOS).in_queue("victim").at_revision(50),
        a_namespace().with_default_queue("victim"),
        POD.in_queue("victim").on_node("h200-a").at_revision(50),
        POD.in_group("gang").on_node("h200-a").at_revision(50),
    ],
)
@pytest.mark.parametrize("mode", ["enforced", "audit"])
def test_what_runs_in_no_queue_gets_into_none(mode: str, change: Body) -> None:
    """Whatever its group, its namespace, or itself names by now."""
    group = a_group(VOLCANOS).in_queue("default")
    gang = a_group().in_queue("victim")
    pod = POD.in_group(VOLCANOS).on_node("h200-a")
    namespace = a_namespace().in_mode(mode)
    ledger = a_cluster(namespace, a_queue("default"), group, gang, pod)
    see(ledger, change)
    assert charged(ledger) == {OUTSIDE: 2}
    written = as_written(ledger, pod)
    restarted = a_cluster(namespace, a_queue("default"), group, gang, change, written)
    assert charged(restarted) == {OUTSIDE: 2}


def test_what_ran_where_all_is_off_stays_outside_when_rules_are_enforced_again() -> None:
    pod = POD.in_queue("victim").on_node("h200-a")
    ledger = a_cluster(a_namespace().in_mode("off"), pod)
    assert not ledger.unnoted
    see(ledger, a_namespace().in_mode("enforced"))
    assert charged(ledger) == {OUTSIDE: 2}
    restarted = a_cluster(a_namespace().in_mode("enforced"), as_written(ledger, pod))
    assert charged(restarted) == {OUTSIDE: 2}


@pytest.mark.parametrize("mode", LAX)
def test_what_waits_for_a_node_when_rules_are_enforced_counts_once_it_has_one(mode: str) -> None:
    """It never waited for quota, and nobody has judged it."""
    pod = POD.in_queue("victim")
    ledger = a_cluster(a_namespace().in_mode(mode), pod)
    see(ledger, a_namespace().in_mode("enforced"))
    assert charged(ledger) == {}
    assert pod.uid in ledger.unnoted
    see(ledger, pod.on_node("h200-a").at_revision(2))
    assert charged(ledger) == {"victim": 2}


# --- a group that moves ---------------------------------------------------------------------------


def test_a_group_that_moves_takes_only_its_pods_at_the_gate_which_are_judged_there() -> None:
    runs = POD.in_group("gang").stamped("red", {H200: 2}).on_node("h200-a")
    waits = POD.with_uid("waits").in_group("gang").gated()
    ledger = a_cluster(a_group().in_queue("red"), runs, waits)
    see(ledger, a_group().in_queue("blue").at_revision(50))
    assert charged(ledger) == {"red": 2}
    record = ledger.pods["waits"]
    assert (record.queue, record.charge_state) == ("blue", ChargeState.GATED_DENY)
    assert judge_create(ledger, record.facts).queue == "blue"


# --- when it is decided ---------------------------------------------------------------------------


def test_nothing_is_decided_before_all_was_read_that_it_follows_from() -> None:
    pod = POD.in_group("gang").on_node("h200-a")
    ledger = a_ledger(*CARDS, pod)
    see(ledger, a_namespace(), a_group().in_queue("red"), RED)
    assert charged(ledger) == {"red": 2}
    ledger.fix_queues()
    see(ledger, a_group().in_queue("blue").at_revision(50), BLUE)
    assert charged(ledger) == {"red": 2}


@pytest.mark.parametrize("late", range(3))
def test_news_that_come_after_the_pod_are_waited_for(late: int) -> None:
    ledger = a_ledger(*CARDS)
    ledger.fix_queues()
    pod = POD.in_group("gang").on_node("h200-a")
    things = [a_namespace(), a_group().in_queue("red"), RED]
    last = things.pop(late)
    see(ledger, *things, pod)
    assert ledger.pods[pod.uid].fixed is None
    see(ledger, last)
    assert charged(ledger) == {"red": 2}
    assert ledger.pods[pod.uid].fixed == "red"


def test_what_stands_on_the_pod_decides() -> None:
    """A leader saw it first; here its group's news came before it."""
    pod = POD.in_group("gang").on_node("h200-a")
    ledger = a_cluster(a_namespace(), a_group().in_queue("blue"), pod)
    assert charged(ledger) == {"blue": 2}
    see(ledger, pod.managed().annotated(CHARGED_QUEUE, "red").at_revision(9))
    assert charged(ledger) == {"red": 2}
    assert pod.uid not in ledger.unnoted


@pytest.mark.parametrize("text", ["red", "q" * 300])
def test_what_others_may_have_written_there_says_nothing(text: str) -> None:
    pod = POD.annotated(CHARGED_QUEUE, text).on_node("h200-a")
    assert pod.facts().fixed_queue is None
    assert pod.managed().facts().fixed_queue == ("red" if text == "red" else None)
    assert pod.managed().gated().ungated().stamped(text, {H200: 2}).facts().fixed_queue is None


# --- a gate where nothing is enforced -------------------------------------------------------------


def test_a_gate_that_opens_unjudged_charges_nobody() -> None:
    pod = POD.in_queue("victim").gated()
    ledger = a_cluster(a_namespace().in_mode("audit"), pod)
    ledger.decisions.assume(pod.uid, Stamp(OUTSIDE, (), "term-1"))
    assert charged(ledger) == {}
    opened = pod.ungated().managed().annotated(TERM, "term-1").at_revision(2)
    see(ledger, opened)
    assert charged(ledger) == {}
    see(ledger, opened.on_node("h200-a").at_revision(3))
    assert charged(ledger) == {"victim": 2}
    assert not len(ledger.accounts_by_queue["victim"].unadmitted)


# --- a resize -------------------------------------------------------------------------------------


def test_p1_what_a_node_still_holds_is_room_for_nobody() -> None:
    status = {"name": "main", "resources": {"requests": {"memory": "60Gi"}}}
    shrunk = (
        a_pod().in_queue("victim").with_memory("1Gi").stamped("victim", {}).on_node("h200-a")
    ).put([status], "status", "containerStatuses")
    ledger = a_cluster(shrunk)
    more = a_pod("more").in_queue("victim").with_memory("60Gi").gated()
    assert not judge_create(ledger, more.facts()).fits
    see(ledger, shrunk.put([], "status", "containerStatuses").at_revision(2))
    assert judge_create(ledger, more.facts()).fits
