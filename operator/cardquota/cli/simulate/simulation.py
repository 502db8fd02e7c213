"""The operator without a cluster: the same ledger, judgement and order for objects of files; and
the results as plain data.

Each pod is judged by the operator's own reviews, asked as by the API server; gates are opened at
once, as by the leader; then the pod gets a node. No I/O.
"""

import asyncio
from collections.abc import Collection, Coroutine, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, TypeVar

import msgspec

from cardquota_webhooks.pod_groups import PodGroupReviews
from cardquota_webhooks.pods import CardlessClaims, PodReviews, VisibilityWait
from cardquota_webhooks.review import AdmissionResponse, GroupResource, Request
from cardquota_webhooks.volcano_jobs import VolcanoJobReviews

from ...cluster.watch.delivery import ChangeNotifier
from ...cluster.watch.feed import ledger_settings
from ...install.matching import is_ours, known_to_policies
from ...install.policies.gate_policies import gate_is_set_by_policy
from ...quota import vocabulary as v
from ...quota.accounts.queue_facts import QueueError
from ...quota.amounts import Amounts, is_card
from ...quota.decisions.create_judgement import judge_create
from ...quota.decisions.judgement import judge_release
from ...quota.decisions.queue_write import check_queue
from ...quota.decisions.verdict_texts import with_group_meant, with_holders
from ...quota.ledger.groups.group_facts import namespace_facts
from ...quota.ledger.ledger import Ledger
from ...quota.messages import shortfall_messages
from ...quota.objects.cluster import Namespace, NamespaceMeta, PriorityClass, RuntimeClass
from ...quota.objects.node import Node
from ...quota.objects.pod import Pod
from ...quota.objects.pod_group import WrittenPodGroup
from ...quota.objects.queue import Queue
from ...quota.pods.pod_facts import NamedClaim, PodFacts, pod_facts
from ...quota.pods.pod_request import card_devices
from ...quota.release.cycle import Refusal, openings
from ...quota.release.release_judge import Opening
from ...quota.release.release_order import QueueOrder
from ...quota.reports.queue_report import QueueReport, report
from ...quota.stamp import Stamp
from ...quota.verdict import Verdict
from ...settings import InstallationMode, Settings
from ..read_ledger import kinds_of
from ..reading import without_row
from .fake_cluster import FakeCluster, Priorities, gated, ungated
from .inventory import VOLCANO_JOB, Inventory, VolcanoJob, WrittenWorkload, expand
from .simulated_nodes import SimulatedNodes, shape_of

T = TypeVar("T")
_ENCODER: Final = msgspec.json.Encoder()


class SimulatedReviews:
    """No review waits: what the ledger has is all that there is, every namespace included."""

    def __init__(self, ledger: Ledger, settings: Settings, inventory: Inventory) -> None:
        seen = VisibilityWait(ledger, settings, ChangeNotifier(), _is_not_there)
        self._by_policy = gate_is_set_by_policy(settings)
        self._inventory = inventory
        self._vendors = settings.vendor_table
        claims = CardlessClaims(ledger, settings, self._classes)
        self._pods = PodReviews(ledger, settings, seen, claims, lambda: True)
        self._groups = PodGroupReviews(ledger, settings, seen, lambda: True)
        self._jobs = VolcanoJobReviews(ledger, seen, claims, lambda: True)

    def create(self, body: Pod | WrittenPodGroup | VolcanoJob) -> AdmissionResponse:
        """The answer to whoever creates an object."""
        if isinstance(body, Pod) and self._is_gated_by_policy(body):
            body = gated(body)
        encoded, namespace = msgspec.Raw(_ENCODER.encode(body)), body.metadata.namespace
        request = Request("", GroupResource(), "CREATE", namespace=namespace, object=encoded)
        if isinstance(body, Pod):
            review = self._pods.validate if self._by_policy else self._pods.mutate
            return _at_once(review(request))
        if isinstance(body, WrittenPodGroup):
            return _at_once(self._groups.validate(request))
        return asyncio.run(self._jobs.validate(request))  # it gives way to others between tasks

    def _is_gated_by_policy(self, pod: Pod) -> bool:
        known = known_to_policies(pod, pod_facts(pod), self._vendors)
        return self._by_policy and known and not pod.spec.node_name

    async def _classes(self, namespace: str, kind: str, name: str) -> Collection[str] | None:
        found = self._inventory.claims.get((namespace, NamedClaim(kind, name)))
        return None if found is None else set(found.device_classes())


async def _is_not_there(_: str) -> bool:
    """Of a queue that was not seen."""
    return False


def _at_once(review: Coroutine[Any, Any, T]) -> T:
    """The answer of a review that has nothing to wait for."""
    try:
        review.send(None)
    except StopIteration as answered:
        found: T = answered.value
        return found
    raise AssertionError("a review waits for something")


class Answer(StrEnum):
    """The fate of a pod."""

    ADMITTED = "admitted"
    """Its gate was opened: it is charged."""
    GATED = "gated"
    """Created, and waiting at its gate."""
    DENIED = "denied"
    """Refused at create."""
    UNMANAGED = "unmanaged"
    """Created without a gate: it is in no queue, nothing is enforced where it is, or the webhook
    does not see it."""


@dataclass(slots=True)
class PodAnswer:
    """One pod. Fields are empty if they do not apply."""

    name: str
    answer: Answer = Answer.GATED
    queue: str = ""
    reason: str = ""
    """The reason of the event or refusal: `InsufficientCardQuota`."""
    text: str = ""
    """Why, in a sentence."""
    cards: Amounts = field(default_factory=dict)
    """What it is charged for."""
    node: str = ""
    pending: str = ""
    """Why it has no node although it is not gated by us."""
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class WorkloadAnswer:
    """One workload and its pods, in the order of creation."""

    kind: str
    namespace: str
    name: str
    pods: list[PodAnswer] = field(default_factory=list)
    note: str = ""
    """Why it has no pods."""


@dataclass(slots=True, frozen=True)
class RefusedObject:
    """An object that the webhook would refuse, and why."""

    kind: str
    name: str
    text: str


@dataclass(slots=True)
class Answers:
    """All results."""

    workloads: list[WorkloadAnswer] = field(default_factory=list)
    queues: list[QueueReport] = field(default_factory=list)
    refused: list[RefusedObject] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


_TERM: Final = "simulation"


class Simulation:
    """Over an inventory: `run` applies its workloads one after another. To be used once.

    No time passes: no pod ever finishes, and nobody waits too long (E6).
    """

    def __init__(self, settings: Settings, inventory: Inventory) -> None:
        self.answers = Answers(notes=list(inventory.notes))
        self.ledger = Ledger(
            settings.vendor_table,
            replace(ledger_settings(settings), makes_groups=False),  # nobody makes any here
            bounded=False,
        )
        self._settings = settings
        self._inventory = inventory
        self._cluster = FakeCluster(self.ledger)
        self._nodes = SimulatedNodes(inventory.of(Node), self.ledger.vendors)
        self._runtime_classes = {one.metadata.name for one in inventory.of(RuntimeClass)}
        self._priorities = Priorities(inventory.of(PriorityClass))
        self._reviews = SimulatedReviews(self.ledger, settings, inventory)
        self._by_uid: dict[str, PodAnswer] = {}

    def run(self) -> Answers:
        """Cluster objects first, then workloads and pod groups in the order of the files."""
        self._see_cluster()
        for workload in self._inventory.workloads:
            if not isinstance(workload, WrittenPodGroup):
                self._apply(workload)
            elif self._lets_by("PodGroup", workload):
                self._cluster.put_group(workload)
                self._release()
        self._explain_waiting()
        self.answers.queues += [
            found
            for queue in sorted(queue.metadata.name for queue in self._inventory.of(Queue))
            if (found := report(self.ledger, queue)) is not None
        ]
        self.answers.notes += self._priorities.notes
        return self.answers

    # --- creating -----------------------------------------------------------------------------

    def _see_cluster(self) -> None:
        """Have the ledger see all objects of the inventory but the workloads."""
        for kind in kinds_of(self.ledger).values():
            for found in self._inventory.of(kind.struct):
                if not isinstance(found, Queue) or self._accepts(found):
                    kind.take(found)
        for name in self._inventory.named_namespaces() - self.ledger.namespaces.keys():
            namespace = Namespace(metadata=NamespaceMeta(name=name))
            labelled = self.ledger.settings.labelled
            self.ledger.namespace_seen(namespace_facts(namespace, labelled=labelled))
        self.answers.notes += [
            f"Node {node}: not counted: {text}" for node, text in self.ledger.nodes.problems
        ]

    def _accepts(self, queue: Queue) -> bool:
        """Whether the webhook accepts a queue; in audit mode it only warns."""
        try:
            check_queue(queue)
        except QueueError as error:
            name, text = queue.metadata.name, str(error)
            if self._settings.mode is InstallationMode.AUDIT:
                self.answers.notes.append(f"Queue {name}: {shortfall_messages.audited(text)}")
                return True
            self.answers.refused.append(RefusedObject("Queue", name, text))
            return False
        return True

    def _lets_by(self, kind: str, body: WrittenPodGroup | VolcanoJob) -> bool:
        """Whether the webhook lets a pod group or a Job by. What it warns of is noted."""
        meta = body.metadata
        if meta.namespace in self._settings.unwatched_namespaces:
            return True
        answer, name = self._reviews.create(body), f"{meta.namespace}/{meta.name}"
        if not answer.allowed:
            self.answers.refused.append(RefusedObject(kind, name, answer.text))
        self.answers.notes += [f"{kind} {name}: {text}" for text in answer.warnings]
        return answer.allowed

    # --- what is created ----------------------------------------------------------------------

    def _apply(self, workload: WrittenWorkload) -> None:
        made = expand(workload, self._nodes.matching)
        meta = workload.body.metadata
        found = WorkloadAnswer(workload.kind, meta.namespace, meta.name, note=made.note)
        self.answers.workloads.append(found)
        job = workload.body if self._settings.scheduler == "volcano" else None
        if isinstance(job, VolcanoJob) and not self._lets_by(VOLCANO_JOB, job):
            found.note = "the Job is refused, so it has no pods"
            return
        if made.group is not None:
            if not self._lets_by("PodGroup", made.group):
                found.note = "its pod group is refused, so it has no pods"
                return
            self._cluster.put_group(made.group)
        for pod in made.pods:
            self._look_for_class(pod.spec.runtime_class_name or "")
            found.pods.append(self._create(pod))
            self._release()

    def _look_for_class(self, name: str) -> None:
        note = f"RuntimeClass {name} is not in the files: its pods are taken without its overhead"
        if name and name not in self._runtime_classes and note not in self.answers.notes:
            self.answers.notes.append(note)

    def _create(self, pod: Pod) -> PodAnswer:
        """Create a pod. Its answer is kept up to date until the end. A denied one is not stored."""
        spec = self.ledger.defaults.applied(pod.spec, pod.metadata.namespace)
        spec = self._priorities.applied(spec)
        pod = self._cluster.created(Pod(metadata=pod.metadata, spec=spec))
        answer = self._by_uid[pod.metadata.uid] = PodAnswer(pod.metadata.name)
        self._review(pod, answer)
        if answer.answer is Answer.DENIED:
            del self._by_uid[pod.metadata.uid]
        return answer

    def _review(self, pod: Pod, answer: PodAnswer) -> None:
        """What admission makes of a pod that is created."""
        facts = pod_facts(pod)
        if facts.namespace in self._settings.unwatched_namespaces:
            self._unmanaged(pod, answer, f"namespace {facts.namespace} is exempt")
            return
        verdict = judge_create(self.ledger, facts, require_queue=self._settings.require_queue)
        answer.queue = verdict.queue
        if self.ledger.mode_in(facts.namespace) is v.Mode.OFF:
            self._unmanaged(pod, answer, f"card quotas are off in namespace {facts.namespace}")
            return
        if not is_ours(pod, facts, self.ledger.vendors) and not self._asked_about_all(facts):
            self._unmanaged(pod, answer, self._why_never_seen(facts, verdict))
            return
        said = self._reviews.create(pod)
        if not said.allowed:
            answer.answer, answer.reason, answer.text = Answer.DENIED, said.reason, said.text
            return
        audit = shortfall_messages.audited("")
        audited = next((text for text in said.warnings if text.startswith(audit)), "")
        answer.warnings = tuple(text for text in said.warnings if text != audited)
        if said.gated:
            self._cluster.put(gated(pod))
        else:
            if self.ledger.mode_in(facts.namespace) is v.Mode.AUDIT:
                answer.reason = verdict.reason or ""
            self._unmanaged(pod, answer, audited or self._why_unmanaged(facts, verdict))

    def _asked_about_all(self, facts: PodFacts) -> bool:
        """Whether a pod that does not use cards, as far as the API server knows, reaches the
        webhook: in an enforced namespace for its devices, in an audited one for its claims.
        """
        found = self.ledger.namespaces.get(facts.namespace)
        mode = found.mode if found is not None else ""
        return mode == v.NAMESPACE_ENFORCED or (mode == v.NAMESPACE_AUDIT and facts.claims_devices)

    def _why_never_seen(self, facts: PodFacts, verdict: Verdict) -> str:
        devices = card_devices(facts, self.ledger)
        if not devices or not (verdict.queue or verdict.text):
            return self._why_unmanaged(facts, verdict)
        return without_row(devices[0][0])

    def _why_unmanaged(self, facts: PodFacts, verdict: Verdict) -> str:
        if not verdict.queue:
            cards = self.ledger.uses_cards(facts)
            outside = "no queue: counted outside every quota"
            return outside if cards else "no queue and no card: no quota applies"
        return f"audit: would {'be admitted' if verdict.fits else 'wait at the gate'}"

    def _unmanaged(self, pod: Pod, answer: PodAnswer, why: str) -> None:
        answer.answer, answer.text = Answer.UNMANAGED, why
        self._cluster.put(ungated(pod))
        self._try_to_bind(pod.metadata.uid)

    # --- releasing and binding ----------------------------------------------------------------

    def _release(self) -> None:
        """Open gates until none can be opened, as the leader does after every event, and bind these
        pods as far as nodes have room.
        """
        order = QueueOrder(self.ledger)
        while True:
            order.add(self.ledger.dirty.pending.take())
            while order.place_one():
                pass
            queue = order.take()
            if queue is None:
                return
            for uid in list(self._release_in(queue)):
                self._try_to_bind(uid)

    def _release_in(self, queue: str) -> Iterator[str]:
        for found in openings(self.ledger, queue):
            if isinstance(found, Opening):
                yield from self._open(found)
            else:
                self._tell(found)

    def _tell(self, refusal: Refusal) -> None:
        """Say why pods wait. All waiting members of a gang get the latest text, as in its event."""
        gang = refusal.gang.members.values() if refusal.gang is not None else ()
        for record in (*refusal.pods, *(member for member in gang if member.gated)):
            answer = self._by_uid[record.facts.uid]
            answer.reason = refusal.verdict.reason or ""
            verdict = with_group_meant(self.ledger, record.facts, refusal.verdict)
            if refusal.gang is None:
                verdict = with_holders(self.ledger, record.facts, verdict)
            answer.text = verdict.text

    def _open(self, opening: Opening) -> list[str]:
        """Reserve for a gang, charge, then write: in the leader's order."""
        stamps = {
            record.facts.uid: Stamp(opening.queue, cards, _TERM) for record, cards in opening.pods
        }
        gang, reservation = opening.gang, None
        if gang is not None and not opening.pods:
            reservation = self.ledger.decisions.enqueue(
                gang.key, opening.queue, _TERM, opening.asked
            )
        elif gang is not None:
            reservation = self.ledger.decisions.reserve(
                gang.key, opening.queue, _TERM, opening.asked
            )
        for uid, stamp in stamps.items():
            self.ledger.decisions.assume(uid, stamp)
        if gang is not None and reservation is not None:
            self._cluster.write_reservation(gang.key, reservation)
        for uid, stamp in stamps.items():
            self._cluster.open_gate(uid, stamp)
            answer = self._by_uid[uid]
            answer.answer, answer.queue = Answer.ADMITTED, opening.queue
            answer.reason = answer.text = ""
        return list(stamps)

    def _try_to_bind(self, uid: str) -> None:
        """Give an ungated pod a node, if one has room. Its answer says which, or why none."""
        pod, answer, record = self._cluster.pods[uid], self._by_uid[uid], self.ledger.pods.get(uid)
        charge = record.charge if record is not None else ()
        cards = tuple((n, amount) for n, amount in charge if is_card(n))
        answer.cards = dict(cards)
        facts = self._facts(uid)
        if facts.foreign_gates:
            answer.pending = f"waits at {' and '.join(facts.foreign_gates)}: stays Pending"
            return
        node = facts.node or self._nodes.bind(shape_of(pod.spec, facts, cards))
        if node is None:
            answer.pending = "no node has room: stays Pending"
            return
        answer.node = node
        if not facts.node:
            self._cluster.bind(uid, node)
            if record is not None and record.charge != charge:
                answer.cards = {n: amount for n, amount in record.charge if is_card(n)}

    def _facts(self, uid: str) -> PodFacts:
        """Of a stored pod: those of the ledger, if it keeps any."""
        record = self.ledger.pods.get(uid)
        return record.facts if record is not None else pod_facts(self._cluster.pods[uid])

    def _explain_waiting(self) -> None:
        """Say what pods wait for that no decision was about, and drop warnings that repeat the
        text.
        """
        for uid, answer in self._by_uid.items():
            record = self.ledger.pods.get(uid)
            if answer.answer is Answer.GATED and not answer.text and record is not None:
                verdict = judge_release(self.ledger, record)
                verdict = with_group_meant(self.ledger, record.facts, verdict)
                answer.reason, answer.text = verdict.reason or "", verdict.text
            answer.warnings = tuple(text for text in answer.warnings if text != answer.text)
