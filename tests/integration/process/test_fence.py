"""The fence on a real API server: what an administrator deletes comes back in any order, and an API
server that does not follow the Term is found.
"""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from random import Random

import pytest
import yaml

from builders import H200, a_pod
from cardquota.cli.check import MOST_SHOWN, Finding
from cardquota.cli.check.installation_section import fence_section, installation_section
from cardquota.cli.check.installed import TERM_DEFINITION, read_installed
from cardquota.cluster.api import Client
from cardquota.cluster.api.access import find_access
from cardquota.install import documents
from cardquota.install.manifests import admission_path
from cardquota.quota import vocabulary as v
from cardquota.settings import Settings, load
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.testing import Cluster, eventually, fresh_namespace, running_plane
from integration.asking import MERGE, Object, ask, metric
from integration.team import Team, notes

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

OWN = v.OPERATOR_NAMESPACE
TERMS = f"/apis/{v.REVIEW_GROUP}/{v.REVIEW_VERSION}/namespaces/{OWN}/{v.TERMS}"
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{OWN}/leases/{v.LEASE}"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEFINITION = yaml.safe_load(
    (CHECKOUT / "crds" / f"{v.REVIEW_GROUP}_{v.TERMS}.yaml").read_text(encoding="utf-8")
)
BINDING = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/cardquota-{}"
TIMES = 20
QUOTA = 3
FOREIGN = ("TermMissing", "TermDiffers", v.FENCE_FAULT, "CaBundleMissing")
"""Findings that come a moment after something was deleted or made again, and go by themselves."""


class Fenced:
    """A plane with the product, and what is installed on it."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        assert cluster.folder is not None
        self.cluster = cluster
        self.settings: Settings = load(cluster.folder.path / "config-0.yaml")
        self.team = Team(cluster, namespace, "fenced")
        self.team.has_queue(self.team.a_queue({H200: QUOTA}).with_policy("Gate"))

    def create(self, name: str) -> int:
        """A pod that asks for a card; the code of the answer."""
        return self.team.create(self.team.a_pod(name, 1, H200)).code

    def term(self) -> str:
        return str(ask(self.cluster, "GET", f"{TERMS}/{v.LEASE}").body["spec"]["term"])

    def findings(self) -> list[Finding]:
        """What `check` says of the installation and the fence."""
        return asyncio.run(self._findings())

    async def _findings(self) -> list[Finding]:
        client = Client(await find_access(self.cluster.kubeconfig, ""))
        try:
            installed = await read_installed(client, self.settings)
        finally:
            await client.close()
        now = time.time()
        sections = (
            installation_section(installed, self.settings, now),
            fence_section(installed, self.settings, now),
        )
        return [one for section in sections for one in section.findings]

    def released(self) -> int:
        """Pods whose gate we opened, at one moment."""
        return sum(v.TERM in notes(pod) for pod in self.team.pods())

    def opens(self, name: str) -> None:
        """A new pod waits for nothing but its turn, and gets it."""
        eventually(lambda: self.create(name) in (201, 409))
        eventually(lambda: self.is_bound(name), "the gate opens", 90)

    def is_bound(self, name: str) -> bool:
        pod = self.team.pod(name)
        return bool(pod.get("spec", {}).get("nodeName")) and v.TERM in notes(pod)

    def delete_pods(self) -> None:
        ask(self.cluster, "DELETE", f"{self.team.path(a_pod())}?gracePeriodSeconds=0")
        eventually(lambda: not self.team.pods())


@pytest.fixture(scope="module")
def fenced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fenced]:
    folder = tmp_path_factory.mktemp("fenced")
    with running_plane(folder / "plane") as cluster, fresh_namespace(cluster, "fenced") as name:
        yield Fenced(cluster, name)


@contextmanager
def load_on(fenced: Fenced, dice: Random) -> Iterator[None]:
    """Pods come and go all the time, more than there is room for."""
    ended = threading.Event()
    names = [f"load-{number}" for number in range(2 * QUOTA)]

    def go_on() -> None:
        while not ended.is_set():
            name = dice.choice(names)
            if fenced.create(name) != 201:
                fenced.team.delete(a_pod(name))
            ended.wait(0.2)

    loading = threading.Thread(target=go_on)
    loading.start()
    try:
        yield
    finally:
        ended.set()
        loading.join()


def test_whatever_is_deleted_and_made_again_in_any_order(fenced: Fenced) -> None:
    """`SEED` chooses another order."""
    dice, cluster = Random(int(os.environ.get("SEED", "1"))), fenced.cluster
    wanted = {(d["kind"], d["metadata"]["name"]): d for d in documents(fenced.settings)}
    of_all = [*wanted, ("CustomResourceDefinition", TERM_DEFINITION), (v.TERM_KIND, v.LEASE)]
    with load_on(fenced, dice):
        for _ in range(TIMES):
            chosen = dice.sample(of_all, dice.randint(1, MOST_SHOWN))
            for one in chosen:
                _delete(cluster, one, wanted)
            gone = {one for one in chosen if one[0] != v.TERM_KIND}
            eventually(partial(_is_told, fenced, gone), "check says what is missing", every=1)
            assert fenced.released() <= QUOTA
            for one in dice.sample(sorted(gone), len(gone)):
                _make(cluster, one, wanted)
            assert fenced.released() <= QUOTA
    eventually(lambda: not fenced.findings(), "check finds nothing more", 120)
    fenced.delete_pods()
    fenced.opens("afterwards")
    assert fenced.term() == ask(cluster, "GET", LEASE).body["spec"]["holderIdentity"]
    assert metric(cluster, "cardquota_fence_faults") == 0


def _path(one: tuple[str, str], wanted: dict[tuple[str, str], Object]) -> str:
    if one in wanted:
        return admission_path(wanted[one])
    return f"{TERMS}/{v.LEASE}" if one[0] == v.TERM_KIND else f"{DEFINITIONS}/{one[1]}"


def _delete(cluster: Cluster, one: tuple[str, str], wanted: dict[tuple[str, str], Object]) -> None:
    path = _path(one, wanted)
    if one[0] == v.TERM_KIND:
        ask(cluster, "DELETE", path)  # it is protected as long as its policy is there
    else:
        eventually(lambda: ask(cluster, "DELETE", path).code == 404, f"{one} is gone")


def _is_told(fenced: Fenced, gone: set[tuple[str, str]]) -> bool:
    """Whether `check` names what is gone, and nothing else."""
    told = {(one.kind, one.name) for one in fenced.findings() if one.reason not in FOREIGN}
    if told != gone:
        print(f"not told: {gone - told}, told: {told - gone}")  # noqa: T201 - shown if it fails
    return told == gone


def _make(cluster: Cluster, one: tuple[str, str], wanted: dict[tuple[str, str], Object]) -> None:
    document = wanted.get(one, DEFINITION)
    path = _path(one, wanted).rpartition("/")[0]
    # A definition that is being deleted is there for a moment longer.
    eventually(lambda: ask(cluster, "POST", path, document).code in (201, 409))
    eventually(lambda: ask(cluster, "GET", _path(one, wanted)).ok)


@pytest.mark.parametrize("policy", ["gate-term", "reservation-term"])
def test_a_leader_whose_decisions_are_refused_knows_it_and_stops(
    fenced: Fenced, policy: str
) -> None:
    """Whatever the cause: here a binding names another Term, which stays with an old term."""
    cluster = fenced.cluster
    old = {
        "apiVersion": f"{v.REVIEW_GROUP}/{v.REVIEW_VERSION}",
        "kind": v.TERM_KIND,
        "metadata": {"name": "frozen"},
        "spec": {"term": "old"},
    }
    ask(cluster, "POST", TERMS, old)
    path = BINDING.format(policy)
    fenced.delete_pods()
    fenced.opens("before")
    frozen = {"spec": {"paramRef": {"name": "frozen"}}}
    assert ask(cluster, "PATCH", path, frozen, content_type=MERGE).ok
    began = time.monotonic()
    try:
        time.sleep(3)  # an API server reads changed policies once a second
        if policy == "gate-term":  # of gates alone: only who opens one can know
            eventually(lambda: fenced.create("waits") == 201)
        eventually(lambda: metric(cluster, "cardquota_fence_faults", fault="refused") == 1)
        assert time.monotonic() - began < 30
        eventually(lambda: fenced.create("waits") in (201, 409))
        address = cluster.state.process("cardquota-0").address
        page = cluster.admin.rest_client.pool_manager.request("GET", f"{address}/readyz")
        assert "the API server refuses what the current term decides" in page.data.decode()
        eventually(lambda: v.FENCE_FAULT in {one.reason for one in fenced.findings()})
        events = f"/api/v1/namespaces/{OWN}/events"
        eventually(lambda: v.FENCE_FAULT in str(ask(cluster, "GET", events).body))
        assert not fenced.is_bound("waits")
        refused = metric(cluster, "cardquota_refused_gates_total", why="term")
        time.sleep(10)
        assert metric(cluster, "cardquota_refused_gates_total", why="term") - refused <= 1
    finally:
        right = {"spec": {"paramRef": {"name": v.LEASE}}}
        assert ask(cluster, "PATCH", path, right, content_type=MERGE).ok
    eventually(lambda: fenced.is_bound("waits"), "the gate opens", 60)
    eventually(lambda: metric(cluster, "cardquota_fence_faults") == 0)
    eventually(lambda: not fenced.findings())
