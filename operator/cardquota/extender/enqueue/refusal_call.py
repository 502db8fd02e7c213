"""What one replica passes on to the one that leads of refused writes (V1)."""

from typing import Annotated, Final

import msgspec

from ...quota.messages.volcano.volcano_messages import LONGEST_STRANGER
from ...quota.reports.strangers import MOST_PODS
from ...quota.vocabulary import RefusedWrite
from ...quota.words import show

PATH: Final = "/cardquota/refused"
"""Where it is sent to."""
LARGEST: Final = 8 * 1024
"""Bytes of a body that are read."""
FULL: Final = 3 * 1024
"""Bytes from which on nothing more is put into one. Of one note there are fewer still."""
_LONGEST_UID: Final = 64
_MOST: Final = 256
"""Notes of one call."""


class RefusalCallError(ValueError):
    """A call that cannot be read. The text says what is wrong."""


class RefusalNote(msgspec.Struct, frozen=True):
    """What one user was refused, for pods by uid. The leader finds their queues by itself, so that
    of a queue nobody says anything who does not know its pods.
    """

    what: RefusedWrite
    user: Annotated[str, msgspec.Meta(max_length=LONGEST_STRANGER)]
    pods: Annotated[
        tuple[Annotated[str, msgspec.Meta(min_length=1, max_length=_LONGEST_UID)], ...],
        msgspec.Meta(min_length=1, max_length=MOST_PODS),
    ]


class _RefusalCall(msgspec.Struct):
    refused: Annotated[tuple[RefusalNote, ...], msgspec.Meta(max_length=_MOST)]


_READ: Final = msgspec.json.Decoder(_RefusalCall)


def refusal_note(what: RefusedWrite, user: str, pods: tuple[str, ...]) -> RefusalNote:
    """With bounds on all of it, whatever the names are."""
    return RefusalNote(what, show(user, most=LONGEST_STRANGER), pods[:MOST_PODS])


def refusal_call(notes: list[RefusalNote]) -> bytes:
    """The body of a call."""
    return msgspec.json.encode(_RefusalCall(tuple(notes)))


def read_refusals(body: bytes) -> tuple[RefusalNote, ...]:
    """Read a call. Raises RefusalCallError."""
    try:
        return _READ.decode(body).refused
    except RecursionError:
        raise RefusalCallError("it is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RefusalCallError(show(str(error), most=200)) from None
