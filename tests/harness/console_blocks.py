"""The ```console blocks of a Markdown page: commands as readers type them, and what they print."""

import re
import shlex
import textwrap
from dataclasses import dataclass
from functools import partial

_BLOCK = re.compile(r"^( *)```console\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_PROMPT = re.compile(r"^[$#] ")
_HERE_DOCUMENT = re.compile(r"<<(\w+)")
_TIMES = r"(?<!\S)(?:\d+[smhd](?:\d+[smh])?|\d+ (?:s|min|h|d)|[\d-]+T[\d:.]+Z)\b"
"""As kubectl and our plugin write an age, and a moment."""
_VARIABLE = re.compile(rf"(?P<any>…|\.\.\.)|(?P<time>{_TIMES})|(?P<space>\s+)")


@dataclass(frozen=True)
class DocumentedCommand:
    """One command of a block."""

    text: str
    """As it is typed, without its comment. Lines of an open quotation belong to it."""
    shown: tuple[str, ...]
    """The lines of its output that the page shows."""

    def missing(self, output: str) -> list[str]:
        """The shown lines that are not in the output, in their order.

        `…` and `...` stand for any text, a time for any time, and spaces for any number of them.
        """
        lines, wanted = iter(output.splitlines()), list(self.shown)
        while wanted and any(_matches(wanted[0], line) for line in lines):
            del wanted[0]
        return wanted


def console_commands(page: str) -> list[DocumentedCommand]:
    """All commands of a page, in their order."""
    blocks = (textwrap.dedent(block) for _, block in _BLOCK.findall(page))
    return [command for block in blocks for command in _commands(block)]


def _commands(block: str) -> list[DocumentedCommand]:
    found: list[DocumentedCommand] = []
    lines = iter(block.splitlines())
    for line in lines:
        if not _PROMPT.match(line):
            assert found, f"a block begins with no command: {line}"
            if line:
                found[-1] = DocumentedCommand(found[-1].text, (*found[-1].shown, line))
            continue
        typed = line[2:]
        while (command := _uncommented(typed)) is None:
            typed += "\n" + next(lines)
        if here := _HERE_DOCUMENT.search(command):
            document = iter(partial(next, lines), here[1])
            command = "\n".join((command, *document, here[1]))
        found.append(DocumentedCommand(command, ()))
    return found


def _uncommented(typed: str) -> str | None:
    """The command without its comment. None while a quotation is open."""
    try:
        words = shlex.split(typed, comments=True)
        # A comment begins with the first # before which the words are the same.
        ends = [one.start() for one in re.finditer(r"\s#", typed)]
        same = (end for end in ends if _words(typed[:end]) == words)
        return typed[: next(same, len(typed))].rstrip()
    except ValueError:
        return None


def _words(text: str) -> list[str] | None:
    try:
        return shlex.split(text)
    except ValueError:
        return None


def _matches(shown: str, line: str) -> bool:
    pattern, end = "", 0
    for found in _VARIABLE.finditer(shown.strip()):
        pattern += re.escape(shown.strip()[end : found.start()])
        pattern += {"any": ".*", "time": _TIMES, "space": r"\s+"}[found.lastgroup or ""]
        end = found.end()
    pattern += re.escape(shown.strip()[end:])
    return re.fullmatch(pattern, line.strip()) is not None
