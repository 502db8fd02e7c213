"""A run says how long it took, and fails for it only where it is asked to."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["--budget", "0.001"], pytest.ExitCode.OK, "* s of the 0 s that these tests may take*"),
        (
            ["--budget", "0.001", "--overrun", "1.25"],
            pytest.ExitCode.TESTS_FAILED,
            "FAILED: that is more than 1.25 times as long*",
        ),
    ],
)
def test_a_run_says_how_long_it_took(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    status: pytest.ExitCode,
    said: str,
) -> None:
    """In a process of its own: one within ours would collect our garbage, and be blamed for it."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makepyfile("def test_passes(): pass")
    done = pytester.runpytest_subprocess("-p", "no:asyncio", "-p", "harness.budget", *options)
    assert done.ret == status
    done.stdout.fnmatch_lines([said])
