"""A plane ends whole, whatever ends it. Each test starts its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cardquota_dev.build.lock import held
from cardquota_dev.plane.folder import Folder
from cardquota_dev.plane.process import Process, marked
from cardquota_dev.plane.real_node import cgroups
from cardquota_dev.plane.real_node.requirements import real_node_lacks
from cardquota_dev.plane.state import PlaneState, read_state
from cardquota_dev.testing import eventually, running_plane
from integration.node.real_node import RealNode

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]

COMMAND = [sys.executable, "-m", "cardquota_dev"]
CORE = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    folder = Folder(tmp_path / "plane")
    yield folder
    subprocess.run([*COMMAND, "down", "--dir", str(folder.path)], check=True, timeout=90)


@pytest.fixture
def foreground(folder: Folder) -> Iterator[subprocess.Popen[str]]:
    command = [*COMMAND, "up", "--without-product", "--dir", str(folder.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.readline() == f"{folder.kubeconfig}\n"
        yield supervisor
        supervisor.terminate()


def read(folder: Folder) -> PlaneState:
    state = read_state(folder)
    assert state is not None
    return state


def running(folder: Folder) -> list[Process]:
    """All that runs: first it has to be all there."""
    state = read(folder)
    assert state.ready
    assert [one.name for one in state.processes] == ["supervisor", "watchdog", *CORE]
    assert all(one.alive for one in state.processes)
    return state.processes


def gone(folder: Folder, processes: list[Process]) -> bool:
    return not any(one.alive for one in processes) and not marked(folder.path)


def test_what_dies_is_started_again_and_a_signal_ends_all_in_order(
    folder: Folder, foreground: subprocess.Popen[str]
) -> None:
    """SIGTERM here; `test_demo` shows how SIGINT ends it, and `down`."""
    before = next(one for one in running(folder) if one.name == "kube-scheduler")
    os.kill(before.pid, signal.SIGKILL)
    again = eventually(lambda: another_one(folder, before), "another scheduler")
    assert again is not None
    assert again.address == before.address
    processes = running(folder)
    up = [*COMMAND, "up", "--without-product", "--detach", "--dir", str(folder.path)]
    second = subprocess.run(up, check=False, capture_output=True, text=True, timeout=60)
    assert second.returncode != 0
    assert "already holds a running plane" in second.stderr
    assert all(one.alive for one in processes)
    foreground.terminate()
    assert foreground.wait(60) == 0
    assert gone(folder, processes)
    assert not held(folder.lock)
    assert read(folder).processes == []


def another_one(folder: Folder, before: Process) -> Process | None:
    """What runs now in the place of a process."""
    same = (one for one in read(folder).processes if one.name == before.name)
    return next((one for one in same if one.pid != before.pid and one.alive), None)


def test_the_watchdog_ends_what_a_killed_supervisor_leaves(
    folder: Folder, foreground: subprocess.Popen[str]
) -> None:
    processes = running(folder)
    foreground.kill()
    eventually(lambda: gone(folder, processes), "all ended")
    eventually(lambda: not held(folder.lock), "lock given back")


@pytest.mark.long
def test_a_real_node_ends_with_its_containers_when_the_supervisor_is_killed(folder: Folder) -> None:
    if lacking := real_node_lacks():
        pytest.skip(lacking)
    with running_plane(folder.path, replicas=0, real_node=True) as plane:
        by_hand = RealNode(plane, "default")
        by_hand.create("p", 100)
        by_hand.place("p", 0, 100)
        by_hand.runs("p")
        processes = read(folder).processes
        assert cgroups.existing(folder)
        os.kill(read(folder).process("supervisor").pid, signal.SIGKILL)
        eventually(lambda: gone(folder, processes), "all ended")
        eventually(lambda: not held(folder.lock), "lock given back")
        assert not cgroups.existing(folder)


TESTS = """
import sys
from pathlib import Path
from cardquota_dev.testing import running_plane

with running_plane(Path(sys.argv[1]), replicas=0):
    print(flush=True)
    sys.stdin.read()
"""


def test_a_plane_does_not_outlive_the_tests_that_started_it(folder: Folder) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", TESTS, str(folder.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as tests:
        assert tests.stdout is not None
        tests.stdout.readline()
        processes = running(folder)
        tests.kill()
    eventually(lambda: gone(folder, processes), "all ended")


def test_a_component_that_cannot_start_is_named(folder: Folder, tmp_path: Path) -> None:
    binaries = tmp_path / "bin"
    binaries.mkdir()
    for name in (*CORE, "kubectl"):
        (binaries / name).write_text("#!/bin/sh\necho no such luck >&2\nexit 3\n")
        (binaries / name).chmod(0o755)
    command = [*COMMAND, "up", "--without-product", "--detach", "--dir", str(folder.path)]
    done = subprocess.run(
        [*command, "--bin-dir", str(binaries)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert "ended with status 3" in done.stderr
    assert "no such luck" in done.stderr
