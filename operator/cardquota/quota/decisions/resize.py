"""May this pod ask for more cpu and memory where it runs? (P6)

A resize in place takes effect at once, without a gate, so the answer is yes or no. Cards cannot be
resized: the API server changes only cpu and memory.

A queue that takes nothing new takes no growth either (Q6): a queue that is closed, that no longer
admits the namespace, or that is gone (its pods stay charged to its name). A pod that shrinks is
always admitted.
"""

from collections.abc import Sequence

from ..accounts.account import OUTSIDE, AccountReader
from ..ledger.ledger_reader import LedgerReader
from ..messages.queue_messages import closed_to_growth, gone_for_growth, no_growth_admitted
from ..messages.request_messages import invalid_request, unreadable
from ..messages.shortfall_messages import ADVICE_RESIZE
from ..pods.pod_facts import PodFacts, State
from ..pods.pod_request import card_devices
from ..verdict import Growth, Outcome, Shortfall, Verdict
from ..vocabulary import CPU, MEMORY, QueueState, Reason
from .queue_room import over_quota


def judge_resize(ledger: LedgerReader, before: PodFacts, after: PodFacts) -> Verdict:
    """The verdict on a pod that was `before` and would be `after`; only what grows is judged (E4).

    A pod at the gate holds nothing yet: it is refused only what can never fit. Amounts that cannot
    be counted are refused too (P4): no quota grants them, so what the pod holds would stay
    uncounted.
    """
    record, stamp = ledger.pods.get(after.uid), after.stamp
    # Where it is charged, whatever it names by now; of one not seen yet, what it names.
    charged = record or stamp
    queue = charged.queue if charged is not None else ledger.queue_of(after)
    if queue == OUTSIDE:
        return Verdict(Outcome.UNMANAGED, queue)
    if after.problem and after.problem != before.problem:
        text = invalid_request(queue, [], unreadable(after.problem))
        return Verdict(Outcome.NEVER, queue, Reason.INVALID_CARD, text)
    both = (
        Growth(CPU, before.cpu, after.cpu),
        Growth(MEMORY, before.memory, after.memory),
    )
    grown = [one for one in both if one.after > one.before]
    if not grown:
        return Verdict(Outcome.FITS, queue)
    account = ledger.account(queue)
    kept_out = _shut_to(account, queue, after.namespace, grown)
    if kept_out is not None or account is None:
        return kept_out or Verdict(Outcome.NEVER, queue)
    with_cards = any(amount for _, amount in stamp.cards) if stamp else False
    if ledger.settings.exempt_cpu_memory and (with_cards or card_devices(after, ledger)):
        return Verdict(Outcome.FITS, queue)
    group, shorts = ledger.groups.get(after.group) if after.group else None, []
    for dimension, _, asked in grown:
        limit = account.limit(dimension)
        if limit is None:
            continue
        would_be, leaving = asked, 0
        if after.state is not State.GATED:
            own = dict(record.charge).get(dimension, 0) if record and record.held else 0
            covered = group.covers(queue, dimension, asked - own) if group else 0
            would_be += account.row(dimension).charged - own - covered
            leaving = 0 if before.terminating else account.row(dimension).leaving
        if would_be > limit:
            shorts.append(Shortfall(dimension, asked, would_be, limit, leaving))
    if not shorts:
        return Verdict(Outcome.FITS, queue)
    never = any(short.never for short in shorts)
    return over_quota(ledger, account, shorts, never=never, advice=ADVICE_RESIZE)


def _shut_to(
    account: AccountReader | None, queue: str, namespace: str, grown: Sequence[Growth]
) -> Verdict | None:
    """Why a queue takes no growth, or None: the reasons for which it takes nothing new (E5, Q6)."""
    never = Outcome.NEVER
    if account is None or account.facts is None:
        return Verdict(never, queue, Reason.QUEUE_NOT_FOUND, gone_for_growth(queue, grown))
    state = account.facts.state
    if state is not QueueState.OPEN:
        return Verdict(never, queue, Reason.QUEUE_NOT_OPEN, closed_to_growth(queue, state, grown))
    if not account.facts.admits(namespace):
        text = no_growth_admitted(queue, namespace, grown)
        return Verdict(never, queue, Reason.QUEUE_NOT_OPEN, text)
    return None
