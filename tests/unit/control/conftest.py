"""What the tests of the release have in common."""

import pytest

from cardquota.control.release import gate
from cardquota.control.release import gate_releaser as release


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is tried again soon."""
    monkeypatch.setattr(release, "TRY_AGAIN", 0.05)


class _AtOnce:
    """No pause before the next try."""

    def __init__(self, cap: float) -> None: ...

    def next(self, _: float | None = None) -> float:
        return 0.0


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What became of a gate is asked for again at once."""
    monkeypatch.setattr(gate, "Backoff", _AtOnce)
