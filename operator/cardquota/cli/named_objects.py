"""Names of objects on the command line, checked before anybody is asked about them."""

from typing import Final

import typer

from ..quota.limits import is_object_name
from ..quota.words import show

_LONGEST: Final = 60
"""Characters of what was written that are shown."""


class MissingNameError(typer.BadParameter):
    """No name was written. Says how to write the command."""

    def __init__(self, usage: str) -> None:
        """`usage`: the arguments of the command, as `KIND NAME`."""
        super().__init__("", param_hint="NAME")
        self._usage = usage

    def format_message(self) -> str:
        """In one line."""
        command = self.ctx.command_path if self.ctx is not None else ""
        return f"Missing argument 'NAME'; usage: {command} {self._usage}"


def checked_name(name: str, *, of: str = "object", hint: str = "NAME") -> None:
    """Raises BadParameter if no object can have this name. `of`: the kind of object.
    `hint`: the argument, or the option.
    """
    if not is_object_name(name):
        article = "an" if of[0] in "aeiou" else "a"
        raise typer.BadParameter(f"{quoted(name)} is not {article} {of} name", param_hint=hint)


def checked_namespace(namespace: str) -> None:
    """The same of the option -n, which may be left out."""
    if namespace:
        checked_name(namespace, of="namespace", hint="-n")


def quoted(text: str) -> str:
    """What was written, safe to show and not too long."""
    return f"'{show(text, most=_LONGEST)}'"
