"""Prints an answer as data."""

import json
import sys

import msgspec
import yaml

from ...quota.objects.wire import Wire
from .answer_output import AnswerOutput


def print_answer(answer: Wire, output: AnswerOutput) -> None:
    """As the operator gave it."""
    found = msgspec.to_builtins(answer)
    if output is AnswerOutput.JSON:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
    else:
        sys.stdout.write(yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=100))
