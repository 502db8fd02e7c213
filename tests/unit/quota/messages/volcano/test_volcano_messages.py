"""V1, V2, V6: what is said about Volcano names who it is, the numbers and what to do."""

from cardquota.quota.messages import report_messages
from cardquota.quota.messages.queues import queue_write_messages
from cardquota.quota.messages.volcano import volcano_messages
from cardquota.quota.vocabulary import Condition, RefusedWrite

USER = "system:serviceaccount:batch:volcano-scheduler"
DO = (
    "add it to the setting volcano.accounts, apply the output of `cardquota manifests` and "
    "restart the operator"
)


def test_v1_who_is_refused_is_named_and_what_to_do() -> None:
    for text in (
        volcano_messages.binding_refused(USER),
        volcano_messages.group_refused(USER),
        volcano_messages.strangers_bind(USER, 3),
        volcano_messages.strangers_group(USER, 1),
    ):
        assert text.startswith(f"<{USER}> may not ")
        assert text.endswith(DO)
    assert "may not bind at least 3 pods" in volcano_messages.strangers_bind(USER, 3)
    assert "give a group to at least 1 pod" in volcano_messages.strangers_group(USER, 1)


def test_v1_a_name_of_a_user_is_cut() -> None:
    assert len(volcano_messages.binding_refused("x" * 10_000)) < 1_000


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
    assert volcano_messages.runs_without_quota() == (
        "no queue: Volcano runs it in <default>, and no quota counts it; "
        "add scheduling.volcano.sh/queue-name"
    )


def test_v6_another_scheduler_is_named_and_what_to_set() -> None:
    start = volcano_messages.other_scheduler_at_start("vc-scheduler")
    later = volcano_messages.other_scheduler("vc-scheduler")
    for text in (start, later):
        assert text.startswith("<vc-scheduler> writes the phases of PodGroups")
        assert "set scheduler: volcano and add manifests/components/volcano" in text
    assert "leaves phases alone meanwhile" in later
    assert volcano_messages.other_scheduler_gone("vc-scheduler").endswith("cardquota does again")


def test_the_condition_of_a_queue_names_three_users_and_what_to_do() -> None:
    each = [
        volcano_messages.stranger_of_queue(RefusedWrite.BINDING, USER, 20, more=True),
        volcano_messages.stranger_of_queue(RefusedWrite.GROUP, USER, 1, more=False),
        *(
            volcano_messages.stranger_of_queue(RefusedWrite.BINDING, "x" * 10_000, 1, more=False)
            for _ in range(14)
        ),
    ]
    text = volcano_messages.strangers_of_queue(each)
    assert text.startswith(f"<{USER}> may not bind at least 20 pods; <{USER}> may not give a group")
    assert "to 1 pod; <xxx" in text
    assert " and 13 more, so pods wait; add those of these accounts that are Volc" in text
    assert volcano_messages.strangers_of_queue(each[:1]).endswith(DO)
    assert len(text) < 1_000
    over = report_messages.condition_over(Condition.VOLCANO_UNKNOWN)
    assert over == (
        "no Binding of its pods, and no group for them, was refused in the last ten minutes"
    )
