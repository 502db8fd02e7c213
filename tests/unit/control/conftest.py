"""What the tests of the release have in common."""

import pytest

from cardquota.control.release import pacing as release


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is tried again soon."""
    monkeypatch.setattr(release, "TRY_AGAIN", 0.05)
