"""What the API server answers when one object is asked for: it, none, or that one may not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.api.client import Client
from . import sentences
from .cluster_error import ClusterError

_NOT_FOUND = 404
_NOT_ALLOWED = (401, 403)


@dataclass(frozen=True, slots=True)
class NotRead:
    """It may be there; `why`: in words for people."""

    why: str


Answer = Mapping[str, Any] | NotRead | None
"""None: there is no such object."""


async def read_object(client: Client, path: str, what: str) -> Answer:
    """`what`: the object, in words. Errors: ClusterError, if it is not about this object."""
    try:
        found = msgspec.json.decode(await client.get(path))
    except ApiError as error:
        if error.status == _NOT_FOUND:
            return None
        if error.status not in _NOT_ALLOWED:
            raise ClusterError(sentences.not_read(what, str(error))) from error
        return NotRead(sentences.not_read(what, str(error)))
    except OutcomeUnknown as error:
        raise ClusterError(sentences.not_read(what, str(error))) from error
    except msgspec.MsgspecError:
        found = None
    return found if isinstance(found, dict) else NotRead(sentences.not_read(what, "no object"))


def inner(parent: object, *keys: str) -> Any:
    """What stands in an object of any form under these keys; None if nothing does."""
    for key in keys:
        parent = parent.get(key) if isinstance(parent, dict) else None
    return parent
