"""`python -m cardquota_dev.rule_book`: checks that `docs/rule-book.md` has every cited rule, and
that a test cites every rule that is built.

A citation is a rule's number in a docstring, comment, sentence or document (`E2`, `P1-P4`), in a
test's name (`test_e2_...`), or a section's number (`section 6`). Exits 1 if something is missing.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from .paths import CHECKOUT

BOOK: Final = CHECKOUT / "docs" / "rule-book.md"
FOLDERS: Final = ("operator", "webhooks", "node", "dev", "tests", "docs", "manifests")
_SUFFIXES: Final = (".py", ".md", ".yaml", ".yml")
_LETTERS: Final = "BDEFIKLNPQRTUVW"
_NUMBER: Final = rf"[{_LETTERS}]\d{{1,2}}"
_RULE: Final = re.compile(rf"(?<![\w./-]){_NUMBER}(?:-[{_LETTERS}]?\d{{1,2}})?(?![\w/])")
_TEST: Final = re.compile(rf"\bdef test_([{_LETTERS.lower()}]\d{{1,2}})_")
_SECTIONS: Final = re.compile(r"\b[Ss]ections? (\d+)\b")
_DEFINED: Final = re.compile(rf"^- ((?:\*\*{_NUMBER}\*\*,? )+)(.*)", re.MULTILINE)
_HEADING: Final = re.compile(r"^## (\d+)\. ", re.MULTILINE)
_NOT_BUILT: Final = "*Not built*"


class Book(NamedTuple):
    """What the rule book defines."""

    rules: frozenset[str]
    planned: frozenset[str]
    """Rules that are not built, and so not tested."""
    sections: frozenset[str]


class Citation(NamedTuple):
    """The place where a number is cited: a rule's, or `section N`."""

    number: str
    file: Path
    line: int


def read_book(text: str) -> Book:
    """The rules and sections of the book. Raises ValueError if a rule is defined twice."""
    rules: set[str] = set()
    planned: set[str] = set()
    for names, words in _DEFINED.findall(text):
        numbers = re.findall(r"\w+", names)
        twice = rules.intersection(numbers)
        if twice:
            raise ValueError(f"defined twice: {', '.join(sorted(twice))}")
        rules.update(numbers)
        if words.startswith(_NOT_BUILT):
            planned.update(numbers)
    return Book(frozenset(rules), frozenset(planned), frozenset(_HEADING.findall(text)))


def citations(file: Path, text: str) -> Iterator[Citation]:
    """All citations of one file. A range (`P1-P4`) gives each number in it."""
    for number, line in enumerate(text.splitlines(), start=1):
        for found in _RULE.findall(line):
            for rule in _range(found):
                yield Citation(rule, file, number)
        for found in _TEST.findall(line):
            yield Citation(found.upper(), file, number)
        for found in _SECTIONS.findall(line):
            yield Citation(f"section {found}", file, number)


def problems(book: Book, cited: Iterable[Citation], tests: Path) -> Iterator[str]:
    """Rules that are cited and not defined, or built and not cited below `tests`."""
    tested: set[str] = set()
    for one in cited:
        if one.file.is_relative_to(tests):
            tested.add(one.number)
        section = one.number.removeprefix("section ")
        known = section in book.sections if section != one.number else one.number in book.rules
        if not known:
            yield f"{one.file}:{one.line}: {one.number} is not in the rule book"
    for rule in sorted(book.rules - book.planned - tested):
        yield f"{BOOK.name}: no test cites {rule}"


def _range(found: str) -> Iterator[str]:
    first, _, last = found.partition("-")
    letter, begin = first[0], int(first[1:])
    end = int(last.lstrip(_LETTERS)) if last else begin
    return (f"{letter}{number}" for number in range(begin, end + 1))


def _files() -> Iterator[Path]:
    yield CHECKOUT / "README.md"
    for folder in FOLDERS:
        for file in sorted((CHECKOUT / folder).rglob("*")):
            if file.suffix in _SUFFIXES and file.is_file() and file != BOOK:
                yield file


def main() -> int:
    """The command; returns its exit status."""
    book = read_book(BOOK.read_text(encoding="utf-8"))
    cited = [one for file in _files() for one in citations(file, file.read_text(encoding="utf-8"))]
    found = list(problems(book, cited, CHECKOUT / "tests"))
    for problem in found:
        sys.stderr.write(f"{problem}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
