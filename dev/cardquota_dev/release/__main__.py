"""`python -m cardquota_dev.release`: write the release into `dist/`."""

import argparse
import sys
from pathlib import Path

from ..failure import PlaneError
from ..paths import CHECKOUT
from .release import release


def main(arguments: list[str] | None = None) -> int:
    """Write it and print each file; 1 if that fails."""
    parser = argparse.ArgumentParser(prog="python -m cardquota_dev.release")
    parser.add_argument(
        "--dir", type=Path, default=CHECKOUT / "dist", help="an empty or new folder"
    )
    parser.add_argument("--registry", default="", help="before the names of images: example.com/")
    parser.add_argument("--url", default="https://example.com/cardquota", help="of the downloads")
    given = parser.parse_args(arguments)
    try:
        for file in release(given.dir.absolute(), given.registry, given.url):
            print(file, flush=True)
    except PlaneError as error:
        sys.stderr.write(f"cardquota_dev.release: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
