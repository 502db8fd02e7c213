"""Requests to a plane on which the policies are tried: namespaces, a Lease, users, and pods."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from builders.rendered import render_policies
from cardquota.quota import (
    ALLOCATED,
    CHARGED_QUEUE,
    GATE,
    IS_MANAGED,
    MANAGED,
    QUEUE_NAME,
    RESERVATION,
    REVIEW_GROUP,
    REVIEW_VERSION,
    TERM,
    TERM_KIND,
)
from cardquota.settings import Extender, Settings
from cardquota_dev.testing import Cluster, eventually
from integration.asking import MERGE, ApiReply, ask

SETTINGS = Settings.model_construct(scheduler="volcano")
"""Beside Volcano: elsewhere nobody may do what Volcano does."""
WITH_EXTENDER = Settings.model_construct(extender=Extender(enabled=True))
US = f"--as={SETTINGS.service_account_user}"
NODE = ("--as=system:node:n1", "--as-group=system:nodes")
VOLCANO = "--as=system:serviceaccount:volcano-system:volcano-controllers"
BESIDE_VOLCANO = "--as=system:serviceaccount:volcano-system:default"
"""In its namespace, and none of its accounts."""
TENANT = "--as=tenant"
TEAM = "team"
OWN = SETTINGS.namespace
LEASE = ("lease", "cardquota", "-n", OWN)
THE_TERM = ("term", "cardquota", "-n", OWN)

AUDITED, EXEMPT = "audited", "exempt"
APPLY = "application/apply-patch+yaml"
_OURS = "/apis/scheduling.volcano.sh/v1beta1"
_GROUPS = {
    "Pod": "/api/v1",
    "Queue": _OURS,
    "PodGroup": _OURS,
    "Lease": "/apis/coordination.k8s.io/v1",
    "Term": f"/apis/{REVIEW_GROUP}/{REVIEW_VERSION}",
    "Job": "/apis/batch/v1",
    "CronJob": "/apis/batch/v1",
}
"""Other kinds are of `apps`."""

ROOT = Path(__file__).parents[3]
GATES = [{"name": GATE}]


def pod(
    name: str,
    annotations: dict[str, str] | None = None,
    *,
    cards: int = 0,
    gated: bool = False,
    init_cards: int = 0,
    **spec: Any,
) -> dict[str, Any]:
    """A pod with one container."""
    limits = {"nvidia.com/gpu": str(cards)} if cards else {}
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {
            "automountServiceAccountToken": False,
            "containers": [{"name": "c", "image": "i", "resources": {"limits": limits}}],
            **spec,
        },
    }
    if init_cards:
        document["spec"]["initContainers"] = [
            {"name": "i", "image": "i", "resources": {"limits": {"nvidia.com/gpu": init_cards}}}
        ]
    if gated:
        document["spec"]["schedulingGates"] = GATES
        document["metadata"]["labels"] = {MANAGED: IS_MANAGED}  # both by webhook or policy
    return document


def opening(term: str, **more: Any) -> dict[str, Any]:
    """The patch that opens a gate."""
    annotations = {TERM: term, CHARGED_QUEUE: "q", ALLOCATED: '{"NVIDIA-H200":1}'}
    return {
        "metadata": {"annotations": annotations, "labels": {MANAGED: IS_MANAGED}},
        "spec": {"schedulingGates": None, **more},
    }


@dataclass(frozen=True)
class PolicyApi:
    """What the tests say to the API server, and what they expect to hear."""

    plane: Cluster

    def create(
        self, document: dict[str, Any], *who: str, namespace: str = TEAM, dry: bool = False
    ) -> ApiReply:
        """Create an object; `dry` goes through admission and is not stored."""
        options = {"fieldValidation": "Strict", **_dry(dry)}
        return self._ask("POST", _path(document["kind"], namespace), document, who, **options)

    def patch(
        self, name: str, change: dict[str, Any], *who: str, kind: str = "Pod", dry: bool = False
    ) -> ApiReply:
        """Merge-patch an object of the team."""
        path = f"{_path(kind, TEAM)}/{name}"
        return self._ask("PATCH", path, change, who, content_type=MERGE, **_dry(dry))

    def apply(self, document: dict[str, Any], *who: str) -> ApiReply:
        """Create an object or make it be so, whoever wrote it before."""
        meta = document["metadata"]
        path = f"{_path(document['kind'], meta['namespace'])}/{meta['name']}"
        options = {"fieldManager": "tests", "force": "true", "fieldValidation": "Strict"}
        return self._ask("PATCH", path, document, who, content_type=APPLY, **options)

    def bind(self, name: str, node: str, annotations: dict[str, str], *who: str) -> ApiReply:
        """Post a Binding of a pod of the team."""
        document = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "annotations": annotations},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        return self._ask("POST", f"{_path('Pod', TEAM)}/{name}/binding", document, who)

    def evict(
        self, name: str, annotations: dict[str, str], *who: str, dry: bool = False
    ) -> ApiReply:
        """Evict a pod of the team."""
        document = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": TEAM, "annotations": annotations},
        }
        path = f"{_path('Pod', TEAM)}/{name}/eviction"
        return self._ask("POST", path, document, who, **_dry(dry))

    def _ask(
        self,
        method: str,
        path: str,
        body: object,
        who: tuple[str, ...],
        content_type: str = "application/json",
        **options: str,
    ) -> ApiReply:
        """`who`: by kubectl's flags."""
        flags = [flag.split("=", 1) for flag in who]
        return ask(
            self.plane,
            method,
            f"{path}?{urlencode(options)}",
            body,
            content_type=content_type,
            as_user="".join(value for name, value in flags if name == "--as"),
            as_groups=[value for name, value in flags if name == "--as-group"],
        )

    def kubectl(self, *args: str, text: str | None = None) -> ApiReply:
        """What the other requests are made with; a process each, so they take longer."""
        done = self.plane.kubectl(*args, input=text)
        if done.returncode == 0:
            return ApiReply(200, {}, (done.stderr,))
        return ApiReply(400, {"message": done.stderr}, ())

    def annotate(
        self, name: str, annotations: dict[str, str | None], *who: str, kind: str = "Pod"
    ) -> ApiReply:
        """Set or remove annotations."""
        return self.patch(name, {"metadata": {"annotations": annotations}}, *who, kind=kind)

    def hold_term(self, term: str) -> None:
        """Write the Term as the operator does."""
        document = {
            "apiVersion": f"{REVIEW_GROUP}/{REVIEW_VERSION}",
            "kind": TERM_KIND,
            "metadata": {"name": "cardquota", "namespace": OWN},
            "spec": {"term": term},
        }
        allowed(self.apply(document, US))

    def open_pod(self, name: str, annotations: dict[str, str], **spec: Any) -> None:
        """A pod that went the whole way: born gated, opened in the current term."""
        self.hold_term("now")
        allowed(self.create(pod(name, annotations, cards=1, gated=True, **spec)))
        eventually(lambda: self.patch(name, opening("now"), US).ok)


def _path(kind: str, namespace: str) -> str:
    place = "" if kind == "Queue" else f"/namespaces/{namespace}"
    return f"{_GROUPS.get(kind, '/apis/apps/v1')}{place}/{kind.lower()}s"


def _dry(dry: bool) -> dict[str, str]:
    return {"dryRun": "All"} if dry else {}


def allowed(answer: ApiReply) -> None:
    """The request went through."""
    assert answer.ok, answer.said


CLAUSES = {
    "gate-owner": ("pods", "scheduling gate"),
    "keys": ("pods", "annotations volcano.sh/card."),
    "card-given": ("pods", "annotations ALIYUN_COM_GPU_MEM_ASSIGNED, ALIYUN_COM_GPU_MEM_ASSUME"),
    "fixed": ("pods", "they are fixed once the pod is past its gate"),
    "service-account": ("pods", "cardquota may change only spec.schedulingGates"),
    "reservation-owner": ("podgroups", "cardquota alone writes them"),
    "groups-account": ("podgroups", "cardquota may change only volcano.sh/card.reservation"),
}
"""For each clause of a policy that has several: which one, and what it says when it refuses."""


def refused(answer: ApiReply, policy: str, *words: str) -> None:
    """The request was refused by this policy, or this clause of one, in these words."""
    assert not answer.ok, f"admitted: {answer.said}"
    name, says = CLAUSES.get(policy, (policy, ""))
    assert f"ValidatingAdmissionPolicy 'cardquota-{name}'" in answer.said, answer.said
    assert says in answer.said, answer.said
    for word in words:
        assert word in answer.said


def prepare_plane(plane: Cluster) -> PolicyApi:
    """Apply what an administrator applies, save for operator and webhooks; wait until it holds."""
    api = PolicyApi(plane)
    allowed(api.kubectl("apply", "--server-side", "-k", str(ROOT / "crds")))
    allowed(api.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"))
    for name in ("namespace", "rbac", "roles"):
        path = ROOT / "manifests" / "base" / f"{name}.yaml"
        allowed(api.kubectl("apply", "--server-side", "-f", str(path)))
    for name, label in ((TEAM, None), (AUDITED, "audit"), (EXEMPT, "off")):
        _namespace(api, name, label)
    apply_policies(api)
    _wait_until_active(api)
    return api


def apply_policies(api: PolicyApi, settings: Settings = SETTINGS) -> None:
    """The policies of these settings, by default the defaults, and their bindings."""
    text = render_policies(settings)
    allowed(api.kubectl("apply", "--server-side", "-f", "-", text=text))


def many_containers() -> list[dict[str, Any]]:
    """More containers than any pod has, none of which asks for a card."""
    amounts = {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi", "example.com/nic": "1"}
    return [
        {"name": f"c{number}", "image": "i", "resources": {"limits": amounts}}
        for number in range(300)
    ]


def _namespace(api: PolicyApi, name: str, label: str | None) -> None:
    labels = {"volcano.sh/card-quota": label} if label else {}
    people = [("User", user.removeprefix("--as=")) for user in (TENANT, VOLCANO, BESIDE_VOLCANO)]
    people.append(("Group", "system:nodes"))
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "people", "namespace": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
        "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": who}
            for kind, who in people
        ],
    }
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "default", "namespace": name},
    }
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": labels},
    }
    documents = {"apiVersion": "v1", "kind": "List", "items": [namespace, account, binding]}
    allowed(api.kubectl("apply", "--server-side", "-f", "-", text=json.dumps(documents)))


def _wait_until_active(api: PolicyApi) -> None:
    """Each policy has refused something once. Nothing of it is stored.

    New policies and custom resources, and roles by aggregation, take a moment each.
    """
    queue = {QUEUE_NAME: "q"}
    group = pod_group("probe")
    allowed(api.create(pod("gated", queue, gated=True)))
    allowed(api.create(pod("plain")))
    api.hold_term("now")
    reserve = {"metadata": {"annotations": {RESERVATION: "{}"}}}
    eventually(lambda: api.create(group, TENANT).ok)
    probes: dict[str, Callable[[], ApiReply]] = {
        "pods": lambda: api.patch("gated", {"spec": {"schedulingGates": None}}, dry=True),
        "gate-term": lambda: api.patch("gated", opening("stale"), US, dry=True),
        "podgroups": lambda: api.patch("probe", reserve, kind="PodGroup", dry=True),
        "reservation-term": lambda: api.patch("probe", reserve, US, kind="PodGroup", dry=True),
        "lease": lambda: api.kubectl("delete", *THE_TERM, "--dry-run=server"),
        "bindings": lambda: api.bind("gated", "n", {TERM: "x"}),
    }
    for name, probe in probes.items():
        eventually(partial(_refuses, name, probe))


def _refuses(policy: str, probe: Callable[[], ApiReply]) -> bool:
    return f"cardquota-{policy}'" in probe().said


def pod_group(name: str, annotations: dict[str, str] | None = None) -> dict[str, Any]:
    """A pod group of two."""
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"queue": "q", "minMember": 2},
    }
