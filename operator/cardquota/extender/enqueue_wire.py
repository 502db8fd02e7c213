"""What Volcano's scheduler sends when it asks whether to enqueue a job, and the vote that it gets.

The whole job comes, with all its tasks: 2 KB before its pods are there, and megabytes of a large
one. Only name and uid of its group are read; all else is in the ledger. Volcano writes them first,
so of its own calls, however large, only the beginning is looked at. It reads `{"status": -1}`, 0
or 1.
"""

import re
from http import HTTPStatus
from typing import Final, NamedTuple

import msgspec

from ..quota.decisions.volcano import Vote
from ..quota.words import show
from .wire import WireError

ENQUEUE_PATH: Final = "/volcano/jobEnqueueable"
"""Where it is sent to."""
MOST_ASK_ELEMENTS: Final = 250_000
"""Fields and list elements, by their commas, of a call that has to be decoded. Each may take 0.1
microseconds."""


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


class _AskedMeta(msgspec.Struct):
    namespace: str = ""
    name: str = ""


class _AskedGroup(msgspec.Struct):
    metadata: _AskedMeta | None = None


class _AskedJob(msgspec.Struct):
    uid: str = msgspec.field(default="", name="UID")
    group_uid: str = msgspec.field(default="", name="PgUID")
    group: _AskedGroup | None = msgspec.field(default=None, name="PodGroup")


class _EnqueueCall(msgspec.Struct):
    job: _AskedJob


_READ: Final = msgspec.json.Decoder(_EnqueueCall)
_BEGINS: Final = re.compile(
    rb'\s{0,9}{\s{0,9}"job"\s{0,9}:\s{0,9}{\s{0,9}"UID"\s{0,9}:\s{0,9}"'
    rb'([a-z0-9.-]{1,253})/([a-z0-9.-]{1,253})"'
    rb'(?:\s{0,9},\s{0,9}"PgUID"\s{0,9}:\s{0,9}"([a-z0-9-]{0,64})")?'
)
"""As Go writes it: the fields of a struct in their order, of which these two are the first."""
_LONGEST: Final = 253
"""Characters of a name, and of a uid."""


def read_enqueue_ask(body: bytes) -> EnqueueAsk:
    """Read a call. Raises WireError.

    What stands behind name and uid is not looked at, where these stand first.
    """
    first = _BEGINS.match(body)
    if first is not None:
        return EnqueueAsk(first[1].decode(), first[2].decode(), (first[3] or b"").decode())
    if body.count(b",") > MOST_ASK_ELEMENTS:
        raise WireError(f"it has more than {MOST_ASK_ELEMENTS} elements, and no UID in front")
    try:
        job = _READ.decode(body).job
    except RecursionError:
        raise WireError("it is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise WireError(show(str(error), most=200)) from None
    meta = job.group.metadata if job.group is not None else None
    namespace, _, name = job.uid.partition("/")
    if meta is not None and meta.name:
        namespace, name = meta.namespace, meta.name
    if not (0 < len(namespace) <= _LONGEST and 0 < len(name) <= _LONGEST):
        raise WireError("job.PodGroup.metadata must have a namespace and a name")
    if len(job.group_uid) > _LONGEST:
        raise WireError(f"job.PgUID has more than {_LONGEST} characters")
    return EnqueueAsk(namespace, name, job.group_uid)


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
    """Read an answer of another replica. Raises WireError."""
    if code != HTTPStatus.OK:
        raise WireError(f"HTTP {code}")
    try:
        return Vote(_READ_VOTE.decode(body).status)
    except (msgspec.MsgspecError, ValueError) as error:
        raise WireError(str(error)) from None
