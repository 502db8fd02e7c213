"""A namespace whose label means nothing is told once per value (section 2)."""

from builders import a_ledger, a_namespace, see
from cardquota.control.queues import refresh
from cardquota.control.reports import NamespaceReports
from cardquota.metrics import Metrics
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger

from ..fakes import Told


async def shown(ledger: Ledger) -> float | None:
    metrics = Metrics()
    await refresh(ledger, metrics)
    return metrics.registry.get_sample_value("cardquota_namespaces_with_unknown_mode")


async def test_told_once_per_value_and_forgotten_when_it_is_put_right() -> None:
    ledger, told = a_ledger(a_namespace("good").in_mode("enforced"), a_namespace("none")), Told()
    reports = NamespaceReports(ledger, told)  # type: ignore[arg-type]
    reports.look()
    assert told.events == []
    assert await shown(ledger) == 0

    bad = a_namespace("bad").in_mode("enforce")
    see(ledger, bad)
    for _ in range(2):
        see(ledger, bad.with_default_queue("red"))
        reports.look()
    ((name, reason, text),) = told.events
    assert (name, reason) == ("bad", v.MODE_UNKNOWN)
    assert text.startswith(
        "Namespace <bad>: the label volcano.sh/card-quota is <enforce>, an unknown value"
    )
    assert text.endswith("write enforced, audit or off, or remove the label")
    assert await shown(ledger) == 1

    see(ledger, bad.in_mode("on"))
    reports.look()
    assert "<on>" in told.events[-1][2]
    see(ledger, bad.in_mode("off"))
    reports.look()
    assert (len(told.events), await shown(ledger)) == (2, 0)
    see(ledger, bad.in_mode("on"))
    reports.look()
    assert len(told.events) == 3
    ledger.namespace_gone("bad")
    assert await shown(ledger) == 0


def test_of_very_many_some_are_told_at_a_time_and_each_once() -> None:
    """As when a term begins, and somebody has labelled them all by a script."""
    bad = [a_namespace(f"n{n}").in_mode("enforce") for n in range(250)]
    ledger, told = a_ledger(*bad), Told()
    reports = NamespaceReports(ledger, told)  # type: ignore[arg-type]
    looks = list[int]()
    for _ in range(4):
        done, before = reports.look(), sum(looks)
        looks.append(len(told.events) - before)
        assert done == (len(looks) >= 3)
    assert looks == [100, 100, 50, 0]
    assert sorted(name for name, *_ in told.events) == sorted(f"n{n}" for n in range(250))


def test_the_next_leader_tells_it_again() -> None:
    ledger, told = a_ledger(a_namespace("bad").in_mode("Enforced")), Told()
    for _ in range(2):
        NamespaceReports(ledger, told).look()  # type: ignore[arg-type]
    assert len(told.events) == 2
