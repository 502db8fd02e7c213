"""`python -m cardquota_dev.reference [--check]`: writes the pages, or compares them.

Exits 1 if `--check` finds that a committed page is not what the product declares.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..paths import CHECKOUT
from . import reference_page, settings_page, versions_page

FOLDER: Final = CHECKOUT / "docs"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m cardquota_dev.reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="default: %(default)s")
    options = parser.parse_args(arguments)
    status = 0
    pages = {
        "settings.md": settings_page.page(),
        "reference.md": reference_page.page(),
        "versions.md": versions_page.page(),
    }
    for name, wanted in pages.items():
        file: Path = options.folder / name
        if not options.check:
            file.write_text(wanted, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != wanted:
            sys.stderr.write(f"{file} is not what the product declares: run make crds\n")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
