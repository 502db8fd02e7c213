"""`kubectl cardquota inspect`, as a process, as its user sees it."""

import json
import subprocess

import pytest

from integration.plugin import plugin

from .shared_cards import SharedCards, inspected

pytestmark = pytest.mark.slow


def inspect(cards: SharedCards, *options: str) -> subprocess.CompletedProcess[str]:
    return plugin(cards.plane.kubeconfig, "inspect", *options)


def rows(text: str, node: str) -> list[list[str]]:
    return [line.split()[1:] for line in text.splitlines() if line.startswith(f"{node} ")]


def test_the_cluster(one_node: SharedCards) -> None:
    """For people; and for programs the same as a replica says."""
    one_node.placed("held", 1024)
    node = one_node.node(1)
    done = inspect(one_node)
    assert done.returncode == 0, done.stderr
    assert rows(done.stdout, node) == [
        ["0", "1024/16276", "MiB", "healthy", "1"],
        ["1", "0/16276", "MiB", "healthy", "0"],
    ]
    assert "Total: " in done.stdout
    done = inspect(one_node, node, "-o", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == inspected(one_node.plane, 0, node)
    done = inspect(one_node, "there-is-no-such-node")
    assert (done.returncode, done.stdout) == (1, "")
    assert "<there-is-no-such-node>" in done.stderr
