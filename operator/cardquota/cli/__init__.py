"""The command line: the commands and their options, a folder each. Nothing imports this package."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


def main() -> None:
    """The program `cardquota`."""
    with _ended_by_ctrl_c():
        from .app import app

    app(prog_name="cardquota")


def plugin_main() -> None:
    """The program `kubectl-cardquota`."""
    with _ended_by_ctrl_c():
        from .plugin import main as run_plugin

    run_plugin()


@contextmanager
def _ended_by_ctrl_c() -> Iterator[None]:
    """While the commands are loaded Ctrl-C ends the program at once and without a word, as it does
    afterwards. Python would print where it was. Whoever has it ignored, as a shell does for what it
    runs in the background, is obeyed.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
