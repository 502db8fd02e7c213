"""What we read of Kubernetes objects, and nothing more: the only place that knows their JSON.

The structs are partial: msgspec skips every field that is not named here without building it, so
decoding a pod costs microseconds. They live only as long as one event. `pod_facts`, `node_facts`,
`queue_facts` and `group_facts` hold what is kept.
"""

from .cluster import Namespace
from .meta import Meta, Wire
from .node import Expression, Node, Term
from .pod import Pod, PodSpec
from .pod_group import PodGroup
from .workload import Workload
