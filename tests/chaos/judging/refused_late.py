"""How many patches the API server refused because their term was over.

The API server counts that for each of its own lives; what it has counted is read now and then, so
what a life counted after the last look is missing.
"""

import asyncio
import re

from ..api import Api

_ROW = re.compile(
    r'^apiserver_validating_admission_policy_check_total\{[^}]*enforcement_action="deny"[^}]*'
    r'policy="cardquota-(?:gate|reservation|eviction)-term"[^}]*\} (\S+)$',
    re.MULTILINE,
)


class RefusedLate:
    """Looks again and again."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._of_lives = 0
        self._last = 0

    @property
    def count(self) -> int:
        return self._of_lives + self._last

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(5)

    async def look(self) -> None:
        reply = await self._api.get("/metrics")
        if reply.code == 200:
            now = sum(int(float(value)) for value in _ROW.findall(reply.text))
            if now < self._last:
                self._of_lives += self._last
            self._last = now
