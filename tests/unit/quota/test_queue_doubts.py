"""D9: what is odd in a queue that is accepted all the same."""

import pytest

from builders import H200, a_queue
from builders.queue import QueueBody
from cardquota.quota import messages
from cardquota.quota.queue_facts import doubts_about


def test_d9_a_row_that_no_node_can_have_is_doubted_five_at_most() -> None:
    odd = [f"NVIDIA H{n}" for n in range(7)]
    queue = a_queue().with_quota(dict.fromkeys([H200, *odd], 1))
    assert doubts_about(queue.wire()) == tuple(map(messages.row_impossible, odd[:5]))


@pytest.mark.parametrize(
    "queue", [a_queue(), a_queue().with_quota_text("[1]"), a_queue().with_quota({H200: 1})]
)
def test_d9_without_such_a_row_nothing_is_doubted(queue: QueueBody) -> None:
    assert doubts_about(queue.wire()) == ()
