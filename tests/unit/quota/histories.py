"""Histories of a small cluster, drawn at random: each object's own events, in their order."""

from collections.abc import Callable, Sequence
from itertools import count

from hypothesis import strategies as st

from builders import GPU, H200, H800, R4090, Body, a_group, a_namespace, a_node, a_pod, a_queue
from builders.group import GroupBody
from builders.namespace import NamespaceBody
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.quota import GPU_MEMORY, GPU_PRODUCT, SURGE
from cardquota.quota.pods import State

from .events import A10_MEMORY, CARDS, XPU, XPU_RESOURCE, Class, History, ToldEvent

QUEUES = ("red", "blue")
NAMESPACES = ("team", "other")
GROUPS = ("gang-a", "gang-b")
CLASSES = ("urgent", "usual")
PRODUCT = f"{GPU}.product"
MAKERS = (None, "Job/t", "ReplicaSet/web-1", "ReplicaSet/b", "DaemonSet/d")
NAMED = (None, None, H200, f"{H800}|{H200}", XPU, A10_MEMORY, "Never-Seen")

FIXED = {
    "h200-1": a_node("h200-1").with_cards(H200, 8),
    "h200-2": a_node("h200-2").with_cards(H200, 8),
    "h800-1": a_node("h800-1").with_cards(H800, 8),
    "h800-2": a_node("h800-2").with_cards(H800, 8),
    "xpu-1": a_node("xpu-1").with_cards(XPU, 8, XPU_RESOURCE),
    "a10-1": a_node("a10-1").labelled(GPU_PRODUCT, "NVIDIA-A10").sharing_memory(32_552, 2),
}
"""Nodes that unstamped pods are bound to: they come some time, and keep their cards."""

CHANGING = (
    a_node("n").with_cards(H200, 4),
    a_node("n").with_cards(H800, 2),
    a_node("n").with_cards(R4090, 8),
    a_node("n").with_cards(XPU, 4, XPU_RESOURCE),
    a_node("n").showing(H200),
    a_node("n").labelled(GPU_PRODUCT, "NVIDIA-A10").sharing_memory(16_276, 1),
    a_node("n"),
)

revisions = count(2)
amounts = st.integers(1, 3)


@st.composite
def pods(draw: st.DrawFn, name: str) -> History:
    """One or two lives under one name, each cut off anywhere."""
    events: list[ToldEvent] = []
    for life in range(draw(st.integers(1, 2))):
        steps = draw(lives(name, f"{name}-{life}"))
        events += steps[: draw(st.integers(1, len(steps)))]
        if not events[-1].gone:
            break
    return tuple(events)


@st.composite
def lives(draw: st.DrawFn, name: str, uid: str) -> list[ToldEvent]:
    """A pod from the gate to its end: released by us or somebody else, bound, finished, gone."""
    group = draw(st.sampled_from((None, *GROUPS)))
    pod = (
        a_pod(name)
        .with_uid(uid)
        .in_namespace(draw(st.sampled_from(NAMESPACES)))
        .in_queue(draw(st.sampled_from((None, *QUEUES))))
        .in_group(group)
        .naming(draw(st.sampled_from(NAMED)))
        .with_cpu(draw(st.sampled_from(("0", "500m", "4"))))
        .with_priority(draw(st.sampled_from((0, 0, 7))))
        .created(draw(st.sampled_from(("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"))))
    )
    device = draw(st.sampled_from((None, GPU, GPU, GPU, XPU_RESOURCE, GPU_MEMORY)))
    if device is not None:
        pod = pod.asking_for(draw(amounts), device)
    if draw(st.integers(0, 3)) == 0:
        pod = pod.requiring([(PRODUCT, "In", [H800, H200])])
    maker = draw(st.sampled_from(MAKERS))
    if maker is not None:
        kind, _, of = maker.partition("/")
        pod = pod.owned_by(kind, name=of)
    if maker == "DaemonSet/d":
        pod = pod.made_for("h200-1")
    steps: list[PodBody] = []
    if draw(st.booleans()):
        steps.append(pod.gated())
        if draw(st.booleans()):
            pod = pod.in_group(draw(st.sampled_from((None, *GROUPS))))
            steps.append(pod.gated())
    if draw(st.booleans()):
        card = draw(st.sampled_from(CARDS))
        pod = pod.stamped(draw(st.sampled_from(QUEUES)), {card: draw(amounts)})
    steps.append(pod)
    if draw(st.booleans()):
        at = f"2026-01-01T01:0{draw(st.integers(0, 9))}:00Z"
        pod = pod.on_node(draw(st.sampled_from(sorted(FIXED))), at)
        steps.append(pod)
    if draw(st.booleans()):
        steps.append(pod.terminating())
    if draw(st.booleans()):
        steps.append(pod.in_phase(draw(st.sampled_from(("Succeeded", "Failed")))))
    events = [ToldEvent(step.at_revision(next(revisions))) for step in steps]
    return [*events, ToldEvent(pod, gone=True)]


def written(
    draw: st.DrawFn, one: Callable[[str], Body | Class], most: int = 3
) -> tuple[ToldEvent, ...]:
    """Written a few times, perhaps deleted, perhaps made again under another uid."""
    events: list[ToldEvent] = []
    for life in range(draw(st.integers(1, 2))):
        events += [ToldEvent(one(f"uid-{life}")) for _ in range(draw(st.integers(1, most)))]
        if not draw(st.booleans()):
            break
        events.append(ToldEvent(events[-1].of, gone=True))
    return tuple(events)


@st.composite
def queues(draw: st.DrawFn, name: str) -> History:
    quotas = st.dictionaries(st.sampled_from(CARDS), st.integers(0, 5))

    def one(uid: str) -> QueueBody:
        queue = a_queue(name).with_uid(uid).with_policy(draw(st.sampled_from((None, "Gate"))))
        queue = queue.limited_to(cpu=draw(st.sampled_from((None, None, "6"))))
        if draw(st.booleans()):
            queue = queue.having_reported(XPU, draw(amounts), XPU_RESOURCE)
        if draw(st.integers(0, 3)) == 0:
            queue = queue.fifo()
        queue = queue.annotated(
            SURGE, draw(st.sampled_from((None, "1", '{"NVIDIA-H200": 2}', "-")))
        )
        broken = draw(st.integers(0, 4)) == 0  # Q4
        return queue.with_quota_text("{") if broken else queue.with_quota(draw(quotas))

    return written(draw, one)


@st.composite
def groups(draw: st.DrawFn, namespace: str, name: str) -> History:
    def one(uid: str) -> GroupBody:
        group = a_group(name).in_namespace(namespace).with_uid(uid).at_revision(next(revisions))
        group = group.in_queue(draw(st.sampled_from((None, *QUEUES)))).of(draw(st.integers(0, 3)))
        group = group.put(draw(st.sampled_from((None, *CLASSES))), "spec", "priorityClassName")
        if draw(st.booleans()):
            held = {draw(st.sampled_from(CARDS)): draw(amounts), "cpu": 1_000}
            group = group.reserving(draw(st.sampled_from(QUEUES)), held)
        return group

    return written(draw, one)


@st.composite
def namespaces(draw: st.DrawFn, name: str, *, lasting: bool) -> History:
    """`lasting`: its mode stays, and it does."""
    modes = st.sampled_from((None, "off", "enforced", "audit"))
    mode = st.just(draw(modes)) if lasting else modes

    def one(uid: str) -> NamespaceBody:
        found = a_namespace(name).with_uid(uid)
        found = found.with_default_queue(draw(st.sampled_from((None, *QUEUES))))
        return found.in_mode(draw(mode))

    events = written(draw, one)
    return tuple(event for event in events if not (lasting and event.gone))


def comes_past_us(event: ToldEvent) -> bool:
    """Whether it tells of a pod that is past its gate, if it had one, without a stamp of ours."""
    if event.gone or not isinstance(event.of, PodBody):
        return False
    facts = event.of.facts()
    return facts.state is not State.GATED and facts.stamp is None


@st.composite
def nodes(draw: st.DrawFn) -> History:
    """One that no unstamped pod is bound to: it may become anything."""
    return written(draw, lambda uid: draw(st.sampled_from(CHANGING)).with_uid(uid))


@st.composite
def classes(draw: st.DrawFn, name: str) -> History:
    return written(draw, lambda _: Class(name, draw(st.sampled_from((0, 5, 100)))), most=2)


@st.composite
def clusters(draw: st.DrawFn) -> list[History]:
    of_pods = [draw(pods(f"pod-{number}")) for number in range(draw(st.integers(1, 6)))]
    past_us = [event.of for history in of_pods for event in history if comes_past_us(event)]
    lasting = {pod.facts().namespace for pod in past_us if isinstance(pod, PodBody)}
    return [
        *of_pods,
        *(draw(queues(name)) for name in QUEUES),
        *(draw(groups(namespace, name)) for namespace in NAMESPACES for name in GROUPS),
        *(draw(namespaces(name, lasting=name in lasting)) for name in NAMESPACES),
        *(draw(classes(name)) for name in CLASSES),
        *((ToldEvent(node), ToldEvent(node.at_revision(2))) for node in FIXED.values()),
        draw(nodes()),
    ]


def turns_of(histories: Sequence[History]) -> list[int]:
    return [number for number, history in enumerate(histories) for _ in history]
