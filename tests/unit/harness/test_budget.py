"""A run says how long it took, and fails for it where it is asked to."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow


def test_a_run_that_takes_too_long_fails_and_says_so(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makepyfile("def test_passes(): pass")
    options = ("--budget", "0.001", "--overrun", "1.25")
    done = pytester.runpytest_subprocess("-p", "no:asyncio", "-p", "harness.budget", *options)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    said = "* s of the 0 s that these tests may take*"
    done.stdout.fnmatch_lines([said, "FAILED: that is more than 1.25 times as long*"])
