"""What a leader that leaves in good order says on the Lease: how much it had seen of each kind.

It is put there by the one write that gives the Lease up, and taken away by the one that takes it:
so it never speaks of an earlier term than the last.
"""

from collections.abc import Mapping

import msgspec

Revisions = Mapping[str, int]
"""By kind the resourceVersion up to which everything was seen."""

_DECODE = msgspec.json.Decoder(dict[str, int]).decode


def handover_text(revisions: Revisions) -> str:
    """The value of the annotation."""
    return msgspec.json.encode(dict(sorted(revisions.items()))).decode()


def read_handover(text: str | None) -> Revisions | None:
    """The inverse, or None if there is none that we could have written."""
    if not text:
        return None
    try:
        return _DECODE(text)
    except (msgspec.DecodeError, RecursionError):
        return None
