"""`python -m fuzz`: one run; with `--door`, of the extender's door. Ends with 0 if nothing was
found, 1 if something was.
"""

import argparse
import asyncio
import random
import sys
from pathlib import Path

from .door.run import fuzz_door
from .inputs import Inputs
from .run import fuzz


def main() -> int:
    """One run by the command line."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument(
        "--count", type=int, help="number of inputs; default: 1,000,000, or 100,000 calls"
    )
    parser.add_argument("--door", action="store_true", help="call the scheduler extender instead")
    parser.add_argument(
        "--seed", type=int, help="seed of the random choices; default: a random one"
    )
    parser.add_argument(
        "--large",
        type=float,
        default=0.002,
        help="share of inputs of up to 3 MB (default: %(default)s)",
    )
    parser.add_argument(
        "--keep", type=Path, help="write inputs that found something to this folder"
    )
    parser.add_argument("--only", type=int, help="write this one input to standard output")
    options = parser.parse_args()
    seed = random.randrange(10**6) if options.seed is None else options.seed
    if options.only is not None:
        found = Inputs(seed, large=options.large).numbered(options.only)
        print(found, file=sys.stderr)
        sys.stdout.buffer.write(found.body)
        return 0
    count = options.count or (100_000 if options.door else 1_000_000)
    print(f"seed {seed}, {count:,} {'calls' if options.door else 'inputs'}", flush=True)

    def tell(text: str) -> None:
        print(f"  {text}", flush=True)

    if options.door:
        result = asyncio.run(fuzz_door(count, seed, progress=tell))
    else:
        run = fuzz(count, seed, large=options.large, keep=options.keep, progress=tell)
        result = asyncio.run(run)
    print(result.text())
    return 1 if result.counted else 0


if __name__ == "__main__":
    sys.exit(main())
