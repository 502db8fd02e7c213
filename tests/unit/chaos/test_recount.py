"""The recount stands alone: what it shared with the ledger it could not find wrong in it."""

import ast
from pathlib import Path
from typing import Any

import pytest

from chaos import judging
from chaos.clients.objects import NAMESPACE, A, replica_set
from chaos.history import slim
from chaos.judging import fitting, recount, stored

FOLDER = Path(judging.__path__[0])
JUDGES = [*sorted(FOLDER.glob("*.py")), FOLDER.parent / "replay.py"]


@pytest.mark.parametrize("file", JUDGES, ids=lambda f: f.stem)
def test_it_imports_nothing_of_the_product(file: Path) -> None:
    tree = ast.parse(file.read_text())
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import)
                for name in node.names}  # fmt: skip
    imported |= {str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    packages = {name.partition(".")[0] for name in imported}
    assert not packages & {"cardquota", "cardquota_webhooks", "builders", "harness"}


def test_bound_pods_without_a_decision_are_charged_by_their_node() -> None:
    """I3: whatever got past admission counts."""
    counted = recount.Recount("n", {"node": "H200"})
    meta = {"name": "p", "namespace": "n", "annotations": {stored.QUEUE: "q"}}
    container = {"resources": {"limits": {stored.DEVICE: "2"}}}
    spec = {"nodeName": "node", "containers": [container]}
    pod = {"metadata": meta, "spec": spec, "status": {"phase": "Running"}}
    counted.apply("pod", "p", pod)
    assert dict(counted.held) == {("q", "H200"): 2}
    counted.apply("pod", "p", None)
    assert counted.held["q", "H200"] == 0


def test_what_is_kept_of_a_pod_says_who_made_it() -> None:
    owners = [{"kind": "ReplicaSet", "name": "web-1", "controller": True}]
    thing = {"metadata": {"name": "p", "ownerReferences": owners}, "spec": {}, "status": {}}
    assert slim(thing)["metadata"]["ownerReferences"] == owners


@pytest.mark.parametrize(
    ("quota", "wants", "has", "said"),
    [(1, 1, 0, True), (0, 1, 0, False), (1, 1, 1, False), (1, 0, 0, False)],
)
def test_who_lacks_a_pod_that_fits_sleeps(quota: int, wants: int, has: int, *, said: bool) -> None:
    counted = recount.Recount(NAMESPACE, {})
    notes = {recount.QUOTA: f'{{"{A}": {quota}}}'}
    counted.apply("queue", "q", {"metadata": {"name": "q", "annotations": notes}})
    thing: dict[str, Any] = replica_set("web", "q", A)
    thing["spec"]["replicas"], thing["status"] = wants, {"replicas": has}
    words = fitting.asleep(counted, [thing])
    assert words == (["web lacks 1 pods in q, and one would fit"] if said else [])
