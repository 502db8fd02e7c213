"""Pod groups for pods that have none: one for all pods of a controller, or for a bare pod alone."""

import asyncio
import logging
from typing import Any, Final

from ..api_client import CONFLICT, MERGE, NOT_FOUND, AccountClient, ApiRefusalError, ObjectCache
from ..api_objects import (
    GROUP_NAME,
    GROUPS,
    PODS,
    SCHEDULING,
    Json,
    annotations,
    controller_of,
    is_deleted,
    key,
    name,
    namespace,
    path,
    uid,
    within,
)
from ..resource_amounts import quota_usage, resource_list

_log = logging.getLogger(__name__)

QUEUE_NAME: Final = "scheduling.volcano.sh/queue-name"
_MIN_MEMBER: Final = "scheduling.volcano.sh/group-min-member"
_INHERITED: Final = "volcano.sh/"
_OWNERS: Final = {
    "ReplicaSet": "/apis/apps/v1/replicasets",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "DaemonSet": "/apis/apps/v1/daemonsets",
    "Job": "/apis/batch/v1/jobs",
}


class GroupController:
    """Patches the group's name onto a pod after that was created: admission never sees it."""

    def __init__(self, api: AccountClient, groups: ObjectCache, pods: ObjectCache) -> None:
        self._api, self._groups, self._pods = api, groups, pods

    async def sync(self) -> None:
        """Give each pod without a group one. Failures are logged; the next call retries."""
        lacking = [one for one in self._pods.objects.values() if lacks_group(one)]
        # Pods of one controller have one group: it is asked for once.
        by_group: dict[str, list[Json]] = {}
        for pod in lacking:
            by_group.setdefault(f"{namespace(pod)}/{pod_group_name(pod)}", []).append(pod)
        await asyncio.gather(*(self._join(where, pods) for where, pods in by_group.items()))

    async def _join(self, where: str, pods: list[Json]) -> None:
        try:
            if where not in self._groups.objects:
                await self._create(pods[0])
            await asyncio.gather(*map(self._mark, pods))
        except ApiRefusalError as error:
            if error.status not in (CONFLICT, NOT_FOUND):
                _log.warning("group of %s: %s", key(pods[0]), error)

    async def _create(self, pod: Json) -> None:
        upper = await self._owner_annotations(pod)
        try:
            wished = pod_group(pod, upper)
            await self._api.ask("POST", within(GROUPS, namespace(pod)), wished)
        except ApiRefusalError as error:
            if error.status != CONFLICT:
                raise

    async def _owner_annotations(self, pod: Json) -> dict[str, str]:
        owner = controller_of(pod)
        collection = _OWNERS.get(str(owner["kind"])) if owner else None
        if owner is None or collection is None:
            return {}
        try:
            where = within(collection, namespace(pod))
            return annotations(await self._api.ask("GET", f"{where}/{owner['name']}"))
        except ApiRefusalError as error:
            if error.status == NOT_FOUND:
                return {}
            raise

    async def _mark(self, pod: Json) -> None:
        change = {"metadata": {"annotations": {GROUP_NAME: pod_group_name(pod)}}}
        await self._api.ask("PATCH", path(PODS, pod), change, content_type=MERGE)


def lacks_group(pod: Json) -> bool:
    """Whether the pod is Volcano's and in no group."""
    return (
        pod["spec"].get("schedulerName") == "volcano"
        and not annotations(pod).get(GROUP_NAME)
        and not is_deleted(pod)
    )


def pod_group_name(pod: Json) -> str:
    """The name of the group of a pod that does not say one."""
    return f"podgroup-{(controller_of(pod) or pod['metadata'])['uid']}"


def pod_group(pod: Json, upper: dict[str, str]) -> Json:
    """The pod's group as it is created. `upper`: the annotations of the pod's controller."""
    owner: dict[str, Any] = controller_of(pod) or {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": name(pod),
        "uid": uid(pod),
        "controller": True,
    }
    least = upper.get(_MIN_MEMBER, "")
    return {
        "apiVersion": SCHEDULING,
        "kind": "PodGroup",
        "metadata": {
            "name": pod_group_name(pod),
            "namespace": namespace(pod),
            "annotations": {
                one: value for one, value in upper.items() if one.startswith(_INHERITED)
            },
            "ownerReferences": [owner],
        },
        "spec": {
            "minMember": int(least) if least.isdecimal() else 1,
            "queue": annotations(pod).get(QUEUE_NAME) or "default",
            "minResources": resource_list(quota_usage(pod["spec"])),
        },
        "status": {"phase": "Pending"},
    }
