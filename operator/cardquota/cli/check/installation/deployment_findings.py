"""Whether the operator's replicas are ready, and of the command's version. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....quota.vocabulary import DEPLOYMENT
from ... import sentences
from ...object_answer import inner
from ..finding import Finding
from .installation_fault import fault

_VERSION_LABEL: Final = "app.kubernetes.io/version"
_VERSION: Final = re.compile(r"v?([0-9]{1,9})\.([0-9]{1,9})([.+-].{0,100})?")
_MOST_CONTAINERS: Final = 100


def deployment_findings(
    deployment: Mapping[str, Any], namespace: str, own_version: str
) -> Iterator[Finding]:
    """`own_version`: of this command. Patch levels go together; a tag that is no version says
    nothing, as a digest or `latest`.
    """
    about, where = ("Deployment", namespace, DEPLOYMENT), f"{namespace}/{DEPLOYMENT}"
    wanted = _count(inner(deployment, "spec", "replicas"), 1)
    ready = _count(inner(deployment, "status", "readyReplicas"), 0)
    if ready < wanted or not wanted:
        why = sentences.replicas_not_ready(where, ready, wanted)
        yield fault(about, "ReplicasNotReady", why, sentences.SEE_ITS_PODS)
    running = running_version(deployment)
    if running and _level(running) != _level(own_version):
        why = sentences.version_differs(where, running, own_version)
        yield fault(about, "VersionDiffers", why, sentences.SAME_VERSION)


def running_version(deployment: Mapping[str, Any]) -> str:
    """By the label, or else by the image's tag; empty if neither says a version."""
    label = inner(deployment, "metadata", "labels", _VERSION_LABEL)
    for text in (label, _tag(deployment)):
        if isinstance(text, str) and _VERSION.fullmatch(text):
            return text
    return ""


def _tag(deployment: Mapping[str, Any]) -> str:
    containers = inner(deployment, "spec", "template", "spec", "containers")
    for one in containers[:_MOST_CONTAINERS] if isinstance(containers, list) else ():
        image = inner(one, "image")
        if inner(one, "name") == DEPLOYMENT and isinstance(image, str):
            return image.partition("@")[0].rpartition("/")[2].partition(":")[2]
    return ""


def _level(version: str) -> tuple[str, str] | None:
    found = _VERSION.fullmatch(version)
    return (found[1], found[2]) if found is not None else None


def _count(found: object, default: int) -> int:
    return found if type(found) is int else default
