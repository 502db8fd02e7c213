"""What we read of Kubernetes objects, and nothing more: the only place that knows their JSON.

The structs are partial: msgspec skips every field that is not named here without building it, so
decoding a pod costs microseconds. They live only as long as one event. `pod_facts`, `node_facts`,
`queue_facts` and `group_facts` hold what is kept.
"""

from .cluster import (
    DeviceClass,
    LimitRange,
    LimitRangeItem,
    LimitRangeSpec,
    Namespace,
    PriorityClass,
    ResourceClaim,
    RuntimeClass,
)
from .meta import Meta, Owner, ResourceList, Wire
from .node import Expression, Node, Taint, Term, Toleration
from .pod import Container, LargePod, Pod, PodMeta, PodSpec, Resources
from .pod_group import PodGroup, WrittenPodGroup
from .queue import Guarantee, Queue, QueueSpec
from .workload import (
    LargeWorkload,
    PodTemplate,
    Workload,
    WorkloadAnnotations,
    WorkloadMeta,
    WorkloadSpec,
    WrittenVolcanoJob,
)
