"""What we read of Kubernetes objects, and nothing more: the only place that knows their JSON.

The structs are partial: msgspec skips every field that is not named here without building it, so
decoding a pod costs microseconds. They live only as long as one event. `pod_facts`, `node_facts`,
`queue_facts` and `group_facts` hold what is kept.
"""

from .config_map import ConfigMap
from .device_class import DeviceClass
from .limit_range import LimitRange, LimitRangeItem, LimitRangeSpec
from .meta import Meta, Owner
from .namespace import Namespace
from .node import Node
from .node_affinity import Expression, Term
from .pod import Container, LargePod, Pod, PodAnnotations, PodMeta, PodSpec, Resources
from .pod_group import PodGroup, WrittenPodGroup
from .priority_class import PriorityClass
from .queue import Guarantee, Queue, QueueSpec
from .resource_claim import ResourceClaim
from .runtime_class import RuntimeClass
from .taints import Taint, Toleration
from .volcano_job import WrittenVolcanoJob
from .wire import ResourceList, Wire
from .workload import (
    LargeWorkload,
    PodTemplate,
    Workload,
    WorkloadAnnotations,
    WorkloadMeta,
    WorkloadSpec,
)

__all__ = [
    "ConfigMap",
    "Container",
    "DeviceClass",
    "Expression",
    "Guarantee",
    "LargePod",
    "LargeWorkload",
    "LimitRange",
    "LimitRangeItem",
    "LimitRangeSpec",
    "Meta",
    "Namespace",
    "Node",
    "Owner",
    "Pod",
    "PodAnnotations",
    "PodGroup",
    "PodMeta",
    "PodSpec",
    "PodTemplate",
    "PriorityClass",
    "Queue",
    "QueueSpec",
    "ResourceClaim",
    "ResourceList",
    "Resources",
    "RuntimeClass",
    "Taint",
    "Term",
    "Toleration",
    "Wire",
    "Workload",
    "WorkloadAnnotations",
    "WorkloadMeta",
    "WorkloadSpec",
    "WrittenPodGroup",
    "WrittenVolcanoJob",
]
