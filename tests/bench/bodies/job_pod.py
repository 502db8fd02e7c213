"""A pod of a training Job, as JSON of the size an API server would return: 3 to 4 KB.

`metadata.managedFields` are left out of stored pods: a real API server adds 1 to 2 KB of them,
which we skip unread.
"""

import json
from typing import Any, Final, Literal

from cardquota.quota import vocabulary as v

SHARE: Final = "nvidia.com/gpu.shared"
WHOLE: Final = "nvidia.com/gpu"
TERM: Final = "cardquota-6f9c7d5b8-x2k4p_0a1b2c3d4e"
"""Of whom its gate was opened by."""
UID: Final = "705ab4f5-6393-11e8-b7cc-42010a800002"
"""Of a review."""


def template(state: Literal["gated", "open", "bound"]) -> bytes:
    """Encoded once, to be filled in by `%` many times: see the names in the text."""
    pod = _pod()
    notes, spec = pod["metadata"]["annotations"], pod["spec"]
    match state:
        case "gated":
            spec["schedulingGates"] = [{"name": v.GATE}]
            pod["status"] = _unscheduled("SchedulingGated")
        case "open":
            notes.update(_stamp())
            spec["affinity"] = _affinity()
            pod["status"] = _unscheduled("Unschedulable")
        case _:
            notes.update(_stamp())
            spec["affinity"] = _affinity()
            spec["nodeName"] = "%(node)s"
            pod["status"] = _running()
    text = json.dumps(pod, separators=(",", ":"))
    return text.replace('"annotations":{', '"annotations":{%(gang)s', 1).encode()


def _stamp() -> dict[str, str]:
    return {v.ALLOCATED: '{"%(card)s": 1}', v.CHARGED_QUEUE: "%(queue)s", v.TERM: TERM}


def _affinity() -> dict[str, Any]:
    labels = (("product", "%(product)s"), ("replicas", "16"), ("sharing-strategy", "mps"))
    wanted = [
        {"key": f"nvidia.com/gpu.{key}", "operator": "In", "values": [value]}
        for key, value in labels
    ]
    terms = {"nodeSelectorTerms": [{"matchExpressions": wanted}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def _unscheduled(reason: str) -> dict[str, Any]:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": reason,
        "lastProbeTime": None,
        "lastTransitionTime": "%(born)s",
        "message": "0/1000 nodes are available: 1000 Insufficient nvidia.com/gpu.shared.",
    }
    return {"phase": "Pending", "conditions": [condition], "qosClass": "Burstable"}


def _running() -> dict[str, Any]:
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    container = {
        "name": "main",
        "state": {"running": {"startedAt": "%(bound)s"}},
        "lastState": {},
        "ready": True,
        "started": True,
        "restartCount": 0,
        "image": "registry.example/ml/trainer:2026.01.3",
        "imageID": "registry.example/ml/trainer@sha256:%(image)s",
        "containerID": "containerd://%(image)s",
    }
    return {
        "phase": "Running",
        "conditions": [
            {
                "type": kind,
                "status": "True",
                "lastProbeTime": None,
                "lastTransitionTime": "%(bound)s",
            }
            for kind in kinds
        ],
        "hostIP": "10.0.0.7",
        "podIP": "%(ip)s",
        "podIPs": [{"ip": "%(ip)s"}],
        "startTime": "%(bound)s",
        "containerStatuses": [container],
        "qosClass": "Burstable",
    }


def _pod() -> dict[str, Any]:
    amounts = {"cpu": "8", "memory": "32Gi", SHARE: "1"}
    env: list[dict[str, Any]] = [
        {"name": f"TRAINER_SETTING_{i}", "value": f"value-{i}"} for i in range(6)
    ]
    field = {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}
    env.append({"name": "POD_NAME", "valueFrom": field})
    mounts = [
        {"name": "data", "mountPath": "/data"},
        {"name": "shm", "mountPath": "/dev/shm"},
        {
            "name": "kube-api-access",
            "readOnly": True,
            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        },
    ]
    container = {
        "name": "main",
        "image": "registry.example/ml/trainer:2026.01.3",
        "command": ["python", "-m", "trainer"],
        "args": ["--config=/data/config.yaml", "--resume=auto"],
        "env": env,
        "resources": {"limits": dict(amounts), "requests": dict(amounts)},
        "volumeMounts": mounts,
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {
            "configMap": {
                "name": "kube-root-ca.crt",
                "items": [{"key": "ca.crt", "path": "ca.crt"}],
            }
        },
    ]
    tolerations = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    ]
    return {
        "metadata": {
            "name": "%(job)s-%(suffix)s",
            "generateName": "%(job)s-",
            "namespace": "%(queue)s",
            "uid": "%(uid)s",
            "resourceVersion": "%(revision)s",
            "creationTimestamp": "%(born)s",
            "labels": {
                "batch.kubernetes.io/controller-uid": "%(owner)s",
                "batch.kubernetes.io/job-name": "%(job)s",
                "job-name": "%(job)s",
                "app.kubernetes.io/name": "trainer",
                v.MANAGED: v.IS_MANAGED,
            },
            "annotations": {v.CARD_NAME: "%(card)s", v.QUEUE_NAME: "%(queue)s"},
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "name": "%(job)s",
                    "uid": "%(owner)s",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
            "finalizers": ["batch.kubernetes.io/job-tracking"],
        },
        "spec": {
            "volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "shm", "emptyDir": {"medium": "Memory"}},
                {"name": "kube-api-access", "projected": {"sources": sources, "defaultMode": 420}},
            ],
            "containers": [container],
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "serviceAccountName": "default",
            "serviceAccount": "default",
            "securityContext": {},
            "schedulerName": "default-scheduler",
            "tolerations": tolerations,
            "priority": 0,
            "enableServiceLinks": True,
            "preemptionPolicy": "PreemptLowerPriority",
        },
    }


def to_create(queue: str, namespace: str, product: str, *, named: bool) -> dict[str, Any]:
    """A pod of a Job as admission sees it, about 3 KB with its managed fields.

    It asks for a whole card. `named`: whether it says of which product.
    """
    pod = _pod()
    meta, spec = pod["metadata"], pod["spec"]
    notes = {v.QUEUE_NAME: queue}
    if named:
        notes[v.CARD_NAME] = product
    meta.update(annotations=notes, namespace=namespace, generateName="train-0-")
    for key in ("name", "uid", "resourceVersion", "creationTimestamp"):
        del meta[key]
    meta["labels"] = dict.fromkeys(meta["labels"], "train-0")
    meta["ownerReferences"][0].update(name="train-0", uid="5a6b7c8d-0000-4000-8000-00000000000a")
    limits = spec["containers"][0]["resources"]
    for amounts in limits.values():
        amounts[WHOLE] = amounts.pop(SHARE)
    meta["managedFields"] = [
        {
            "manager": "kube-controller-manager",
            "operation": "Update",
            "apiVersion": "v1",
            "time": "2026-02-01T08:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:metadata": {"f:generateName": {}, "f:labels": {".": {}}},
                "f:spec": {f"f:{key}": {} for key in spec},
            },
        }
    ]
    return {**pod, "status": {}}


def create_review(queue: str, card: str, *, named: bool) -> bytes:
    """The review of its create, as the API server sends it."""
    pod = {"kind": "Pod", "apiVersion": "v1"}
    pods = {"group": "", "version": "v1", "resource": "pods"}
    kind = {"group": "", "version": "v1", "kind": "Pod"}
    controller = "system:serviceaccount:kube-system:job-controller"
    request = {
        "uid": UID,
        "kind": kind,
        "resource": pods,
        "requestKind": kind,
        "requestResource": pods,
        "namespace": "team",
        "operation": "CREATE",
        "userInfo": {
            "username": controller,
            "uid": "c5a3ac11-5c0e-4d0a-8c0b-2c3d4e5f6a7b",
            "groups": ["system:serviceaccounts", "system:authenticated"],
        },
        "object": {**pod, **to_create(queue, "team", card, named=named)},
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    body = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
    return json.dumps(body, separators=(",", ":")).encode()
