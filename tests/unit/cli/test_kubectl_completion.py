"""What kubectl is told at a Tab: the words that fit, and whether names of files may stand there."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cardquota.cli.kubectl_completion import completions

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def words(*line: str) -> list[str]:
    """The words that fit, without what they mean."""
    *found, end = completions(list(line))
    assert end == ":4"
    return [one.partition("\t")[0] for one in found]


def test_commands_options_and_values_are_completed() -> None:
    assert {"top", "cards", "inspect", "check", "version"} <= set(words(""))
    assert words("to") == ["top"]
    assert words() == words("")
    assert "--version" in words("--")
    assert words("top", "--wa") == ["--watch"]
    assert words("top", "-o", "") == ["text", "json", "yaml", "wide"]
    assert words("check", "--output", "y") == ["yaml"]


@pytest.mark.parametrize("line", [("top", "--kubeconfig", ""), ("cards", "-f", "a")])
def test_the_shell_completes_names_of_files(line: tuple[str, ...]) -> None:
    assert completions(list(line)) == [":0"]


@pytest.mark.parametrize("line", [("top", "--x", ""), ("top", "-o", "q"), ("top", "extra", "x")])
def test_what_is_wrong_has_no_continuation(line: tuple[str, ...]) -> None:
    assert completions(list(line)) == [":4"]


def test_it_is_a_program_of_the_project() -> None:
    scripts = tomllib.loads(PROJECT.read_text())["project"]["scripts"]
    assert scripts["kubectl_complete-cardquota"] == "cardquota.cli.kubectl_completion:main"
    command = [sys.executable, "-m", "cardquota.cli.kubectl_completion", "ins"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[-1] == ":4"
    assert printed.startswith("inspect\t")
