"""Writing an image as an archive of the Open Container Initiative (OCI).

That is three small documents, and a tar file for each layer. No library on PyPI writes them without
a registry or a daemon. Guarantees: the same folders give the same bytes, on all machines whose zlib
compresses alike. The archive is there whole or not at all.
"""

import gzip
import json
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from .part import file_hash

_TYPE: Final = "application/vnd.oci.image"
_BLOBS: Final = "blobs/sha256"


@dataclass(frozen=True)
class Image:
    """What is to be written."""

    name: str
    """With a tag: `cardquota:0.1.0`."""
    architecture: str
    config: Mapping[str, Any]
    """How a container of it is started: `Entrypoint`, `User` and so on."""
    layers: Sequence[tuple[Path, str]]
    """From below to above: the folder of each, and what it is."""
    moment: int
    """The time of all files, and of the image, in seconds since 1970."""


def write_archive(image: Image, archive: Path) -> str:
    """Write the archive, and set the files' modes. Returns the digest of the image's manifest."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=archive.parent) as scratch:
        folder = Path(scratch) / "image"
        (folder / _BLOBS).mkdir(parents=True)
        manifest = _write_image(image, folder)
        set_modes(folder)
        whole = Path(scratch) / "whole"
        _write_tar(folder, whole, image.moment)
        whole.replace(archive)
    return str(manifest["digest"])


def set_modes(root: Path) -> None:
    """Give all files modes that follow from nobody's umask: all may read and execute, none may
    write, and nothing gives a process another user's rights.
    """
    for path in (root, *root.rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode) and mode & stat.S_ISVTX:
            path.chmod(0o1777)  # /tmp
        elif not stat.S_ISLNK(mode):
            path.chmod(0o755 if mode & stat.S_IXUSR else 0o644)


def _write_tar(folder: Path, file: Path, moment: int) -> None:
    """All that is in the folder as a tar file: in the order of names, of root, of this time."""
    with tarfile.open(file, "w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(folder.rglob("*")):
            # Each by itself: links between files follow from who made the folder.
            tar.inodes.clear()  # type: ignore[attr-defined]
            entry = tar.gettarinfo(path, str(path.relative_to(folder)))
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime = moment
            if entry.isreg():
                with path.open("rb") as content:
                    tar.addfile(entry, content)
            else:
                tar.addfile(entry)


def _write_image(image: Image, folder: Path) -> dict[str, Any]:
    layers = [_layer(source, image.moment, folder) for source, _ in image.layers]
    created = datetime.fromtimestamp(image.moment, UTC).isoformat()
    config = _document(
        "config.v1+json",
        {
            "created": created,
            "architecture": image.architecture,
            "os": "linux",
            "config": image.config,
            "rootfs": {"type": "layers", "diff_ids": [plain for plain, _ in layers]},
            "history": [{"created": created, "created_by": says} for _, says in image.layers],
        },
        folder,
    )
    manifest = _document(
        "manifest.v1+json",
        {
            "schemaVersion": 2,
            "mediaType": f"{_TYPE}.manifest.v1+json",
            "config": config,
            "layers": [layer for _, layer in layers],
        },
        folder,
    )
    names = {
        "io.containerd.image.name": _with_registry(image.name),
        "org.opencontainers.image.ref.name": image.name.rpartition(":")[2],
    }
    index = {
        "schemaVersion": 2,
        "mediaType": f"{_TYPE}.index.v1+json",
        "manifests": [{**manifest, "annotations": names}],
    }
    for_docker = {
        "Config": _path(config),
        "RepoTags": [image.name],
        "Layers": [_path(layer) for _, layer in layers],
    }
    _write_json(folder / "oci-layout", {"imageLayoutVersion": "1.0.0"})
    _write_json(folder / "index.json", index)
    _write_json(folder / "manifest.json", [for_docker])
    return manifest


def _layer(source: Path, moment: int, folder: Path) -> tuple[str, dict[str, Any]]:
    """The digest of a layer's plain content, by which an image knows it; and its blob."""
    set_modes(source)
    plain, packed = folder / "plain", folder / "packed"
    _write_tar(source, plain, moment)
    digest = f"sha256:{file_hash(plain)}"
    with (
        plain.open("rb") as content,
        packed.open("wb") as file,
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as target,
    ):
        shutil.copyfileobj(content, target)
    plain.unlink()
    return digest, _blob("layer.v1.tar+gzip", packed, folder)


def _document(kind: str, content: object, folder: Path) -> dict[str, Any]:
    file = folder / "document"
    _write_json(file, content)
    return _blob(kind, file, folder)


def _blob(kind: str, file: Path, folder: Path) -> dict[str, Any]:
    """Put a file among the blobs, by its digest. Returns how documents refer to it."""
    found = {
        "mediaType": f"{_TYPE}.{kind}",
        "digest": f"sha256:{file_hash(file)}",
        "size": file.stat().st_size,
    }
    file.replace(folder / _path(found))
    return found


def _path(blob: Mapping[str, Any]) -> str:
    return f"{_BLOBS}/{str(blob['digest']).partition(':')[2]}"


def _with_registry(name: str) -> str:
    """As container runtimes write a name without a registry."""
    first = name.partition("/")[0]
    return name if first != name and "." in first else f"docker.io/library/{name}"


def _write_json(file: Path, content: object) -> None:
    file.write_text(json.dumps(content, sort_keys=True))
