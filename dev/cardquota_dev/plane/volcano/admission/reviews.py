"""What the webhooks say of queues and jobs. Pure.

Card quotas are nothing to Volcano: a broken one is admitted.
"""

from collections.abc import Mapping
from typing import Final

from ..api_objects import Json
from ..controllers.job_pods import min_available, replicas
from ..resource_amounts import amounts, quantity

_NOT_DONE: Final = {
    "partitionPolicy": "Volcano starts the members of a partition together",
    "dependsOn": "Volcano starts such a task after others",
}
"""By field of a task: what Volcano does."""


def queue_fault(queue: Json) -> str:
    """Why the queue is refused. Empty: it is not.

    What is guaranteed of a resource must be deserved too, and what is deserved must be allowed.
    While a queue is Closing every update of it is refused, of its annotations too; its status is
    another resource, which is not asked about.
    """
    spec = queue.get("spec") or {}
    state = (queue.get("status") or {}).get("state") or "Open"
    if state not in ("Open", "Closed"):
        why = "queue state must be in [Open Closed]"
        return f'requestBody.status.state: Invalid value: "{state}": {why}'
    guarantee = amounts((spec.get("guarantee") or {}).get("resource"))
    deserved, capability = amounts(spec.get("deserved")), amounts(spec.get("capability"))
    if int(spec.get("weight", 1)) < 1:
        return _invalid("weight", spec["weight"], "must be a positive integer")
    for name, amount in guarantee.items():
        if deserved.get(name, 0) < amount:
            found = quantity(deserved[name]) if name in deserved else "<nil>"
            text = f"at least guarantee[{name}]={quantity(amount)} must be deserved"
            return _invalid(f"deserved.{name}", found, text)
    for name, amount in deserved.items():
        if name in capability and amount > capability[name]:
            text = f"no more than capability[{name}]={quantity(capability[name])} can be deserved"
            return _invalid(f"deserved.{name}", quantity(amount), text)
    return ""


def job_fault(job: Json, queues: Mapping[str, str]) -> str:
    """Why a new job is refused. Empty: it is not. `queues`: the state of each queue by name."""
    spec = job.get("spec") or {}
    names = [str(one.get("name")) for one in spec.get("tasks") or ()]
    if not names:
        return "no task is specified in the job"
    if len(set(names)) < len(names):
        return f"two tasks have one name: {', '.join(sorted(names))}"
    if min_available(job) > replicas(job):
        return f"minAvailable {min_available(job)} is more than all {replicas(job)} replicas"
    queue = str(spec.get("queue") or "default")
    if queue not in queues:
        return f"unable to find job queue: {queue}"
    if queues[queue] not in ("", "Open"):
        return f"queue {queue} is {queues[queue]}, jobs are accepted by an Open one alone"
    return ""


def job_defaults(job: Json) -> list[Json]:
    """The JSON patch that fills in what a new job does not say."""
    spec = job.get("spec") or {}
    patch = [
        {"op": "add", "path": f"/spec/{name}", "value": value}
        for name, value in (
            ("queue", "default"),
            ("schedulerName", "volcano"),
            ("maxRetry", 3),
            ("minAvailable", min_available({"spec": spec})),
        )
        if not spec.get(name)
    ]
    patch += [
        {"op": "add", "path": f"/spec/tasks/{index}/name", "value": f"default{index}"}
        for index, task in enumerate(spec.get("tasks") or ())
        if not task.get("name")
    ]
    return patch


def job_warnings(job: Json) -> list[str]:
    """What of the job the stand-in does not do, though Volcano does."""
    return [
        f"task {task.get('name')}: the stand-in for Volcano does not do {name}: {volcano}"
        for task in (job.get("spec") or {}).get("tasks") or ()
        for name, volcano in _NOT_DONE.items()
        if task.get(name)
    ]


def _invalid(where: str, value: object, why: str) -> str:
    return f'requestBody.spec.{where}: Invalid value: "{value}": {why}'
