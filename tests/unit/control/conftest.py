"""What the tests of the release door have in common."""

import pytest

from cardquota.control.release import release


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is tried again soon."""
    monkeypatch.setattr(release, "_TRY_AGAIN", 0.05)
