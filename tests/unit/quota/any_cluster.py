"""What random histories of a small cluster are made of: its things, and what may become of them."""

import json

from hypothesis import strategies as st

from builders import GPU, H200, H200_MIG, H800, H800_MPS, SHARED, a_node, a_pod
from builders.node import NodeBody
from builders.plain_cluster import PRODUCT_LABEL, PlainCard, PlainPod
from builders.pod import PodBody
from cardquota.quota import GPU_MEMORY, GPU_PRODUCT

XPU, XPU_RESOURCE = "XPU-1", "example.com/xpu"
MIG_RESOURCE = "nvidia.com/mig-1g.18gb"
RDMA = "rdma/hca"

QUEUES = ("red", "blue")
GROUPS = ("gang-a", "gang-b")
NAMESPACES = ("team", "other")
NODES = ("node-a", "node-b", "node-c")

A10, V100 = "NVIDIA-A10", "Tesla-V100"
A10_MEMORY, V100_MEMORY = f"{A10}/gpu-mem", f"{V100}/gpu-mem"


def _memory(product: str, amount: int, unit: str = "MiB") -> PlainCard:
    return PlainCard(
        name=f"{product}/gpu-mem",
        resource=GPU_MEMORY,
        product_label=GPU_PRODUCT,
        product=product,
        amount=amount,
        unit=unit,
    )


NODE_KINDS: dict[str, tuple[NodeBody, list[PlainCard]]] = {
    "h200": (
        a_node().with_cards(H200, 8),
        [PlainCard(name=H200, resource=GPU, product_label=PRODUCT_LABEL, product=H200, amount=8)],
    ),
    "h800": (
        a_node().with_cards(H800, 4),
        [PlainCard(name=H800, resource=GPU, product_label=PRODUCT_LABEL, product=H800, amount=4)],
    ),
    "h800, shared in part": (
        a_node().sharing(H800, 8, "81559").offering(2),
        [
            PlainCard(name=H800, resource=GPU, product_label=PRODUCT_LABEL, product=H800, amount=2),
            PlainCard(
                name=H800_MPS, resource=SHARED, product_label=PRODUCT_LABEL, product=H800, amount=8
            ),
        ],
    ),
    "h200, sliced": (
        a_node().showing(H200).with_slices("1g.18gb", 7),
        [
            PlainCard(
                name=H200_MIG,
                resource=MIG_RESOURCE,
                product_label=PRODUCT_LABEL,
                product=H200,
                amount=7,
            )
        ],
    ),
    "a maker that is not in the table": (
        a_node().with_cards(XPU, 4, XPU_RESOURCE),
        [
            PlainCard(
                name=XPU,
                resource=XPU_RESOURCE,
                product_label=f"{XPU_RESOURCE}.product",
                product=XPU,
                amount=4,
            )
        ],
    ),
    "another maker's card of the same name": (
        a_node().with_cards(H200, 4, "other.example/gpu"),
        [
            PlainCard(
                name=H200,
                resource="other.example/gpu",
                product_label="other.example/gpu.product",
                product=H200,
                amount=4,
            )
        ],
    ),
    "shared memory": (
        a_node().labelled(GPU_PRODUCT, A10).sharing_memory(4_000, 2),
        [_memory(A10, 4_000)],
    ),
    "shared memory, counted otherwise": (
        a_node().labelled(GPU_PRODUCT, A10).sharing_memory(48, 2),
        [_memory(A10, 48, "GiB")],
    ),
    "shared memory of another model": (
        a_node().labelled(GPU_PRODUCT, V100).sharing_memory(2_000, 1),
        [_memory(V100, 2_000)],
    ),
    "no cards": (a_node(), []),
}

QUOTAS: tuple[dict[str, int], ...] = (
    {},
    {H200: 3},
    {H200: 2, H800: 2},
    {H800: 5, H200: 0},
    {H800_MPS: 4, H200_MIG: 3},
    {XPU: 2, H800: 1},
    {A10_MEMORY: 3_000},
    {A10_MEMORY: 1_000, V100_MEMORY: 2_000, H200: 1},
)

BROKEN = ("{", '{"NVIDIA-H200": -1}', "[]", '{"NVIDIA-H200": 1, "NVIDIA-H200": 2}')
CARD_TEXTS = (
    None,
    H200,
    H800,
    f"{H200}|{H800}",
    f"{H800} | {H200}",
    f"{H200}||{H800}",
    H800_MPS,
    H200_MIG,
    XPU,
    A10_MEMORY,
    f"{V100_MEMORY}|{A10_MEMORY}",
    "Never-Seen",
)

DEVICES: tuple[dict[str, int], ...] = (
    {},
    {GPU: 1},
    {GPU: 2},
    {SHARED: 1},
    {MIG_RESOURCE: 1},
    {XPU_RESOURCE: 2},
    {GPU: 1, RDMA: 1},
    {GPU: 1, SHARED: 2},
    {GPU: 2, MIG_RESOURCE: 1, XPU_RESOURCE: 1},
    {"other.example/gpu": 2},
    {RDMA: 1},
    {GPU_MEMORY: 1_000},
    {GPU_MEMORY: 500, GPU: 1},
)

PRODUCTS = (None, None, None, [H200], [H800, H200])
picks = st.integers(0, 10_000)
shapes = st.fixed_dictionaries(
    {
        "namespace": st.sampled_from(NAMESPACES),
        "own_queue": st.sampled_from((None, *QUEUES)),
        "group": st.sampled_from((None, *GROUPS)),
        "cards": st.sampled_from(CARD_TEXTS),
        "devices": st.sampled_from(DEVICES),
        "cpu": st.sampled_from((0, 500, 4_000)),
        "memory": st.sampled_from((0, 2**30)),
        "job": st.booleans(),
        "products": st.sampled_from(PRODUCTS),
        "created": st.sampled_from(("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z")),
    }
)

likely_shapes = st.fixed_dictionaries(
    {
        "namespace": st.just("team"),
        "own_queue": st.just("red"),
        "group": st.sampled_from((None, None, None, *GROUPS)),
        "cards": st.sampled_from((H200, H800, f"{H200}|{H800}")),
        "devices": st.sampled_from(({GPU: 1}, {GPU: 1}, {GPU: 2}, {GPU: 4})),
        "cpu": st.sampled_from((0, 4_000)),
        "memory": st.just(0),
        "job": st.booleans(),
        "products": st.none(),
        "created": st.just("2026-01-01T00:00:00Z"),
    }
)
"""Of those that may well be released: most of `shapes` never are."""

choices = st.sampled_from(({H200: 1}, {H200: 2}, {H800: 1}, {H800_MPS: 1}, {XPU: 0}))
minimums = st.integers(0, 3)
requests = st.sampled_from(
    (None, {H200: 1}, {H800: 2}, {f"{H200}|{H800}": 2}, {f"{H200}|{H800}": 1, H200: 1}, {XPU: 9})
)
"""What a group says that it will ask for."""
reservations = st.sampled_from(
    (("red", {H200: 2, "cpu": 1_000}), ("blue", {H800: 3}), ("gone", {H200: 1}))
)

quota_texts = st.sampled_from((None, *(json.dumps(rows) for rows in QUOTAS), *BROKEN))
reports = st.sampled_from(
    (
        None,
        (H200, 2, GPU),
        (H200, 2, "other.example/gpu"),
        (XPU, 1, XPU_RESOURCE),
        (H800, 4, None),
    )
)
policies = st.sampled_from((None, "Deny", "Gate"))


def body_of(pod: PlainPod, revision: int) -> PodBody:
    """The pod as the API server would have it."""
    found = (
        a_pod(pod.uid)
        .with_uid(pod.uid)
        .in_namespace(pod.namespace)
        .at_revision(revision)
        .created(pod.created)
        .in_queue(pod.own_queue)
        .in_group(pod.group.split("/")[1] if pod.group else None)
        .naming(pod.cards)
        .with_cpu(f"{pod.cpu}m")
        .with_memory(str(pod.memory))
    )
    for resource, amount in pod.devices.items():
        found = found.asking_for(amount, resource)
    if pod.job:
        found = found.owned_by("Job")
    if pod.products is not None:
        found = found.requiring([(PRODUCT_LABEL, "In", pod.products)])
    if pod.terminating:
        found = found.terminating()
    if pod.stamp:
        found = found.stamped(*pod.stamp)
    if pod.state == "gated":
        found = found.gated()
    if pod.on_node_cpu:
        resources = {"requests": {"cpu": f"{pod.on_node_cpu}m"}}
        status = {"name": "main", "resources": resources}
        found = found.put([status], "status", "containerStatuses")
    return found.on_node(pod.node, pod.scheduled) if pod.state == "bound" else found
