"""The recount stands alone: what it shared with the ledger it could not find wrong in it."""

import ast
from pathlib import Path
from types import ModuleType

import pytest

from chaos import replay
from chaos.judging import (
    answered,
    calm,
    denials,
    enqueues,
    fitting,
    leeway,
    pauses,
    recount,
    sleepers,
    starts,
    stored,
    told,
    verdicts,
)


@pytest.mark.parametrize(
    "module",
    [
        *(recount, stored, fitting, leeway, verdicts, enqueues, pauses, denials),
        *(replay, calm, starts, sleepers, answered, told),
    ],
)
def test_it_imports_nothing_of_the_product(module: ModuleType) -> None:
    tree = ast.parse(Path(str(module.__file__)).read_text())
    imported = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import)
                for name in node.names]  # fmt: skip
    imported += [str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    assert imported
    assert [name for name in imported if name.startswith("cardquota")] == []


def test_bound_pods_without_a_decision_are_charged_by_their_node() -> None:
    """I3: whatever got past admission counts."""
    counted = recount.Recount("n", {"node": "H200"})
    pod = {
        "metadata": {"name": "p", "namespace": "n", "annotations": {stored.QUEUE: "q"}},
        "spec": {
            "nodeName": "node",
            "containers": [{"resources": {"limits": {stored.DEVICE: "2"}}}],
        },
        "status": {"phase": "Running"},
    }
    counted.apply("pod", "p", pod)
    assert dict(counted.held) == {("q", "H200"): 2}
    counted.apply("pod", "p", None)
    assert counted.held["q", "H200"] == 0
