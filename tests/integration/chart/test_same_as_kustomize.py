"""The chart and `manifests` are two ways to the same objects."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from cardquota.install.manifests import documents
from cardquota.settings import settings_from

from .helm import by_helm, by_kustomize, comparable

pytestmark = pytest.mark.long

EXTENDER = {"extender": {"enabled": True}}
VOLCANO = {"scheduler": "volcano"}
BY_POLICY = {"webhook": {"gate": "policy"}}


@pytest.mark.parametrize(
    ("components", "values"),
    [
        ((), {}),
        (("audit",), {"config": {"mode": "audit"}}),
        (("labelled-audit",), {"config": {"mode": "audit", "namespaces": "labelled"}}),
        (("gate-policy",), {"config": BY_POLICY}),
        (("extender", "gate-policy"), {"config": EXTENDER | BY_POLICY}),
        (("volcano", "gate-policy"), {"config": VOLCANO | BY_POLICY}),
        (("reclaim",), {"config": {"reclaim": "dryRun"}}),
        (
            (
                *("cert-manager", "metrics-authentication", "page"),
                *("alerts", "board", "pod-monitor", "node"),
            ),
            {
                "certManager": {"enabled": True},
                "config": {"metrics": {"authentication": True}, "page": {"enabled": True}},
                "alerts": {"enabled": True},
                "board": {"enabled": True},
                "monitor": {"kind": "PodMonitor"},
                "nodeAgent": {"enabled": True},
            },
        ),
    ],
    ids=lambda one: " ".join(one) or "base" if isinstance(one, tuple) else "",
)
def test_a_component_is_some_values(
    tmp_path: Path, components: tuple[str, ...], values: dict[str, Any]
) -> None:
    found = comparable(by_helm(tmp_path, values))
    wanted = comparable(by_kustomize(tmp_path, *components))
    assert set(found) == set(wanted)
    for key, one in wanted.items():
        assert found[key] == one


@pytest.mark.parametrize(
    "config",
    [
        {},
        {
            "requireQueue": True,
            "exemptNamespaces": ["monitoring", "kube-system", "a"],
            "deviceClassesWithoutCards": [],
            "webhook": {"timeoutSeconds": 9, "url": "https://quota.example:8443"},
            "scale": {"autoscalers": ["system:serviceaccount:keda:operator", 'odd "\\ <user>']},
        },
        {"mode": "audit", "defaultQueue": "shared", "exemptNamespaces": [], **EXTENDER},
        {**VOLCANO, **EXTENDER, "mode": "audit", "volcano": {"accounts": ["system:a", "b"]}},
        {**VOLCANO, **BY_POLICY, **EXTENDER, "volcano": {"accounts": []}, "requireQueue": True},
        {"namespaces": "labelled", "mode": "audit", "requireNamespaces": True},
        {**VOLCANO, **BY_POLICY, "namespaces": "labelled", "requireQueue": True},
        {"reclaim": True, "mode": "audit"},
        {**VOLCANO, "reclaim": {"mode": "on", "after": 5}, "preempt": {"after": 5}},
        {"reclaim": {"after": 5}},
        {
            "deviceClassesWithoutCards": ["a.example", "b.example"],
            "vendors": [
                {"name": "Example", "prefix": "example.com", "type": "x-pu.2"},
                {
                    "name": "Other",
                    "prefix": "nvidia.com",
                    "type": "gpu",
                    "resources": ["legacy.example/n-pu"],
                    "resourcePrefix": "gp-u",
                    "productLabels": ["other.example/model"],
                },
            ],
        },
    ],
    ids=[
        *("defaults", "marks", "audit", "volcano", "everything"),
        *("labelled audit", "labelled"),
        *("reclaim", "reclaim beside volcano", "no reclaim", "vendors"),
    ],
)
@pytest.mark.parametrize("namespace", ["cardquota-system", "1"])
def test_it_renders_what_the_operator_prints(
    tmp_path: Path, config: dict[str, Any], namespace: str
) -> None:
    found = by_helm(tmp_path, {"config": config}, namespace)
    stored = yaml.safe_load(found["ConfigMap", namespace, "cardquota"]["data"]["config.yaml"])
    settings = settings_from(stored, "config.yaml", {})
    given = settings_from({"namespace": namespace, **config}, "config", {})
    assert settings.model_dump() == given.model_dump()
    ours = [one for one in found.values() if "admissionregistr" in one["apiVersion"]]
    wanted = documents(settings)
    assert sorted(map(str, ours)) == sorted(map(str, wanted))
