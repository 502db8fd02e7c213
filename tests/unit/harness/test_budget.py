"""A run says how long it took, and fails for it only where it is asked to."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow

PLUGINS = ("-p", "no:asyncio", "-p", "harness.budget")
BUDGET = (*PLUGINS, "--budget", "0.001")


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """In a process of its own: one within ours would collect our garbage, and be blamed for it."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makepyfile("def test_passes(): pass")
    return pytester


def test_a_run_by_hand_says_how_long_it_took(run: pytest.Pytester) -> None:
    done = run.runpytest_subprocess(*BUDGET)
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines(["* s of the 0 s that these tests may take on two cores*"])
    done.stdout.no_fnmatch_line("FAILED: *")


def test_beyond_the_overrun_it_fails(run: pytest.Pytester) -> None:
    done = run.runpytest_subprocess(*BUDGET, "--overrun", "1.25")
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["FAILED: that is more than 1.25 times as long*"])


def test_within_it_it_does_not(run: pytest.Pytester) -> None:
    done = run.runpytest_subprocess(*PLUGINS, "--budget", "600", "--overrun", "1.25")
    assert done.ret == pytest.ExitCode.OK


def test_without_a_budget_nothing_is_said(run: pytest.Pytester) -> None:
    done = run.runpytest_subprocess(*PLUGINS)
    done.stdout.no_fnmatch_line("*may take*")
