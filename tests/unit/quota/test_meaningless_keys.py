"""Keys of annotations that were meant to be ours."""

import pytest

from cardquota.quota import (
    KEYS_OF_GROUPS,
    KEYS_OF_NAMESPACES,
    KEYS_OF_PODS,
    KEYS_OF_QUEUES,
    LABELS_OF_NAMESPACES,
    MOST_COMPARED,
    KeysOfKind,
)
from cardquota.quota import vocabulary as v

ALL_OF_OURS = sorted(
    {
        value
        for name, value in vars(v).items()
        if name.isupper() and isinstance(value, str) and value.startswith("volcano.sh/card.")
    }
)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("volcano.sh/card-quota", v.QUOTA),
        ("volcano.sh/card.polcy", v.POLICY),
        ("volcano.sh/card.namespace", v.NAMESPACES),
        ("volcano.sh/cards.quota", v.QUOTA),
        ("volcano.sh/Card.quota", v.QUOTA),
        ("volcano.sh/card.limits", ""),
        ("volcano.sh/card.name", ""),
        ("card.quotas", v.QUOTA),
        ("card.quota", v.QUOTA),
    ],
)
def test_on_a_queue(key: str, meant: str) -> None:
    assert KEYS_OF_QUEUES.meaningless([key]) == [(key, meant)]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("volcano.sh/card-name", v.CARD_NAME),
        ("volcano.sh/card.names", v.CARD_NAME),
        ("volcano.sh/card-quota", ""),
        ("volcano.sh/queue-nam", v.QUEUE_NAME_VOLCANO_JOB),
        ("scheduling.volcano.sh/queue_name", v.QUEUE_NAME),
        ("scheduling.k8s.io/group-nam", v.GROUP_NAME),
    ],
)
def test_on_a_pod(key: str, meant: str) -> None:
    assert KEYS_OF_PODS.meaningless([key]) == [(key, meant)]


@pytest.mark.parametrize("keys", [KEYS_OF_PODS, KEYS_OF_GROUPS])
def test_nothing_is_said_of_keys_of_ours_elsewhere(keys: KeysOfKind) -> None:
    """Annotations are copied from Jobs to their pods and groups."""
    assert keys.meaningless(ALL_OF_OURS) == []


@pytest.mark.parametrize("keys", [KEYS_OF_QUEUES, KEYS_OF_PODS, KEYS_OF_GROUPS])
@pytest.mark.parametrize(
    "key",
    [
        *(v.TASK, v.QUEUE_NAME_VOLCANO_JOB, v.STATUS),
        *(f"volcano.sh/{name}" for name in ("job-name", "job-version", "task-index")),
        *(f"volcano.sh/{name}" for name in ("template-uid", "preemptable", "revocable-zone")),
        *(f"volcano.sh/{name}" for name in ("numa-topology-policy", "cardinality")),
        *(f"scheduling.volcano.sh/{name}" for name in ("group-name", "job-name", "priority")),
        *("kubectl.kubernetes.io/last-applied-configuration", "cards", "example.com/card.quota"),
        *(
            "card-holder",
            "discard.io/x",
            "volcano.io/card.policy",
            "nvidia.com/card",
            "",
            "/",
            "volcano.sh/",
            "card",
        ),
        "example.com/" + "card." * 20_000,
    ],
)
def test_nothing_is_said_of_keys_of_others(keys: KeysOfKind, key: str) -> None:
    assert keys.meaningless([key]) == []


def test_five_are_told_and_nobody_twice() -> None:
    keys = [f"volcano.sh/card.polcy{n}" for n in range(9)]
    assert [key for key, _ in KEYS_OF_QUEUES.meaningless(keys)] == keys[:5]
    assert KEYS_OF_QUEUES.meaningless(keys, before=keys) == []


def test_of_many_keys_few_are_compared() -> None:
    others = [f"volcano.sh/{n}" for n in range(MOST_COMPARED)]
    assert KEYS_OF_PODS.meaningless([*others[1:], "volcano.sh/card-name"])
    assert not KEYS_OF_PODS.meaningless([*others, "volcano.sh/card-name"])
    many = (f"a/{n}" for n in range(60_000))
    assert KEYS_OF_PODS.meaningless([*many, "volcano.sh/card-name"])


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("scheduling.volcano.sh/queuename", v.QUEUE_NAME),
        ("volcano.sh/card.name", ""),
        ("volcano.sh/card-quota", ""),
    ],
)
def test_on_a_namespace(key: str, meant: str) -> None:
    assert KEYS_OF_NAMESPACES.meaningless([key]) == [(key, meant)]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("card-quota", v.NAMESPACE_MODE),
        ("volcano.sh/card.quota", v.NAMESPACE_MODE),
        ("volcano.sh/card-qouta", v.NAMESPACE_MODE),
        ("volcano.sh/card.mode", ""),
    ],
)
def test_a_label_of_a_namespace(key: str, meant: str) -> None:
    assert LABELS_OF_NAMESPACES.meaningless([key]) == [(key, meant)]


def test_what_others_write_on_a_namespace_is_left_alone() -> None:
    for keys in (KEYS_OF_NAMESPACES, LABELS_OF_NAMESPACES):
        others = ("kueue.x-k8s.io/queue-name", "card", "card-holder", "example.com/card-quota")
        assert keys.meaningless(others) == []
