"""The section `refused`: whether somebody is refused what only Volcano may do (V1)."""

from typing import Final

from ...cluster.api.client import Client
from ...quota import vocabulary as v
from ...quota.answers.answer_forms import QueueAnswer
from ...settings import Settings
from .. import sentences
from ..reviews.ask import ask_through
from ..reviews.no_answer import NoAnswerError
from .finding import FindingKind
from .section import CheckSection
from .timeless_finding import timeless

REFUSED: Final = "refused"
"""The name of the section."""


async def refused_section(client: Client, settings: Settings) -> CheckSection:
    """What the replica that answers has counted. Nothing is asked where nobody counts.

    Needs the right to create QueueReviews.
    """
    if settings.scheduler != "volcano":
        return CheckSection(REFUSED)
    spec = {"queue": "", "limit": 1}
    try:
        found = await ask_through(client, QueueAnswer, "QueueReview", v.QUEUE_REVIEWS, spec)
    except NoAnswerError as error:
        note = f"{error}: {sentences.REFUSED_NOT_KNOWN}"
        return CheckSection(REFUSED, notes=[note], complete=True)
    if not found.refused_writes:
        return CheckSection(REFUSED)
    finding = timeless(
        FindingKind.REFUSED,
        ("Deployment", settings.namespace, v.DEPLOYMENT),
        "VolcanoNotKnown",
        sentences.users_refused(found.refused_writes),
        sentences.NAME_VOLCANO,
        what=sentences.NOT_INSTALLED,
    )
    return CheckSection(REFUSED, [finding])
