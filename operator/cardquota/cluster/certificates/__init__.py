"""The webhook's certificates: created, kept in a Secret, renewed, and published to the API server.

In: names and a clock. Out: `CertificateManager`, which every replica runs. No replica serves a
certificate that the API server does not trust yet.
"""

from .ca_bundle import OVERLAP, PERIOD, READ_BY_ALL, CaBundles, PathSecrets
from .certificate_manager import CertificateManager
from .certificate_store import GivenSecret, Holding, OwnSecret, renewed
from .certificates import (
    NO_PAIR,
    KeyPair,
    can_sign,
    make_authority,
    make_serving,
    read_certificates,
    trusted_through,
    why_unusable,
)
