"""Generated names: derived from their purpose, not random, so equal files give equal names."""

from hashlib import sha256
from typing import Final

_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""As in Kubernetes: no vowels, so no words."""


def generated(*parts: object, length: int = 5) -> str:
    """A few letters derived from `parts`."""
    digest = sha256("\0".join(map(str, parts)).encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:length])
