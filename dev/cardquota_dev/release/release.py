"""Everything that people install, as files in one folder, with their checksums.

Two releases of one commit have equal files, but for what Debian or the package index has changed
since (images) and for the times in the plugin's zip.
"""

import gzip
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Final

from cardquota import __version__

from ..chart.install_yaml import install_yaml
from ..failure import PlaneError
from ..image.build import build_images, moment
from ..image.part import file_hash
from ..image.target import OPERATOR, PYTHON, TARGETS, architecture
from ..paths import CHECKOUT
from .krew import PLUGIN, krew_manifest

SUMS: Final = "SHA256SUMS"
_PIP: Final = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def release(folder: Path, registry: str, url: str) -> Iterator[Path]:
    """Write the files into an empty or new folder, and yield each. Raises PlaneError.

    `registry`: before the names of images in `install.yaml`, with its slash. `url`: where the files
    will be downloaded from, for the plugin's manifest.
    """
    if folder.exists() and any(folder.iterdir()):
        raise PlaneError(f"{folder} is not empty: a release is never mixed with another one")
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for file in _files(folder, registry, url):
        files.append(file)
        yield file
    sums = folder / SUMS
    sums.write_text("".join(f"{file_hash(one)}  {one.name}\n" for one in sorted(files)))
    yield sums


def _files(folder: Path, registry: str, url: str) -> Iterator[Path]:
    wheel, source = _built(folder)
    yield wheel
    yield source
    yield archived(CHECKOUT / "charts" / "cardquota", folder / f"cardquota-chart-{__version__}.tgz")
    yield archived(
        CHECKOUT / "manifests",
        folder / f"cardquota-manifests-{__version__}.tar.gz",
        beside=(CHECKOUT / "crds",),
    )
    install = folder / "install.yaml"
    install.write_text(install_yaml(f"{registry}{OPERATOR.name}:{__version__}"))
    yield install
    plugin = _plugin(wheel, folder)
    yield plugin
    manifest = folder / "krew.yaml"
    manifest.write_text(krew_manifest(plugin, url))
    yield manifest
    for image in build_images(TARGETS.values(), folder):
        yield image.archive
        yield image.bill


def _built(folder: Path) -> tuple[Path, Path]:
    """The wheel, and the source from which it can be made."""
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", folder)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("cardquota-*.tar.gz")
    return wheel, source


def archived(of: Path, to: Path, *, beside: tuple[Path, ...] = ()) -> Path:
    """A folder as an archive, with the times of the commit; `beside`: more folders."""
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for top in (of, *beside):
            for path in sorted(path for path in top.rglob("*") if path.is_file()):
                tar.add(path, str(path.relative_to(top.parent)), filter=_plain)
    to.write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return to


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode, member.mtime = 0o644, moment()
    return member


def _plugin(wheel: Path, folder: Path) -> Path:
    """The plugin as one program, which needs nothing but Python on a machine like this one, packed
    for krew.
    """
    with tempfile.TemporaryDirectory() as scratch:
        site, program = Path(scratch) / "site", Path(scratch) / PLUGIN
        to = ("install", "--no-deps", "--no-compile", f"--target={site}")
        _run(*_PIP, *to, "--require-hashes", "--only-binary=:all:", f"-r{OPERATOR.lock}")
        _run(*_PIP, *to, wheel)
        options = ("--console-script", PLUGIN, "--python", f"/usr/bin/env python{PYTHON}")
        where = ("--site-packages", site, "--output-file", program)
        _run(sys.executable, "-m", "shiv", "--reproducible", "--compressed", *options, *where)
        to_file = folder / f"{PLUGIN}-{__version__}-linux-{architecture()}.tar.gz"
        with tarfile.open(to_file, "w:gz") as tar:
            tar.add(program, PLUGIN)
            tar.add(CHECKOUT / "LICENSE", "LICENSE")
    return to_file


def _run(*command: str | Path) -> None:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(moment())}
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise PlaneError(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
