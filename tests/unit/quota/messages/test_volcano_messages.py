"""V2, V5: what is said about Volcano names the numbers and what to do."""

from cardquota.quota.messages import queue_messages, queue_write_messages


def test_v2_the_amounts_that_are_lacking_are_named() -> None:
    found = queue_write_messages.guarantee_not_deserved([("cpu", "2"), ("memory", "2Gi")])
    assert found == (
        "Volcano refuses a guarantee above spec.deserved: write spec.deserved, cpu 2, memory 2Gi "
        "or more"
    )


def test_q2_card_resources_in_a_specification_are_named_with_what_to_do() -> None:
    where = [("capability", "nvidia.com/gpu"), ("deserved", "nvidia.com/gpu")]
    assert queue_write_messages.cards_ignored(where, has_quota=False) == (
        "spec.capability <nvidia.com/gpu>, spec.deserved <nvidia.com/gpu>: not a card quota, and "
        "the queue has none; write volcano.sh/card.quota"
    )
    many = [("capability", "x" * 300)] * 1_000
    assert len(queue_write_messages.cards_ignored(many, has_quota=True)) < 500


def test_v5_what_a_pod_without_a_queue_runs_as_and_who_counts_it() -> None:
    assert queue_messages.runs_without_quota() == (
        "no queue: Volcano runs it in <default>, and no quota counts it; "
        "add scheduling.volcano.sh/queue-name"
    )
