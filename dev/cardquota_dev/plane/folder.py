"""The names in a plane's folder."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from ..failure import PlaneError

_MARK = "cardquota-plane"


@dataclass(frozen=True)
class Folder:
    """A plane's folder. Only a plane's own folder is ever emptied or removed."""

    path: Path

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of the cluster's administrator."""
        return self.path / "kubeconfig"

    @property
    def tenant_kubeconfig(self) -> Path:
        """The kubeconfig of a user who runs workloads."""
        return self.path / "kubeconfig-tenant"

    @property
    def product_kubeconfig(self) -> Path:
        """The kubeconfig of the product's own service account."""
        return self.path / "kubeconfig-product"

    @property
    def state(self) -> Path:
        """The file of the running processes."""
        return self.path / "state.json"

    @property
    def lock(self) -> Path:
        """Held by the process that keeps the plane alive, or ends it."""
        return self.path / "lock"

    @property
    def private(self) -> Path:
        """Keys, tokens, component configuration."""
        return self.path / "private"

    @property
    def volcano_config(self) -> Path:
        """The configuration of the stand-in for Volcano's scheduler, where it asks the product."""
        return self.path / "volcano-scheduler.conf"

    @property
    def volcano_ca(self) -> Path:
        """The CA by which that scheduler knows the product."""
        return self.path / "volcano-ca.crt"

    @property
    def extender(self) -> Path:
        """`ca.crt`, `tls.crt` and `tls.key`, by which the scheduler and its extender know each
        other.
        """
        return self.path / "extender"

    @property
    def node(self) -> Path:
        """The state of the real node. There is none if the plane has no such node."""
        return self.path / "node"

    @property
    def data(self) -> Path:
        """The data of etcd."""
        return self.path / "etcd"

    def log(self, name: str) -> Path:
        """The log of the process of that name."""
        return self.path / "logs" / f"{name}.log"

    def prepare(self) -> None:
        """Make the folder, private. Raises PlaneError if it has files that are not a plane's."""
        if self.path.exists() and not self.ours and any(self.path.iterdir()):
            raise PlaneError(f"{self.path} is neither empty nor a plane's folder")
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path.chmod(0o700)
        (self.path / _MARK).touch(mode=0o600)

    def clear(self) -> None:
        """Remove the files of an earlier plane, except mark and lock."""
        for entry in self.path.iterdir():
            if entry.name not in {_MARK, self.lock.name}:
                _remove(entry)
        for folder in (self.private, self.path / "logs"):
            folder.mkdir(mode=0o700)

    def remove(self) -> None:
        """Remove the folder with its content. Raises PlaneError if it is not a plane's."""
        if not self.ours:
            raise PlaneError(f"{self.path} holds no plane")
        shutil.rmtree(self.path)

    @property
    def ours(self) -> bool:
        """Whether a plane made this folder."""
        return (self.path / _MARK).is_file()


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    draft.replace(path)


def write_private_json(path: Path, value: object) -> None:
    """The same as JSON, which Kubernetes accepts wherever it reads YAML."""
    write_private(path, json.dumps(value, indent=2) + "\n")


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink()
