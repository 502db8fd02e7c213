"""The operator's rights, one by one: what stands here is used, and nothing else is granted."""

from pathlib import Path
from typing import Any

import yaml

from cardquota.install import documents as rendered
from cardquota.install import plural
from cardquota.settings import Extender, GateSetter, Settings, Webhook

MANIFESTS = Path(__file__).parents[3] / "manifests"


EVERYWHERE = {
    # what the ledger is fed with
    ("", "pods", "", "list watch"),
    ("", "nodes", "", "list watch"),
    ("", "namespaces", "", "list watch"),
    ("scheduling.volcano.sh", "queues", "", "list watch"),
    ("scheduling.volcano.sh", "podgroups", "", "list watch"),
    ("scheduling.k8s.io", "priorityclasses", "", "list watch"),
    # what the API server adds to a workload's pods
    ("", "limitranges", "", "list watch"),
    ("node.k8s.io", "runtimeclasses", "", "list watch"),
    # how many pods a workload wants, and of which kind
    ("apps", "deployments", "", "list watch"),
    ("apps", "statefulsets", "", "list watch"),
    ("apps", "replicasets", "", "list watch"),
    ("apps", "daemonsets", "", "list watch"),
    ("batch", "jobs", "", "list watch"),
    # has a controller whose pods were refused try again
    ("apps", "replicasets/status", "", "patch"),
    ("apps", "statefulsets/status", "", "patch"),
    ("apps", "daemonsets/status", "", "patch"),
    ("batch", "jobs/status", "", "patch"),
    # by which resource names devices are claimed that no quota counts
    ("resource.k8s.io", "deviceclasses", "", "list watch"),
    # whether the devices of a pod's claims are cards
    ("resource.k8s.io", "resourceclaims", "", "get"),
    ("resource.k8s.io", "resourceclaimtemplates", "", "get"),
    # whether a queue is there that the watch has not told of
    ("scheduling.volcano.sh", "queues", "", "get"),
    # gates; settling what became of a patch
    ("", "pods", "", "get patch"),
    # reservations and phases
    ("scheduling.volcano.sh", "podgroups", "", "get patch"),
    # what people see
    ("scheduling.volcano.sh", "queues/status", "", "patch"),
    ("", "events", "", "create patch"),
    # what the definition of Queues keeps
    (
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        "queues.scheduling.volcano.sh",
        "list watch",
    ),
    # CA bundles
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations", "cardquota", "get patch"),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations", "cardquota", "get patch"),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        "cardquota-scales",
        "get patch",
    ),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        "cardquota-reviews",
        "get patch",
    ),
    # whether the policies are those that were rendered, whoever sets the gate and binds
    *(
        ("admissionregistration.k8s.io", plural(one["kind"]), one["metadata"]["name"], "get")
        for gate in GateSetter
        for one in rendered(Settings(webhook=Webhook(gate=gate), extender=Extender(enabled=True)))
        if not one["kind"].endswith("WebhookConfiguration")
    ),
}
IN_ITS_OWN_NAMESPACE = {
    # a create cannot be restricted by name
    ("coordination.k8s.io", "leases", "", "create"),
    ("coordination.k8s.io", "leases", "cardquota", "get patch watch"),
    # what the policies compare a term with
    ("cardquota.volcano.sh", "terms", "", "create"),
    ("cardquota.volcano.sh", "terms", "cardquota", "get patch"),
    # events about the installation stand on the namespace
    ("", "namespaces", "cardquota-system", "get"),
    # whether another scheduler writes phases: it is shown a group of ours
    ("scheduling.volcano.sh", "podgroups", "", "create"),
    ("", "secrets", "", "create"),
    ("", "secrets", "cardquota-webhook", "get patch"),
}
WITH_THE_EXTENDER = [
    # binds; policies say in which term, and what it may carry
    ("", "pods/binding", "", "create"),
    # certificates of server and callers
    ("", "secrets", "cardquota-extender", "get patch"),
    ("", "secrets", "cardquota-extender-client", "get patch"),
    # broken cards, in kube-system; a part of a name cannot restrict it
    ("", "configmaps", "", "list watch"),
]
BESIDE_VOLCANO = {
    ("scheduling.volcano.sh", "queues", "", "patch"),
    # which cards the pods of a Job will ask for
    ("batch.volcano.sh", "jobs", "", "get"),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        "cardquota-refused",
        "get patch",
    ),
    # the CA bundle of the webhook for Volcano's Jobs
    (
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
        "cardquota-volcano-jobs",
        "get patch",
    ),
}


def documents(path: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((MANIFESTS / path).read_text()))


def granted(path: str, kind: str) -> set[tuple[str, str, str, str]]:
    """API group, resource, name and verbs of every rule of the only role of this kind."""
    (role,) = (one for one in documents(path) if one["kind"] == kind)
    return set(rules(role))


def rules(role: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [
        (group, resource, name, " ".join(sorted(rule["verbs"])))
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", [""])
    ]


def test_the_operators_rights_in_all_namespaces() -> None:
    assert granted("base/rbac.yaml", "ClusterRole") == EVERYWHERE


def test_the_operators_rights_in_its_own_namespace() -> None:
    assert granted("base/rbac.yaml", "Role") == IN_ITS_OWN_NAMESPACE


def test_the_operators_rights_beside_volcano() -> None:
    """There its numbers stand in an annotation of the Queue; a policy lets it write no other."""
    assert granted("components/volcano/rbac.yaml", "ClusterRole") == BESIDE_VOLCANO


def test_the_operators_rights_with_the_extender() -> None:
    """Without the component it has none of them: the base works without the extender."""
    roles = [one for one in documents("components/extender/rbac.yaml") if "rules" in one]
    assert [rule for role in roles for rule in rules(role)] == WITH_THE_EXTENDER
    assert [one["metadata"].get("namespace") for one in roles] == [
        None,
        "cardquota-system",
        "kube-system",
    ]


def test_nobody_else_is_given_them() -> None:
    components = ("volcano", "extender", "metrics-authentication")
    for path in ("base/rbac.yaml", *(f"components/{name}/rbac.yaml" for name in components)):
        bindings = [one for one in documents(path) if one["kind"].endswith("Binding")]
        assert {
            (s["kind"], s["namespace"], s["name"]) for one in bindings for s in one["subjects"]
        } == {("ServiceAccount", "cardquota-system", "cardquota")}


def test_f4_who_sets_quotas_may_ask_who_holds_them_and_a_tenant_of_his_own_workloads() -> None:
    """The answer about a queue names workloads of all namespaces."""
    may = {
        (role["metadata"]["name"], resource): rule["verbs"]
        for role in documents("base/roles.yaml")
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
        for role in documents(str(file)):
            for rule in role.get("rules", ()):
                assert "*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"]
