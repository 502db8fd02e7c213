"""What each safeguard of card memory is for: without it the fuzz of the extender's door, and its
plain count, find something at once. A run of chaos may need minutes for that. `unnamed-pod` is not
among them: of that only a run of chaos can tell.
"""

import pytest

from chaos.breakages.breaker import Breaker
from chaos.breakages.broken import BREAKAGES
from fuzz.door.run import fuzz_door


@pytest.mark.parametrize(
    "name", ["uncharged-binding", "unsettled-binding", "kinds-meet", "broken-card"]
)
async def test_without_it_something_is_found(name: str) -> None:
    with Breaker() as breaker:
        BREAKAGES[name].apply(breaker)
        found = await fuzz_door(600, 1, large=0.0, timed=False)
        assert set(breaker.broke) == set(breaker.labels)
    assert found.counted["drift"], found.text()
