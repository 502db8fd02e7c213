"""What is read from Kopf's event of a queue."""

import pytest

from builders import a_queue
from cardquota.control.queues import state_of
from cardquota.quota import vocabulary as v


def managed(manager: str) -> list[object]:
    return [{"manager": manager, "fieldsV1": {"f:status": {"f:state": {}}}}]


@pytest.mark.parametrize(
    ("manager", "state", "others"),
    [
        (v.FIELD_MANAGER, "Closed", False),
        ("vcctl", "Closed", True),
        ("vcctl", "Open", False),
    ],
)
def test_q6_whose_state_it_is(manager: str, state: str, *, others: bool) -> None:
    queue = a_queue().in_state(state).at_revision(7)
    body = queue.put(managed(manager), "metadata", "managedFields").body
    assert state_of(body) == ("7", others)


@pytest.mark.parametrize("body", [None, {}, {"metadata": {"name": 7}}, {"metadata": None}])
def test_of_a_queue_that_cannot_be_read_nothing_is_written(body: object) -> None:
    assert state_of(body) is None
