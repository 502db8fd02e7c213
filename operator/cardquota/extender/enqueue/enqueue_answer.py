"""A vote as Volcano's scheduler reads it: `{"status": -1}`, 0 or 1."""

from http import HTTPStatus
from typing import Final

import msgspec

from ...quota.decisions.groups.enqueue_vote import Vote


class EnqueueAnswerError(ValueError):
    """An answer that is no vote."""


class _VoteAnswer(msgspec.Struct):
    status: int


_READ: Final = msgspec.json.Decoder(_VoteAnswer)


def vote_answer(vote: Vote) -> bytes:
    """The body of an answer."""
    return msgspec.json.encode(_VoteAnswer(int(vote)))


def read_vote(code: int, body: bytes) -> Vote:
    """Read an answer of another replica. Raises EnqueueAnswerError."""
    if code != HTTPStatus.OK:
        raise EnqueueAnswerError(f"HTTP {code}")
    try:
        return Vote(_READ.decode(body).status)
    except (msgspec.MsgspecError, ValueError) as error:
        raise EnqueueAnswerError(str(error)) from None
