"""Requests as the API server's audit log has them."""

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec


class AuditedRequest(NamedTuple):
    """One answered request; a watch that ended is one, too."""

    user: str
    verb: str
    resource: str
    """With its subresource: `pods/binding`."""
    code: int
    at: float
    """When it was answered, in seconds since 1970."""

    @property
    def what(self) -> str:
        """Verb, resource and code."""
        return f"{self.verb} {self.resource} {self.code}"

    @property
    def writes(self) -> bool:
        """Whether it is no read."""
        return self.verb not in ("get", "list", "watch")

    @property
    def binds(self) -> bool:
        """Whether it binds a pod."""
        return (self.verb, self.resource) == ("create", "pods/binding")


class _AuditedUser(msgspec.Struct):
    username: str = ""


class _AuditedObject(msgspec.Struct):
    resource: str = ""
    subresource: str = ""


class _AuditedAnswer(msgspec.Struct):
    code: int = 0


class _AuditLine(msgspec.Struct, rename="camel"):
    stage: str
    verb: str
    user: _AuditedUser
    stage_timestamp: datetime
    object_ref: _AuditedObject | None = None
    response_status: _AuditedAnswer | None = None


_DECODER = msgspec.json.Decoder(_AuditLine)


def requests_between(log: Path, begun: float, ended: float) -> list[AuditedRequest]:
    """Those that were answered within that time, in seconds since 1970."""
    found = []
    with log.open("rb") as lines:
        for text in lines:
            if not text.endswith(b"\n"):
                continue  # it is being written
            line = _DECODER.decode(text)
            at = line.stage_timestamp.timestamp()
            if line.stage != "ResponseComplete" or not begun <= at <= ended:
                continue
            about = line.object_ref or _AuditedObject()
            what = f"{about.resource}/{about.subresource}".rstrip("/")
            code = line.response_status.code if line.response_status else 0
            found.append(AuditedRequest(line.user.username, line.verb, what, code, at))
    return found
