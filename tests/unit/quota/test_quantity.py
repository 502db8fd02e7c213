"""Quantities are whole numbers, rounded as Kubernetes rounds; text for objects."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardquota.quota import (
    LARGEST,
    QuantityError,
    count,
    cpu_quantity,
    memory_quantity,
    milli,
    whole,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4", 4_000),
        ("500m", 500),
        ("0.5", 500),
        (".5", 500),
        ("1.", 1_000),
        (2, 2_000),
        (0.25, 250),
        ("0.1m", 1),
        ("1n", 1),
        ("100u", 1),
        ("2k", 2_000_000),
        ("1e2", 100_000),
        ("1E-3", 1),
        ("+3", 3_000),
        ("-1500m", -1_500),
        ("-0.1m", -1),
        (" 1 ", 1_000),
        ("0e9999", 0),
    ],
)
def test_cpu_is_read_in_milli_cores_rounded_up_away_from_zero(text: str, expected: int) -> None:
    assert milli(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1Gi", 2**30),
        ("1.5Ki", 1536),
        ("1G", 10**9),
        ("1E", 10**18),
        ("1E1", 10),
        ("0.5", 1),
        ("1m", 1),
        ("4Ei", 2**62),
        (LARGEST, LARGEST),
    ],
)
def test_memory_is_read_in_bytes(text: str | int, expected: int) -> None:
    assert whole(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "one", "1e", "1.2.3", "1 Gi", "--1", "0x10", "1gi", "٣", "nan", "9" * 65, True),
        *("1e400", "8Ei", "1e64", str(LARGEST + 1), float("inf")),
    ],
)
def test_what_is_no_quantity_or_too_much_is_an_error(text: str) -> None:
    with pytest.raises(QuantityError) as caught:
        whole(text)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize(("text", "expected"), [("8", 8), ("8000m", 8), (2**60, 2**60), ("-1", -1)])
def test_p4_devices_are_whole_numbers(text: str, expected: int) -> None:
    assert count(text) == expected


@pytest.mark.parametrize("text", ["0.5", "1500m", 1.5])
def test_p4_a_fraction_of_a_device_is_an_error(text: str) -> None:
    with pytest.raises(QuantityError, match="not a whole number"):
        count(text)


@given(st.integers(0, LARGEST // 1000))
def test_what_is_written_is_read_back_exactly(amount: int) -> None:
    assert milli(cpu_quantity(amount)) == amount
    assert whole(memory_quantity(amount)) == amount


@pytest.mark.parametrize(
    ("amount", "text"), [(0, "0"), (4 * 2**30, "4Gi"), (1536 * 2**20, "1536Mi"), (1_000, "1000")]
)
def test_memory_is_written_in_canonical_form(amount: int, text: str) -> None:
    assert memory_quantity(amount) == text


@given(st.text())
def test_no_text_does_more_than_raise_a_quantity_error(text: str) -> None:
    for read in (milli, whole, count):
        with suppress(QuantityError):
            assert isinstance(read(text), int)
