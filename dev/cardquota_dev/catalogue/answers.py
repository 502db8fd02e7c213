"""Messages about questions: why they are not answered, and how something stands that does not wait.

Why something waits, or would be refused, is said with the sentence of its event or refusal.
"""

from typing import Final

from cardquota.quota.limits import BODY
from cardquota.quota.messages import answer_messages, request_messages, shortfall_messages
from cardquota.quota.verdict import Shortfall
from cardquota.quota.vocabulary import QUEUE_REVIEWS

from .entry import Entry, Said, Where, constant, say

_ASKED: Final = "Questions"
_STANDS: Final = "How a workload stands"
_QUEUE: Final = "research"
_H200: Final = "NVIDIA-H200"
_HELD: Final = [(_H200, 2)]
_NOTHING: Final = "Nothing."
_SHORT: Final = say(shortfall_messages.shortfalls, _QUEUE, [Shortfall(_H200, 2, 4, 3)])


def _unanswered(when: str, says: Said, do: str, where: Where = Where.QUESTION) -> Entry:
    return Entry(under=_ASKED, when=when, says=says, where=(where,), rule="F1", do=do)


def _stands(when: str, says: Said, do: str = _NOTHING) -> Entry:
    return Entry(under=_STANDS, when=when, says=says, where=(Where.ANSWER,), rule="F5", do=do)


QUESTIONS: Final = (
    _unanswered(
        "Somebody creates a QueueReview or WorkloadReview other than as a dry run.",
        say(answer_messages.send_as_dry_run, QUEUE_REVIEWS),
        "Create it as a dry run; `kubectl cardquota queue` and `explain` do.",
    ),
    _unanswered(
        "The object is far larger than a question needs to be.",
        say(
            answer_messages.question_refused,
            QUEUE_REVIEWS,
            say(request_messages.beyond_limit, BODY, 2_000_000),
        ),
        "Send the spec alone.",
    ),
    _unanswered(
        "There is no queue of this name.",
        say(answer_messages.no_such_queue, "reserach", meant="research"),
        "See `kubectl get queues`.",
    ),
    _unanswered(
        "There is no such workload, or none that quotas concern.",
        say(answer_messages.no_such_workload, "Deployment", "team", "caht", meant="chat"),
        "See `kubectl get`; cardquota ignores a pod without a queue and without cards.",
    ),
    _unanswered(
        "Very many questions were asked at the same time.",
        say(answer_messages.too_many_questions),
        "Nothing: the plugin tries again by itself.",
        Where.AGAIN,
    ),
)

STANDINGS: Final = (
    _stands("A pod is on a node.", say(answer_messages.runs_on, "gpu-7", _HELD)),
    _stands("A workload, or a group, has all its pods.", say(answer_messages.all_pods_there, 3)),
    _stands(
        "Its gate is open, and it has no node.",
        say(answer_messages.released, _HELD),
        "See what the scheduler says.",
    ),
    _stands(
        "The same, and it has scheduling gates that others set.",
        say(answer_messages.released, _HELD, ["example.com/data"]),
        "Ask whoever set them.",
    ),
    _stands(
        "Members of a gang have gone.",
        say(answer_messages.gang_lacks_members, 2, 4),
        "See what its controller says.",
    ),
    _stands(
        "A pod waits at its gate, and would fit now.",
        say(answer_messages.room_now, _QUEUE),
        "As it says.",
    ),
    _stands(
        "A pod waits at its gate: the API server or a webhook refused to open it.",
        constant("GATE_HELD_BACK"),
        "As it says.",
    ),
    _stands(
        "The same; its gang starts at this moment, or its group is being written.",
        constant("START_UNDER_WAY"),
        "Nothing, unless it stays so.",
    ),
    _stands("The same, where nothing is enforced.", constant("NOT_ENFORCED"), "As it says."),
    _stands(
        "A workload lacks pods, and its next one would be admitted now.",
        say(answer_messages.next_pod_not_refused),
        "Nothing, unless it stays so: it is woken (R5).",
    ),
    _stands(
        "The same; its next pod would wait at the gate.",
        say(answer_messages.next_pod_not_refused, _SHORT),
        "Nothing, unless it stays so: it is woken (R5).",
    ),
    _stands(
        "The same; more is in its pod template than is read.",
        constant("TEMPLATE_NOT_KEPT"),
        "See its events.",
    ),
    _stands("It is being deleted.", say(answer_messages.being_deleted, _HELD)),
    _stands("A group is over.", say(answer_messages.group_is_over)),
    _stands(
        "A group was enqueued, and its pods are still to come.",
        say(answer_messages.group_reserved, _HELD),
        "Create its pods before its time is over (E8).",
    ),
    _stands(
        "A group has no pods yet.",
        say(answer_messages.group_without_pods),
        "Create its pods.",
    ),
    _stands("A workload is scaled to zero.", say(answer_messages.wants_no_pods)),
    _stands(
        "A workload has all its pods, and no quota concerns them.",
        say(answer_messages.pods_not_known),
    ),
)
