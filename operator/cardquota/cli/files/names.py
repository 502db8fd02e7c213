"""Generated names: from what they are made for, not by chance, so the same files give the same."""

from hashlib import sha256
from typing import Final

_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""As Kubernetes does it: no vowels, so no words."""


def generated(*parts: object, length: int = 5) -> str:
    """A few letters that stand for `parts`."""
    digest = sha256("\0".join(map(str, parts)).encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:length])
