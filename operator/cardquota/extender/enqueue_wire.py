"""What Volcano's scheduler sends when it asks whether to enqueue a job, and the vote that it gets.

The whole job comes, with all its tasks: 2 KB before its pods are there, and megabytes of a large
one. Only name and uid of its group are read; all else is in the ledger. Go writes the fields of a
struct in their order, so these come first, and of a call, however large, only the beginning is
looked at. Volcano reads `{"status": -1}`, 0 or 1.
"""

import re
from http import HTTPStatus
from typing import Final, NamedTuple

import msgspec

from ..quota.decisions.volcano import Vote
from .wire import WireError

ENQUEUE_PATH: Final = "/volcano/jobEnqueueable"
"""Where it is sent to."""


class EnqueueAsk(NamedTuple):
    """About which group is asked."""

    namespace: str
    name: str
    uid: str = ""
    """Of the group: a Job that is restarted has another one of the same name. Empty: not said."""

    @property
    def key(self) -> str:
        """As in the ledger."""
        return f"{self.namespace}/{self.name}"


_BEGINS: Final = re.compile(
    rb'\s{0,9}{\s{0,9}"job"\s{0,9}:\s{0,9}{\s{0,9}"UID"\s{0,9}:\s{0,9}"'
    rb'([a-z0-9.-]{1,253})/([a-z0-9.-]{1,253})"'
    rb'(?:\s{0,9},\s{0,9}"PgUID"\s{0,9}:\s{0,9}"([a-z0-9-]{0,64})")?'
)
"""UID of a job are namespace and name of its group."""


def read_enqueue_ask(body: bytes) -> EnqueueAsk:
    """Read a call. What stands behind name and uid is not looked at. Raises WireError."""
    first = _BEGINS.match(body)
    if first is None:
        raise WireError("it does not begin with job.UID, the namespace and name of a group")
    return EnqueueAsk(first[1].decode(), first[2].decode(), (first[3] or b"").decode())


def enqueue_call(ask: EnqueueAsk) -> bytes:
    """The same call, as one replica passes it on to another."""
    return msgspec.json.encode({"job": {"UID": ask.key, "PgUID": ask.uid}})


class _VoteAnswer(msgspec.Struct):
    status: int


_READ_VOTE: Final = msgspec.json.Decoder(_VoteAnswer)


def vote_answer(vote: Vote) -> bytes:
    """The body of an answer."""
    return msgspec.json.encode(_VoteAnswer(int(vote)))


def read_vote(code: int, body: bytes) -> Vote:
    """Read an answer of another replica. Raises WireError if it is no vote."""
    if code != HTTPStatus.OK:
        raise WireError(f"HTTP {code}")
    try:
        return Vote(_READ_VOTE.decode(body).status)
    except (msgspec.MsgspecError, ValueError) as error:
        raise WireError(str(error)) from None
