"""What is said of a pod group that is written."""

from cardquota.quota.messages import audited
from cardquota.quota.messages import group_messages as m

_LONGEST_WARNING = 256
"""Characters of one admission warning that Kubernetes shows whole."""


def test_the_longest_is_shown_whole_in_audit_too() -> None:
    longest = m.gang_never_starts("g" * 500, "q" * 253, 10**6, 10**6 - 1, workload="w" * 253)
    assert len(audited(longest)) <= _LONGEST_WARNING


def test_where_there_is_no_quota_at_all_nobody_is_told_to_lower_the_minimum() -> None:
    none = m.gang_never_starts("team/gang", "red", 4, 0)
    assert none.endswith("has quota for <0> of <4>; ask its owner for more")
