"""The answer of the ledger to one question, and what admission does after it.

Its text is the message, everywhere. `effect_of` has the effect of each verdict, policy and mode.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

from .amounts import Charge
from .vocabulary import NAMESPACE_AUDIT, NAMESPACE_OFF, NAMESPACE_UNCOVERED, Mode, Policy, Reason


class Outcome(StrEnum):
    """The kind of answer. `effect_of` says what admission does with it."""

    FITS = "fits"
    WAITS = "waits"
    """Over quota now, but could fit later."""
    NEVER = "never"
    """Cannot fit whatever is freed (E5)."""
    UNSEEN = "unseen"
    """An object that the pod names has not been seen yet: the pod waits at the gate."""
    UNMANAGED = "unmanaged"
    """No queue: admitted, and counted outside every queue."""


class LentNumbers(NamedTuple):
    """What a queue may hold of a card where queues lend, or say what they are owed (L1, L2)."""

    quota: int
    deserved: int
    held: int
    borrowed: int
    """What of that is beyond what it deserves."""
    total: int = 0
    """Of the cluster; this and what follows only of a card that is lent."""
    held_by_others: int = 0
    kept_for_others: int = 0
    """Beyond what they hold."""


@dataclass(slots=True, frozen=True)
class Shortfall:
    """One dimension that does not fit. Cards, milli-cores or bytes."""

    dimension: str
    requested: int
    would_be: int
    capability: int
    """What may be held now."""
    leaving: int = 0
    """What of `would_be` pods hold that are being deleted (T4). 0 also where nobody has asked."""
    lending: LentNumbers | None = None
    """Of a card that somebody lends, or says that it is owed."""

    @property
    def fits_soon(self) -> bool:
        """Whether it fits once the pods that are being deleted are gone."""
        return self.would_be - self.leaving <= self.capability

    @property
    def never(self) -> bool:
        """Whether the request alone is over the quota."""
        return self.requested > self.quota

    @property
    def quota(self) -> int:
        """What may ever be held."""
        return self.capability if self.lending is None else self.lending.quota

    @property
    def lacks_lent(self) -> bool:
        """Whether it is not the quota that is too small, but what others leave of the card (L2)."""
        return self.capability < self.quota

    @property
    def by_quota(self) -> "Shortfall":
        """The same against the quota alone."""
        return replace(self, capability=self.quota)


class Growth(NamedTuple):
    """What of a pod grows in place: cpu or memory, in milli-cores or bytes."""

    dimension: str
    before: int
    after: int


class HeldBy(NamedTuple):
    """Who holds one card of a queue, as somebody of one namespace may know it."""

    card: str
    workloads: tuple[tuple[str, int], ...]
    """Of that namespace: those that hold most, with the cards that each holds."""
    more: int = 0
    """How many other workloads of that namespace hold some."""
    by_more: int = 0
    """Cards that these hold."""
    elsewhere: int = 0
    """Cards that pods of other namespaces hold."""
    reserved: int = 0
    """Cards that are kept for pods of other groups (T2)."""

    def naming(self, most: int) -> "HeldBy":
        """The same, with so many workloads named at most: the others are counted."""
        others = self.workloads[most:]
        return self._replace(
            workloads=self.workloads[:most],
            more=self.more + len(others),
            by_more=self.by_more + sum(amount for _, amount in others),
        )


class Verdict(NamedTuple):
    """Allowed or not, and if not, why, in numbers and in words.

    `queue` is empty for a pod that belongs to none. `cards`: the alternative that
    would be charged. `text` is empty if there is nothing to say.
    """

    outcome: Outcome
    queue: str = ""
    reason: Reason | None = None
    text: str = ""
    shortfalls: tuple[Shortfall, ...] = ()
    cards: Charge = ()
    warnings: tuple[str, ...] = ()
    borrows: bool = False
    """Whether it fits only by what its queue lends to rolling updates (R6)."""

    @property
    def fits(self) -> bool:
        """Whether the request fits now."""
        return self.outcome is Outcome.FITS


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


_CHANGEABLE: Final = frozenset(
    {
        Reason.CARD_NOT_IN_QUOTA,
        Reason.QUEUE_NOT_FOUND,
        Reason.QUEUE_NOT_OPEN,
        Reason.TOO_MUCH_KEPT,
    }
)
"""Why a pod never fits as things are, and may fit once an administrator has changed them."""


def effect_of(outcome: Outcome, policy: Policy, mode: Mode) -> Effect:
    """What admission does. Audit mode refuses and gates nothing; it warns of what would be refused
    or would wait. No other code asks for the mode.
    """
    if mode is Mode.OFF or outcome is Outcome.UNMANAGED:
        return Effect.ALLOW
    if mode is Mode.AUDIT:
        return Effect.WARN if outcome in (Outcome.WAITS, Outcome.NEVER) else Effect.ALLOW
    if outcome is Outcome.NEVER or (outcome is Outcome.WAITS and policy is Policy.DENY):
        return Effect.DENY
    return Effect.GATE


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
    if namespace in (NAMESPACE_OFF, NAMESPACE_UNCOVERED):
        return Mode.OFF
    return Mode.AUDIT if audit or namespace == NAMESPACE_AUDIT else Mode.ENFORCE
