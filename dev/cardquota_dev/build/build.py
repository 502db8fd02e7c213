"""Building sets of binaries into the cache.

Guarantees: only missing binaries are built. A binary is there whole or not at all, also after an
interruption (it is built under another name, then renamed). Two builds at once wait for each other,
and the second finds the work done.
"""

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..failure import PlaneError
from .lock import exclusive
from .progress import Meter, meter
from .toolchain import environment, go
from .versions import (
    COMPILER_FLAGS,
    ETCD_AND_KWOK,
    BinarySet,
    built,
    kubernetes,
    linker_flags,
)

_AVAILABLE = "not installed but available in build cache"
_TO_COMPILE = (
    "{{if .Stale}}{{if ne .StaleReason " + f'"{_AVAILABLE}"' + "}}{{.ImportPath}}{{end}}{{end}}"
)
_LAST_LINES = 30


def missing(wanted: BinarySet) -> list[str]:
    """Names of the missing binaries, in build order."""
    folder = built(wanted)
    return [name for name in wanted.packages if not (folder / name).is_file()]


def build_control_plane() -> Path:
    """Build what is missing of the chosen version. Returns the folder of all but etcd and kwok."""
    wanted = kubernetes()
    build(ETCD_AND_KWOK)
    return build(wanted)


def build(wanted: BinarySet) -> Path:
    """Build what is missing. Returns the folder with all binaries of the set."""
    folder = built(wanted)
    if not missing(wanted):
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive(folder.parent / "lock"):
        names = missing(wanted)
        if names:
            _build(wanted, names, folder)
    return folder


def _build(wanted: BinarySet, names: Sequence[str], folder: Path) -> None:
    compiler, module = go(), wanted.module
    with meter() as progress, tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        progress.phase("Resolving")
        packages = [wanted.packages[name] for name in names]
        listed = ("list", "-deps", "-f", _TO_COMPILE, *COMPILER_FLAGS, *packages)
        with _go(compiler, module, listed) as lines:
            to_compile = {line for line in lines if line}
        progress.total(len(to_compile))
        for name in names:
            progress.phase(f"Building {name}")
            with _go(compiler, module, _building(wanted, name, Path(scratch))) as lines:
                _count(lines, to_compile, progress)
            (Path(scratch) / name).rename(folder / name)
        progress.phase("Built")


def _building(wanted: BinarySet, name: str, output: Path) -> Sequence[str]:
    flags = ("-v", *COMPILER_FLAGS, "-ldflags", linker_flags(wanted.module))
    return ("build", *flags, "-o", str(output / name), wanted.packages[name])


def _count(lines: Iterator[str], waiting: set[str], progress: Meter) -> None:
    """`go build -v` names each package as it compiles it: that is one step."""
    for line in lines:
        if line in waiting:
            waiting.remove(line)
            progress.step()


@contextmanager
def _go(compiler: Path, module: Path, arguments: Sequence[str]) -> Iterator[Iterator[str]]:
    """Run Go in the module and yield its lines as they come. It ends with the block."""
    process = subprocess.Popen(
        [str(compiler), *arguments],
        cwd=module,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said: list[str] = []

    def lines() -> Iterator[str]:
        assert process.stdout is not None  # noqa: S101
        for line in process.stdout:
            said.append(line.rstrip())
            yield said[-1]

    with process:
        try:
            yield lines()
        except BaseException:
            process.terminate()
            raise
        for _ in lines():
            pass  # the caller may have stopped early
    if process.returncode != 0:
        tail = "\n".join(said[-_LAST_LINES:])
        raise PlaneError(f"go {arguments[0]} failed:\n{tail}")
