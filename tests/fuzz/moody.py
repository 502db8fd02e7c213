"""An API server that takes most of what is written, and refuses or loses the rest."""

from random import Random
from typing import Any, Final

from cardquota.cluster.api_error import ApiError, OutcomeUnknown
from harness.replica import TakesAll

_FAILS: Final = 0.15
"""The part of the writes that is not taken."""
_REFUSALS: Final = ((403, "Forbidden"), (404, "NotFound"), (409, "Conflict"), (422, "Invalid"))


class Moody(TakesAll):
    """By the dice; the same for the same seed and the same writes."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._chance = Random(f"{seed}/answers")

    async def patch(self, *_: object, **__: object) -> bytes:
        return self._answer()

    async def post(self, *_: object, **__: object) -> bytes:
        return self._answer()

    def _answer(self) -> bytes:
        if self._chance.random() > _FAILS:
            return self._taken()
        error: Any = OutcomeUnknown("lost")
        if self._chance.random() < 0.7:
            status, reason = self._chance.choice(_REFUSALS)
            error = ApiError(status, reason, "as the dice want it")
        raise error
