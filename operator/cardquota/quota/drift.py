"""Does the ledger still equal a recount of what it holds? (I2)"""

from .ledger import Ledger
from .recount import CountedGroup, CountedPod, Recount, Totals, recount
from .vocabulary import Policy


def ledger_totals(ledger: Ledger) -> Recount:
    """The ledger's totals in a recount's form."""
    return {
        (account.name, dimension): Totals(
            row.requested, row.inqueue, row.allocated, row.elastic, row.offline
        )
        for account in ledger.accounts()
        for dimension, row in account.rows.items()
    }


def recounted(ledger: Ledger) -> Recount:
    """A recount of the ledger's pods and groups. Costs in proportion to all of them."""
    return recount(
        (
            CountedPod(
                uid,
                record.queue,
                record.bucket,
                record.charge,
                record.facts.group,
                (record.facts.scheduled, record.facts.created, uid),
                ledger.policy_by_controller(record.facts) is Policy.GATE,
            )
            for uid, record in ledger.pods.items()
        ),
        (
            CountedGroup(
                book.key,
                book.facts.min_member if book.facts else None,
                book.reservation.queue if book.reservation else "",
                book.reservation.amounts if book.reservation else (),
                book.judged,
            )
            for book in ledger.groups.values()
        ),
    )


def drift(ledger: Ledger) -> dict[tuple[str, str], tuple[Totals, Totals]]:
    """Where the two differ: ledger, recount. Empty is right."""
    kept, counted = ledger_totals(ledger), recounted(ledger)
    none = Totals()
    return {
        key: (kept.get(key, none), counted.get(key, none))
        for key in kept.keys() | counted.keys()
        if kept.get(key, none) != counted.get(key, none)
    }
