"""Does the ledger still equal a recount of what it holds? (I2)"""

from typing import NamedTuple

from ..accounts.account import AccountReader
from ..ledger.groups.group_holdings import bound_key
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_record import PodRecord
from ..steps import Steps, to_its_end
from ..vocabulary import Policy
from .recount import CountedGroup, CountedPod, Recount, Totals, recount

Drift = dict[tuple[str, str], tuple[Totals, Totals]]
"""By queue and dimension that differ: ledger, recount. Empty is right."""


class Compared(NamedTuple):
    """What a recount in steps found."""

    drift: Drift
    moved: frozenset[str]
    """Queues that changed meanwhile and so could not be compared."""


def ledger_totals(ledger: LedgerReader) -> Recount:
    """The ledger's totals in a recount's form."""
    return {
        (account.name, dimension): totals
        for account in ledger.accounts()
        for dimension, totals in _totals_of(account).items()
    }


def drift(ledger: LedgerReader) -> Drift:
    """Where ledger and recount differ. Costs in proportion to all pods, without a pause."""
    return to_its_end(compare(ledger)).drift


def compare(ledger: LedgerReader) -> Steps[Compared]:
    """`drift` in short steps. Between two steps the ledger may change.

    Compares each queue whose totals have not changed since the first step, at one moment. That is
    exact: any change of what a recount finds of a queue also changes its totals.
    """
    begun = {account.name: (account, account.changes) for account in ledger.accounts()}
    counted = yield from _recounted(ledger)
    by_queue: dict[str, dict[str, Totals]] = {}
    for (queue, dimension), totals in counted.items():
        by_queue.setdefault(queue, {})[dimension] = totals
    found: Drift = {}
    moved = set[str]()
    there = {account.name for account in ledger.accounts()}
    for queue in sorted(begun.keys() | by_queue.keys() | there):
        account, changes = begun.get(queue, (None, 0))
        if ledger.overdue or ledger.account(queue) is not account or _moved(account, changes):
            moved.add(queue)
        else:
            kept = _totals_of(account) if account is not None else {}
            found.update(_differing(queue, kept, by_queue.get(queue, {})))
        yield
    return Compared(found, frozenset(moved))


def _moved(account: AccountReader | None, since: int) -> bool:
    return account is not None and account.changes != since


def _differing(queue: str, kept: dict[str, Totals], counted: dict[str, Totals]) -> Drift:
    none = Totals()
    return {
        (queue, name): (kept.get(name, none), counted.get(name, none))
        for name in kept.keys() | counted.keys()
        if kept.get(name, none) != counted.get(name, none)
    }


def _totals_of(account: AccountReader) -> dict[str, Totals]:
    return {
        dimension: Totals(
            row.requested, row.inqueue, row.allocated, row.elastic, row.offline, row.leaving
        )
        for dimension, row in account.rows.items()
    }


def _recounted(ledger: LedgerReader) -> Steps[Recount]:
    """A recount of the ledger's pods and groups."""
    return recount(
        (_counted(ledger, record) for record in list(ledger.pods.values())),
        (
            CountedGroup(
                group.key,
                group.facts.min_member if group.facts else None,
                group.reservation,
                group.judged,
                group.replaced,
            )
            for group in list(ledger.groups.values())
        ),
    )


def _counted(ledger: LedgerReader, record: PodRecord) -> CountedPod:
    facts = record.facts
    return CountedPod(
        facts.uid,
        record.queue,
        record.charge_state,
        record.charge,
        facts.group,
        bound_key(facts),
        ledger.policy_by_controller(facts) is Policy.GATE,
        record.leaves,
    )
