"""`python -m cardquota_dev.catalogue [--check]`: writes `docs/messages.md`, or compares it.

Exits 1 if `--check` finds that the committed page is not what the product says, and where a
message has no entry.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..paths import CHECKOUT
from .page import IncompleteError, page

COMMITTED: Final = CHECKOUT / "docs" / "messages.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m cardquota_dev.catalogue", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    parser.add_argument("--file", type=Path, default=COMMITTED, help="default: %(default)s")
    options = parser.parse_args(arguments)
    file: Path = options.file
    try:
        wanted = page()
    except IncompleteError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if not options.check:
        file.write_text(wanted, encoding="utf-8")
    elif not file.is_file() or file.read_text(encoding="utf-8") != wanted:
        sys.stderr.write(f"{file} is not what the product says: run make crds\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
