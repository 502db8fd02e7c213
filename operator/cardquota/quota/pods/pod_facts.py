"""What is kept of a pod: a small flat record, strings interned, no raw object (T1, P1, P6, P8).

Facts are what the pod itself says. The ledger decides what follows from them together with queues,
nodes and groups: its queue, its cards, its charge.
"""

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from sys import intern
from typing import Final, NamedTuple, TypeVar, cast

from .. import vocabulary as v
from ..amounts import Devices, QuantityError, milli
from ..cards.memory_shape import CardPlacement, read_placement
from ..kept_objects import SizedCache
from ..limits import KIB, LONGEST_OBJECT_NAME, TERM_TEXT, kept_name
from ..messages import group_messages, request_messages
from ..objects.meta import Owner
from ..objects.pod import Pod, PodAnnotations, PodMeta, PodSpec
from ..objects.pod_group import GroupMeta
from ..plan_record import PlanRecord, read_plan
from ..selectors.selector import Selector, Tolerations, encode, tolerations_of
from ..stamp import Stamp, read_allocated
from ..words import seconds_of
from .pod_limits import excess, long_name
from .pod_total import PodTotals, oversized_totals, pod_totals, with_status

_SUCCEEDED = "Succeeded"
_FAILED = "Failed"
POD: Final = "Pod"
DEPLOYMENT: Final = "Deployment"
_REPLICA_SET: Final = "ReplicaSet"
_NODE: Final = "Node"
"""Of a static pod."""
_NOT_STARTED: Final = ("", "Pending")
_POD_SCHEDULED: Final = "PodScheduled"
_UNSCHEDULABLE: Final = "Unschedulable"
_NEVER: Final = "Never"
_FALSE: Final = "false"
_NONE = PodAnnotations()
T = TypeVar("T", bound=Hashable)
DEVICE_CLASS_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
"""The resource name of every DeviceClass is this and the name of the class."""


class State(IntEnum):
    """The progress of a pod. Finished pods are no longer in the ledger (T1)."""

    GATED = 0
    OPEN = 1
    BOUND = 2
    FAILED = 3
    SUCCEEDED = 4

    @property
    def finished(self) -> bool:
        """Whether it no longer counts (T1)."""
        return self >= State.FAILED


# Access to an enum's member is a call, and these are needed for every pod.
_VOLCANOS: Final = "batch.volcano.sh/"
"""API group of the Jobs whose controller ends them after some refusals."""
_GATED: Final = State.GATED
_UNGATED: Final = State.OPEN
_BOUND: Final = State.BOUND


@dataclass(slots=True, kw_only=True)
class PodFacts:
    """One pod. `cpu` in milli-cores, `memory` in bytes."""

    uid: str
    namespace: str
    name: str
    revision: int = field(compare=False)
    created: str
    state: State
    terminating: bool
    node: str
    """`spec.nodeName`; empty before it is bound."""
    card_text: str | None
    own_queue: str
    """The queue that it names itself; empty if none."""
    group: str
    """`namespace/name`; empty if it names none."""
    task: str
    """Its task in that group; empty if it names none, or is in no group."""
    devices: Devices
    cpu: int
    memory: int
    resized_to: tuple[int, int] | None
    """What its node has given it of both so far, where that differs from what it asks for."""
    controller: str
    """Kind of the controller; empty for a pod without one."""
    controller_name: str
    """Name of the controller, in the pod's namespace. Its pods share one string."""
    workload: str
    """Name of what people know it by: its Deployment's, as its labels tell, else its controller's,
    or its own. By the pod alone, so that it stays the same as long as the pod exists, whatever is
    known of its ReplicaSet. For messages and answers: whoever writes a pod may write these labels.
    """
    of_volcano_job: bool
    """Whether its controller ends everything after some refusals, as Volcano a Job (E5)."""
    priority: int
    selector: bytes
    """Node selector and required affinity, encoded, until the pod is bound."""
    tolerations: Tolerations
    """Until it is bound: we choose between its cards (E7), and make room for it (L3)."""
    foreign_gates: tuple[str, ...]
    stamp: Stamp | None
    admitted_in_audit: bool
    """Whether a leader has noted on it that it was admitted in audit mode (I3)."""
    labelled: bool
    """Whether it has the label beside which alone a stamp or a leader's note counts: others may
    have written those of a pod that lacks it."""
    forged: bool
    """Whether it lacks the label and bears part of a stamp, which is not ours."""
    fixed_queue: str | None
    """If it came past admission: where it is charged, as a leader has written on it; empty outside
    every queue. None: that does not stand there (I3)."""
    scheduled: str
    """When it was bound, by the API server's clock; empty before."""
    on_its_node: bool
    """Whether it is bound by more than its own text: its author can name any node, but neither
    bind it nor write its status."""
    started: bool = field(compare=False)
    """Whether it runs or has run. Needed only when it is first seen, so a change is no news."""
    claims_devices: bool
    """Whether its own text claims devices. The ledger knows what DeviceClasses add."""
    mirror: bool
    problem: str
    """Why its amounts or annotations cannot be read; empty if they can."""
    placement: CardPlacement | None = None
    """Which card it holds memory of, if it asks for memory and is bound."""
    oversized: bool = False
    """Whether it exceeds a limit, which `problem` names (P8). Then it is not known where it may run
    or what it names, and its gate must stay shut."""
    gone_by: int | None = None
    """When it should be gone if it is being deleted, its grace period counted in, by the API
    server's clock; seconds since 1970. None if that cannot be read."""
    of_batch_tool: bool = False
    """Whether it has no controller, and a label of a tool for batch that makes such pods: a driver
    of Spark, a task of Airflow (section 2)."""
    plan: PlanRecord | None = None
    """What ends for it; only until it has a node (L5)."""
    of_volcano: bool = False
    """Whether Volcano is to bind it; only while it is gated, for later it matters no more."""
    preemptable: bool = True
    """Whether it may end so that others get its cards, as far as it says so itself (L4)."""
    never_preempts: bool = False
    """Whether nobody ends for it: `spec.preemptionPolicy: Never` (L3)."""
    unschedulable: bool = field(default=False, compare=False)
    """Whether its gate is open and a scheduler has found no node for it. By itself no news: nothing
    is charged otherwise."""

    @property
    def workload_kind(self) -> str:
        """The kind of what `workload` names; `Pod`: itself."""
        if self.controller == _REPLICA_SET and self.workload != self.controller_name:
            return DEPLOYMENT
        return self.controller if self.controller not in ("", _NODE) else POD

    def as_its_node_has_it(self) -> "PodFacts":
        """With what its node has given it, whatever its author asks for meanwhile."""
        if self.resized_to is None:
            return self
        cpu, memory = self.resized_to
        return replace(self, cpu=cpu, memory=memory)

    @property
    def concerns_us(self) -> bool:
        """Whether this pod can ever be charged or wait for us."""
        return bool(
            self.own_queue
            or self.group
            or self.card_text is not None
            or self.devices
            or self.stamp
            or (self.problem and not self.oversized)
            or self.state is _GATED
        )


_SHARED: Final = SizedCache[Hashable, Hashable](8 * 1024 * KIB)


def _shared(value: T, size: int) -> T:
    """One object for equal values, so that 100,000 pods of 50 shapes keep 50 of them."""
    found = _SHARED.get(value)
    return cast("T", found if found is not None else _SHARED.put(value, value, size))


def pod_facts(pod: Pod) -> PodFacts:
    """Read a pod. Never raises for what a user wrote: that is in `problem`.

    Costs in proportion to the limits. Of a pod that exceeds them no text is read or kept (P8); only
    the amounts that it holds are.
    """
    meta, spec = pod.metadata, pod.spec
    notes = meta.annotations or _NONE
    labelled = meta.labels is not None and meta.labels.managed is not None
    gates = [gate.name for gate in spec.scheduling_gates] if spec.scheduling_gates else ()
    node = spec.node_name or ""
    state = _state(pod.status.phase, node, gated=v.GATE in gates)
    beyond = excess(pod, waits=state < _BOUND)
    on_node: PodTotals | None = None
    own_queue, problem = _own_queue(notes), _disagreements(notes)
    try:
        totals = pod_totals if beyond is None else oversized_totals
        held = with_status(spec, pod.status, asked=True) if node else spec
        devices, cpu, memory = totals(held)
        if held is not spec:
            on_node = totals(with_status(spec, pod.status, asked=False))
    except QuantityError as error:
        devices, cpu, memory, problem = (), 0, 0, problem or str(error)
    group = (notes.group or "").strip()
    if "/" in group:
        problem = problem or group_messages.group_elsewhere(group)
    if cpu < 0 or memory < 0:
        cpu, memory, problem = 0, 0, problem or "cpu or memory is negative in total"
    if beyond is None and (beyond := long_name(devices)) is not None:
        devices = ()  # the API server stores no such pod: none is bound
    if beyond is not None:
        gates, problem = (), request_messages.beyond_limit(beyond.limit, beyond.found)
    bound = state >= _BOUND
    scheduled = _scheduled(pod) if bound else ""
    started = bound and pod.status.phase not in _NOT_STARTED
    controller, controller_name, of_volcano_job = _controller(meta.owner_references)
    namespace = intern(meta.namespace)
    return PodFacts(
        uid=meta.uid,
        namespace=namespace,
        name=meta.name,
        revision=int(meta.resource_version or 0),
        created=meta.creation_timestamp or "",
        state=state,
        terminating=meta.deletion_timestamp is not None,
        node=intern(node),
        card_text=_card_text(notes) if beyond is None else None,
        own_queue=intern(kept_name(own_queue)),
        group=_kept(f"{namespace}/{kept_name(group)}") if group else "",
        task=_kept(kept_name(notes.task)) if group and notes.task and beyond is None else "",
        devices=devices,
        cpu=cpu,
        memory=memory,
        resized_to=(on_node.cpu, on_node.memory) if on_node is not None else None,
        controller=controller,
        controller_name=controller_name,
        workload=_workload(meta, controller, controller_name),
        of_volcano_job=of_volcano_job,
        of_batch_tool=not controller and _has_batch_label(meta),
        priority=spec.priority or 0,
        selector=b"" if bound or beyond is not None else _selector(spec),
        tolerations=(tolerations_of(spec.tolerations) if state < _BOUND and beyond is None else ()),
        foreign_gates=tuple(g for g in gates if g != v.GATE) if gates else (),
        stamp=_stamp(notes) if labelled and state is not _GATED else None,
        admitted_in_audit=(
            labelled
            and notes.term is not None
            and notes.allocated is None
            and notes.bound is None  # else we have bound it
        ),
        labelled=labelled,
        forged=not (labelled or (notes.allocated is None and notes.charged_queue is None)),
        fixed_queue=_fixed_queue(notes) if labelled and state is not _GATED else None,
        scheduled=scheduled,
        on_its_node=bool(scheduled) or started,
        started=started,
        claims_devices=claims_devices(spec) if beyond is None else bool(spec.resource_claims),
        mirror=notes.mirror is not None,
        problem=problem,
        placement=_placement(devices, notes) if bound and devices else None,
        oversized=beyond is not None,
        plan=read_plan(notes.plan) if labelled and notes.plan and not bound else None,
        gone_by=seconds_of(meta.deletion_timestamp) if meta.deletion_timestamp else None,
        of_volcano=state is _GATED and spec.scheduler_name == v.VOLCANO_SCHEDULER,
        preemptable=is_preemptable(meta),
        never_preempts=spec.preemption_policy == _NEVER,
        unschedulable=state is _UNGATED and _is_unschedulable(pod),
    )


def claims_devices(spec: PodSpec) -> bool:
    """Whether the pod's own text claims devices: in `spec.resourceClaims`, or by the resource name
    that every DeviceClass has.
    """
    if spec.resource_claims:
        return True
    for containers in (spec.containers, spec.init_containers):
        for container in containers or ():
            resources = container.resources
            if resources is None:
                continue
            for amounts in (resources.limits, resources.requests):
                for name in amounts or ():
                    if name.startswith(DEVICE_CLASS_PREFIX) and amounts and _is_some(amounts[name]):
                        return True
    return False


def _is_some(amount: int | float | str) -> bool:
    """Whether it is more than zero. An unreadable amount may be."""
    try:
        return milli(amount) != 0
    except QuantityError:
        return True


# --- claims by name: only a claim, or its template, says of which DeviceClass it is (P7) -------

CLAIM: Final = "ResourceClaim"
TEMPLATE: Final = "ResourceClaimTemplate"


class NamedClaim(NamedTuple):
    """What a pod names, in its own namespace."""

    kind: str
    name: str


def named_claims(spec: PodSpec) -> list[NamedClaim]:
    """What the pod names, each once. One that names nothing has an empty name."""
    found = (
        NamedClaim(TEMPLATE, one.resource_claim_template_name)
        if one.resource_claim_template_name is not None
        else NamedClaim(CLAIM, one.resource_claim_name or "")
        for one in spec.resource_claims or ()
    )
    return list(dict.fromkeys(found))


def why_no_quota_counts(
    claim: NamedClaim, classes: Collection[str] | None, without_cards: Collection[str]
) -> str:
    """Why a claim of these DeviceClasses is refused; empty if they are all `without_cards`.
    `classes`: None if there is no such claim.
    """
    if classes is None:
        return request_messages.claim_missing(*claim)
    others = sorted(set(classes).difference(without_cards))
    return request_messages.claim_of(*claim, others[0]) if others else ""


def _state(phase: str, node: str, *, gated: bool) -> State:
    if phase == _SUCCEEDED:
        return State.SUCCEEDED
    if phase == _FAILED:
        return State.FAILED
    if node:
        return _BOUND
    return _GATED if gated else _UNGATED


def memory_of(devices: Devices) -> int:
    """How much card memory a pod asks for, in its node's unit; 0 if none."""
    for resource, amount in devices:
        if resource == v.GPU_MEMORY:
            return amount
    return 0


def _placement(devices: Devices, notes: PodAnnotations) -> CardPlacement | None:
    amount = memory_of(devices)
    if not amount:
        return None
    return read_placement(
        amount,
        notes.memory_card,
        notes.memory_of_pod,
        notes.memory_assigned,
        notes.memory_assumed_at,
    )


def _fixed_queue(notes: PodAnnotations) -> str | None:
    """The queue that we have written on a pod whose gate we did not open."""
    queue = notes.charged_queue
    if queue is None or notes.allocated is not None:
        return None
    return intern(queue) if len(queue) <= LONGEST_OBJECT_NAME else None


def _own_queue(notes: PodAnnotations) -> str:
    """The queue that a pod names itself; Volcano's Jobs use their own key."""
    return (notes.queue or "").strip() or (notes.queue_volcano_job or "").strip()


def _disagreements(notes: PodAnnotations) -> str:
    """What two annotations say differently that mean the same; empty if none do."""
    one, other = (notes.queue or "").strip(), (notes.queue_volcano_job or "").strip()
    if one and other and one != other:
        return request_messages.disagree(v.QUEUE_NAME, one, v.QUEUE_NAME_VOLCANO_JOB, other)
    name, alias = notes.card_name, notes.card_alias
    if name is None or alias is None or name == alias:
        return ""
    return request_messages.disagree(v.CARD_NAME, name, v.CARD_NAME_ALIAS, alias)


def _controller(owners: tuple[Owner, ...]) -> tuple[str, str, bool]:
    """Kind and name, and whether it gives up."""
    for owner in owners:
        if owner.controller:
            of_volcano_job = owner.api_version.startswith(_VOLCANOS)
            return intern(kept_name(owner.kind)), intern(kept_name(owner.name)), of_volcano_job
    return "", "", False


def _has_batch_label(meta: PodMeta) -> bool:
    labels = meta.labels
    return labels is not None and not (labels.dag is None and labels.spark_role is None)


def _workload(meta: PodMeta, controller: str, controller_name: str) -> str:
    if not controller_name or controller == _NODE:
        return meta.name
    template_hash = meta.labels.template_hash if meta.labels is not None else None
    if controller == _REPLICA_SET and template_hash:
        deployment = controller_name.removesuffix(f"-{template_hash}")
        if deployment and deployment is not controller_name:
            return intern(deployment)
    return controller_name


def _kept(text: str) -> str:
    return _shared(text, len(text))


def _selector(spec: PodSpec) -> bytes:
    if spec.affinity is None and not spec.node_selector:
        return b""
    encoded = encode(Selector.of(spec))
    return _shared(encoded, len(encoded))


def _stamp(notes: PodAnnotations) -> Stamp | None:
    text = notes.allocated
    if text is None or notes.charged_queue is None or not notes.term:
        return None
    if len(notes.charged_queue) > LONGEST_OBJECT_NAME or len(notes.term) > TERM_TEXT.most:
        return None
    cards = read_allocated(text)
    if cards is None:
        return None
    # Each card's name is also part of the text that may be remembered.
    return _shared(Stamp(notes.charged_queue, cards, notes.term), 2 * len(text) + KIB)


def _scheduled(pod: Pod) -> str:
    for condition in pod.status.conditions or ():
        if condition.type == _POD_SCHEDULED and condition.status == "True":
            return condition.last_transition_time or ""
    return ""


def is_preemptable(meta: PodMeta | GroupMeta) -> bool:
    """Whether neither the annotation nor the label of a pod or a PodGroup forbids to end it."""
    notes, labels = meta.annotations, meta.labels
    return not (
        (notes is not None and notes.preemptable == _FALSE)
        or (labels is not None and labels.preemptable == _FALSE)
    )


def _is_unschedulable(pod: Pod) -> bool:
    for condition in pod.status.conditions or ():
        if condition.type == _POD_SCHEDULED and condition.status == "False":
            return condition.reason == _UNSCHEDULABLE
    return False


def _card_text(notes: PodAnnotations) -> str | None:
    """The card text of a pod, under either key."""
    text = notes.card_name if notes.card_name is not None else notes.card_alias
    return None if text is None else intern(text)


def alias_warning(notes: PodAnnotations | None) -> tuple[str, ...]:
    """A warning if the alias is set and does not conflict with the annotation."""
    if notes is None or notes.card_alias is None:
        return ()
    agrees = notes.card_name in (None, notes.card_alias)
    return (request_messages.alias_used(),) if agrees else ()
