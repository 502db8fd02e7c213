"""Which controller makes the pods of a workload, and by which name it calls itself in them."""

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
"""By resource of the workload, the kind of its pods' controller."""

_HASH: Final = re.compile(r"[bcdfghjklmnpqrstvwxz2456789]{1,10}")
"""What follows a Deployment's name in those of its ReplicaSets: letters that spell no words."""


def is_made_by(resource: str, name: str, controller: str) -> bool:
    """Whether a controller of this name, and of the kind in `KINDS`, stands for that workload now.

    A CronJob's next Job is another one than those that run. A ReplicaSet that somebody named as a
    Deployment would is taken for the Deployment's.
    """
    match resource:
        case "cronjobs":
            return False
        case "deployments":
            deployment, dash, end = controller.rpartition("-")
            return bool(dash) and deployment == name and _HASH.fullmatch(end) is not None
    return controller == name
