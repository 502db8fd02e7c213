"""What admission does after a verdict: the one table from verdict, policy and mode to an effect."""

from enum import StrEnum
from typing import Final

from .verdict import Outcome, Verdict
from .vocabulary import NAMESPACE_AUDIT, NAMESPACE_OFF, Mode, Policy, Reason


class Effect(StrEnum):
    """What admission does."""

    ALLOW = "allow"
    """Admitted, ungated."""
    GATE = "gate"
    """Admitted with the gate."""
    DENY = "deny"
    """Refused, with the sentence."""
    WARN = "warn"
    """Admitted, ungated, with a warning (audit)."""


_ENFORCED: Final = {
    (Outcome.FITS, Policy.DENY): Effect.GATE,
    (Outcome.FITS, Policy.GATE): Effect.GATE,
    (Outcome.WAITS, Policy.DENY): Effect.DENY,
    (Outcome.WAITS, Policy.GATE): Effect.GATE,
    (Outcome.NEVER, Policy.DENY): Effect.DENY,
    (Outcome.NEVER, Policy.GATE): Effect.DENY,
    (Outcome.UNSEEN, Policy.DENY): Effect.GATE,
    (Outcome.UNSEEN, Policy.GATE): Effect.GATE,
    (Outcome.UNMANAGED, Policy.DENY): Effect.ALLOW,
    (Outcome.UNMANAGED, Policy.GATE): Effect.ALLOW,
}
_CHANGEABLE: Final = frozenset(
    {
        Reason.CARD_NOT_IN_QUOTA,
        Reason.QUEUE_NOT_FOUND,
        Reason.QUEUE_NOT_OPEN,
        Reason.TOO_MUCH_KEPT,
    }
)
"""Why a pod never fits as things are, and may fit once an administrator has changed them."""
_AUDITED: Final = {Effect.GATE: Effect.ALLOW, Effect.DENY: Effect.WARN, Effect.ALLOW: Effect.ALLOW}
"""Audit mode refuses and gates nothing; it warns of what would be refused or would wait."""

EFFECTS: Final[dict[tuple[Outcome, Policy, Mode], Effect]] = {
    **{(o, p, Mode.ENFORCE): effect for (o, p), effect in _ENFORCED.items()},
    **{
        (o, p, Mode.AUDIT): Effect.WARN if o is Outcome.WAITS else _AUDITED[effect]
        for (o, p), effect in _ENFORCED.items()
    },
    **{(o, p, Mode.OFF): Effect.ALLOW for (o, p) in _ENFORCED},
}


def effect_of(outcome: Outcome, policy: Policy, mode: Mode) -> Effect:
    """Look up the effect. No other code asks for the mode."""
    return EFFECTS[outcome, policy, mode]


def effect_on_create(
    verdict: Verdict, policy: Policy, mode: Mode, *, of_volcano_job: bool
) -> Effect:
    """What becomes of a pod that is created. `of_volcano_job`: its controller ends everything after
    some refusals; then what an administrator can change is no reason to refuse it (E5).
    """
    outcome = verdict.outcome
    if of_volcano_job and outcome is Outcome.NEVER and not is_for_good(verdict):
        outcome = Outcome.WAITS
    if outcome is Outcome.UNSEEN and verdict.reason is Reason.CARD_UNCLEAR:
        outcome = Outcome.WAITS  # under policy Deny its user is told at once (P3)
    return effect_of(outcome, policy, mode)


def is_for_good(verdict: Verdict) -> bool:
    """Whether it never fits, and no administrator can change that by what belongs to him: the
    request is wrong, or more than the whole quota (E5).
    """
    return verdict.outcome is Outcome.NEVER and verdict.reason not in _CHANGEABLE


def mode_of(*, audit: bool, namespace: str) -> Mode:
    """How strict we are with a pod: by the installation, and by its namespace's label."""
    if namespace == NAMESPACE_OFF:
        return Mode.OFF
    return Mode.AUDIT if audit or namespace == NAMESPACE_AUDIT else Mode.ENFORCE
