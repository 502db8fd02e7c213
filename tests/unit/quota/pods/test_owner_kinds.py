"""What is known of the kinds of controllers (section 2)."""

import re
from pathlib import Path

from cardquota.quota.pods import BATCH_KINDS, SERVICE_KINDS

RULES = Path(__file__).parents[4] / "docs" / "rules.md"


def test_the_document_names_the_kinds_that_wait() -> None:
    (row,) = [line for line in RULES.read_text().splitlines() if "a kind of batch: " in line]
    named = re.findall(r"`([A-Z]\w+)`", row.partition("| `Gate` |")[0].partition("batch: ")[2])
    assert sorted(named) == sorted(BATCH_KINDS)


def test_no_kind_is_both() -> None:
    assert not set(BATCH_KINDS) & set(SERVICE_KINDS)
