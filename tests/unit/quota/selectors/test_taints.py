"""What pods tolerate of the taints of nodes: the scheduler's rule (E7)."""

import pytest

from cardquota.quota import SizedCache
from cardquota.quota.objects import Taint, Toleration
from cardquota.quota.selectors import selector, taints_of, tolerates, tolerations_of

GPU = Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule")
ENDS = Taint(key="nvidia.com/gpu", value="present", effect="NoExecute")
NUMBER = Taint(key="level", value="5", effect="NoSchedule")


def tolerated(taint: Taint, *tolerations: Toleration) -> bool:
    return tolerates(tolerations_of(tolerations), taints_of([taint]))


@pytest.mark.parametrize(
    "toleration",
    [
        Toleration(operator="Exists"),
        Toleration(operator="Exists", effect="NoSchedule"),
        Toleration(key="nvidia.com/gpu", operator="Exists"),
        Toleration(key="nvidia.com/gpu", operator="Exists", value="of no account"),
        Toleration(key="nvidia.com/gpu", operator="Equal", value="present"),
        Toleration(key="nvidia.com/gpu", value="present", effect="NoSchedule"),
    ],
)
def test_what_is_tolerated(toleration: Toleration) -> None:
    assert tolerated(GPU, toleration)
    assert tolerated(GPU, Toleration(key="other", operator="Exists"), toleration)


@pytest.mark.parametrize(
    "toleration",
    [
        Toleration(),
        Toleration(value="present"),
        Toleration(key="nvidia.com/gpu"),
        Toleration(key="nvidia.com/gpu", value="absent"),
        Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoExecute"),
        Toleration(key="nvidia.com/gpu", operator="Exists", effect="PreferNoSchedule"),
        Toleration(key="nvidia.com", operator="Exists"),
        Toleration(key="nvidia.com/gpu", operator="In", value="present"),
        Toleration(key="nvidia.com/gpu", operator="Gt", value="1"),
    ],
)
def test_what_is_not(toleration: Toleration) -> None:
    assert not tolerated(GPU, toleration)
    assert not tolerated(GPU)


def test_each_taint_has_to_be_tolerated() -> None:
    one = tolerations_of([Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule")])
    assert tolerates(one, taints_of([GPU]))
    assert not tolerates(one, taints_of([GPU, ENDS]))
    assert tolerates(tolerations_of([Toleration(operator="Exists")]), taints_of([GPU, ENDS]))


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        ("Gt", "4", True),
        ("Gt", "5", False),
        ("Lt", "6", True),
        ("Lt", "5", False),
        ("Gt", "", False),
    ],
)
def test_numbers_are_compared_from_the_nodes_side(
    operator: str, value: str, expected: bool
) -> None:
    assert tolerated(NUMBER, Toleration(key="level", operator=operator, value=value)) is expected


def test_none_at_all_are_kept_once_like_any_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """As most nodes and pods have them: told each time, they would push out what others need."""
    for name, make in (("TAINTS_KEPT", taints_of), ("TOLERATIONS_KEPT", tolerations_of)):
        cache = SizedCache[object, object](2_000)
        monkeypatch.setattr(selector, name, cache)
        cache.put("of another", "value", 0)
        for _ in range(100):
            make(())
        assert cache.get("of another") == "value"
