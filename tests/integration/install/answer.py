"""What the API server said to a request, whoever carried it."""

import subprocess
from dataclasses import dataclass

from integration.asking import ApiReply


@dataclass(frozen=True)
class WriteResponse:
    """Whether a request went through, and what was said to it."""

    ok: bool
    said: str
    """The warnings and the refusal, as kubectl shows them."""


def from_kubectl(done: subprocess.CompletedProcess[str]) -> WriteResponse:
    """kubectl carried it."""
    return WriteResponse(done.returncode == 0, done.stderr)


def from_reply(reply: ApiReply) -> WriteResponse:
    """We asked ourselves."""
    lines = [f"Warning: {text}" for text in reply.warnings]
    if not reply.ok:
        lines.append(f"Error from server ({reply.reason}): {reply.message}")
    return WriteResponse(reply.ok, "\n".join(lines))
