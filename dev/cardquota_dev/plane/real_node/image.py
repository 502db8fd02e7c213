"""The node's one image, made without a registry: an archive with one program in one layer."""

import hashlib
import io
import json
import platform
import tarfile
from pathlib import Path

from .names import IMAGE

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Go's name by the kernel's."""


def write_image(program: Path, archive: Path) -> None:
    """Write an image with this program, which must be static, as `docker save` would."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as files:
        _add(files, program.name, program.read_bytes(), mode=0o755)
    content = layer.getvalue()
    config = {
        "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {"Entrypoint": [f"/{program.name}"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(content).hexdigest()}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [IMAGE], "Layers": ["layer.tar"]}]
    with tarfile.open(archive, mode="w") as files:
        _add(files, "layer.tar", content)
        _add(files, "config.json", json.dumps(config).encode())
        _add(files, "manifest.json", json.dumps(manifest).encode())


def _add(files: tarfile.TarFile, name: str, content: bytes, *, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    files.addfile(entry, io.BytesIO(content))
