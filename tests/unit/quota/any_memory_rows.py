"""What random histories of rows for card memory are made of.

Amounts of nodes in both units are so small that rows, nodes and pods of either meet.
"""

from hypothesis import strategies as st

from builders import a_pod
from builders.plain_memory_rows import PlainMemoryNode, PlainMemoryPod
from builders.pod import PodBody

A10, TESLA, V100 = "NVIDIA-A10/gpu-mem", "Tesla-T4/gpu-mem", "Tesla-V100/gpu-mem"
QUEUES, NODES = ("red", "blue"), ("n1", "n2", "n3")
CARDS = (A10, TESLA, V100)


def kind(product: str, offered: int, number: int, capacity: int = 0) -> PlainMemoryNode:
    return PlainMemoryNode(product, offered, capacity, number)


KINDS = (
    kind("NVIDIA-A10", 2_048, 2),
    kind("NVIDIA-A10", 4, 2),
    kind("NVIDIA-A10", 0, 2, 2_048),
    kind("NVIDIA-A10", 1_024, 2, 2_048),
    kind("Tesla-T4", 2_048, 1),
    kind("Tesla-T4", 3, 1),
    kind("Tesla-T4", 2_048, 0),
    kind("", 2_048, 2),
    kind("NVIDIA-A10", 0, 0),
)
"""MiB, GiB, a plugin that is down, a broken card; nodes that nobody can read, or name."""

picks = st.integers(0, 30)
names = st.sampled_from((None, [A10], [TESLA], [A10, TESLA], [TESLA, A10], [V100], [V100, A10]))
amounts = st.sampled_from((1, 2, 3, 700, 1_024))
rows = st.dictionaries(st.sampled_from(CARDS), st.sampled_from((0, 3, 4, 1_024, 2_048)))
texts: st.SearchStrategy[dict[str, int] | None] = (
    rows | st.just({}) | st.just({"NVIDIA-H200": 4}) | st.none()
)
"""None: what nobody can read."""
queues = st.sampled_from(QUEUES)
own_queues = st.sampled_from((None, *QUEUES))
nodes = st.sampled_from(NODES)


def body_of(pod: PlainMemoryPod) -> PodBody:
    """As it stands in the API server."""
    names = "|".join(pod.names) if pod.names is not None else None
    body = a_pod(pod.uid.removeprefix("uid-")).in_queue(pod.own_queue).naming(names)
    body = body.asking_for_memory(pod.amount)
    if pod.state == "gated":
        body = body.gated()
    elif pod.stamp is not None:
        body = body.stamped(*pod.stamp)
    if pod.state == "bound":
        body = body.on_card(pod.node, 0, pod.amount)
    return body.terminating() if pod.terminating else body
