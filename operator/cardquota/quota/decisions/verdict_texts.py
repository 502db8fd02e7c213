"""What is said beside a verdict, to people: who holds the cards that somebody lacks, which queue or
group was probably meant, and what pods are told on which nothing is enforced.

Found when such a text is written, and no part of a decision: holders and names change all the time,
and no event or condition is written again for that.
"""

from collections.abc import Sequence
from typing import Final

from ..accounts.account import AccountReader
from ..amounts import is_card
from ..close_names import close_names
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..messages import queue_messages, shortfall_messages
from ..pods.pod_facts import PodFacts
from ..verdict import HeldBy, Outcome, Shortfall, Verdict
from ..vocabulary import VOLCANO_SCHEDULER, Mode, QueueState, Reason
from ..words import MOST_LISTED

MOST_NAMED: Final = 3
"""Workloads of the same namespace that are named, those that hold most first."""
_FEWER: Final = (MOST_NAMED, 1, 0)
"""How many of them are named for each card, until the text is short enough."""


def with_holders(
    ledger: LedgerReader, facts: PodFacts, verdict: Verdict, *, most: int | None = None
) -> Verdict:
    """The verdict, its text with who holds what the pod lacks, behind the advice. The same where
    waiting does not help, and where it lacks no card.

    `most`: bytes of UTF-8 that a text may have which says who holds; None: any number. Then fewer
    workloads are named, and nobody if that is too long as well.
    """
    if verdict.outcome is not Outcome.WAITS:
        return verdict
    lacks = [short.dimension for short in verdict.shortfalls]
    found = _holders(ledger, facts.namespace, facts.group, verdict.queue, lacks)
    return verdict._replace(text=_with_held(verdict.text, found, most, of_several=len(lacks) > 1))


def refusal_of(ledger: LedgerReader, facts: PodFacts, verdict: Verdict) -> Verdict:
    """The verdict on a pod that is refused. If it might have waited, its text also says that it may
    fit later, how its like would wait if that was never decided, and who holds what it lacks.
    """
    if verdict.outcome is not Outcome.WAITS:
        return verdict
    text = shortfall_messages.exceeded_for_now(verdict.text)
    if ledger.owner_unknown(facts, verdict.queue):
        text = shortfall_messages.owner_unknown(text, facts.controller)
    return with_holders(ledger, facts, verdict._replace(text=text))


def with_holders_of(
    ledger: LedgerReader, group: str, queue: str, text: str, lacks: Sequence[str], *, most: int
) -> str:
    """The text of a group, by its key, with who holds what of these dimensions it lacks in a queue,
    within `most` bytes as for `with_holders`.
    """
    found = _holders(ledger, group.partition("/")[0], group, queue, lacks)
    return _with_held(text, found, most, of_several=len(lacks) > 1)


def lacked(verdict: Verdict) -> tuple[str, ...]:
    """The dimensions of which it is told who holds them: none where waiting does not help."""
    if verdict.outcome is not Outcome.WAITS:
        return ()
    return tuple(short.dimension for short in verdict.shortfalls[:MOST_LISTED])


def _with_held(text: str, found: Sequence[HeldBy], most: int | None, *, of_several: bool) -> str:
    for named in _FEWER:
        held = shortfall_messages.held_by(
            [one.naming(named) for one in found], of_several=of_several
        )
        if not held:
            return text
        longer = shortfall_messages.with_held(text, held)
        if most is None or len(longer.encode(errors="replace")) <= most:
            return longer
    return text


def holders_text(
    ledger: LedgerReader, facts: PodFacts, queue: str, shorts: Sequence[Shortfall]
) -> str:
    """Who holds the cards that are short; empty if nobody does. Names workloads of the pod's own
    namespace alone: others are one number. Costs a few steps for each of five cards.
    """
    lacks = [short.dimension for short in shorts]
    found = _holders(ledger, facts.namespace, facts.group, queue, lacks)
    return shortfall_messages.held_by(found, of_several=len(shorts) > 1)


def _holders(
    ledger: LedgerReader, namespace: str, own: str, queue: str, lacks: Sequence[str]
) -> list[HeldBy]:
    """`own`: the key of the group that asks, or whose member does; empty: there is none."""
    account = ledger.account(queue)
    cards = [dimension for dimension in lacks if is_card(dimension)]
    if account is None or not cards:
        return []
    group = ledger.groups.get(own) if own else None
    return [_held_by(ledger, account, namespace, group, card) for card in cards[:MOST_LISTED]]


def _held_by(
    ledger: LedgerReader,
    account: AccountReader,
    namespace: str,
    group: PodGroupState | None,
    card: str,
) -> HeldBy:
    queue = account.name
    here = ledger.held_cards.within(queue, card, namespace)
    named = here.most(MOST_NAMED)
    own = sum(n for name, n in group.rest_in(queue) if name == card) if group is not None else 0
    row = account.row(card)
    return HeldBy(
        card,
        tuple(named),
        len(here.amounts) - len(named),
        here.total - sum(amount for _, amount in named),
        row.charged - row.reserved - here.total,
        max(0, row.reserved - own),
    )


# --- which was meant, where there is none of the name that was written ----------------------------


def queue_meant(ledger: LedgerReader, written: str, namespace: str) -> str:
    """The closest queue that this namespace may use; empty if none is close. Of others nobody is
    told that they exist.
    """
    for name in close_names(written, _queues(ledger)):
        account = ledger.account(name)
        facts = account.facts if account is not None else None
        if facts is not None and facts.state is QueueState.OPEN and facts.admits(namespace):
            return name
    return ""


def any_queue_meant(ledger: LedgerReader, written: str) -> str:
    """The closest queue, open or not; empty if none is close. For who may know of all queues."""
    return next(iter(close_names(written, _queues(ledger))), "")


def _queues(ledger: LedgerReader) -> list[str]:
    return [account.name for account in ledger.accounts() if account.facts is not None]


def group_meant(ledger: LedgerReader, key: str) -> str:
    """The closest pod group of the same namespace; empty if none is close. `key`: of the group that
    is not there, as `namespace/name`. Costs by the number of all groups.
    """
    namespace, slash, name = key.partition("/")
    there = (key for key, group in ledger.groups.items() if group.facts is not None)
    names = [
        one.removeprefix(namespace + slash) for one in there if one.startswith(namespace + slash)
    ]
    return next(iter(close_names(name, names)), "")


def with_group_meant(ledger: LedgerReader, facts: PodFacts, verdict: Verdict) -> Verdict:
    """The verdict on a pod whose group is not there, its text with the group that was probably
    meant; any other verdict as it is. For a text that goes out: a release pass and the judgement of
    other pods ask of thousands whether their group is there, and need no guess.
    """
    if verdict.reason is not Reason.GROUP_NOT_FOUND:
        return verdict
    text = queue_messages.group_not_seen(facts.group, meant=group_meant(ledger, facts.group))
    return verdict._replace(text=text, warnings=(text,))


# --- pods on which nothing is enforced: they run, whatever they ask for ---------------------------


def card_not_steered(ledger: LedgerReader, facts: PodFacts, verdict: Verdict) -> tuple[str, ...]:
    """A warning beside that of audit mode, if a pod of this verdict names a card. Not for one
    without a queue, which is told with the verdict, nor for a name that is wrong in itself. Those
    of which there is nothing else to say are not told: a warning means that rules would matter.
    """
    if facts.card_text is None or not verdict.queue or verdict.reason is Reason.INVALID_CARD:
        return ()
    if ledger.mode_in(facts.namespace) is not Mode.AUDIT:
        return ()
    return (queue_messages.card_in_audit(facts.card_text),)


def told_of_default(
    ledger: LedgerReader, facts: PodFacts, verdict: Verdict, scheduler: str
) -> Verdict:
    """The verdict, with a Warning that names what the pod runs as and who counts it, if no queue
    does; it takes the place of all others. `scheduler`: as in the pod's `spec.schedulerName`.

    For `scheduler: volcano` alone. In a namespace that is switched off nothing is said.
    """
    if (
        scheduler != VOLCANO_SCHEDULER
        or verdict.outcome is not Outcome.UNMANAGED
        or not ledger.uses_cards(facts)
        or ledger.mode_in(facts.namespace) is Mode.OFF
    ):
        return verdict
    return verdict._replace(warnings=(queue_messages.runs_without_quota(),))
