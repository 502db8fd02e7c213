"""U7: from version 0.1.0 to this one and back, with pods that run and wait and a gang that has its
place.

`released/cardquota-0.1.0.tar.gz` has that version's manifests: `git archive COMMIT crds
manifests/base`. Where the checkout's history has the commit, its operator runs too; else this one's
with the manifests of then.
"""

import io
import json
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from builders import a_pod
from cardquota.quota import vocabulary as v
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.testing import Cluster, eventually, fresh_namespace
from integration.asking import Object, ask
from integration.roomy_nodes import T1000
from integration.team import QUEUES, Team, notes, released

from .running import OperatorProcess
from .test_pause import are_totals_exact, waiting

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

RELEASED = Path(__file__).parent / "released" / "cardquota-0.1.0.tar.gz"
COMMIT = "4e74fac7"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
APPLIED = ("namespace", "rbac", "roles", "flowschema")


@dataclass(frozen=True)
class Version:
    """The files of one version, and where its modules are."""

    folder: Path
    modules: str
    """PYTHONPATH. Empty: those under test."""

    def apply(self, cluster: Cluster, url: str) -> None:
        """As an administrator applies it, over what is there."""
        base = self.folder / "manifests" / "base"
        crds = sorted((self.folder / "crds").glob("*.volcano.sh_*.yaml"))
        for file in (*crds, *(base / f"{name}.yaml" for name in APPLIED)):
            applied = cluster.kubectl(
                "apply", "--server-side", "--force-conflicts", "-f", str(file)
            )
            assert applied.returncode == 0, applied.stderr
        documents = list(yaml.safe_load_all((base / "admission.yaml").read_text()))
        for webhook in (one for it in documents for one in it.get("webhooks", ())):
            webhook["clientConfig"] = {"url": url}
        text = yaml.safe_dump_all(documents)
        applied = cluster.kubectl(
            "apply", "--server-side", "--force-conflicts", "-f", "-", input=text
        )
        assert applied.returncode == 0, applied.stderr


def archived(commit: str, folder: Path, *paths: str) -> bool:
    """Put the files of a commit there; whether the checkout has it."""
    made = subprocess.run(
        ["git", "archive", commit, *paths], cwd=CHECKOUT, capture_output=True, check=False
    )
    if made.returncode == 0:
        with tarfile.open(fileobj=io.BytesIO(made.stdout)) as files:
            files.extractall(folder, filter="data")
    return made.returncode == 0


@pytest.fixture
def before(tmp_path: Path) -> Version:
    folder = tmp_path / "before"
    with tarfile.open(RELEASED) as files:
        files.extractall(folder, filter="data")
    there = archived(COMMIT, folder, "operator", "webhooks")
    return Version(folder, f"{folder}/operator:{folder}/webhooks" if there else "")


@contextmanager
def running(version: Version, operator: OperatorProcess, cluster: Cluster) -> Iterator[None]:
    """This version, applied over what is there, until the end of the block."""
    version.apply(cluster, f"https://127.0.0.1:{operator.webhook_port}")
    operator.start(version.modules)
    try:
        operator.until_leading()
        eventually(lambda: refuses_nonsense(cluster), "the webhooks answer")
        yield
    finally:
        operator.stop()


def refuses_nonsense(cluster: Cluster) -> bool:
    queue = {
        "apiVersion": f"{v.API_GROUP}/{v.VERSION}",
        "kind": "Queue",
        "metadata": {"name": "nonsense", "annotations": {v.QUOTA: "x"}},
        "spec": {},
    }
    return "denied the request" in ask(cluster, "POST", f"{QUEUES}?dryRun=All", queue).message


def test_u7_from_the_version_before_and_back(
    bare: Cluster, before: Version, tmp_path: Path, unique: str
) -> None:
    assert bare.folder is not None
    now = Version(CHECKOUT, "")
    folder = tmp_path / "operator"
    folder.mkdir()
    operator = OperatorProcess(folder, bare.folder.product_kubeconfig)
    before.apply(bare, f"https://127.0.0.1:{operator.webhook_port}")
    with fresh_namespace(bare, unique) as namespace:
        team = Team(bare, namespace, unique)
        with running(before, operator, bare):
            charged = start_all(team)
        badly_written(team)
        with running(now, operator, bare):
            as_before(team, charged)
            assert ask(bare, "GET", required()).ok
        with running(before, operator, bare):
            as_before(team, charged)
            all_goes_on(team)


def required() -> str:
    return f"{ADMISSION}/validatingadmissionpolicies/cardquota-gate-required"


def start_all(team: Team) -> Object:
    """Of 4 cards 2 are in use and 1 is reserved; who wants 2 waits. What is written on the pod."""
    team.has_queue({T1000: 4})
    team.has_queue({T1000: 3}, "odd")
    team.until_row(T1000, quota=4)
    team.until_row(T1000, "odd", quota=3)
    assert team.create(team.a_pod("runs", 2, T1000)).ok
    assert team.create(team.a_pod("odd", 1, T1000, "odd")).ok
    team.until_bound("runs", "odd")
    gang = team.a_gang("gang", 1).requesting({T1000: 1})
    assert (reply := team.create(gang)).ok, reply
    team.until_row(T1000, allocated=2, inqueue=1)
    assert team.create(waiting(team, "waits", 2)).ok
    team.until_row(T1000, requested=4)
    assert not released(team.pod("waits"))
    return {key: notes(team.pod("runs"))[key] for key in v.STAMP}


def badly_written(team: Team) -> None:
    """An object that a version refuses: stored while nobody reviewed it."""
    webhooks = f"{ADMISSION}/validatingwebhookconfigurations/cardquota"
    assert ask(team.cluster, "DELETE", webhooks).ok
    quota = json.dumps({T1000: "three"})
    eventually(lambda: team.annotate(team.a_queue({}, "odd"), v.QUOTA, quota).ok, "it is stored")


def as_before(team: Team, charged: Object) -> None:
    """Nothing has ended, and nothing is lost of what was held, reserved and gated."""
    team.until_row(T1000, quota=4, allocated=2, inqueue=1, requested=4)
    assert {key: notes(team.pod("runs"))[key] for key in v.STAMP} == charged
    assert {team.pod(name)["status"]["phase"] for name in ("runs", "odd")} == {"Running"}
    assert not released(team.pod("waits"))
    team.until_row(T1000, "odd", quota=3, allocated=1)
    team.until(lambda: team.condition("QuotaValid", "odd")["status"] == "False", "it is reported")
    eventually(lambda: are_totals_exact(team), "totals")
    late = team.create(team.a_pod("late", 2, T1000))
    assert "insufficient" in late.message
    forged = team.create(a_pod("forged").annotated(v.CHARGED_QUEUE, team.queue_name()))
    assert not forged.ok or v.CHARGED_QUEUE not in notes(forged.body)


def all_goes_on(team: Team) -> None:
    """What is reserved goes to whom it is for; who waits starts when there is room."""
    assert team.create(waiting(team, "member", 1).in_group("gang")).ok
    team.until_bound("member")
    team.until_row(T1000, allocated=3, inqueue=0, requested=5)
    assert not released(team.pod("waits"))
    team.delete(a_pod("runs"))
    team.until_bound("waits")
    eventually(lambda: are_totals_exact(team), "totals")
