"""D9: rows of a quota that no node can ever show are doubtful, and nothing else is."""

from builders import H200, a_queue
from cardquota.quota import messages
from cardquota.quota.queue_facts import doubts_about


def test_d9_at_most_five_impossible_rows_are_named() -> None:
    odd = [f"NVIDIA H{number}" for number in range(7)]
    found = doubts_about(a_queue().with_quota(dict.fromkeys([H200, *odd], 1)).wire())
    assert found == tuple(messages.row_impossible(name) for name in odd[:5])


def test_a_quota_that_is_absent_or_refused_is_not_doubted_too() -> None:
    for queue in (a_queue(), a_queue().with_quota_text("{")):
        assert doubts_about(queue.wire()) == ()
