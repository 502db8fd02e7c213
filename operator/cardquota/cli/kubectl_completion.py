"""`kubectl_complete-cardquota`: what kubectl asks at a Tab after `kubectl cardquota`.

It runs the program of this name on PATH with the words of the command line, of which the last
is being written and may be empty. The answer is that of its own commands: a line for each word that
fits, a tab before what it means, and at the end a number that says what the shell may add.
"""

import sys
from typing import Final

import typer
from typer._click.shell_completion import CompletionItem, ShellComplete
from typer.main import get_command

from .plugin import PROGRAM, plugin

_FILES: Final = 0
"""The shell may add names of files."""
_NO_FILES: Final = 4
_NAMES_A_FILE: Final = ("--kubeconfig", "--config", "--file", "-f")
"""Options whose value is one."""


class _Kubectl(ShellComplete):
    """kubectl's form of it."""

    name = "kubectl"

    def source_vars(self) -> dict[str, str]:
        return {}

    def get_completion_args(self) -> tuple[list[str], str]:
        return sys.argv[1:-1], (sys.argv[1:] or [""])[-1]

    def format_completion(self, item: CompletionItem) -> str:
        meaning = " ".join((item.help or "").split())
        return f"{item.value}\t{meaning}" if meaning else str(item.value)


def completions(words: list[str]) -> list[str]:
    """The lines of the answer. The last of the words is unfinished."""
    if words[-2:-1] and words[-2] in _NAMES_A_FILE:
        return [f":{_FILES}"]
    asked = _Kubectl(get_command(plugin), {}, PROGRAM, "")
    try:
        found = asked.get_completions(words[:-1], words[-1] if words else "")
    except typer.TyperException:  # a command line that is wrong has no continuation
        found = []
    lines = [asked.format_completion(item) for item in found if item.type == "plain"]
    return [*lines, f":{_NO_FILES}"]


def main() -> None:
    """The program `kubectl_complete-cardquota`."""
    sys.stdout.write("\n".join(completions(sys.argv[1:])) + "\n")


if __name__ == "__main__":
    main()
