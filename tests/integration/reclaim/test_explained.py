"""L7: what `explain` and `check` say while cards are lent, and while they come back."""

import json
from pathlib import Path

import pytest
import yaml

from cardquota.quota import vocabulary as v
from integration.asking import MERGE, Object, ask
from integration.plugin import plugin
from integration.team import QUEUES

from .lent import BORROWER, CONFIG, OWNER, Lent

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]


def asked(lent: Lent, pod: str, *options: str) -> str:
    cluster, namespace = lent.team.cluster, lent.team.namespace
    assert cluster.folder is not None
    done = plugin(
        cluster.folder.tenant_kubeconfig, "explain", "pod", pod, "-n", namespace, *options
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def told(lent: Lent, pod: str) -> Object:
    found: Object = json.loads(asked(lent, pod, "-o", "json"))["reclaim"]
    return found


def test_l7_what_a_dry_run_would_end_and_who_may_be_ended(lent: Lent, tmp_path: Path) -> None:
    team = lent.team
    owner, borrower = (team.queue_name(queue) for queue in (OWNER, BORROWER))
    change = {"metadata": {"annotations": {v.QUEUE_RECLAIM: "dryRun"}}}
    path = f"{QUEUES}/{owner}"
    assert ask(team.cluster, "PATCH", path, change, content_type=MERGE).ok
    lent.runs("r0", "r1", "r2", "r3")
    assert "none of which waits for it now" in told(lent, "r0")["message"]
    assert team.create(lent.pod("owed", OWNER)).ok
    assert team.until_told("owed", v.WOULD_RECLAIM)
    found = told(lent, "owed")
    assert (found["state"], found["way"], found["card"]) == ("DryRun", "reclaim", lent.card)
    assert "withinSeconds" not in found  # it has waited long enough
    cards = [{"name": lent.card, "amount": 1}]
    assert found["queues"] == [{"queue": borrower, "pods": 1, "cards": cards}]
    assert f"<1> of <{lent.card}> could be taken back from Queue <{borrower}>" in asked(
        lent, "owed"
    )
    found = told(lent, "r0")
    assert found["state"] == "MayEnd"
    assert f"which wait for it now: Queue <{owner}> (<1>)" in found["message"]
    assert "holds <4>" in found["message"]
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(dict(CONFIG)))
    done = plugin(team.cluster.kubeconfig, "check", "-o", "json", f"--config={config}")
    sections = {one["section"]: one for one in json.loads(done.stdout)["sections"]}
    assert sections["reclaim"]["findings"] == []
    would = f"for pod <{team.namespace}/owed> of Queue <{owner}>, which lacks <1> of <{lent.card}>"
    (note,) = (note for note in sections["reclaim"]["notes"] if note.startswith(would))
    assert f"1 pod would end: {team.namespace}/r" in note


def test_l7_which_pods_end_and_for_whom_while_they_do(lent: Lent) -> None:
    team = lent.team
    lent.runs("r0", "r1", "r2", "r3", stop=600)
    assert team.create(lent.pod("owed", OWNER)).ok
    assert team.until_told("owed", v.ROOM_MADE)
    found = told(lent, "owed")
    assert found["state"] == "UnderWay"
    (ends,) = lent.gone_of("r0", "r1", "r2", "r3")
    assert f"still there: <1> (<{ends}>)" in found["message"]
    found = told(lent, ends)
    assert (found["state"], found["way"]) == ("Ends", "reclaim")
    assert f"to make room for pod <{team.namespace}/owed> of Queue" in found["message"]
    assert team.delete(lent.pod(ends)).ok
    team.until_bound("owed")
    team.until(lambda: told(lent, "owed")["state"] == "NothingBorrowed", "that is known")
