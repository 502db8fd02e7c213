"""Pods that got past admission, and what they hold together."""

from builders import H200, H800
from cardquota.quota.accounts import UnadmittedPods


def test_what_they_hold_goes_with_them() -> None:
    past = UnadmittedPods()
    past.add("a", ((H200, 2), ("cpu", 100)))
    past.add("b", ((H200, 1), (H800, 1)))
    assert (list(past), len(past)) == (["a", "b"], 2)
    assert past.held == {H200: 3, H800: 1, "cpu": 100}
    past.discard("a")
    past.discard("a")
    assert past.held == {H200: 1, H800: 1}
    past.discard("b")
    assert (len(past), past.held) == (0, {})
