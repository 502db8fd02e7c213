"""Ends a plane whose supervisor has died, for any reason.

It holds the read end of a pipe; only the supervisor holds the write end. Nothing is ever written:
the end of file is the message. It also holds the plane's lock, so that no new plane starts in the
folder before the old one has ended.

Guarantee: once the supervisor is gone, every process of the plane is ended. That includes one that
was started in the supervisor's last instant and is not recorded (by its mark, if /proc exists).
Not guarded against: the watchdog's own violent end.
"""

import os
import signal
import sys
import time
from pathlib import Path

from .folder import Folder
from .process import marked
from .real_node.end import end_real_node
from .state import end_recorded

_ROUNDS = 40
_PAUSE = 0.05


def main() -> None:
    """Wait for the end of file on standard input, then end the plane named by the argument."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    folder = Folder(Path(sys.argv[1]))
    while os.read(0, 64):
        pass
    end_recorded(folder)
    # A child between fork and exec does not have the mark yet: look more than once.
    quiet = 0
    for _ in range(_ROUNDS):
        strays = [one for one in marked(folder.path) if one.pid != os.getpid()]
        for stray in strays:
            stray.kill()
        quiet = 0 if strays else quiet + 1
        if quiet == 2:
            break
        time.sleep(_PAUSE)
    end_real_node(folder)


if __name__ == "__main__":
    main()
