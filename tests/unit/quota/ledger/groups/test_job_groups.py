"""Which group Volcano has made for a Job, by its name."""

from builders import CARDS, a_group, a_ledger, a_queue

FIRST, SECOND = ("0a1b2c3d-0000-4000-8000-00000000000" + end for end in "12")


def test_the_group_of_a_job_is_found_by_its_name() -> None:
    names = ("train", f"-{FIRST}", f"train-{'x' * 36}", f"train{FIRST}")
    ledger = a_ledger(*CARDS, a_queue(), *(a_group(name) for name in names))
    found = ledger.job_groups
    assert not found.of("team/train")
    for name in (f"train-{FIRST}", f"train-x-{FIRST}", f"train-{SECOND}"):
        ledger.group_seen(a_group(name).facts())
    assert list(found.of("team/train")) == [f"team/train-{FIRST}", f"team/train-{SECOND}"]
    assert list(found.of("team/train-x")) == [f"team/train-x-{FIRST}"]
    ledger.group_gone(f"team/train-{FIRST}")
    ledger.group_gone(f"team/train-{FIRST}")
    assert list(found.of("team/train")) == [f"team/train-{SECOND}"]
