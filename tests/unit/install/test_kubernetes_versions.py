"""What is said of an API server's version."""

import pytest

from cardquota.install.kubernetes_versions import (
    FEATURES,
    NEWEST,
    OLDEST,
    KubernetesVersion,
    in_words,
    read_version,
    unsupported,
)
from cardquota.settings import GateSetter, Settings, Webhook
from cardquota_dev.build.versions import MINORS

BY_POLICY = Settings(webhook=Webhook(gate=GateSetter.POLICY))


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v1.33.13", (1, 33)),
        ("v1.34.1-gke.3899000", (1, 34)),
        ("v1.33.5-eks-113cf36", (1, 33)),
        ("v1.36.0+k3s1", (1, 36)),
        ("v2.0.0", (2, 0)),
    ],
)
def test_versions_of_distributions_are_read(text: str, version: tuple[int, int]) -> None:
    assert read_version({"major": "1", "minor": "33+", "gitVersion": text}) == version


@pytest.mark.parametrize("answer", [None, {}, [], {"gitVersion": 1}, {"gitVersion": "v1"}])
def test_what_is_no_version_is_none(answer: object) -> None:
    assert read_version(answer) is None


def test_those_that_are_built_are_those_that_are_supported() -> None:
    assert [f"{OLDEST.major}.{n}" for n in range(OLDEST.minor, NEWEST.minor + 1)] == [*MINORS]
    assert all(OLDEST < one.since <= NEWEST for one in FEATURES.values())


def test_too_old_a_kubernetes_is_one_fault() -> None:
    for version in (KubernetesVersion(1, 32), KubernetesVersion(1, 9)):
        (one,) = unsupported(version, BY_POLICY)
        assert one.reason == "KubernetesTooOld"
        assert one.why.startswith(f"Kubernetes {version} is older than 1.33")
    assert not [*unsupported(OLDEST, Settings())]
    assert not [*unsupported(KubernetesVersion(2, 0), BY_POLICY)]


def test_a_setting_that_needs_a_newer_one_is_a_fault_where_it_is_set() -> None:
    old = KubernetesVersion(1, 35)
    (one,) = unsupported(old, BY_POLICY)
    assert one.why == "`webhook.gate: policy` needs Kubernetes 1.36, and this is 1.35"
    assert one.advice == "set `webhook.gate: webhook`, or upgrade the cluster"
    assert not [*unsupported(old, Settings())]
    assert not [*unsupported(KubernetesVersion(1, 36), BY_POLICY)]


@pytest.mark.parametrize(
    ("minor", "said"),
    [
        (32, "is not supported"),
        (33, "is supported; `webhook.gate: policy` needs 1.36"),
        (36, "is supported"),
        (37, "is newer than 1.36, the newest that is tested"),
    ],
)
def test_one_sentence_of_each(minor: int, said: str) -> None:
    assert in_words(KubernetesVersion(1, minor)) == f"Kubernetes 1.{minor} {said}"
