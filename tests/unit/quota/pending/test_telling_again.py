"""Who waits when a term begins is told once more, in the words of now (section 9)."""

from builders import CARDS, H200, a_group, a_ledger, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota.accounts import Account
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import Refusal, next_refusals, release_cycle

FULL = a_queue("red").with_quota({H200: 0})


def waiting(name: str) -> PodBody:
    return a_pod(name).in_queue("red").naming(H200).asking_for(1).gated()


def account_of(ledger: Ledger) -> Account:
    found = ledger.account("red")
    assert found is not None
    return found


def told(ledger: Ledger) -> list[Refusal]:
    """All that are to be told now."""
    found: list[Refusal] = []
    while (some := next_refusals(ledger, account_of(ledger))) is not None:
        found += some
    return found


def look(ledger: Ledger) -> list[Refusal]:
    list(release_cycle(ledger, account_of(ledger)))
    return told(ledger)


def names(refusals: list[Refusal]) -> list[str]:
    return [record.facts.name for refusal in refusals for record in refusal.pods]


def test_all_who_wait_when_a_term_begins_are_told_again() -> None:
    group = a_group("g").in_queue("red").of(2).asking({H200: 3})
    small = waiting("small").with_cpu("1")
    ledger = a_ledger(*CARDS, FULL, group, small, *(waiting(f"p{n:02}") for n in range(40)))
    look(ledger)
    account_of(ledger).pending.tell_all_again()
    found = told(ledger)
    assert sorted(names(found)) == [*(f"p{n:02}" for n in range(40)), "small"]
    assert [one.gang.key for one in found if one.gang is not None] == ["team/g"]
    assert told(ledger) == []


def test_who_is_tried_first_and_who_comes_then_is_told_once() -> None:
    ledger = a_ledger(*CARDS, FULL, waiting("a"), waiting("b"))
    look(ledger)
    see(ledger, waiting("c"))
    account_of(ledger).pending.tell_all_again()
    see(ledger, waiting("d"))
    assert names(look(ledger)) == ["a", "b", "c", "d"]
