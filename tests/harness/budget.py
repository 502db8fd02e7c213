"""The seconds that a whole run may take: they are compared at its end, and said.

`--budget` alone never fails a run: on a busy machine everything takes longer. With `--overrun`,
as CI has it, one fails that took so many times its budget that no noise explains it.
"""

import os
import time

import pytest

_BEGAN = pytest.StashKey[float]()
_TOOK = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("budget")
    group.addoption(
        "--budget", type=float, metavar="SECONDS", help="what the whole run may take on two cores"
    )
    group.addoption(
        "--overrun", type=float, metavar="FACTOR", help="fail beyond so many times the budget"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_BEGAN] = time.monotonic()


# First of all plugins: the summary, which is written last, then knows the status.
@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    config.stash[_TOOK] = time.monotonic() - config.stash[_BEGAN]
    # The workers of a parallel run have their part of it alone.
    if _too_long(config) and not hasattr(config, "workerinput") and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    budget = config.getoption("budget")
    if budget is None or _TOOK not in config.stash:
        return
    took, load = config.stash[_TOOK], os.getloadavg()[0]
    terminalreporter.section("budget")
    terminalreporter.line(
        f"{took:.0f} s of the {budget:.0f} s that these tests may take on two cores"
        f" (here {os.cpu_count()} cores, load {load:.1f})"
    )
    if _too_long(config):
        terminalreporter.line(
            f"FAILED: that is more than {config.getoption('overrun')} times as long;"
            " --durations=20 shows which tests to make quicker",
            red=True,
        )


def _too_long(config: pytest.Config) -> bool:
    budget, overrun = config.getoption("budget"), config.getoption("overrun")
    return budget is not None and overrun is not None and config.stash[_TOOK] > budget * overrun
