"""The device plugin of a node that shares card memory, as far as the API server sees it.

A stand-in: the real one needs cards and a kubelet, which asks it for a card when a pod starts. This
one takes the pods of its node in the order in which they were placed, as the real one does, and
writes what it writes.
"""

import time
from typing import Any

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster
from integration.asking import MERGE, Object, ask

USER = "system:serviceaccount:kube-system:gpushare-device-plugin"
GROUPS = (
    "system:serviceaccounts:kube-system",
    "system:serviceaccounts",
    "system:authenticated",
    "system:masters",  # the right to patch pods; the policies ask for the groups above
)
AS_PLUGIN: dict[str, Any] = {"as_user": USER, "as_groups": GROUPS}


class DevicePlugin:
    """Keeps nothing between two pods: whatever it knows stands on the pods."""

    def __init__(self, plane: Cluster, node: str) -> None:
        self._plane = plane
        self._node = node

    def waiting(self) -> list[Object]:
        """The pods of its node that have a card and were not given it, first come first."""
        path = f"/api/v1/pods?fieldSelector=spec.nodeName={self._node}"
        pods = ask(self._plane, "GET", path).body["items"]
        found = [pod for pod in pods if _notes(pod).get(v.GPU_MEMORY_ASSIGNED) == "false"]
        return sorted(found, key=lambda pod: int(_notes(pod)[v.GPU_MEMORY_ASSUMED_AT]))

    def give(self, most: int = 1_000) -> list[str]:
        """Give so many waiting pods their card, at most; their names in order.

        Fewer than there are is a plugin that crashed between two pods.
        """
        given = []
        for pod in self.waiting()[:most]:
            name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
            notes = {
                v.GPU_MEMORY_ASSIGNED: "true",
                v.GPU_MEMORY_ASSUMED_AT: str(time.time_ns()),
            }
            reply = ask(
                self._plane,
                "PATCH",
                f"/api/v1/namespaces/{namespace}/pods/{name}",
                {"metadata": {"annotations": notes}},
                content_type=MERGE,
                **AS_PLUGIN,
            )
            assert reply.ok, reply.message
            given.append(name)
        return given


def _notes(pod: Object) -> dict[str, str]:
    notes: dict[str, str] = pod["metadata"].get("annotations", {})
    return notes
