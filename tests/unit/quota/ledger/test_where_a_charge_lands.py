"""I3: a charge lands only where it was judged, or where a pod that came past us was first seen."""

import pytest

from builders import CARDS, H200, Body, a_group, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import CHARGED_QUEUE, Mode, Reason
from cardquota.quota.accounts import OUTSIDE
from cardquota.quota.decisions import judge_create
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports.drift import drift

VICTIM = a_queue("victim").with_quota({H200: 3}).limited_to(memory="100Gi")
RED, BLUE = (a_queue(name).with_quota({H200: 3}) for name in ("red", "blue"))
POD = a_pod().asking_for(2).with_memory("1Gi")
OFF = Mode.OFF


def runs(pod: PodBody) -> bool:
    return bool(pod.facts().node)


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


# --- where nothing is enforced -------------------------------------------------------------------


@pytest.mark.parametrize("setting", [{"audit": True}, {"exempt": ["team"]}])
def test_in_audit_mode_or_exempt_a_pod_counts_once_it_is_on_its_node(
    setting: dict[str, object],
) -> None:
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


# --- namespaces: labelled -------------------------------------------------------------------------


@pytest.mark.parametrize("pod", [POD.in_queue("red"), POD.in_queue("red").on_node("h200-a")])
def test_without_its_label_a_namespace_counts_nowhere_until_it_gets_one(pod: PodBody) -> None:
    """Section 2. Unlike in `off` it is decided then: also for what runs there."""
    ledger = a_cluster(a_namespace(), pod, labelled=True)
    assert charged(ledger) == ({OUTSIDE: 2} if runs(pod) else {})
    assert ledger.mode_in("team") is OFF
    assert pod.uid not in ledger.unnoted
    see(ledger, a_namespace().in_mode("audit"))
    assert charged(ledger) == ({"red": 2} if runs(pod) else {})


def test_a_namespace_that_loses_its_label_keeps_what_was_charged() -> None:
    pod = POD.in_queue("red").stamped("red", {H200: 2}).on_node("h200-a")
    ledger = a_cluster(a_namespace().in_mode("enforced"), pod, labelled=True)
    see(ledger, a_namespace())
    assert charged(ledger) == {"red": 2}


def test_a_namespace_whose_label_means_nothing_is_not_covered() -> None:
    ledger = a_cluster(a_namespace().in_mode("on"), labelled=True)
    assert ledger.mode_in("team") is OFF
    assert set(ledger.unknown_modes) == {"team"}


def test_with_require_namespaces_a_queue_that_names_none_is_open_to_nobody() -> None:
    """Section 2."""
    ledger = a_cluster(a_namespace(), require_namespaces=True)
    verdict = judge_create(ledger, POD.in_queue("red").facts())
    assert verdict.reason is Reason.QUEUE_NOT_OPEN
    see(ledger, RED.open_to("team").at_revision(2))
    assert judge_create(ledger, POD.in_queue("red").facts()).fits


# --- when it is decided ---------------------------------------------------------------------------


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
