"""Who got past admission is counted, and told once per change (I3)."""

from collections.abc import Callable

import pytest

from builders import H200, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.control.reports import UnadmittedReports
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger

from ..fakes import Told, a_world

THREE = a_queue().with_quota({H200: 3})


def past(name: str, cards: int = 1) -> PodBody:
    """It came without a gate, and runs."""
    pod = a_pod(name).in_queue("queue").naming(H200).asking_for(cards)
    return pod.on_node("h200-a")


def names(ledger: Ledger) -> set[str]:
    account = ledger.account("queue")
    assert account is not None
    return {ledger.pods[uid].facts.name for uid in account.unadmitted}


class ToldReports:
    """The reports of one term, and what they said; time passes when the test says so."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.told = Told()
        self.pending: list[HandTimer] = []
        self.reports = UnadmittedReports(ledger, self.told, later=self._later)

    def look(self) -> list[tuple[str, str, str]]:
        """Look at what changed; all that was said by the time it was gathered."""
        self.reports.look(self.ledger.dirty.take_changed())
        self.pass_time()
        return self.told.events

    def pass_time(self) -> None:
        pending, self.pending = self.pending, []
        for timer in pending:
            timer.call()

    def _later(self, seconds: float, call: Callable[[], None]) -> "HandTimer":
        assert seconds > 0
        self.pending.append(HandTimer(call))
        return self.pending[-1]


class HandTimer:
    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call

    def cancel(self) -> None:
        self.call = lambda: None


@pytest.mark.parametrize(("mode", "found"), [("audit", set()), ("off", set()), (None, {"a"})])
def test_where_nothing_is_enforced_nobody_gets_past(mode: str | None, found: set[str]) -> None:
    """I3: who came there has not got past us, also when the namespace is enforced later, as is the
    way to begin.
    """
    ledger = a_world(THREE, a_namespace().in_mode(mode), past("a"))
    assert names(ledger) == found
    see(ledger, a_namespace().in_mode("enforced"))
    assert names(ledger) == found
    see(ledger, past("b"))
    assert names(ledger) == found | {"b"}


def test_i3_what_audit_mode_admitted_is_known_after_a_restart() -> None:
    """By what the leader of that time wrote on it; what nobody wrote on has got past us."""
    enforced = a_namespace().in_mode("enforced")
    noted = past("a").annotated(v.TERM, "term-1").managed()
    ledger = a_world(THREE, enforced, noted, past("b"))
    assert names(ledger) == {"b"}
    assert ledger.unnoted == set()
    account = ledger.account("queue")
    assert account is not None
    assert account.row(H200).allocated == 2


def test_one_event_for_all_that_came_together(caplog: pytest.LogCaptureFixture) -> None:
    """The log alone names a pod: a queue's events are read from other namespaces too."""
    ledger = a_world(THREE, past("b", 2).with_cpu("1500m"), past("a", 2))
    ((name, reason, text),) = ToldReports(ledger).look()
    assert (name, reason) == ("queue", v.UNADMITTED)
    assert text.startswith(
        f"Queue <queue> is charged for 2 pods that never passed its gate; "
        f"together they hold {H200} 4, cpu 1.5. They count like all others: "
    )
    assert "team/b" not in text
    assert text in caplog.text
    assert "(the first is team/b)" in caplog.text


def test_once_per_change_and_not_for_fewer() -> None:
    ledger = a_world(THREE, past("a"))
    reports = ToldReports(ledger)
    assert len(reports.look()) == 1
    see(ledger, past("ours").stamped("queue", {H200: 1}).on_node("h200-a"))
    assert len(reports.look()) == 1
    see(ledger, past("b"))
    assert len(reports.look()) == 2
    ledger.pod_gone("uid-b")
    assert len(reports.look()) == 2
    see(ledger, past("c"))
    assert len(reports.look()) == 3


def test_who_is_gone_before_it_is_told_is_not_told() -> None:
    ledger = a_world(THREE, past("a"))
    reports = ToldReports(ledger)
    reports.reports.look(["queue"])
    ledger.pod_gone("uid-a")
    assert reports.look() == []
    see(ledger, past("b"))
    assert len(reports.look()) == 1
    see(ledger, past("c"))
    reports.reports.look(["queue"])
    ledger.pod_gone("uid-c")
    assert len(reports.look()) == 1


def test_nothing_is_gathered_where_nothing_is_new() -> None:
    reports = ToldReports(a_world(THREE, past("a")))
    reports.look()
    reports.reports.look(["queue"])
    assert reports.pending == []


def test_after_the_term_nothing_is_told() -> None:
    ledger = a_world(THREE, past("a"))
    reports = ToldReports(ledger)
    reports.reports.look(["queue"])
    reports.reports.stop()
    reports.pass_time()
    assert reports.told.events == []
    reports.reports.look(["queue"])
    assert len(reports.look()) == 1


def test_without_a_queue_there_is_nobody_to_tell() -> None:
    ledger = a_world(past("a"), a_pod("b").asking_for(1).on_node("h200-a"))
    assert ToldReports(ledger).look() == []
    see(ledger, THREE)
    assert len(ToldReports(ledger).look()) == 1
