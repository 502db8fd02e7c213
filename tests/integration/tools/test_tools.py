"""Batch tools at full quota, on a real API server: what each of them makes waits, or is refused in
the words for which it tries again, and runs once there is room (section 2, section 9, E2).
"""

import re
from typing import Final

import pytest
import yaml

from cardquota.quota import vocabulary as v
from cardquota.quota.pods import BATCH_KINDS
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.testing import Cluster
from integration.asking import Object, ask
from integration.definitions import define_kinds, until_served
from integration.roomy_nodes import T1000
from integration.team import Team, notes, released
from integration.workload_bodies import refusals

from .playing import HOLDER, it_runs, pods_of_tool
from .stand_in import ToolStandIn, tries_again
from .tool_case import ToolCase, foreign_kinds, read_table

TABLE: Final = read_table()
PAGE: Final = CHECKOUT / "docs" / "workloads.md"


@pytest.fixture(scope="module")
def kinds(roomy: Cluster) -> None:
    define_kinds(roomy, foreign_kinds(TABLE))


def test_each_row_about_another_project_says_where_that_was_read() -> None:
    for case in TABLE:
        assert case.source or not case.foreign_kinds, case.case


def test_every_kind_that_waits_by_default_is_in_the_table() -> None:
    assert set(BATCH_KINDS) <= {kind for case in TABLE for kind in case.controllers}


def test_what_the_page_says_to_write_is_taken(team: Team, kinds: None) -> None:
    """In a namespace with a queue, without a Warning. Of foreign kinds the API server knows no more
    than their names.
    """
    queue = team.has_queue({"NVIDIA-H200": 8})
    team.mark(annotations={v.QUEUE_NAME: queue})
    blocks = re.findall(r"^ *```yaml\n(.*?)^ *```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    objects = [found for block in blocks if "kind" in (found := yaml.safe_load(block))]
    assert len(objects) >= 6
    for body in objects:
        within = ""
        if "namespace" in body["metadata"]:
            body["metadata"]["namespace"] = team.namespace
            within = f"namespaces/{team.namespace}/"
        version, plural = body["apiVersion"], f"{body['kind'].lower()}s"
        path = f"/{'apis' if '/' in version else 'api'}/{version}/{within}{plural}?dryRun=All"

        def taken(path: str = path, body: Object = body) -> bool:
            reply = ask(team.cluster, "POST", path, body)
            return reply.ok and not reply.warnings

        team.until(taken, f"{body['kind']} taken as it stands there", 20)


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.case)
def test_at_full_quota_and_then_with_room(team: Team, kinds: None, case: ToolCase) -> None:
    """A gang finds room for all but one of its members, all others find none."""
    fill(team, case)
    until_served(team.cluster, case.foreign_kinds)
    tool = ToolStandIn(team, case)
    match case.full:
        case "waits":
            it_waits(team, tool, case)
        case "waits without pods":
            tool.turn()
            team.until_told(case.gang, v.Reason.INSUFFICIENT_CARD)
            assert not tool.turn()
            assert pods_of_tool(team) == []
        case "refused":
            it_is_refused(team, tool, case)
    team.delete(team.a_pod(HOLDER))

    if tool.failed:
        team.until_row(T1000, allocated=0)  # it asks but once
        tool = ToolStandIn(team, case)  # whoever asked for it asks again
    team.until(lambda: tool.turn() and it_runs(team, case), "all of it runs")
    team.until_row(T1000, allocated=case.needs, inqueue=0, requested=case.needs)
    assert not tool.failed


def fill(team: Team, case: ToolCase) -> None:
    queue = team.a_queue({T1000: case.needs})
    team.has_queue(queue.with_policy(case.policy) if case.policy else queue)
    held = 1 if case.gang else case.needs
    assert (reply := team.create(team.a_pod(HOLDER, held, T1000))).ok, reply
    team.until_bound(HOLDER)


def it_waits(team: Team, tool: ToolStandIn, case: ToolCase) -> None:
    """Nobody of it that uses a card starts, and it is told why."""

    def told() -> bool:
        tool.turn()
        assert tool.refusals == []
        gated = [pod["metadata"]["name"] for pod in pods_of_tool(team) if not released(pod)]
        named = [case.gang] if case.gang else gated
        return any(team.events(one, v.Reason.INSUFFICIENT_CARD) for one in named)

    team.until(told, "an event that says why")
    found = [pod for pod in pods_of_tool(team) if case.gang or v.CARD_NAME in notes(pod)]
    assert found
    assert not any(map(released, found))


def it_is_refused(team: Team, tool: ToolStandIn, case: ToolCase) -> None:
    if case.again == "its own controller":
        tool.turn()
        texts = team.until(lambda: refusals(team), "a refusal")
    else:
        assert not tool.turn()
        assert not tool.turn()
        assert tool.failed is (case.again == "never")
        assert len(tool.refusals) == (1 if tool.failed else 2)
        assert all(tries_again("exceeded quota", one) for one in tool.refusals)
        texts = [one.message for one in tool.refusals]
    for text in texts:
        assert text.count("exceeded quota") == 1
        assert case.says in text
    assert pods_of_tool(team) == []
