"""`python -m chaos`: one run. Exit code 0: nothing found; 1: something found; 2: the run proves
nothing.

With `--break` the product lacks a safeguard. Then exit code 0: the fault was found; 1: it was not.
Safeguards for Volcano are taken out beside Volcano, with or without `--volcano`.
"""

import argparse
import random
import sys
from dataclasses import replace
from pathlib import Path

from .breakages.broken import BREAKAGES
from .lengths import SHORT, full
from .run import run


def main() -> int:
    """One run by the command line."""
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__)
    parser.add_argument(
        "--seconds", type=float, default=480, help="seconds of faults (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, help="seed of the random choices; default: a random one"
    )
    parser.add_argument("--break", dest="breakage", choices=sorted(BREAKAGES), default="")
    parser.add_argument("--short", action="store_true", help="short leader terms, as in the tests")
    parser.add_argument(
        "--volcano", action="store_true", help="run beside Volcano, without the extender"
    )
    parser.add_argument("--dir", type=Path, help="keep logs and history in this folder")
    options = parser.parse_args()
    needs = BREAKAGES[options.breakage].of if options.breakage else ""
    if needs == "extender" and options.volcano:
        parser.error(f"{options.breakage} is of the extender, which Volcano does not ask")
    volcano = options.volcano or needs == "volcano"
    seed = random.randrange(10**6) if options.seed is None else options.seed
    lengths = replace(SHORT, seconds=options.seconds) if options.short else full(options.seconds)
    beside = ", beside Volcano" if volcano else ""
    broken = options.breakage or "nothing"
    print(f"seed {seed}, {options.seconds:.0f} s{beside}, broken: {broken}", flush=True)
    if options.dir:
        options.dir.mkdir(parents=True, exist_ok=True)
    report = run(lengths, seed, options.breakage, options.dir, volcano=volcano)
    print(report.text())
    return report.code


if __name__ == "__main__":
    sys.exit(main())
