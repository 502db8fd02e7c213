"""The controller that makes the pods of a workload, and its name in these pods."""

import re
from typing import Final

KINDS: Final = {
    "deployments": "ReplicaSet",
    "replicasets": "ReplicaSet",
    "statefulsets": "StatefulSet",
    "daemonsets": "DaemonSet",
    "jobs": "Job",
    "cronjobs": "Job",
}
"""By resource of the workload: the kind of its pods' controller."""

_HASH: Final = re.compile(r"[bcdfghjklmnpqrstvwxz2456789]{1,10}")
"""The suffix of a ReplicaSet after its Deployment's name: letters that spell no words."""


def is_made_by(resource: str, name: str, controller: str) -> bool:
    """Whether a controller of this name, of the kind in `KINDS`, is that workload's at present.

    A CronJob's next Job is never one of those that run. A ReplicaSet that a user named like a
    Deployment's counts as the Deployment's.
    """
    match resource:
        case "cronjobs":
            return False
        case "deployments":
            deployment, dash, end = controller.rpartition("-")
            return bool(dash) and deployment == name and _HASH.fullmatch(end) is not None
    return controller == name
