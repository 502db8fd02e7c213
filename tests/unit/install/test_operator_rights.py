"""The rights that the operator is said to need are those that the manifests grant, all of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from cardquota.install import Right, in_words
from cardquota.install.rights import rights
from cardquota.settings import (
    Extender,
    GateSetter,
    InstallationMode,
    MetricsServer,
    Settings,
    Webhook,
)

MANIFESTS = Path(__file__).parents[3] / "manifests"
VOLCANO = Settings(scheduler="volcano")
EXTENDER = Settings(extender=Extender(enabled=True))


def granted(*paths: str) -> set[Right]:
    files = ((MANIFESTS / path).read_text() for path in paths)
    roles = (one for text in files for one in yaml.safe_load_all(text) if "rules" in one)
    return {right for role in roles for right in _of_role(role)}


def _of_role(role: dict[str, Any]) -> Iterator[Right]:
    namespace = role["metadata"].get("namespace", "")
    for rule in role["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for name in rule.get("resourceNames", [""]):
                    for verb in rule["verbs"]:
                        yield Right(verb, group, resource, name, namespace)


def needed(settings: Settings) -> set[Right]:
    return set(rights(settings))


BASE, BESIDE, BINDS, ASKS = (
    "base/rbac.yaml",
    "components/volcano/rbac.yaml",
    "components/extender/rbac.yaml",
    "components/metrics-authentication/rbac.yaml",
)
GUARDED = Settings(metrics=MetricsServer(authentication=True))
BY_POLICY = Settings(webhook=Webhook(gate=GateSetter.POLICY))


def test_each_is_granted() -> None:
    assert needed(Settings()) <= granted(BASE)
    assert needed(BY_POLICY) <= granted(BASE)
    assert needed(VOLCANO) <= granted(BASE, BESIDE)
    assert needed(EXTENDER) <= granted(BASE, BINDS)
    assert needed(GUARDED) <= granted(BASE, ASKS)


def test_nothing_else_is_granted() -> None:
    audit = Settings(mode=InstallationMode.AUDIT, webhook=Webhook(gate=GateSetter.POLICY))
    every = (Settings(), BY_POLICY, VOLCANO, EXTENDER, GUARDED, audit)
    assert granted(BASE, BESIDE, BINDS, ASKS) <= set().union(*map(needed, every))


def test_a_secret_that_somebody_else_keeps_is_only_read() -> None:
    given = rights(Settings(webhook=Webhook(certificates="secret")))
    assert {one.verb for one in given if one.resource == "secrets"} == {"get"}


def test_names_are_those_of_the_settings() -> None:
    found = rights(Settings(namespace="quota", webhook=Webhook(secret="tls")))
    assert Right("get", "", "secrets", "tls", "quota") in found


def test_in_words() -> None:
    some = [
        Right("list", "", "pods"),
        Right("watch", "", "pods"),
        Right("patch", "", "pods"),
        Right("get", "coordination.k8s.io", "leases", "cardquota", "cardquota-system"),
    ]
    assert in_words(some) == [
        "list, watch and patch pods",
        "get leases.coordination.k8s.io <cardquota> in cardquota-system",
    ]
