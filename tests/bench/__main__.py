"""`python -m bench [NAME...] [--write FILE]`: run benchmarks, print a table for each.

Ends with 1 if a figure breaks its bound. The machine may be shared and noisy, so both sides of a
ratio are measured in turns within one run, and figures have their spread.
"""

import argparse
import datetime as dt
import importlib
import os
import platform
import sys
import time
from pathlib import Path

from .figure import Figure

BENCHES = {
    "soak": ("domain", "one million pod lives"),
    "memory": ("domain", "memory under objects that somebody makes to fill it"),
    "ledger": ("domain", "the ledger's cost per event"),
    "decisions": ("domain", "whose gate opens next, with many waiting"),
    "reclaim": ("domain", "who gives cards back, of 100,000 pods"),
    "stalls": ("loop", "how long anything holds up the event loop"),
    "start": ("loop", "from nothing to ready with 100,000 pods"),
    "review": ("doors", "one admission review"),
    "extender": ("doors", "a call of kube-scheduler, and packing by card memory"),
    "scheduling": (
        "plane",
        "binds and pods through kube-scheduler, with and without the extender",
    ),
    "price": ("plane", "what a pod costs the API server"),
    "freed": ("plane", "quota freed to gate opened"),
    "gang_release": ("plane", "a gang of 1,000 released against plain patches"),
    "node_agent": ("plane", "the node agent: its list of devices, a container's start, memory"),
    "volcano_jobs": ("plane", "50 Volcano Jobs of 10 pods, with the product and without"),
}
"""By module, each with `run(report)`: its room, and what it measures. `soak` is first, since it
measures the memory of its own process."""


def main() -> int:
    """Run those named, or all."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    parser.add_argument(
        "--write", type=Path, help="also write the tables to this file, as Markdown"
    )
    options = parser.parse_args()
    if unknown := set(options.names) - set(BENCHES):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}")
    tables: dict[str, list[Figure]] = {}
    for name in options.names or BENCHES:
        room, what = BENCHES[name]
        print(f"\n{name}: {what}", flush=True)
        figures = tables[name] = []
        begun = time.monotonic()

        def report(figure: Figure, into: list[Figure] = figures) -> None:
            into.append(figure)
            print("  " + "  ".join(_cells(figure)), flush=True)

        importlib.import_module(f"bench.{room}.{name}").run(report)
        print(f"  ({time.monotonic() - begun:.0f} s)", flush=True)
    if options.write:
        options.write.write_text(_markdown(tables))
    return 0 if all(figure.holds for figures in tables.values() for figure in figures) else 1


def _cells(figure: Figure) -> tuple[str, str, str, str, str]:
    unit = f" {figure.unit}" if figure.unit else ""
    spread = ""
    if figure.low is not None and figure.high is not None:
        spread = f"{_number(figure.low)} to {_number(figure.high)}{unit}"
    bound = "" if figure.bound is None else f"{figure.side} {_number(figure.bound)}{unit}"
    kept = "" if figure.bound is None else "yes" if figure.holds else "NO"
    return (figure.what, f"{_number(figure.value)}{unit}", spread, bound, kept)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _markdown(tables: dict[str, list[Figure]]) -> str:
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`. Both sides of a ratio are measured in one run. The spread is the",
        "least and the largest of the rounds.",
        "",
        f"{dt.datetime.now(tz=dt.UTC):%Y-%m-%d}, {machine()}",
    ]
    for name, figures in tables.items():
        lines += ["", f"## {name}: {BENCHES[name][1]}", ""]
        lines += ["| what | figure | spread | bound | kept |", "|---|---|---|---|---|"]
        lines += [f"| {' | '.join(_cells(figure))} |" for figure in figures]
    return "\n".join(lines) + "\n"


def machine() -> str:
    """What the figures were taken on."""
    model = ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        found = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = found[0].partition(":")[2].strip() if found else ""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{os.cpu_count()} cores ({model or platform.machine()}), {platform.system()}, "
        f"Python {platform.python_version()}, load {load}"
    )


if __name__ == "__main__":
    sys.exit(main())
