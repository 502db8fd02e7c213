"""A test that needs a newer Kubernetes is skipped on an older one, and it is said why."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow

TEST = """
import pytest

@pytest.fixture
def needs_it():
    raise AssertionError("made without need")

@pytest.mark.newer_kubernetes("gate by policy")
def test_of_it(needs_it):
    pass

@pytest.mark.newer_kubernetes("a typing error")
def test_of_nothing():
    pass
"""


@pytest.mark.parametrize(("minor", "skipped"), [("1.35", 1), ("1.36", 0)])
def test_it_is_skipped_before_its_fixtures_and_says_why(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, minor: str, skipped: int
) -> None:
    monkeypatch.setenv("KUBERNETES", minor)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makepyfile(TEST)
    done = pytester.runpytest_subprocess(
        "-p", "no:asyncio", "-p", "harness.newer_kubernetes", "-rs"
    )
    done.assert_outcomes(skipped=skipped, errors=2 - skipped)
    if skipped:
        done.stdout.fnmatch_lines(["SKIPPED*: gate by policy needs Kubernetes 1.36"])
    done.stdout.fnmatch_lines(["*KeyError: 'a typing error'"])
