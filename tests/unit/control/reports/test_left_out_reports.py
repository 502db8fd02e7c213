"""P8: of what only the name is kept is told so, by an event and in two metrics."""

import pytest

from builders import a_group, a_ledger, a_pod
from cardquota.control.queues import refresh
from cardquota.control.reports import Reports, report_left_out
from cardquota.metrics import Metrics
from cardquota.quota.ledger import ledger_reader

from ..fakes import Told


async def test_each_is_told_once_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WAITING_PODS", "IDLE_GROUPS"):
        limit = getattr(ledger_reader, name)._replace(most=1)
        monkeypatch.setattr(ledger_reader, name, limit)
    pods = [a_pod(f"p{n}").in_queue("red").gated() for n in range(3)]
    ledger, told = a_ledger(*pods, a_group("train")), Told()
    assert report_left_out(ledger, told)  # type: ignore[arg-type]
    assert told.events == []
    reports = Reports(ledger, told)  # type: ignore[arg-type]
    calls = [report_left_out(ledger, told) for _ in range(3)]  # type: ignore[arg-type]
    assert calls == [False, True, True]
    assert [(name, reason) for name, reason, _ in told.events] == [
        (name, "NotRead") for name in ("p0", "p1", "train", "p2")
    ]
    text = told.events[0][2]
    assert text.startswith("the pod is not read, and waits: with it, the pods that wait would")
    assert text.endswith("are kept; wait until others have started, or delete some of them")
    reports.stop()
    metrics = Metrics()
    await refresh(ledger, metrics)
    value = metrics.registry.get_sample_value
    assert value("cardquota_left_out_objects", {"kind": "pods"}) == 3
    assert value("cardquota_left_out_objects", {"kind": "podgroups"}) == 1
    assert value("cardquota_kept_bytes", {"kind": "pods"}) == 0
