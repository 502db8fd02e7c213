"""The rights that the operator is said to need are those that the manifests grant, all of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from cardquota.install import Right, in_words
from cardquota.install.rights import rights
from cardquota.quota.vocabulary import ReclaimMode
from cardquota.reclaim_settings import Reclaim
from cardquota.settings import (
    CoveredNamespaces,
    Extender,
    GateSetter,
    InstallationMode,
    MetricsServer,
    Settings,
    Webhook,
    WebPage,
)

MANIFESTS = Path(__file__).parents[3] / "manifests"
VOLCANO = Settings(scheduler="volcano")
EXTENDER = Settings(extender=Extender(enabled=True))


def roles(path: str) -> list[dict[str, Any]]:
    """And their bindings."""
    return list(yaml.safe_load_all((MANIFESTS / path).read_text()))


def granted(*paths: str) -> set[Right]:
    found = (one for path in paths for one in roles(path) if "rules" in one)
    return {right for role in found for right in _of_role(role)}


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


def anywhere(right: Right) -> Right:
    """What a ClusterRole grants where an administrator chooses the namespace of others."""
    return right._replace(namespace="") if right.namespace == "volcano-system" else right


BASE, BESIDE, BINDS, ASKS = (
    "base/rbac.yaml",
    "components/volcano/rbac.yaml",
    "components/extender/rbac.yaml",
    "components/metrics-authentication/rbac.yaml",
)
SHOWN = "components/page/rbac.yaml"
EVICTS = "components/reclaim/rbac.yaml"
GUARDED = Settings(metrics=MetricsServer(authentication=True))
PAGED = Settings(page=WebPage(enabled=True))
RECLAIMS = Settings(reclaim=Reclaim(mode=ReclaimMode.DRY_RUN))
RECLAIMS_BESIDE = Settings(scheduler="volcano", reclaim=Reclaim(mode=ReclaimMode.ON))
BY_POLICY = Settings(webhook=Webhook(gate=GateSetter.POLICY))


def test_each_is_granted() -> None:
    assert needed(Settings()) <= granted(BASE)
    assert needed(BY_POLICY) <= granted(BASE)
    assert needed(Settings(namespaces=CoveredNamespaces.LABELLED)) <= granted(BASE)
    assert set(map(anywhere, needed(VOLCANO))) <= granted(BASE, BESIDE)
    assert needed(EXTENDER) <= granted(BASE, BINDS)
    assert needed(GUARDED) <= granted(BASE, ASKS)
    assert needed(PAGED) <= granted(BASE, SHOWN)
    assert needed(RECLAIMS) <= granted(BASE, EVICTS)
    assert set(map(anywhere, needed(RECLAIMS_BESIDE))) <= granted(BASE, BESIDE, EVICTS)


def test_l6_without_reclaiming_nobody_may_be_evicted() -> None:
    evicts = Right("create", "", "pods/eviction")
    assert evicts in needed(RECLAIMS)
    for settings in (Settings(), VOLCANO, EXTENDER):
        assert evicts not in needed(settings)
    assert evicts not in granted(BASE, BESIDE, BINDS, ASKS, SHOWN)


def test_nothing_else_is_granted() -> None:
    audit = Settings(mode=InstallationMode.AUDIT, webhook=Webhook(gate=GateSetter.POLICY))
    labelled = Settings(namespaces=CoveredNamespaces.LABELLED)
    every = (Settings(), BY_POLICY, VOLCANO, EXTENDER, GUARDED, PAGED, audit, labelled)
    reclaiming = (RECLAIMS, RECLAIMS_BESIDE)
    found = set(map(anywhere, set().union(*map(needed, (*every, *reclaiming)))))
    assert granted(BASE, BESIDE, BINDS, ASKS, SHOWN, EVICTS) <= found


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        (VOLCANO, BESIDE),
        (EXTENDER, BINDS),
        (GUARDED, ASKS),
        (PAGED, SHOWN),
        (RECLAIMS, EVICTS),
    ],
)
def test_a_component_grants_what_its_setting_alone_needs(settings: Settings, path: str) -> None:
    assert granted(path) <= set(map(anywhere, needed(settings)))


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


def test_nobody_else_is_given_them() -> None:
    components = ("volcano", "extender", "metrics-authentication", "page", "reclaim")
    for path in ("base/rbac.yaml", *(f"components/{name}/rbac.yaml" for name in components)):
        bindings = [one for one in roles(path) if one["kind"].endswith("Binding")]
        assert {
            (s["kind"], s["namespace"], s["name"]) for one in bindings for s in one["subjects"]
        } == {("ServiceAccount", "cardquota-system", "cardquota")}


def test_f4_who_sets_quotas_may_ask_who_holds_them_and_a_tenant_of_his_own_workloads() -> None:
    """The answer about a queue names workloads of all namespaces."""
    may = {
        (role["metadata"]["name"], resource): rule["verbs"]
        for role in roles("base/roles.yaml")
        for rule in role["rules"]
        if rule["apiGroups"] == ["cardquota.volcano.sh"]
        for resource in rule["resources"]
    }
    assert may == {
        ("cardquota-queue-admin", "queuereviews"): ["create"],
        ("cardquota-tenant-explain", "workloadreviews"): ["create"],
    }


def test_no_right_is_given_by_a_star() -> None:
    files = [*MANIFESTS.rglob("*rbac.yaml"), *MANIFESTS.rglob("roles.yaml")]
    assert len(files) > 4
    for file in files:
        for role in roles(str(file)):
            for rule in role.get("rules", ()):
                assert "*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"]
