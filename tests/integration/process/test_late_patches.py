"""A leader that stands still while its patch is on the way: what arrives late is refused."""

import re
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from cardquota.quota import vocabulary as v
from cardquota.quota.stamp import Reservation, reservation_text
from cardquota_dev.testing import Cluster, eventually, fresh_namespace
from integration.asking import ask, credentials
from integration.roomy_nodes import T1000
from integration.team import Team, released

from .held_line import held_line
from .running import QUICK, OperatorProcess, apply_webhooks, install_base, published_ca, tracebacks
from .test_life import holder

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

LEASE = QUICK["leaderElection"]
PATIENT = {**LEASE, "duration": 12, "renewDeadline": 10}
FIRST = {
    "leaderElection": {**PATIENT, "identity": "first"},
    "release": {"patchTimeout": 6},
}
"""It may be slow to decide, and to be stopped, within its term."""
SECOND = {**QUICK, "leaderElection": {**PATIENT, "identity": "second", "settle": 15}}
"""It takes the Lease as soon as it may, and decides nothing for a while."""
LATE = "late"
ELSEWHERE = [("kubernetes.io/hostname", "NotIn", [f"{n:03}-{'x' * 50}" for n in range(100)])]
"""A long affinity, which the patch that opens the gate repeats."""
LARGE = 5_000
"""Bytes. Only this patch is longer."""
TOGETHER = tuple(f"next-{number}" for number in range(6))
"""Released at once, so that connections are open: on a new one no patch is on its way yet."""


def refused_out_of_term(cluster: Cluster) -> float:
    """Requests that the API server refused by the policy of the term, since it started."""
    page = cluster.admin.rest_client.pool_manager.request(
        "GET", f"{cluster.admin.configuration.host}/metrics", headers=credentials(cluster)
    )
    rows = re.findall(
        r'^apiserver_validating_admission_policy_check_total{enforcement_action="deny"'
        r'[^}]*policy="cardquota-gate-term"[^}]*} (\S+)$',
        page.data.decode(),
        re.MULTILINE,
    )
    return sum(map(float, rows))


def refuses(cluster: Cluster, term: str) -> bool:
    """Whether the API server refuses what this term would decide: a dry run, as the fence makes."""
    notes = {v.RESERVATION: reservation_text(Reservation("", term, ()))}
    body = {
        "apiVersion": f"{v.API_GROUP}/{v.VERSION}",
        "kind": "PodGroup",
        "metadata": {"name": "trial", "annotations": notes},
        "spec": {"minMember": 1},
    }
    where = f"/apis/{v.API_GROUP}/{v.VERSION}/namespaces/cardquota-system/podgroups?dryRun=All"
    ours = "system:serviceaccount:cardquota-system:cardquota"
    reply = ask(cluster, "POST", where, body, as_user=ours, as_groups=("system:masters",))
    return any(f"cardquota-{policy}" in reply.message for policy in v.TERM_POLICIES)


def test_a_patch_of_a_term_that_is_over_is_refused(
    bare: Cluster, tmp_path: Path, unique: str
) -> None:
    """I1: the paused leader's patch arrives in its successor's term, before that one decides."""
    assert bare.folder is not None
    with (
        held_line(bare.folder.product_kubeconfig, tmp_path) as (line, through),
        fresh_namespace(bare, unique) as namespace,
    ):
        folders = [tmp_path / "first", tmp_path / "second"]
        for folder in folders:
            folder.mkdir()
        first = OperatorProcess(folders[0], through, FIRST)
        second = OperatorProcess(folders[1], bare.folder.product_kubeconfig, SECOND)
        install_base(bare)
        apply_webhooks(bare, first)
        try:
            first.start()
            first.until_leading()
            eventually(lambda: published_ca(bare), "caBundle")
            team = Team(bare, namespace, unique)
            team.has_queue(team.a_queue({T1000: 1}).with_policy("Gate"))
            team.create(team.a_pod("runs", 1, T1000))
            team.until_bound("runs")
            for name in TOGETHER:
                team.create(team.a_pod(name, 1, T1000))
            team.until_row(T1000, allocated=1, requested=7)
            team.set_quota({T1000: 7})
            team.until_bound(*TOGETHER)
            team.create(team.a_pod(LATE, 1, T1000).requiring(ELSEWHERE))
            team.until_row(T1000, allocated=7, requested=8)
            second.start()
            eventually(lambda: second.get("/readyz")[0] == 200, "the second is ready")
            before = refused_out_of_term(bare)
            term = holder(bare)
            assert not refuses(bare, term)

            line.hold()
            team.set_quota({T1000: 8})
            labels = f'card="{T1000}",queue="{team.queue_name()}"'
            charged = f"cardquota_queue_card_inqueue{{{labels}}}"
            eventually(lambda: first.metric(charged) == 1, "the pod is charged")
            eventually(lambda: max(line.held, default=0) > LARGE, "the patch is held")
            first.signal(signal.SIGSTOP)
            eventually(lambda: holder(bare).startswith("second_"), "the second leads")
            eventually(lambda: refuses(bare, term), "the API server knows the new term")
            line.flow()
            eventually(lambda: refused_out_of_term(bare) > before, "the patch is refused")
            assert not released(team.pod(LATE))
            first.signal(signal.SIGCONT)

            team.until_bound(LATE)
            team.until_row(T1000, allocated=8)
            assert holder(bare).startswith("second_")
            eventually(lambda: "leading" not in first.get("/readyz")[1], "the first follows")
            assert first.metric("cardquota_leader") == 0
        finally:
            with suppress(ProcessLookupError):
                first.signal(signal.SIGCONT)
            first.kill()
            second.kill()
        for operator in (first, second):
            assert tracebacks(operator.log) == []
