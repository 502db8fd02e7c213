"""Whose a pod is, and under which policy: its group, itself, its namespace, the installation."""

import pytest

from builders import CARDS, Body, a_group, a_ledger, a_namespace
from builders.pod import PodBody
from cardquota.quota.accounts import OUTSIDE

from ..red_queue import UNNAMED


def queue_of(pod: PodBody, *things: Body, default: str = "") -> str:
    return a_ledger(*CARDS, *things, default_queue=default).queue_of(pod.facts())


def test_a_group_without_a_queue_leaves_it_to_the_pod() -> None:
    assert queue_of(UNNAMED.in_group("gang").in_queue("own"), a_group()) == "own"
    assert queue_of(UNNAMED.in_group("gang").in_queue("own")) == "own"


# --- V5: the group that Volcano makes for pods that have none ---------------------------------

VOLCANOS = "podgroup-0d9c39a2-8a4b-4c39-9d0e-3f4d2f0e6a11"


@pytest.mark.parametrize(
    ("own", "namespace", "default", "queue"),
    [
        ("own", "teams", "all", "own"),
        (None, "teams", "all", "teams"),
        (None, None, "all", "all"),
        (None, None, "", OUTSIDE),
        ("default", "teams", "all", "default"),
    ],
)
def test_v5_volcanos_default_changes_nobodys_queue(
    own: str | None, namespace: str | None, default: str, queue: str
) -> None:
    late = a_group(VOLCANOS).in_queue("default")
    pod = UNNAMED.in_group(VOLCANOS).in_queue(own)
    team = a_namespace().with_default_queue(namespace)
    assert queue_of(pod, team, late, default=default) == queue
    assert queue_of(pod.in_group(None), team, default=default) == queue
