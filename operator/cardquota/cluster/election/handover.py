"""What a leader that leaves in order writes on the Lease: how much it had seen of each kind.

The write that gives the Lease up puts it there, and the write that takes the Lease removes it. So
it is always about the last term.
"""

from collections.abc import Mapping

import msgspec

Revisions = Mapping[str, int]
"""By kind: the resourceVersion up to which everything was seen."""

_DECODE = msgspec.json.Decoder(dict[str, int]).decode


def handover_text(revisions: Revisions) -> str:
    """The value of the annotation."""
    return msgspec.json.encode(dict(sorted(revisions.items()))).decode()


def read_handover(text: str | None) -> Revisions | None:
    """The inverse. None if we cannot have written the text."""
    if not text:
        return None
    try:
        return _DECODE(text)
    except (msgspec.DecodeError, RecursionError):
        return None
