"""Which tests of a parallel run one worker takes together.

A plane that many tests share belongs to one worker, which takes all of them: it is then started
once, and its tests meet nobody whom they do not meet when all run one after the other. Only the one
with the product is started by two: it has the most. Of the other tests, a worker takes a file at a
time.
"""

import gc

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from . import shared_planes


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> "Scheduling":
    return Scheduling(config, log)


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Units in the order of the tests: short ones at the end keep all workers busy until then."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return shared_planes.by_name(nodeid) or nodeid.partition("::")[0]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: shared_planes.turn_of(item.nodeid))
    for item in items:
        used = shared_planes.by_fixtures(item)
        named = shared_planes.by_name(item.nodeid) or ""
        if used not in (None, named.partition(" ")[0]):
            raise pytest.UsageError(
                f"{item.nodeid} uses {used}: tests/harness/shared_planes.py has to say so"
            )


def pytest_collection_finish() -> None:
    """Whoever collects garbage need not look through 7,000 tests: they stay."""
    gc.freeze()
