"""P8: what is remembered of what users write has a bound in bytes."""

import pytest

from cardquota.quota import SizedCache


@pytest.mark.parametrize("size", [0, 10, 1_000, 4_000])
def test_the_sizes_together_never_exceed_the_bound(size: int) -> None:
    cache = SizedCache[int, bytes](10_000)
    for number in range(1_000):
        cache.put(number, b"", size)
        assert len(cache) * (size + 200) <= 10_000
        assert cache.get(number) == b""
    assert cache.get(0) is None


def test_what_is_too_large_is_not_remembered_and_drives_nothing_out() -> None:
    cache = SizedCache[str, str](10_000)
    cache.put("small", "kept", 1)
    assert cache.put("large", "text", 5_000) == "text"
    assert (cache.get("large"), cache.get("small")) == (None, "kept")
