"""What happens by default to pods that do not fit now, by the kind of their controller (section 2).

Batch waits: a tool for batch mostly takes a refused pod for a failed run. Services are refused: who
scales out learns at once that there is no room, and a controller of services tries again by itself.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ..vocabulary import Policy

BATCH_KINDS: Final = (
    "Job",
    "JAXJob",
    "MPIJob",
    "PaddleJob",
    "Pod",
    "PyTorchJob",
    "RayCluster",
    "SparkApplication",
    "TFJob",
    "Workflow",
    "XGBoostJob",
)
"""Kinds whose pods wait, of any API group. Jobs make the pods of a JobSet, TrainJob and CronJob, a
RayCluster those of a RayJob, and the Pod of a Spark driver its executors."""
SERVICE_KINDS: Final = (
    "",
    "DaemonSet",
    "Node",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
)
"""Kinds that are known to make no batch. Empty: a pod by itself."""
POLICY_BY_OWNER: Final[Mapping[str, Policy]] = MappingProxyType(
    dict.fromkeys(SERVICE_KINDS, Policy.DENY) | dict.fromkeys(BATCH_KINDS, Policy.GATE)
)
"""All that are known. Of any other kind pods are refused, and the refusal says how to change it."""
