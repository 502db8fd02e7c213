"""A user with a kubeconfig: commands are printed, run unchanged, and checked."""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .command_result import CommandResult, Expectation, says
from .screen import Screen
from .step_error import StepError, check

TIMEOUT = 30.0
"""Default seconds that users wait: a busy machine is slow, not broken."""

_POLL = 0.3
"""Seconds between two tries: kubectl itself costs a small machine more than its request."""

_COMMAND_TIMEOUT = 60.0
_DONE = Expectation("exit status 0", lambda answer: answer.status == 0)
_A_LINE = Expectation("a line", lambda answer: bool(answer.text))
_REFUSED = Expectation("a refusal", lambda answer: answer.status != 0)


class User:
    """One user of the cluster. The working directory has the files of the demo."""

    def __init__(
        self,
        name: str,
        screen: Screen,
        *,
        kubectl: Path,
        kubeconfig: Path,
        cache: Path,
        files: Path,
        timeout: float = TIMEOUT,
    ) -> None:
        self._name, self._screen, self._files = name, screen, files
        self._kubectl = kubectl
        self.timeout = timeout
        """Seconds within which an expectation must be met."""
        self._environment = {
            **os.environ,
            "KUBECONFIG": str(kubeconfig),
            "KUBECACHEDIR": str(cache),
            "KUBERC": "off",
            # kubectl finds `kubectl cardquota` there.
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        }

    def does(self, command: str, *expected: Expectation) -> None:
        """The command works at the first try, with the expected output."""
        self._once(command, (_DONE, *expected))

    def is_refused(self, command: str, *texts: str) -> None:
        """The command fails, and these texts say why."""
        self._once(command, (_REFUSED, says(*texts)))

    def sees(self, command: str, *expected: Expectation) -> None:
        """The command shows all that is expected, sooner or later. Prints that answer."""
        self._screen.command(command, self._name)
        answer = self._repeat(command, expected)
        self._screen.output(answer.text)
        check(command, answer, (_DONE, *expected))

    def reads(self, command: str) -> Any:
        """The objects, without printing anything. Raises StepError if there are none."""
        done = self._run(f"{command} -o json", subprocess.PIPE)
        if done.returncode != 0:
            raise StepError(command, "exit status 0", f"exit status {done.returncode}")
        return json.loads(done.stdout)

    @contextmanager
    def keeps(self, command: str) -> Iterator[str]:
        """The first line that the command prints, which goes on until the end of the block."""
        self._screen.command(command, self._name)
        with subprocess.Popen(
            self._program(command),
            cwd=self._files,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as child:
            assert child.stdout is not None  # noqa: S101 - for mypy
            try:
                line = child.stdout.readline().strip()
                self._screen.output(line)
                check(command, CommandResult(child.poll() or 0, line), (_A_LINE,))
                yield line
            finally:
                child.terminate()

    def _once(self, command: str, expected: tuple[Expectation, ...]) -> None:
        self._screen.command(command, self._name)
        answer = self._answer(command)
        self._screen.output(answer.text)
        check(command, answer, expected)

    def _repeat(self, command: str, expected: tuple[Expectation, ...]) -> CommandResult:
        deadline = time.monotonic() + self.timeout
        while True:
            answer = self._answer(command)
            if answer.status == 0 and all(one.met(answer) for one in expected):
                return answer
            if time.monotonic() > deadline:
                return answer
            time.sleep(_POLL)

    def _answer(self, command: str) -> CommandResult:
        done = self._run(command, subprocess.STDOUT)
        return CommandResult(done.returncode, done.stdout)

    def _run(self, command: str, errors: int) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                self._program(command),
                cwd=self._files,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                timeout=_COMMAND_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            raise StepError(command, f"an answer within {_COMMAND_TIMEOUT:.0f} s", "none") from late

    def _program(self, command: str) -> list[str]:
        program, *arguments = shlex.split(command)
        if program != "kubectl":
            raise ValueError(f"not a kubectl command: {command}")
        return [str(self._kubectl), *arguments]
