"""A CA and a serving certificate from it, for whoever needs a pair."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cardquota.cluster.certificates import KeyPair, make_authority, make_serving


@dataclass(frozen=True)
class Issued:
    """All PEM."""

    ca_pem: bytes
    cert_pem: bytes
    key_pem: bytes = field(repr=False)
    ca_key_pem: bytes = field(repr=False)

    @property
    def pair(self) -> KeyPair:
        return KeyPair(self.cert_pem, self.key_pem)

    @property
    def authority(self) -> KeyPair:
        return KeyPair(self.ca_pem, self.ca_key_pem)


def issue(names: list[str], *, now: datetime, days: float, ca_days: float = 3650) -> Issued:
    """By a CA of its own."""
    authority = make_authority(now=now, until=now + timedelta(days=ca_days))
    pair = make_serving(names, authority, now=now, until=now + timedelta(days=days))
    return Issued(authority.cert_pem, pair.cert_pem, pair.key_pem, authority.key_pem)
