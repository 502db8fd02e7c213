"""Section 6: the rows of one queue."""

from builders import H200, H800, a_ledger, a_pod, a_queue
from cardquota.quota.accounts import sum_of


def test_the_sum_of_rows_counts_what_each_of_them_counts() -> None:
    ledger = a_ledger(
        a_queue("queue").with_quota({H200: 9, H800: 9}),
        a_pod("runs").in_queue("queue").stamped("queue", {H200: 2}).on_node("not-seen"),
        a_pod("goes").in_queue("queue").stamped("queue", {H800: 3}),
        a_pod("ends")
        .in_queue("queue")
        .stamped("queue", {H200: 1})
        .on_node("not-seen")
        .terminating(),
        a_pod("waits").in_queue("queue").naming(H800).asking_for(1).gated(),
    )
    account = ledger.account("queue")
    assert account is not None
    total = sum_of([account.row(H200), account.row(H800)])
    assert (total.allocated, total.inqueue, total.requested, total.leaving) == (3, 3, 7, 1)
    assert sum_of([]).empty
