"""T6: where the numbers of queues are published follows the definition of Queues, as it changes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from cardquota.quota import vocabulary as v
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.plane.ports import free_ports
from cardquota_dev.testing import Cluster, fresh_namespace
from integration.asking import MERGE, ask
from integration.roomy_nodes import T1000
from integration.team import Team, of_a_job

from .running import QUICK, install_base, running, tracebacks

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.slow]

OURS = CHECKOUT / "crds" / "scheduling.volcano.sh_queues.yaml"
RIGHTS = CHECKOUT / "manifests/components/volcano/rbac.yaml"
COUNTS = ("unknown", "pending", "running", "inqueue", "completed")
"""Volcano's: groups by phase."""


def volcanos() -> dict[str, Any]:
    """The definition of Queues with the fields of the status that Volcano's own has."""
    found: dict[str, Any] = yaml.safe_load(OURS.read_text())
    (version,) = found["spec"]["versions"]
    status = version["schema"]["openAPIV3Schema"]["properties"]["status"]
    kept = {key: status["properties"][key] for key in ("state", "allocated")}
    numbers = {key: {"type": "integer", "format": "int32"} for key in COUNTS}
    version["schema"]["openAPIV3Schema"]["properties"]["status"] = {
        "type": "object",
        "properties": {**kept, **numbers},
    }
    version["additionalPrinterColumns"] = []
    return found


def define(cluster: Cluster, definition: dict[str, Any]) -> None:
    done = cluster.kubectl(
        *("apply", "--server-side", "--force-conflicts", "-f", "-"),
        input=yaml.safe_dump(definition),
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def cluster(bare: Cluster, tmp_path: Path) -> Iterator[Cluster]:
    """With an operator that knows of Volcano, and may write queues."""
    install_base(bare)
    bare.apply(RIGHTS.read_text())
    volcano = {"enqueue": {"host": "127.0.0.1", "port": free_ports(1)[0]}}
    with running(bare, tmp_path / "o", {**QUICK, "scheduler": "volcano", "volcano": volcano}) as it:
        yield bare
    define(bare, yaml.safe_load(OURS.read_text()))
    bare.kubectl("delete", "-f", str(RIGHTS))
    assert tracebacks(it.log) == []


def annotation(team: Team) -> dict[str, Any] | None:
    text = (team.queue()["metadata"].get("annotations") or {}).get(v.STATUS)
    return None if text is None else dict(json.loads(text))


def refused(cluster: Cluster) -> float:
    """Requests for queues that the API server has answered with an error, whoever sent them."""
    page = cluster.kubectl("get", "--raw", "/metrics").stdout
    found = re.findall(r"^apiserver_request_total\{(.*)\} (\S+)$", page, flags=re.MULTILINE)
    return sum(
        float(number)
        for labels, number in found
        if 'resource="queues"' in labels and re.search(r'code="[45]', labels)
    )


def allocated(published: dict[str, Any] | None) -> int | None:
    rows = (published or {}).get("cards", ())
    return next((row["allocated"] for row in rows if row["name"] == T1000), None)


def test_t6_the_annotation_where_volcanos_definition_is_and_the_status_where_ours_is(
    cluster: Cluster,
) -> None:
    with fresh_namespace(cluster, "team-a") as namespace:
        team = Team(cluster, namespace, "one")
        team.has_queue({T1000: 3})
        team.until_row(T1000, quota=3)
        assert annotation(team) is None

        define(cluster, volcanos())
        team.until(lambda: allocated(annotation(team)) == 0, "it is in the annotation")
        assert "cards" not in team.queue().get("status", {})
        before = refused(cluster)
        for number in range(3):
            assert team.create(of_a_job(team.a_pod(f"pod-{number}", 1, T1000))).ok
            # As Volcano's scheduler does, all the time.
            written = {"status": {"state": "Open", "running": number, "allocated": {"cpu": number}}}
            path = f"{team.path(team.a_queue({}))}/{team.queue_name()}/status"
            assert ask(cluster, "PATCH", path, written, content_type=MERGE).ok
        team.until(lambda: allocated(annotation(team)) == 3, "the annotation follows")
        status = team.queue()["status"]
        assert (status["state"], status["running"]) == ("Open", 2)
        shown = annotation(team)
        assert shown is not None
        assert {"state", "allocated"}.isdisjoint(shown)
        assert shown["columns"]["cards"] == f"{T1000} 3/3"
        assert {one["type"] for one in shown["conditions"]} >= {"QuotaValid", "OverQuota"}

        # By hand, and by a quota that is lowered.
        queue = team.a_queue({})
        assert team.annotate(queue, v.STATUS, "garbage").ok
        team.until(lambda: "garbage" not in str(team.queue()), "put right")
        assert team.annotate(queue, v.QUOTA, json.dumps({T1000: 2})).ok

        def over() -> bool:
            conditions = (annotation(team) or {}).get("conditions", ())
            return any(c["type"] == "OverQuota" and c["status"] == "True" for c in conditions)

        team.until(over, "it is over its quota")
        assert refused(cluster) == before, "a write was refused"

        define(cluster, yaml.safe_load(OURS.read_text()))
        team.until_row(T1000, allocated=3, quota=2)
        team.until(lambda: annotation(team) is None, "the annotation is taken away")
        assert refused(cluster) == before, "a write was refused"
