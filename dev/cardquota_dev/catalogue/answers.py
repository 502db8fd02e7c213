"""Messages about questions that are not answered."""

from typing import Final

from cardquota.quota.limits import BODY
from cardquota.quota.messages import answer_messages, request_messages
from cardquota.quota.vocabulary import QUEUE_REVIEWS

from .entry import Entry, Where, say

_ASKED: Final = "Questions"

QUESTIONS: Final = (
    Entry(
        under=_ASKED,
        when="Somebody creates a QueueReview other than as a dry run.",
        says=say(answer_messages.send_as_dry_run, QUEUE_REVIEWS),
        where=(Where.QUESTION,),
        rule="F1",
        do="Create it as a dry run; `kubectl cardquota queue` does.",
    ),
    Entry(
        under=_ASKED,
        when="The object is far larger than a question needs to be.",
        says=say(
            answer_messages.question_refused,
            QUEUE_REVIEWS,
            say(request_messages.beyond_limit, BODY, 2_000_000),
        ),
        where=(Where.QUESTION,),
        rule="F1",
        do="Send the spec alone.",
    ),
    Entry(
        under=_ASKED,
        when="There is no queue of this name.",
        says=say(answer_messages.no_such_queue, "reserach"),
        where=(Where.QUESTION,),
        rule="F1",
        do="See `kubectl get queues`.",
    ),
    Entry(
        under=_ASKED,
        when="Very many questions were asked at the same time.",
        says=say(answer_messages.too_many_questions),
        where=(Where.AGAIN,),
        rule="F1",
        do="Nothing: kubectl and the plugin try again by themselves.",
    ),
)
