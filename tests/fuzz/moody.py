"""An API server that takes most of what is written, and refuses or loses the rest."""

from collections import Counter
from typing import Final

from cardquota.cluster.api import ApiError, OutcomeUnknown
from harness.replica import TakesAll

_FAILS: Final = 7
"""One of so many writes of a kind is not taken: each way of failing comes, whatever else does."""
_WAYS: Final = (0, 403, 0, 409, 404, 422)
"""HTTP status; 0: it is not known whether it was taken."""


class Moody(TakesAll):
    """Of each kind of writes every seventh fails, in one way after the other."""

    def __init__(self) -> None:
        super().__init__()
        self._sent = Counter[str]()

    async def patch(self, *args: object, **options: object) -> bytes:
        asks = "dryRun" in str(options.get("params"))
        return self._answer(f"{str(args[0]).split('/')[-2]}, dry run: {asks}")

    async def post(self, *args: object, **_: object) -> bytes:
        return self._answer(str(args[0]).rpartition("/")[2])

    def _answer(self, kind: str) -> bytes:
        self._sent[kind] += 1
        times, rest = divmod(self._sent[kind], _FAILS)
        if rest:
            return self._taken()
        status = _WAYS[(times - 1) % len(_WAYS)]
        if status:
            raise ApiError(status, "Refused", "as every seventh")
        raise OutcomeUnknown("lost")
