"""I1: nothing is held beyond a quota or a node, at any virtual moment, by a recount of what is
printed; and nobody waits for what is free.
"""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cardquota.cli.app import app

from .recount import (
    PrintedJob,
    charged,
    disordered,
    idle_while_it_waited,
    over,
    placed,
)
from .timelines import node, queue

H200, A100 = "NVIDIA-H200", "NVIDIA-A100"
QUOTAS = {
    ("red", H200): 24,
    ("red", A100): 8,
    ("blue", H200): 24,
    ("green", H200): 8,
    ("green", A100): 12,
}
"""More H200 than the nodes have, and fewer A100 than the quotas together."""
NODES = {**{(f"h-{i}", H200): 8 for i in range(5)}, **{(f"a-{i}", A100): 4 for i in range(4)}}
SPECS = {"red": "", "blue": "priority: 5", "green": ""}
CLASSES = """
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 5}
"""


def cluster() -> str:
    nodes = "".join(node(name, cards, product) for (name, product), cards in NODES.items())
    quotas = {
        name: {card: quota for (owner, card), quota in QUOTAS.items() if owner == name}
        for name in SPECS
    }
    return (
        nodes
        + CLASSES
        + "".join(queue(name, json.dumps(quotas[name]), spec=spec) for name, spec in SPECS.items())
    )


def printed(tmp_path: Path, *options: str) -> list[PrintedJob]:
    path = tmp_path / "cluster.yaml"
    path.write_text(cluster())
    arguments = ["simulate", "--timeline", "-f", str(path), "-o", "json", *options]
    # With a wait, cards stay free for who has waited too long: `test_starvation`.
    arguments += ["--starvation-wait", "0"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    found: list[PrintedJob] = json.loads(result.stdout)["jobs"]
    return found


def holds(jobs: list[PrintedJob]) -> None:
    assert over(charged(jobs), QUOTAS) == []
    assert over(placed(jobs), NODES) == []
    assert disordered(jobs) == []
    assert idle_while_it_waited(jobs, QUOTAS) == []


@pytest.mark.parametrize("seed", range(3))
def test_i1_nothing_beyond_quota_or_node(seed: int, tmp_path: Path) -> None:
    jobs = printed(tmp_path, "--jobs", "150", "--seed", str(seed))
    holds(jobs)
    assert sum(job["state"] == "ended" for job in jobs) > 100
    assert any(job["let_through"] and job["let_through"] > job["arrival"] for job in jobs)


@pytest.mark.slow
def test_two_thousand_jobs(tmp_path: Path) -> None:
    jobs = printed(tmp_path, "--jobs", "2000", "--seed", "7")
    assert len(jobs) == 2_000
    holds(jobs)


def test_the_recount_finds_what_is_wrong() -> None:
    """A job that holds one card too many, and one that waits beside free cards."""
    place = {"node": "h-0", "card": H200}
    good: PrintedJob = {
        "name": "a",
        "queue": "green",
        "card": H200,
        "cards": 8,
        "pods": 1,
        "state": "ended",
        "text": "",
        "arrival": 0,
        "duration": 5,
        "let_through": 0,
        "started": 0,
        "ended": 5,
        "charged": {H200: 8},
        "placements": [{"at": 0, "cards": 8, **place}],
    }
    holds([good])
    small = good | {"name": "b", "cards": 1, "charged": {H200: 1}, "arrival": 3}
    early, late = (
        small
        | {"let_through": at, "started": at, "ended": at + 5}
        | {"placements": [{"at": at, "cards": 1, **place}]}
        for at in (4, 6)
    )
    assert over(charged([good, early]), QUOTAS) == [f"4: ('green', '{H200}') 9"]
    assert over(placed([good, early]), NODES) == [f"4: ('h-0', '{H200}') 9"]
    assert idle_while_it_waited([good, late], QUOTAS) == ["b at 5"]
    assert disordered([good, late | {"ended": 12}]) == ["b"]
