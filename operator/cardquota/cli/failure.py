"""What a command says when it fails: one line on standard error, and its exit code."""

import sys

from ..cluster.api.access import AccessError
from .exit_code import ExitCode
from .printing import in_one_line


def failed(error: Exception) -> int:
    """Say what is wrong. Returns the exit code."""
    sys.stderr.write(f"cardquota: {in_one_line(str(error))}\n")
    return ExitCode.NOT_UNDERSTOOD if isinstance(error, AccessError) else ExitCode.FAILED
