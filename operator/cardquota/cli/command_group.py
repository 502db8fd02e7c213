"""A group of commands that says mistakes in one line, and ends with the same exit codes.

It takes the place of typer's own group: `Typer(cls=CommandGroup)`. Must import fast: it is imported
before the command is known.
"""

import os
import sys
from collections.abc import Sequence
from typing import Any, Final, TextIO

import typer
from typer.core import TyperGroup

from ..setting_problem import plain_problem
from .output import ExitCode

_LONGEST: Final = 400
"""Characters of a message: an argument may have any length."""


class CommandGroup(TyperGroup):
    """Guarantees: what is wrong with the command line is said in one line, with code 2; Ctrl-C
    ends a command with 130 and without a word; a reader of the output that has ended, as `head`
    does, ends it with 141, without a word too.
    """

    program = "cardquota"
    """What its messages begin with."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command, and exit."""
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="replace")  # a terminal may not know the characters of a bar
        out = sys.stdout
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
            sys.stdout.flush()
        except typer.TyperException as error:
            code = _said(error, self.program)
        except (KeyboardInterrupt, typer.Abort):
            code = ExitCode.INTERRUPTED
        except BrokenPipeError:
            code = _nobody_reads(out)
        except SystemExit:
            if sys.stdout is out:  # it wrote completions
                raise
            code = _nobody_reads(out)  # help, of which typer has noticed it by itself
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run the command that is named."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            # Here, since typer would end with 1.
            raise typer.Exit(_nobody_reads(sys.stdout)) from None


def _said(error: typer.TyperException, program: str) -> int:
    """Say what is wrong with the command line. Without any command its help is shown."""
    code = getattr(error, "exit_code", ExitCode.FAILED)
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # type: ignore[attr-defined]
        return int(code)
    if isinstance(error, typer.BadParameter):
        error.message = plain_problem(error.message)
    told = getattr(error, "format_message", error.__str__)()
    text = " ".join(told[: 4 * _LONGEST].split()).rstrip(".")[:_LONGEST]
    text = "".join(c if c.isprintable() else "?" for c in text)
    hint = f"; see {context.command_path} --help" if context is not None else ""
    sys.stderr.write(f"{program}: {text}{hint}\n")
    return int(code)


def _nobody_reads(out: TextIO) -> int:
    """Have nothing more written: Python would try when it ends, and complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, out.fileno())
    os.close(nowhere)
    return ExitCode.NOBODY_READS
