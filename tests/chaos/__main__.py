"""`python -m chaos`: one run. Ends with 0 if nothing was found, 1 if something was, 2 if the run
says nothing.

With `--break` the product lacks a safeguard: then 0 if that was found, 1 if it was not. Those that
are for Volcano are taken out beside it, with or without `--volcano`.
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
    parser.add_argument("--seconds", type=float, default=480, help="how long things go wrong")
    parser.add_argument("--seed", type=int, help="the dice; without it, any")
    parser.add_argument("--break", dest="breakage", choices=sorted(BREAKAGES), default="")
    parser.add_argument("--short", action="store_true", help="short terms, as in the tests")
    parser.add_argument("--volcano", action="store_true", help="beside Volcano, without extender")
    parser.add_argument("--dir", type=Path, help="keep plane's logs and history here")
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
