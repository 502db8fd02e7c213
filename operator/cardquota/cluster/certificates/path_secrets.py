"""The secret at the end of every path by which the API server calls us (N1).

An API server shows a webhook no certificate unless its own configuration says so, and whoever
reaches the port could send reviews of his own making. So only who knows the path is answered.

The secret is computed from the serving certificate's key: whoever reads the Secret knows it, every
replica does, and nothing else has to be stored. It changes with the certificate, and every ten
minutes: when a call fails, the API server tells the URL to the user whose request it was.
"""

import hmac
import re
import time
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Final

from .certificates import KeyPair

PERIOD: Final = 600
"""Seconds between two secrets of one certificate."""
_AHEAD: Final = 6
"""Periods by which the clock of another replica may be ahead."""
READ_BY_ALL: Final = 30.0
"""Seconds after which every replica has read a new certificate: each looks every few seconds."""
OVERLAP: Final = 60.0
"""Seconds for which a secret is still answered once no webhook object holds it."""
_SECRET: Final = re.compile(r"[0-9a-f]{64}")


def is_secret(segment: str) -> bool:
    """Whether a segment of a path may be one: it has the form."""
    return _SECRET.fullmatch(segment) is not None


class PathSecrets:
    """Which secrets are answered, and which one the webhook objects should hold.

    Guarantees: an answered secret is of a certificate of ours, now or in the next hour (clocks
    differ), or was read from our webhook objects. The latter are answered until they have not been
    read there for OVERLAP seconds: an API server that calls by what is stored is never refused.
    A secret that is stored is replaced only by one that all replicas have had the time to compute.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """`clock`: seconds since 1970; replicas should roughly agree."""
        self._clock = clock
        self._pairs: list[tuple[KeyPair, float]] = []
        """The certificates of the Secret and when they were first seen, the newest last."""
        self._stored: dict[str, float] = {}
        """What webhook objects held, and when it was last read."""
        self._computed: tuple[int, list[list[str]]] = (0, [])
        """For this period: the secrets of each certificate, the one of now first."""

    def learn(self, pair: KeyPair) -> None:
        """The Secret holds this certificate now."""
        now = self._clock()
        if not self._pairs or self._pairs[-1][0] != pair:
            self._pairs = [*self._pairs[-1:], (pair, now)]
        elif len(self._pairs) > 1 and now - self._pairs[-1][1] >= READ_BY_ALL + OVERLAP:
            del self._pairs[0]
        else:
            return
        self._computed = 0, []

    def stored(self, secrets: Iterable[str]) -> None:
        """All webhook objects were read, and hold these."""
        now = self._clock()
        self._stored = {one: at for one, at in self._stored.items() if now - at < OVERLAP}
        self._stored.update({one: now for one in secrets if is_secret(one)})

    def wanted(self, found: str) -> str:
        """What a webhook object should hold that holds `found`; needs a certificate first."""
        of_pairs = self._of_pairs()
        if self._clock() - self._pairs[-1][1] < READ_BY_ALL:
            return found if is_secret(found) else of_pairs[0][0]
        return found if found in of_pairs[-1] else of_pairs[-1][0]

    def knows(self, secret: str) -> bool:
        """Whether a caller with this secret is answered. In constant time for each candidate."""
        said = secret.encode(errors="replace")
        candidates = chain(self._stored, *self._of_pairs())
        return any(hmac.compare_digest(said, one.encode()) for one in candidates)

    def _of_pairs(self) -> list[list[str]]:
        period = int(self._clock() // PERIOD)
        if self._computed[0] != period:
            ahead = range(period, period + 1 + _AHEAD)
            found = [[_secret(pair, one) for one in ahead] for pair, _ in self._pairs]
            self._computed = period, found
        return self._computed[1]


def _secret(pair: KeyPair, period: int) -> str:
    """256 bits, as 64 digits: the segments of a webhook's path are DNS labels."""
    said = b"cardquota webhook path %d\0" % period + pair.cert_pem
    return hmac.new(pair.key_pem, said, "sha256").hexdigest()
