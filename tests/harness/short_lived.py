"""A serving certificate that is about to end, as the operator finds it after years."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from cardquota.cluster.certificates import KeyPair, make_serving

LEFT = timedelta(seconds=32)
"""What is left of it: time until a new CA is trusted."""


def nearly_ended(held: Mapping[str, bytes]) -> dict[str, bytes]:
    """`tls.crt` and `tls.key` for this host by the CA in a Secret, with little left."""
    authority = KeyPair(held["ca.crt"], held["ca.key"])
    now = datetime.now(UTC)
    pair = make_serving(["127.0.0.1"], authority, now=now, until=now + LEFT)
    return {"tls.crt": pair.cert_pem, "tls.key": pair.key_pem}
