"""`python -m fuzz.door`: one run. Ends with 0 if nothing was found, 1 if something was."""

import argparse
import asyncio
import random
import sys

from .run import fuzz_door


def main() -> int:
    """One run by the command line."""
    parser = argparse.ArgumentParser(prog="fuzz.door", description=__doc__)
    parser.add_argument(
        "--count", type=int, default=100_000, help="number of calls (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, help="seed of the random choices; default: a random one"
    )
    options = parser.parse_args()
    seed = random.randrange(10**6) if options.seed is None else options.seed
    print(f"seed {seed}, {options.count:,} calls", flush=True)

    def tell(text: str) -> None:
        print(f"  {text}", flush=True)

    found = asyncio.run(fuzz_door(options.count, seed, progress=tell))
    print(found.text())
    return 1 if found.counted else 0


if __name__ == "__main__":
    sys.exit(main())
