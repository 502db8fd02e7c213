"""Board and alerts by a real Prometheus, on a plane with two replicas that is in use.

Each expression of the board is one, and shows what is there, once, though both replicas count it.
No alert fires; then each that can be had within seconds fires when it is due. Those that cannot are
in `test_rules`. The rules are the committed ones; only times are shorter: `for`, and thresholds
that are seconds. The last test leaves a broken plane.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.board.__main__ import DASHBOARD
from cardquota_dev.testing import eventually
from integration.asking import Object
from integration.roomy_nodes import T1000

from . import faults
from .promtool import Rule, committed_rules
from .scraped_plane import SHARE, ScrapedPlane, at_once

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

EMPTY: Final = {
    "What audit mode lets by": "nothing is in audit mode",
    "requests: {{why}}": "every request is served",
    "{{kind}} {{name}}": "the installation is as it was rendered",
    "Borrowed": "no card is oversold",
    "Ended for others": "reclaim is off",
}
"""Panels and lines without data on this plane, and why."""
BUSY: Final = {"CardquotaLoopHeldUp", "CardquotaReviewsSlow"}
"""What a busy machine may cause in a moment; for ten minutes it would be a fault."""
QUICKER: Final = {
    "CardquotaPodWaitsLong": ("> 86400", "> 1"),
    "CardquotaPodLateToEnd": ("> 300", "> 1"),
    "CardquotaLoopHeldUp": ("> 0.1", "> 0.0001"),
    "CardquotaReviewsSlow": ("> 0.5", "> 0.0001"),
}
Target = tuple[str, str, str]
"""Panel, name of the line, expression."""


def targets() -> Iterator[Target]:
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for one in panel.get("targets", ()):
            yield panel["title"], one["legendFormat"], one["expr"]


def filled_in(expression: str, **chosen: Sequence[str]) -> str:
    """As Grafana sends it: with the names that are chosen, else all. Times are shorter here, since
    the plane is young.
    """
    for variable in ("queue", "card"):
        value = _by_grafana(chosen[variable]) if variable in chosen else ".*"
        expression = expression.replace(f'"${variable}"', f'"{value}"')
    expression = expression.replace("[$__range:1m]", "[4s:1s]")
    expression = re.sub(r"\$__(range|rate_interval)\b", "1m", expression)
    assert "$" not in expression, expression
    return expression


def _by_grafana(names: Sequence[str]) -> str:
    """How its data source for Prometheus writes a variable with several values."""
    special = re.compile(r"[$^*{}\[\]'+?.()|]")
    escaped = [special.sub(r"\\\\\g<0>", name.replace("\\", "\\\\\\\\")) for name in names]
    return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"


def expression_of(title: str, number: int = 0) -> str:
    return [expr for panel, _, expr in targets() if panel == title][number]


def numbers(plane: ScrapedPlane, expression: str, *labels: str, **chosen: Sequence[str]) -> Any:
    found = plane.prometheus.query(filled_in(expression, **chosen))
    return {tuple(series[label] for label in labels): value for series, value in found}


def test_without_a_token_nothing_is_scraped(scraped: ScrapedPlane) -> None:
    for address in scraped.replicas:
        pool = scraped.cluster.admin.rest_client.pool_manager
        assert pool.request("GET", f"{address}/metrics", timeout=10.0).status == 401


@pytest.mark.parametrize("target", list(targets()), ids=lambda one: f"{one[0]} {one[1]}")
def test_every_panel_has_data_where_there_is_something(
    scraped: ScrapedPlane, target: Target
) -> None:
    panel, line, expression = target
    asked = filled_in(expression)
    if EMPTY.keys() & {panel, line}:
        assert scraped.prometheus.query(asked) == []
    else:
        eventually(lambda: scraped.prometheus.query(asked), f"{panel}: {asked}", 20)


def test_the_numbers_are_those_of_one_replica(scraped: ScrapedPlane) -> None:
    training, serving = (scraped.team.queue_name(name) for name in ("training", "serving"))

    def allocated() -> Any:
        return numbers(scraped, expression_of("Queues now", 1), "queue", "card")

    eventually(lambda: allocated()[training, T1000] == 2, "both replicas have seen it", 20)
    assert allocated()[serving, T1000] == 1
    waiting = numbers(scraped, expression_of("Queues now", 4), "queue", "card")
    assert (waiting[training, T1000], waiting[serving, T1000]) == (1, 0)
    total, held, free = (
        numbers(scraped, expression_of("Cards now", one), "card")[T1000,] for one in range(3)
    )
    assert (total, held, free) == (2000, 3, 1997)
    by_policy = numbers(scraped, expression_of("On-line and off-line: allocated"), "card", "policy")
    assert (by_policy[T1000, "Deny"], by_policy[T1000, "Gate"]) == (1, 2)
    used = numbers(scraped, expression_of("Part of the quota in use"), "queue", "card")
    assert used[training, T1000] == 1
    over = numbers(scraped, expression_of("Over the quota"), "queue", "card")
    assert set(over.values()) == {0}
    assert numbers(scraped, expression_of("Leaders")) == {(): 1}
    by_reason = numbers(scraped, expression_of("Pods that wait, by reason"), "queue", "reason")
    assert by_reason[training, "InsufficientCardQuota"] == 1

    def answers() -> Any:
        return numbers(scraped, expression_of("Reviews by answer"), "decision").keys()

    eventually(lambda: answers() >= {("deny",), ("gate",)}, "both were scraped twice", 20)


def test_card_hours_are_the_time_that_cards_were_held(scraped: ScrapedPlane) -> None:
    """At one sample a second in place of one a minute."""
    training = scraped.team.queue_name("training")
    expression = expression_of("Card-hours in the time shown")

    def held() -> Any:
        return numbers(scraped, expression, "queue", "card")[training, T1000] * 60

    eventually(lambda: held() == 2 * 4, "2 cards for 4 samples", 20)


@pytest.mark.parametrize("chosen", [[SHARE], [SHARE, T1000]])
def test_only_the_chosen_cards_are_shown_whatever_their_names(
    scraped: ScrapedPlane, chosen: list[str]
) -> None:
    for title in ("Cards now", "Queues now", "Over the quota", "On-line and off-line: allocated"):
        found = scraped.prometheus.query(filled_in(expression_of(title), card=chosen))
        assert {series["card"] for series, _ in found} == set(chosen), title


def quicker(rules: list[Rule]) -> list[Rule]:
    found = []
    for rule in at_once(rules):
        if rule["alert"] in QUICKER:
            old, new = QUICKER[rule["alert"]]
            assert rule["expr"].endswith(old)
            rule["expr"] = rule["expr"].removesuffix(old) + new
        found.append(rule)
    return found


def test_while_nothing_is_scraped_one_alert_fires(scraped: ScrapedPlane) -> None:
    assert scraped.while_nothing_was_scraped == {"CardquotaAbsent"}


def test_a_plane_in_use_is_silent(scraped: ScrapedPlane) -> None:
    scraped.prometheus.until_evaluated()
    # Here an alert fires as soon as one scrape was late.
    eventually(lambda: scraped.prometheus.firing_names() <= BUSY, "silence")
    assert scraped.prometheus.unhealthy_rules() == []


def test_r7_each_fires_when_it_is_due(scraped: ScrapedPlane) -> None:
    team, prometheus = scraped.team, scraped.prometheus
    prometheus.take(quicker(committed_rules()))
    training = team.queue_name("training")
    faults.no_free_card_will_help(scraped)
    faults.a_finalizer_keeps_a_pod(scraped)
    faults.a_label_cannot_be_read(scraped)
    faults.a_card_is_sick(scraped)
    faults.a_container_has_no_card(scraped)
    expected: dict[str, Object] = {
        "CardquotaPodWaitsLong": {"queue": training},
        "CardquotaPodsWaitInVain": {
            "queue": team.queue_name("moved"),
            "reason": v.Reason.CARD_NOT_IN_QUOTA,
        },
        "CardquotaPodLateToEnd": {"queue": team.queue_name("ending")},
        "CardquotaCardsNotCounted": {},
        "CardquotaLoopHeldUp": {},
        "CardquotaReviewsSlow": {},
        "CardquotaNodeCardUnhealthy": {"uuid": "GPU-1"},
        "CardquotaNodeStartsRefused": {},
    }
    with faults.somebody_objects(scraped):
        until_firing(scraped, {**expected, "CardquotaGatesRefused": {"why": "object"}})
    faults.quotas_are_paused(scraped)
    faults.a_pod_gets_past_admission(scraped)
    faults.a_namespace_gets_a_label_without_meaning(scraped)
    faults.take_rights(scraped, "clusterroles/cardquota", "queues/status")
    team.set_quota({T1000: 3}, "serving")
    faults.the_fence_is_open(scraped)
    expected |= {
        "CardquotaInstallationDiffers": {},
        "CardquotaPodsPastAdmission": {"queue": team.queue_name("past")},
        "CardquotaUnknownNamespaceMode": {},
        "CardquotaNumbersNotWritten": {},
        "CardquotaFenceNotInForce": {"fault": "open"},
    }
    until_firing(scraped, expected)
    faults.take_rights(scraped, f"namespaces/{v.OPERATOR_NAMESPACE}/roles/cardquota", "leases")
    until_firing(scraped, {"CardquotaNoLeader": {}})
    assert prometheus.unhealthy_rules() == []


def until_firing(scraped: ScrapedPlane, expected: dict[str, Object]) -> None:
    """All of these, each with these labels."""

    def missing() -> dict[str, Object]:
        found = [one["labels"] for one in scraped.prometheus.firing()]
        return {
            name: labels
            for name, labels in expected.items()
            if not any(one.items() >= {"alertname": name, **labels}.items() for one in found)
        }

    try:
        eventually(lambda: not missing(), "alerts fire")
    except AssertionError as error:
        error.add_note(f"not firing: {missing()}; firing: {scraped.prometheus.firing_names()}")
        raise
