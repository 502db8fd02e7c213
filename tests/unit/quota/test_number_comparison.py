"""Numbers of labels and taints, as the scheduler reads them (Go's `strconv.ParseInt`)."""

import pytest

from cardquota.quota.number_comparison import compares

LARGEST = str(2**63 - 1)


@pytest.mark.parametrize(
    ("of_node", "of_pod", "above", "below"),
    [
        ("10", "9", True, False),
        ("9", "10", False, True),
        ("9", "9", False, False),
        ("-1", "0", False, True),
        ("+7", "007", False, False),
        (LARGEST, "0", True, False),
        ("0" * 5_000 + "8", "7", True, False),
    ],
)
def test_whole_numbers(of_node: str, of_pod: str, *, above: bool, below: bool) -> None:
    assert compares("Gt", of_node, of_pod) is above
    assert compares("Lt", of_node, of_pod) is below


@pytest.mark.parametrize(
    "text", ["", "many", "1.5", " 1", "1_0", "٣", "--1", "9223372036854775808", "1" * 5_000]
)
def test_what_is_no_number_is_neither_above_nor_below(text: str) -> None:
    for operator in ("Gt", "Lt"):
        assert not compares(operator, text, "5")
        assert not compares(operator, "5", text)
