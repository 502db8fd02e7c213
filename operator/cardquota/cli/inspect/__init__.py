"""`cardquota inspect`: the memory of shared cards, read from the cluster as its user."""

from .inspect import lines

__all__ = [
    "lines",
]
