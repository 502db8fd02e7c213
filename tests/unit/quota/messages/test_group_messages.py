"""What is said of a pod group that is written."""

from cardquota.quota.messages import audited
from cardquota.quota.messages import group_messages as m

_LONGEST_WARNING = 256
"""Characters of one admission warning that Kubernetes shows whole."""


def test_a_gang_that_never_starts_is_told_the_numbers_and_what_to_do() -> None:
    assert m.gang_never_starts("team/gang", "red", 4, 3) == (
        "<team/gang> cannot start with its pods: Queue <red> has quota for <3> of <4>; lower "
        "minMember to 3, or ask its owner"
    )
    none = m.gang_never_starts("team/gang", "red", 4, 0)
    assert none.endswith("has quota for <0> of <4>; ask its owner for more")
    told = m.gang_never_starts("team/gang", "red", 4, 3, workload="train")
    assert told.startswith("train: its pods alone cannot start pod group <team/gang>: Queue <red>")


def test_the_longest_is_shown_whole_in_audit_too() -> None:
    longest = m.gang_never_starts("g" * 500, "q" * 253, 10**6, 10**6 - 1, workload="w" * 253)
    assert len(audited(longest)) <= _LONGEST_WARNING
