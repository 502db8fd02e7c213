"""V2, V5: what is said about Volcano names the numbers and what to do."""

from cardquota.quota.messages import queue_write_messages


def test_v2_the_amounts_that_are_lacking_are_named() -> None:
    found = queue_write_messages.guarantee_not_deserved([("cpu", "2"), ("memory", "2Gi")])
    assert found == (
        "Volcano refuses a guarantee above spec.deserved: write spec.deserved, cpu 2, memory 2Gi "
        "or more"
    )
