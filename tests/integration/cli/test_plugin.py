"""`kubectl cardquota` as kubectl runs it, on the plane: by card, renewed, completed."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from builders import GPU, a_node
from cardquota_dev.testing import eventually
from integration.own_node import a_node_of
from integration.team import Team

PROJECT = Path(__file__).parents[3] / "pyproject.toml"
PROGRAMS = ("kubectl-cardquota", "kubectl_complete-cardquota")


@pytest.fixture
def path(tmp_path: Path) -> str:
    """PATH with the programs that the project declares, as an installation puts them there."""
    declared = tomllib.loads(PROJECT.read_text())["project"]["scripts"]
    for name in PROGRAMS:
        module, _, function = declared[name].partition(":")
        program = tmp_path / name
        program.write_text(f"#!{sys.executable}\nfrom {module} import {function}\n{function}()\n")
        program.chmod(0o755)
    return f"{tmp_path}{os.pathsep}{os.environ['PATH']}"


def run(team: Team, path: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(team.cluster.binary), *arguments],
        env={**os.environ, "PATH": path, "KUBECONFIG": str(team.cluster.kubeconfig)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
def test_cards_of_a_queue(team: Team, path: str) -> None:
    card = f"{team.prefix}-card"
    queue = team.has_queue({card: 3})
    with a_node_of(team, a_node(f"{team.prefix}-one").with_cards(card, "8")):
        team.until_row(card, "q", quota=3, resource=GPU)
        assert team.create(team.a_pod("holds", 2, card)).ok
        team.until_row(card, "q", allocated=2)

        def row() -> list[str]:
            printed = run(team, path, "cardquota", "top", "-o", "wide").stdout
            rows = [line.split() for line in printed.splitlines()]
            return next((one[2:] for one in rows if one[:1] == [queue]), [])

        wanted = [card, "3", "2", "2", "0", "0", "0", "2", "3", "3", "-"]
        eventually(lambda: row() == wanted, "its card, and what its pod holds")
        data = yaml.safe_load(run(team, path, "cardquota", "cards", "-o", "yaml").stdout)
        (found,) = (one for one in data["cards"] if one["name"] == card)
        assert (found["allocated"], found["queue_names"]) == (2, [queue])


@pytest.mark.slow
def test_kubectl_completes_its_commands(team: Team, path: str) -> None:
    done = run(team, path, "__complete", "cardquota", "to")
    assert done.stdout.splitlines()[0].startswith("top\tShow what each queue has")
    done = run(team, path, "__complete", "cardquota", "top", "-o", "w")
    assert done.stdout.splitlines()[:2] == ["wide", ":4"]
    assert run(team, path, "cardquota", "--version").stdout.startswith("cardquota ")
    wrong = run(team, path, "cardquota", "top", "--context", "gone")
    assert (wrong.returncode, wrong.stdout, wrong.stderr.count("\n")) == (2, "", 1)
