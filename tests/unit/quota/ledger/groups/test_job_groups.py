"""Which group Volcano has made for a Job, by its name."""

from builders import CARDS, a_group, a_ledger, a_queue, see
from unit.steps import steps_of

FIRST, SECOND = ("0a1b2c3d-0000-4000-8000-00000000000" + end for end in "12")


def test_the_group_of_a_job_is_found_by_its_name() -> None:
    ledger = a_ledger(*CARDS, a_queue(), a_group(f"train-{FIRST}"), a_group(f"train-x-{FIRST}"))
    found = ledger.job_groups
    assert found.of("team", "train") == f"team/train-{FIRST}"
    assert found.of("team", "train-x") == f"team/train-x-{FIRST}"
    assert found.of("other", "train") == found.of("team", "x") == ""


def test_other_names_are_those_of_no_job() -> None:
    names = ("train", "train-x", f"-{FIRST}", f"train-{'x' * 36}", f"train{FIRST}")
    ledger = a_ledger(*CARDS, *(a_group(name) for name in names))
    assert ledger.job_groups.of("team", "train") == ""


def test_a_group_that_is_gone_is_forgotten() -> None:
    ledger = a_ledger(*CARDS, a_group(f"train-{FIRST}"), a_group(f"train-{SECOND}"))
    assert ledger.job_groups.of("team", "train") == f"team/train-{FIRST}"
    ledger.group_gone(f"team/train-{FIRST}")
    ledger.group_gone(f"team/train-{FIRST}")
    assert ledger.job_groups.of("team", "train") == f"team/train-{SECOND}"
    ledger.group_gone(f"team/train-{SECOND}")
    assert len(ledger.job_groups) == 0


def test_i5_a_look_costs_the_same_among_thousands() -> None:
    ledger = a_ledger(*CARDS)
    for n in range(1_000):
        see(ledger, a_group(f"j{n}-{FIRST}"))
    assert steps_of(lambda: ledger.job_groups.of("team", "j7")) < 10
