"""Rules are cited by number: what is cited is in the book, and what is built is in a test."""

from pathlib import Path

import pytest

from cardquota_dev.rule_book import citations, problems, read_book

TESTS = Path("tests")
BOOK = """
## 1. Words

- **E2** A gate opens.
- **E3** Another one.
- **W1**, **W2** *Not built*: shares.
- E4 is only mentioned.
"""
BEYOND = "E" + "77"
NOWHERE = "section " + "77"
"""No rule and no section: in one piece they would be citations of one."""


def found(text: str, file: str = "tests/a.py") -> list[str]:
    cited = [*citations(Path("tests/b.py"), "E2 E3"), *citations(Path(file), text)]
    return list(problems(read_book(BOOK), cited, TESTS))


def test_what_is_defined() -> None:
    book = read_book(BOOK)
    assert book.rules == {"E2", "E3", "W1", "W2"}
    assert book.planned == {"W1", "W2"}
    assert book.sections == {"1"}


@pytest.mark.parametrize(
    "text",
    [
        "(E2)",
        "E2-E3 hold",
        "def test_e2_it_holds() -> None:",
        "see section 1",
        "an NVIDIA-T4, a T1000, v1.E9, P100, CE1",
    ],
)
def test_what_is_no_wrong_citation(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (f"({BEYOND})", BEYOND),
        (f"E2-{BEYOND}", "E4"),
        (f"def test_{BEYOND.lower()}_it_holds() -> None:", BEYOND),
        (f"see {NOWHERE}", NOWHERE),
        ("E" + "4", "E4"),
    ],
)
def test_what_is_not_in_the_book_is_named_with_its_place(text: str, number: str) -> None:
    assert f"tests/a.py:2: {number} is not in the rule book" in found("\n" + text)


def test_a_rule_that_no_test_cites_is_named() -> None:
    cited = citations(Path("operator/a.py"), "E2 E3")
    named = list(problems(read_book(BOOK), cited, TESTS))
    assert named == [f"rule-book.md: no test cites {rule}" for rule in ("E2", "E3")]
