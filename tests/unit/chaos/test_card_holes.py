"""What each safeguard of card memory is for: without it the fuzz of the extender's door, and its
plain count, find something at once. A run of chaos may need minutes for that. `unnamed-pod` is not
among them: of that only a run of chaos can tell.
"""

import pytest

from chaos.breakages.breaker import Breaker
from chaos.breakages.broken import BREAKAGES
from fuzz.door.run import fuzz_door


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("uncharged-binding", {"drift"}),
        ("unsettled-binding", {"drift"}),
        ("kinds-meet", {"drift"}),
        ("broken-card", {"drift"}),
    ],
)
async def test_without_it_something_is_found(name: str, kinds: set[str]) -> None:
    with Breaker() as breaker:
        BREAKAGES[name].apply(breaker)
        found = await fuzz_door(300, 1, large=0.0, timed=False)
        assert set(breaker.broke) == set(breaker.labels)
    assert kinds <= set(found.counted), found.text()
