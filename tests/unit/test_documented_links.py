"""Links between the pages, and to files of the checkout, lead somewhere."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def pages() -> Iterator[Path]:
    yield from sorted(ROOT.glob("*.md"))
    yield ROOT / "results" / "README.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text())


@cache
def anchors(page: Path) -> frozenset[str]:
    """Of all headings, as GitHub makes them."""
    headings = (re.sub(r"[^\w\- ]", "", text.lower()) for text in HEADING.findall(prose(page)))
    return frozenset(heading.replace(" ", "-") for heading in headings)


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    wrong = []
    for page in pages():
        for link in LINK.findall(prose(page)):
            if link.startswith(("https://", "http://")):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                wrong.append(f"{page.relative_to(ROOT)}: {link}")
    assert wrong == []
