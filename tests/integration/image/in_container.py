"""An image as a container of runc: as the manifests run it, with the network of this machine."""

import json
import os
import sys
import tarfile
import tempfile
import uuid
from pathlib import Path
from typing import Any

from cardquota_dev.plane.real_node.requirements import runc

GIVEN = "/tmp/given"
"""Where a container finds the files that it is given: nothing is written to the image's own."""

_MOUNTS: tuple[tuple[str, str, str, list[str]], ...] = (
    ("proc", "/proc", "proc", []),
    ("tmpfs", "/dev", "tmpfs", ["nosuid", "mode=755"]),
    ("tmpfs", "/tmp", "tmpfs", ["nosuid", "mode=1777", "size=1m"]),
)
"""With /tmp as large as the manifests make it."""


def unpack(archive: Path, root: Path) -> dict[str, Any]:
    """Unpack an image's layers. Returns its configuration."""
    with tarfile.open(archive) as image:

        def document(name: str) -> Any:
            return json.load(_file(image, name))

        (described,) = document("manifest.json")
        for name in described["Layers"]:
            with tarfile.open(fileobj=_file(image, name)) as layer:
                layer.extractall(root, filter="fully_trusted")  # noqa: S202
        config: dict[str, Any] = document(described["Config"])
    return config


def bundle(root: Path, config: dict[str, Any], folder: Path, *arguments: str) -> list[str]:
    """The command that runs the image's program in a container, where the files are that it is
    given: that of `--config`, and the kubeconfig.
    """
    own = folder / "given"
    own.mkdir()
    environment = [*config["Env"]]
    if kubeconfig := os.environ.get("KUBECONFIG"):
        environment.append(f"KUBECONFIG={_give(Path(kubeconfig), own, config)}")
    given = [
        f"--config={_give(Path(one.partition('=')[2]), own, config)}"
        if one.startswith("--config=")
        else one
        for one in arguments
    ]
    mounts = [*_MOUNTS, (str(own), GIVEN, "bind", ["bind", "ro"])]
    user, group = _user(config)
    specification = {
        "ociVersion": "1.0.2",
        "root": {"path": str(root), "readonly": True},
        "process": {
            "user": {"uid": user, "gid": group},
            "args": [*config["Entrypoint"], *given],
            "env": environment,
            "cwd": "/",
            "noNewPrivileges": True,
            "capabilities": {},
        },
        "mounts": [
            dict(zip(("source", "destination", "type", "options"), one, strict=True))
            for one in mounts
        ],
        "linux": {"namespaces": [{"type": one} for one in ("pid", "mount", "ipc", "uts")]},
    }
    (folder / "config.json").write_text(json.dumps(specification))
    return [str(runc()), "run", f"--bundle={folder}", f"image-{uuid.uuid4().hex}"]


def _give(file: Path, own: Path, config: dict[str, Any]) -> str:
    copied = own / file.name
    copied.write_bytes(file.read_bytes())
    os.chown(copied, *_user(config))
    return f"{GIVEN}/{file.name}"


def _user(config: dict[str, Any]) -> tuple[int, int]:
    user, group = map(int, config["User"].split(":"))
    return user, group


def _file(archive: tarfile.TarFile, name: str) -> Any:
    found = archive.extractfile(name)
    assert found is not None
    return found


def main(root: str, config: str, *arguments: str) -> None:
    """Become the container: so whoever started this ends it."""
    folder = Path(tempfile.mkdtemp(prefix="bundle-", dir=Path(root).parent))
    command = bundle(Path(root), json.loads(config), folder, *arguments)
    os.execv(command[0], command)  # noqa: S606


if __name__ == "__main__":
    main(*sys.argv[1:])
