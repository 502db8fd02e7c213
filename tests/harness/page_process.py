"""`kubectl cardquota page` as a process, and what it serves."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import urllib3

COMMAND = (sys.executable, "-m", "cardquota.cli.plugin", "page")


@contextmanager
def served_page(kubeconfig: Path, *words: str, path: str = "", browser: str = "") -> Iterator[str]:
    """The URL that it prints. Ctrl-C ends it at the end, with 130. `path`: before PATH. `browser`:
    a program that is to be started as one.
    """
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    environment |= {"BROWSER": browser, "DISPLAY": ":0"} if browser else {}
    words = words if browser else ("--no-browser", *words)
    environment["PATH"] = os.pathsep.join(filter(None, (path, os.environ["PATH"])))
    pipe = subprocess.PIPE
    with subprocess.Popen(
        (*COMMAND, *words), env=environment, stdout=pipe, stderr=pipe, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        try:
            url = child.stdout.readline().strip()
            assert url, child.stderr.read()
            yield url
        finally:
            child.send_signal(signal.SIGINT)
            try:
                code = child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                raise
        assert code == 130


def reply(url: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    """Status and text."""
    with urllib3.PoolManager() as pool:
        answer = pool.request(method, url, headers=headers, timeout=30.0, retries=False)
        return answer.status, answer.data.decode()
