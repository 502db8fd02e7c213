"""Which workload was meant by a wrong name, or a wrong kind."""

import pytest

from builders import a_group
from cardquota.quota import close_names, to_its_end
from cardquota.quota.answers import AskedWorkload, workload_meant
from cardquota.quota.ledger import Ledger

from .asked_cluster import a_cluster, holding, of_deployment, see_workload, waiting


def meant(ledger: Ledger, kind: str, name: str, namespace: str = "team") -> str:
    return to_its_end(workload_meant(ledger, AskedWorkload(kind, namespace, name)))


def a_namespace() -> Ledger:
    ledger = a_cluster(
        a_group("gang").in_queue("queue"),
        waiting("w1"),
        holding("bare-pod"),
        of_deployment("chat", "5d4f", holding("c1")),
    )
    see_workload(ledger, "StatefulSet", "database")
    see_workload(ledger, "Deployment", "server")
    return ledger


@pytest.mark.parametrize(
    ("kind", "name", "found"),
    [
        ("Deployment", "caht", "chat"),
        ("Deployment", "serve", "server"),
        ("StatefulSet", "databse", "database"),
        ("Job", "trian", "train"),
        ("ReplicaSet", "chat-5d4g", "chat-5d4f"),
        ("Pod", "bare-pdo", "bare-pod"),
        ("PodGroup", "gnag", "gang"),
        ("Deployment", "quite-different", ""),
        ("PodGroup", "quite-different", ""),
        ("Pod", "b" * 64, ""),
    ],
)
def test_f5_the_nearest_of_the_same_kind(kind: str, name: str, found: str) -> None:
    assert meant(a_namespace(), kind, name) == found


@pytest.mark.parametrize(
    ("kind", "name", "found"),
    [
        ("StatefulSet", "chat", "Deployment/chat"),
        ("Deployment", "database", "StatefulSet/database"),
        ("Deployment", "gang", "PodGroup/gang"),
        ("PodGroup", "train", "Job/train"),
        ("Job", "bare-pod", "Pod/bare-pod"),
    ],
)
def test_f5_the_same_name_of_another_kind(kind: str, name: str, found: str) -> None:
    assert meant(a_namespace(), kind, name) == found


def test_f4_names_of_another_namespace_are_never_told() -> None:
    for kind in ("Deployment", "StatefulSet", "PodGroup", "Pod"):
        for name in ("chat", "caht", "databse", "gnag", "bare-pdo", "server"):
            assert meant(a_namespace(), kind, name, "other") == ""


def test_f5_a_job_that_is_known_is_not_meant_by_its_own_name() -> None:
    assert meant(a_namespace(), "Job", "train") == ""


def test_i5_among_more_than_a_thousand_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = a_namespace()
    for number in range(20):
        see_workload(ledger, "Deployment", f"web-{number}x")
    assert meant(ledger, "Deployment", "serve") == "server"
    monkeypatch.setattr(close_names, "MOST_NAMES", 9)
    assert meant(ledger, "Deployment", "serve") == ""
