"""Messages when an unusable Queue is written."""

from typing import Final

from cardquota.quota import limits
from cardquota.quota import vocabulary as v
from cardquota.quota.messages import queue_write_messages, report_messages, request_messages

from ..entry import Entry, Said, Where, say

FORBIDDEN: Final = "Forbidden"
_QUEUE: Final = "research"


def _refused(when: str, problem: Said, rule: str, do: str) -> Entry:
    return Entry(
        under=FORBIDDEN,
        when=when,
        says=say(queue_write_messages.queue_refused, _QUEUE, problem),
        where=(Where.QUEUE_WRITE,),
        rule=rule,
        do=do,
    )


QUEUE_WRITES: Final = (
    _refused(
        "The quota that is written cannot be read. The one before stays in force.",
        say(
            queue_write_messages.quota_refused,
            "the amount of <NVIDIA-H200> is 1.5, not a whole number",
        ),
        "Q4",
        "Correct what the message quotes.",
    ),
    _refused(
        "What rolling updates may borrow cannot be read.",
        say(queue_write_messages.surge_refused, "it is a list, not a JSON object"),
        "R6",
        "Write a number, the same for each card of the quota, or one for each card.",
    ),
    _refused(
        "`card.deserved` or `card.lendable` cannot be read.",
        say(
            queue_write_messages.cards_refused,
            v.DESERVED,
            "the amount of <NVIDIA-H200> is -1, at least 0 is needed",
        ),
        "L1",
        "Correct what the message quotes.",
    ),
    _refused(
        "`card.namespaces` is not a list of names.",
        say(queue_write_messages.namespaces_refused),
        "section 2",
        "Write the list, also for one namespace.",
    ),
    _refused(
        "There is more in `card.namespaces` than is read: [the limits](rules.md#limits).",
        say(request_messages.beyond_limit, limits.PATTERNS, 101, of="it"),
        "P8",
        "Write fewer: patterns stand for many namespaces.",
    ),
    _refused(
        "All queues together have so many rows that more are not kept: [the sums](rules.md#sums).",
        say(report_messages.too_much_of_queues, limits.QUEUES, 67_110_000),
        "P8",
        "Write fewer rows, or take rows out of other queues.",
    ),
    _refused(
        "`card.policy`, `card.state` or `card.reclaim` has an unknown value.",
        say(queue_write_messages.not_one_of, v.POLICY, "Maybe", tuple(v.Policy)),
        "Q6, Q8, L6",
        "Write one of those that the message lists.",
    ),
    _refused(
        "The queue has a parent.",
        say(queue_write_messages.parent_refused, "company"),
        "Q5",
        "Give each queue its own quota.",
    ),
    _refused(
        "The weight is 0 or less, or above 65,535.",
        say(queue_write_messages.weight_refused, 0, 65_535),
        "W1",
        "Leave it out, which counts as 1, or write a whole number in these bounds.",
    ),
    _refused(
        "A limit, guarantee or share of cpu or memory cannot be counted.",
        say(
            queue_write_messages.amount_refused,
            "spec.capability.memory",
            "<lots> is not a quantity",
        ),
        "Q2",
        "Write a quantity.",
    ),
    _refused(
        "The guarantee of a card is not a whole number of cards.",
        say(
            queue_write_messages.card_amount_refused,
            "spec.guarantee.resource.NVIDIA-H200",
            "<1500m> is not a whole number",
        ),
        "W1",
        "Write a whole number, or leave the card out.",
    ),
    _refused(
        "A limit, guarantee or share is negative.",
        say(queue_write_messages.amount_negative, "spec.deserved.cpu", "-1"),
        "Q2",
        "Write 0, or leave it out.",
    ),
)
