"""The priority that a pod gets at create."""

import pytest

from cardquota.cli.simulate import Priorities
from cardquota.quota.objects import Meta, PodSpec, PriorityClass

CLASSES = (
    PriorityClass(metadata=Meta(name="urgent"), value=1000),
    PriorityClass(metadata=Meta(name="usual"), value=10, global_default=True),
)


@pytest.mark.parametrize(
    ("name", "priority"),
    [
        ("urgent", 1000),
        (None, 10),
        ("", 10),
        ("unheard", 10),
        ("system-node-critical", 2_000_001_000),
    ],
)
def test_by_class(name: str | None, priority: int) -> None:
    spec = PodSpec(priority_class_name=name, priority=7)
    assert Priorities(CLASSES).applied(spec).priority == priority
    assert spec.priority == 7


def test_without_a_default_it_is_zero() -> None:
    assert Priorities(CLASSES[:1]).applied(PodSpec()).priority == 0


def test_missing_classes_are_named_once() -> None:
    priorities = Priorities(CLASSES)
    for _ in range(2):
        priorities.applied(PodSpec(priority_class_name="unheard"))
    (note,) = priorities.notes
    assert note.startswith("PriorityClass unheard is not in the files")
