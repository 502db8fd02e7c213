"""Questions are answered and never stored.

The webhook refuses to have one stored, and nobody stores one unanswered. But who sends an answer of
his own would have it stored while no webhook is asked: shown to others as ours.
"""

from typing import Final

from ...quota.messages import answer_messages
from ...quota.vocabulary import QUEUE_REVIEWS, REVIEW_GROUP, REVIEW_VERSION, WORKLOAD_REVIEWS
from .admission_policy import AdmissionPolicy, Check, Rule

_DRY: Final = "request.?dryRun.orValue(false)"


def questions() -> AdmissionPolicy:
    """Only a dry run may create one, or change it. In audit mode too: no pod depends on it."""
    plain = answer_messages.send_as_dry_run(f"{QUEUE_REVIEWS} and {WORKLOAD_REVIEWS}")
    return AdmissionPolicy(
        "questions",
        Rule(
            QUEUE_REVIEWS,
            ("CREATE", "UPDATE"),
            REVIEW_GROUP,
            REVIEW_VERSION,
            beside=(WORKLOAD_REVIEWS,),
        ),
        conditions={"to-be-stored": f"!{_DRY}"},
        checks=(Check(_DRY, plain),),
        denies_in_audit=True,
    )
