"""One replica of the product as a run has it: through its way, and, if wanted, broken.

`python -m chaos.replica WAYS BREAKAGE BROKE run --config=FILE`: WAYS are the ports of the ways, two
for each replica, the second for its Lease; `-` stands for no breakage. Whenever that has broken
something, a line that says what is added to the file BROKE. All that is different is done to this
process alone; the product knows nothing of it.
"""

import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from cardquota.cli import main as cardquota
from cardquota.cluster.api import Access, Client
from cardquota.control.reclaim import reclaimer
from cardquota.runtime import run
from cardquota_dev.plane.folder import write_private_json

from .breakages.breaker import Breaker, NotThereError
from .breakages.broken import BREAKAGES

_BEFORE_IT_EVICTS = 3.0
"""Seconds from when it stands on somebody what ends for him: a fault comes between."""
_RECOUNT = 3.0
"""Seconds between two recounts of the product's own: a run is too short for the usual 300."""


def main() -> None:
    """Become the replica."""
    ways, breakage, broke, *arguments = sys.argv[1:]
    config = next(Path(a.partition("=")[2]) for a in arguments if a.startswith("--config="))
    found = re.search(r"(\d+)\.yaml$", config.name)
    number = int(found[1]) if found else 0
    way, lease_way = map(int, ways.split(",")[2 * number : 2 * number + 2])
    os.environ["KUBECONFIG"] = str(_through(way, config, number))
    _set(run, "Client", _clients(lease_way))
    _set(run, "RECOUNT", _RECOUNT)
    _set(reclaimer, "SOON", _BEFORE_IT_EVICTS)
    if breakage != "-":
        BREAKAGES[breakage].apply(Breaker(_writing(Path(broke))))
    sys.argv = ["cardquota", *arguments]
    cardquota()


def _set(module: ModuleType, name: str, value: object) -> None:
    if name not in vars(module):
        raise NotThereError(f"{module.__name__}.{name} is not there")
    setattr(module, name, value)


def _writing(file: Path) -> Callable[[str], None]:
    """Adds lines. At once and whole: this process may be killed, and others write there too."""
    out = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def write(line: str) -> None:
        os.write(out, f"{line}\n".encode())

    return write


def _clients(lease_way: int) -> Callable[[Access], Client]:
    """The second client that the product makes is for the Lease: it takes a way of its own."""
    made = []

    def client(access: Access) -> Client:
        made.append(access)
        first = len(made) == 1
        return Client(access if first else replace(access, server=f"https://127.0.0.1:{lease_way}"))

    return client


def _through(port: int, config: Path, number: int) -> Path:
    """The replica's kubeconfig, which leads through its way."""
    stored = json.loads(Path(os.environ["KUBECONFIG"]).read_text())
    for cluster in stored["clusters"]:
        cluster["cluster"]["server"] = f"https://127.0.0.1:{port}"
    path = config.with_name(f"kubeconfig-way-{number}")
    write_private_json(path, stored)
    return path


if __name__ == "__main__":
    main()
