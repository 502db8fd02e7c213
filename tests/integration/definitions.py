"""Definitions of other projects' kinds, which stay on the plane.

Owners of pods must be there: the garbage collector deletes pods whose owner is not. Those of JobSet
and PyTorchJob are their projects' own. All others say their names, and nothing of what stands in an
object.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from cardquota_dev.build.definitions import JOB_SET, PYTORCH_JOB, ForeignDefinition, definition_file
from cardquota_dev.testing import Cluster, eventually

from .asking import Object, ask

Kind = tuple[str, str]
"""apiVersion and kind."""
_DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THEIR_OWN: Final[Mapping[Kind, ForeignDefinition]] = {
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): JOB_SET,
    ("kubeflow.org/v1", "PyTorchJob"): PYTORCH_JOB,
}


def define_kinds(cluster: Cluster, kinds: Iterable[Kind] = THEIR_OWN) -> None:
    """The API server takes a second for each, and goes on with that after the return."""
    for version, kind in kinds:
        if (version, kind) in THEIR_OWN:
            # kubectl's own annotation of an applied file would be too long for it.
            file = str(definition_file(THEIR_OWN[version, kind]))
            done = cluster.kubectl("apply", "--server-side", "-f", file)
            assert done.returncode == 0, done.stderr
        else:
            reply = ask(cluster, "POST", _DEFINITIONS, _names_alone(version, kind))
            assert reply.ok or reply.code == 409, reply


def until_served(cluster: Cluster, kinds: Iterable[Kind] = THEIR_OWN) -> None:
    for version, kind in kinds:
        path = f"/apis/{version}/{kind.lower()}s"
        eventually(lambda p=path: ask(cluster, "GET", p).ok, f"{kind} served")


def _names_alone(version: str, kind: str) -> Object:
    group, _, number = version.partition("/")
    plural = f"{kind.lower()}s"
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{group}",
            # Groups under k8s.io are asked for it.
            "annotations": {"api-approved.kubernetes.io": "unapproved, of a test"},
        },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [
                {
                    "name": number,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": anything},
                }
            ],
        },
    }
