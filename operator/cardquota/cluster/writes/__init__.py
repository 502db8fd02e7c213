"""The leader's writes: fenced by its term, and settled where nobody knows whether they landed."""

from .fenced_writer import FencedWriter, TermGuard, TooLateError, refused_for_term
from .pod_writes import pod_path

__all__ = [
    "FencedWriter",
    "TermGuard",
    "TooLateError",
    "pod_path",
    "refused_for_term",
]
