"""Ctrl-C ends the programs without a word, whatever they are at."""

import signal
import subprocess
import sys

import pytest

from cardquota.cli.output import ExitCode

LOADING = """
import builtins, os, signal, sys
load = builtins.__import__

def interrupted(name, *rest):
    if name == "typer":
        os.kill(os.getpid(), signal.SIGINT)
    return load(name, *rest)

builtins.__import__ = interrupted
from cardquota.cli import {program}
{program}()
"""
AT_WORK = """
import os, signal
from cardquota.cli import {program}
from cardquota.cli.command_group import CommandGroup

def interrupted(*_):
    os.kill(os.getpid(), signal.SIGINT)

CommandGroup.parse_args = interrupted
{program}()
"""


@pytest.mark.parametrize("program", ["main", "plugin_main"])
@pytest.mark.parametrize(
    ("text", "code"), [(LOADING, -signal.SIGINT), (AT_WORK, ExitCode.INTERRUPTED)]
)
@pytest.mark.usefixtures("heeding_ctrl_c")
def test_ctrl_c_ends_it_without_a_word(program: str, text: str, code: int) -> None:
    """While the commands are loaded by the signal itself, which a shell tells as 130 too."""
    done = subprocess.run(
        [sys.executable, "-c", text.format(program=program)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


@pytest.mark.parametrize("program", ["main", "plugin_main"])
def test_where_ctrl_c_is_ignored_it_is_while_the_commands_are_loaded_too(program: str) -> None:
    """As a shell has it for what it runs in the background."""
    ignored = "import signal, sys\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    asked = "sys.argv[1:] = ['--version']\n"
    done = subprocess.run(
        [sys.executable, "-c", ignored + asked + LOADING.format(program=program)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
