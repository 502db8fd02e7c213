"""What the pages say in words before a command, done by a test."""

from collections.abc import Callable
from typing import Any, Final

from cardquota_dev.paths import CHECKOUT
from cardquota_dev.testing import eventually
from integration.asking import ask

from .reader import Reader, yaml_blocks

FIRST_DAY = CHECKOUT / "docs" / "first-day.md"
INSTALL = CHECKOUT / "docs" / "install.md"
REVIEWS = CHECKOUT / "docs" / "reviews.md"
OPERATIONS = CHECKOUT / "docs" / "operations.md"
_README = CHECKOUT / "README.md"


def looks_first(reader: Reader) -> None:
    """The kustomization of the install guide, with the component of the first day."""
    component, *_ = yaml_blocks(FIRST_DAY)
    reader.writes(yaml_blocks(INSTALL)[0] + component)


def writes_queue_and_namespace(reader: Reader) -> None:
    """The README's queue, and a team's namespace."""
    queue, *_ = yaml_blocks(_README)[0].split("---\n")
    reader.cluster.apply(queue)
    reader.cluster.apply("{apiVersion: v1, kind: Namespace, metadata: {name: research}}")


def lets_some_days_pass(reader: Reader) -> None:
    """A team fills its quota, then twelve pods come that would wait, and three too many."""
    _creates(reader, "research", "pods", _pod("serves", cards=3))
    _until_shown(reader, "NVIDIA-H200 3/3")
    _creates(reader, "research", "jobs", _job("trains", 12, cards=1))
    for number in range(3):
        _creates(reader, "research", "pods", _pod(f"more-{number}", cards=1))


def covers_labelled_namespaces(reader: Reader) -> None:
    """The component `labelled` for `labelled-audit`."""
    assert "components/labelled-audit" in reader.written()
    reader.writes(reader.written().replace("components/labelled-audit", "components/labelled"))


def a_team_fills_its_queue(reader: Reader) -> None:
    """A Deployment holds all, and a pod waits, since the queue lets all pods wait."""
    _done(reader, "kubectl delete namespace research --wait=false")
    _done(reader, "kubectl annotate queue research volcano.sh/card.policy=Gate")
    _a_namespace(reader, "team")
    pod = _pod("", cards=1)
    pod["metadata"]["labels"] = {"app": "chat"}
    pod["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "hopper-2"}  # the other stays whole
    chat = {
        "metadata": {"name": "chat"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "chat"}}, "template": pod},
    }
    _creates(reader, "team", "deployments", chat)
    # Pods of the former namespace may still hold the quota. The one that waits comes after these.
    listed = "kubectl -n team get pods -l app=chat -o name"
    eventually(lambda: len(reader.runs(listed)[1].split()) == 3, "three pods", every=0.5)
    _creates(reader, "team", "pods", _pod("train-0", cards=2))


def another_team_has_one(reader: Reader) -> None:
    """Of three cards another namespace has one; a Job waits for two; a queue has four."""
    _done(reader, "kubectl -n team delete pod train-0")
    _done(reader, "kubectl -n team scale deployment chat --replicas=2")
    _a_namespace(reader, "others")
    reader.cluster.apply(yaml_blocks(_README)[0].split("---\n")[0].replace("research", "spare")
        .replace('"NVIDIA-H200": 3, "NVIDIA-H800": 2', '"NVIDIA-H200": 4'))  # fmt: skip
    _creates(reader, "others", "pods", _pod("one", cards=1))
    _until_shown(reader, "NVIDIA-H200 3/3")
    _creates(reader, "team", "jobs", _job("train", 1, cards=2))


BEFORE: Final[dict[tuple[str, str], Callable[[Reader], None]]] = {
    (FIRST_DAY.name, "kubectl apply -k ."): looks_first,
    (FIRST_DAY.name, "kubectl annotate namespace"): writes_queue_and_namespace,
    (FIRST_DAY.name, "kubectl cardquota check --audit"): lets_some_days_pass,
    (FIRST_DAY.name, "kubectl label namespace research volcano.sh/card-quota=enforced"): (
        covers_labelled_namespaces
    ),
    (REVIEWS.name, "kubectl cardquota queue research"): a_team_fills_its_queue,
    (REVIEWS.name, "kubectl cardquota explain job train"): another_team_has_one,
}
"""By page and how a command begins, the first time."""


def _a_namespace(reader: Reader, name: str) -> None:
    reader.cluster.apply(
        f"""{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}, labels:
        {{volcano.sh/card-quota: enforced}}, annotations:
        {{scheduling.volcano.sh/queue-name: research}}}}}}"""
    )


def _done(reader: Reader, command: str) -> None:
    """With a webhook by its address, calls fail for a moment after `kubectl apply`."""
    eventually(lambda: reader.runs(command)[0] == 0, command, 10, every=0.5)


def _creates(reader: Reader, namespace: str, kind: str, body: dict[str, Any]) -> None:
    api = {"pods": "/api/v1", "jobs": "/apis/batch/v1", "deployments": "/apis/apps/v1"}[kind]
    path = f"{api}/namespaces/{namespace}/{kind}"
    eventually(lambda: ask(reader.cluster, "POST", path, body).ok, f"{kind} in {namespace}")


def _until_shown(reader: Reader, cards: str) -> None:
    eventually(lambda: cards in reader.runs("kubectl get queue research")[1], cards, every=0.5)


def _pod(name: str, *, cards: int) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": cards}}}
    annotations = {"volcano.sh/card.name": "NVIDIA-H200"}
    return {
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"containers": [container]},
    }


def _job(name: str, pods: int, *, cards: int) -> dict[str, Any]:
    template = _pod("", cards=cards)
    template["spec"]["restartPolicy"] = "Never"
    spec = {"parallelism": pods, "completions": pods, "template": template}
    return {"metadata": {"name": name}, "spec": spec}
