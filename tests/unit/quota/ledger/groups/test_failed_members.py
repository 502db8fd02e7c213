"""Members that failed are counted as long as they exist."""

from builders import CARDS, a_group, a_ledger, a_pod, see

FAILED = a_pod("p").in_group("gang").on_node("h200-1").in_phase("Failed")


def test_a_failed_member_is_counted_until_it_is_gone() -> None:
    ledger = a_ledger(*CARDS, a_group().of(2), FAILED)
    group = ledger.groups["team/gang"]
    ledger.dirty.take_groups()
    assert (group.failed, group.members, group.members_existing) == ({FAILED.uid}, {}, 0)
    see(ledger, FAILED.at_revision(2))
    assert ledger.dirty.take_groups() == set()
    ledger.pod_gone(FAILED.uid)
    assert not group.failed
    assert ledger.dirty.take_groups() == {"team/gang"}


def test_a_group_is_kept_for_its_failed_members_alone() -> None:
    ledger = a_ledger(*CARDS, FAILED)
    assert ledger.groups["team/gang"].failed
    see(ledger, FAILED.in_group("other").at_revision(2))
    assert ledger.groups.keys() == {"team/other"}
    ledger.pod_gone(FAILED.uid)
    assert not ledger.groups


def test_one_whose_phase_is_set_back_has_not_failed() -> None:
    ledger = a_ledger(*CARDS, FAILED)
    see(ledger, FAILED.in_phase("Running").at_revision(2))
    group = ledger.groups["team/gang"]
    assert (set(group.failed), set(group.members)) == (set(), {FAILED.uid})


def test_one_that_is_said_to_have_succeeded_after_all_has_not_failed() -> None:
    ledger = a_ledger(*CARDS, FAILED)
    see(ledger, FAILED.in_phase("Succeeded").at_revision(2))
    group = ledger.groups["team/gang"]
    assert (set(group.failed), set(group.succeeded)) == (set(), {FAILED.uid})
    see(ledger, FAILED.at_revision(3))
    group = ledger.groups["team/gang"]
    assert (set(group.failed), set(group.succeeded)) == ({FAILED.uid}, set())
    ledger.pod_gone(FAILED.uid)
    assert not ledger.groups
