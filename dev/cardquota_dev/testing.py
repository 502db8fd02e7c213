"""A control plane as tests see it.

A plane that tests start ends with them, however they end: its supervisor reads the other end of a
pipe that only the test process holds.
"""

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from kubernetes import client, config

from .failure import PlaneError
from .plane.discovery import binary, existing_cluster
from .plane.folder import Folder
from .plane.launch import command, end, ready_state
from .plane.options import Options
from .plane.plane import TENANT
from .plane.state import PlaneState, read_state
from .predicate import Predicate

T = TypeVar("T")

_SOON, _SELDOM = 0.02, 0.25
"""Seconds between two checks: at first, and at most."""


@dataclass(frozen=True)
class Cluster:
    """A running cluster and its two users."""

    kubeconfig: Path
    """The administrator's kubeconfig."""
    as_tenant: tuple[str, ...]
    """kubectl's flags for acting as the tenant."""
    binary: Path
    """The plane's own kubectl."""
    cache: Path
    """kubectl's discovery cache."""
    folder: Folder | None
    """The plane's folder. None if the cluster is not ours."""

    def kubectl(
        self,
        *args: str,
        input: str | None = None,  # noqa: A002
        tenant: bool = False,
        timeout: float = 60.0,
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl as administrator or tenant. The caller checks the result."""
        who = self.as_tenant if tenant else (f"--kubeconfig={self.kubeconfig}",)
        return subprocess.run(
            [str(self.binary), *who, f"--cache-dir={self.cache}", *args],
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def apply(self, manifest: str, *, tenant: bool = False) -> None:
        """Apply a manifest. Fails with kubectl's own output."""
        done = self.kubectl("apply", "-f", "-", input=manifest, tenant=tenant)
        assert done.returncode == 0, done.stderr  # noqa: S101

    @cached_property
    def admin(self) -> Any:
        """The administrator's client (`kubernetes.client.ApiClient`)."""
        return config.new_client_from_config(str(self.kubeconfig))

    @property
    def state(self) -> PlaneState:
        """The running processes. Raises PlaneError if the cluster is not ours."""
        state = read_state(self.folder) if self.folder else None
        if state is None:
            raise PlaneError("this cluster is no plane of ours")
        return state

    def warm(self) -> None:
        """Load the client's many modules now, so that no test pays for it."""
        client.CoreV1Api(self.admin).list_node()

    def close(self) -> None:
        """Close the client's connections, if there were any."""
        if "admin" in self.__dict__:
            self.admin.close()


def eventually(
    condition: Predicate[T | None],
    what: str = "condition",
    seconds: float = 60.0,
    *,
    every: float | None = None,
) -> T:
    """The first true value of the condition. Fails after the time, with the last value.

    Checks every so many seconds. By default soon at first and then ever less often: a check costs
    the plane time, and a wait that is already long may become a little longer.
    """
    deadline = time.monotonic() + seconds
    pause = _SOON if every is None else every
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what}: not within {seconds:.0f} s, last {value!r}"  # noqa: S101
        time.sleep(pause)
        if every is None:
            pause = min(pause * 1.4, _SELDOM)
    return value


@contextmanager
def running_plane(folder: Path, **options: Any) -> Iterator[Cluster]:
    """A plane for the block, by the options of `Options`. The folder is removed afterwards."""
    wanted = replace(
        Options(folder=Folder(folder.resolve())),
        background=True,
        until_stdin_closes=True,
        **options,
    )
    with tempfile.TemporaryFile("w+") as errors:
        supervisor = subprocess.Popen(
            command(wanted),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            text=True,
        )
        assert supervisor.stdin is not None  # noqa: S101
        assert supervisor.stdout is not None  # noqa: S101
        try:
            with supervisor.stdout as lines:
                said = lines.read()
            state = ready_state(wanted.folder, supervisor.pid)
            if state is None:
                supervisor.wait()
                errors.seek(0)
                raise PlaneError(f"the plane did not start: {said}{errors.read()}")
            cluster = _of_plane(wanted.folder, state)
            try:
                yield cluster
            finally:
                cluster.close()
        finally:
            supervisor.stdin.close()
            try:
                supervisor.wait(60)
            finally:
                end(wanted.folder)


@contextmanager
def shared_cluster(folder: Path) -> Iterator[Cluster]:
    """A bare plane for the block, or the cluster that `USE_EXISTING_CLUSTER` names."""
    kubeconfig = existing_cluster()
    if kubeconfig is None:
        with running_plane(folder, replicas=0) as cluster:
            yield cluster
        return
    cluster = Cluster(
        kubeconfig=kubeconfig,
        as_tenant=(f"--kubeconfig={kubeconfig}", "--as=tenant"),
        binary=binary("kubectl"),
        cache=folder / "kubectl-cache",
        folder=None,
    )
    cluster.apply(TENANT.read_text())
    try:
        yield cluster
    finally:
        cluster.close()


@contextmanager
def fresh_namespace(cluster: Cluster, name: str) -> Iterator[str]:
    """A namespace for the block, ready for pods. Its deletion is not awaited."""
    core = client.CoreV1Api(cluster.admin)
    core.create_namespace({"metadata": {"name": name}})
    try:
        eventually(
            lambda: core.list_namespaced_service_account(name).items,
            f"service account in {name}",
        )
        yield name
    finally:
        core.delete_namespace(name)


def _of_plane(folder: Folder, state: PlaneState) -> Cluster:
    return Cluster(
        kubeconfig=folder.kubeconfig,
        as_tenant=(f"--kubeconfig={folder.tenant_kubeconfig}",),
        binary=Path(state.bin_dir) / "kubectl",
        cache=folder.private / "kubectl-cache",
        folder=folder,
    )
