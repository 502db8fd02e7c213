"""The operator without a cluster: the same ledger, judgement and order for objects of files.

Each pod is judged as by the webhook; gates are opened at once, as by the leader; then the pod gets
a node. No I/O.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import msgspec

from ...cluster.watch.feed import ledger_settings
from ...install.matching import is_ours, known_to_policies
from ...install.policies.gate_setting import gate_is_set_by_policy
from ...quota import vocabulary as v
from ...quota.accounts.queue_facts import QueueError, queue_facts
from ...quota.accounts.queue_write import check_queue
from ...quota.amounts import is_card
from ...quota.decisions.create_judgement import judge_create
from ...quota.decisions.group_write import judge_group_write
from ...quota.decisions.judgement import judge_release, queue_not_named
from ...quota.decisions.verdict_texts import card_not_steered, with_group_meant, with_holders
from ...quota.decisions.volcano_job import has_too_many_tasks, judge_job
from ...quota.ledger.groups.group_facts import namespace_facts
from ...quota.ledger.ledger import Ledger
from ...quota.messages import request_messages, shortfall_messages
from ...quota.nodes.node_facts import node_facts
from ...quota.objects.pod import Pod, PodSpec
from ...quota.objects.pod_group import WrittenPodGroup
from ...quota.objects.queue import Queue
from ...quota.objects.workload import WrittenVolcanoJob
from ...quota.pods.claims import named_claims, why_no_quota_counts
from ...quota.pods.pod_facts import PodFacts, alias_warning, pod_facts
from ...quota.pods.pod_request import card_devices
from ...quota.release.cycle import openings
from ...quota.release.refusals import Refusal
from ...quota.release.release_judge import Opening
from ...quota.release.release_order import QueueOrder
from ...quota.reports.queue_report import report
from ...quota.stamp import Stamp
from ...quota.steps import to_its_end
from ...quota.verdict import Effect, Verdict, effect_of, effect_on_create
from ...settings import InstallationMode, Settings
from ..reading import without_row
from .answers import Answer, Answers, PodAnswer, RefusedObject, WorkloadAnswer
from .fake_cluster import FakeCluster, Priorities, gated, ungated
from .inventory import VOLCANO_JOB, Inventory, VolcanoJob, WrittenWorkload
from .simulated_nodes import SimulatedNodes, shape_of
from .workloads import expand

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
        self._nodes = SimulatedNodes(inventory.nodes, self.ledger.vendors)
        self._priorities = Priorities(inventory.priority_classes)
        self._by_uid: dict[str, PodAnswer] = {}

    def run(self) -> Answers:
        """Cluster objects first, then workloads and pod groups in the order of the files."""
        self._see_cluster()
        for workload in self._inventory.workloads:
            if not isinstance(workload, WrittenPodGroup):
                self._apply(workload)
            elif self._accepts_group(workload):
                self._cluster.put_group(workload)
                self._release()
        self._explain_waiting()
        self.answers.queues += [
            found
            for queue in sorted(queue.metadata.name for queue in self._inventory.queues)
            if (found := report(self.ledger, queue)) is not None
        ]
        self.answers.notes += self._priorities.notes
        return self.answers

    # --- creating -----------------------------------------------------------------------------

    def _see_cluster(self) -> None:
        """Have the ledger see all objects of the inventory but the workloads."""
        for limit_range in self._inventory.limit_ranges:
            self.ledger.defaults.limit_range_seen(limit_range)
        for runtime_class in self._inventory.runtime_classes:
            self.ledger.defaults.runtime_class_seen(runtime_class)
        for found in self._inventory.device_classes:
            resource = found.spec.extended_resource_name or ""
            self.ledger.device_class_seen(found.metadata.name, resource)
        for priority_class in self._inventory.priority_classes:
            self.ledger.priority_class_seen(priority_class.metadata.name, priority_class.value)
        for node in self._inventory.nodes:
            self.ledger.node_seen(node_facts(node, self.ledger.vendors))
        for namespace in self._inventory.namespaces:
            self.ledger.namespace_seen(namespace_facts(namespace))
        for queue in self._inventory.queues:
            if self._accepts(queue):
                self.ledger.queue_seen(queue_facts(queue))
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

    def _accepts_group(self, group: WrittenPodGroup, *, by_controller: bool | None = None) -> bool:
        """Whether the webhook lets a pod group by; where it only warns, that is noted."""
        meta = group.metadata
        if meta.namespace in self._settings.unwatched_namespaces:
            return True
        verdict = judge_group_write(self.ledger, group, None, by_controller=by_controller)
        mode, name = self.ledger.mode_in(meta.namespace), f"{meta.namespace}/{meta.name}"
        effect = effect_of(verdict.outcome, v.Policy.GATE, mode)
        if effect is Effect.DENY:
            self.answers.refused.append(RefusedObject("PodGroup", name, verdict.text))
            return False
        told = verdict.warnings if mode is not v.Mode.OFF else ()
        if verdict.text and mode is not v.Mode.OFF:
            warned = effect is Effect.WARN
            told = (shortfall_messages.audited(verdict.text) if warned else verdict.text,)
        self.answers.notes += [f"PodGroup {name}: {text}" for text in told]
        return True

    def _accepts_job(self, job: VolcanoJob) -> bool:
        """Whether the webhook lets a Job of Volcano by, which is there beside Volcano alone. What
        its pods will wait for is told by their own answers; the rest is noted.
        """
        meta = job.metadata
        mode = self.ledger.mode_in(meta.namespace)
        unwatched = meta.namespace in self._settings.unwatched_namespaces
        if self._settings.scheduler != "volcano" or unwatched or mode is v.Mode.OFF:
            return True
        written = msgspec.convert(msgspec.to_builtins(job), WrittenVolcanoJob)
        if has_too_many_tasks(written):
            return True
        for task in written.spec.tasks or ():
            self._leave_out_claims(task.template.spec, meta.namespace)
        verdict = to_its_end(judge_job(self.ledger, written, namespace=meta.namespace))
        name = f"{meta.namespace}/{meta.name}"
        told = list(verdict.warnings)
        if verdict.text and mode is v.Mode.ENFORCE:
            self.answers.refused.append(RefusedObject(VOLCANO_JOB, name, verdict.text))
            return False
        if verdict.text:
            told.append(shortfall_messages.audited(verdict.text))
        self.answers.notes += [f"{VOLCANO_JOB} {name}: {text}" for text in told]
        return True

    # --- what is created ----------------------------------------------------------------------

    def _apply(self, workload: WrittenWorkload) -> None:
        made = expand(workload, self._nodes.matching)
        meta = workload.body.metadata
        found = WorkloadAnswer(workload.kind, meta.namespace, meta.name, note=made.note)
        self.answers.workloads.append(found)
        if isinstance(workload.body, VolcanoJob) and not self._accepts_job(workload.body):
            found.note = "the Job is refused, so it has no pods"
            return
        if made.group is not None:
            if not self._accepts_group(made.group, by_controller=True):
                found.note = "its pod group is refused, so it has no pods"
                return
            self._cluster.put_group(made.group)
        for pod in made.pods:
            self._look_for_class(pod.spec.runtime_class_name or "")
            found.pods.append(self._create(pod))
            self._release()

    def _look_for_class(self, name: str) -> None:
        there = {found.metadata.name for found in self._inventory.runtime_classes}
        note = f"RuntimeClass {name} is not in the files: its pods are taken without its overhead"
        if name and name not in there and note not in self.answers.notes:
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
        claimed = self._leave_out_claims(pod.spec, pod.metadata.namespace)
        facts = pod_facts(pod)
        if facts.namespace in self._settings.unwatched_namespaces:
            self._unmanaged(pod, answer, f"namespace {facts.namespace} is exempt")
            return
        verdict = judge_create(self.ledger, facts, require_queue=self._settings.require_queue)
        mode = self.ledger.mode_in(facts.namespace)
        ours = is_ours(pod, facts, self.ledger.vendors)
        if not ours and not self._asked_about_all(facts):
            answer.queue = verdict.queue
            self._unmanaged(pod, answer, self._why_never_seen(facts, verdict, mode))
            return
        policy = self.ledger.policy_of(facts, verdict.queue)
        effect = effect_on_create(verdict, policy, mode, of_volcano_job=facts.of_volcano_job)
        known = known_to_policies(pod, facts, self.ledger.vendors)
        if effect is Effect.GATE and not known and gate_is_set_by_policy(self._settings):
            verdict = queue_not_named(self.ledger, facts, verdict.queue)
            effect = Effect.DENY
        answer.queue, answer.reason = verdict.queue, verdict.reason or ""
        answer.text = with_holders(self.ledger, facts, verdict).text
        if claimed and verdict.reason is v.Reason.DEVICE_CLAIMED:
            answer.text = request_messages.with_claim(answer.text, claimed)
        answer.warnings = verdict.warnings + alias_warning(pod.metadata.annotations)
        if effect is Effect.WARN:
            answer.warnings += card_not_steered(self.ledger, facts, verdict)
        if self.ledger.claims_devices(facts):
            answer.warnings += (request_messages.claim_not_counted(),)
        if effect is Effect.DENY:
            answer.answer, answer.warnings = Answer.DENIED, ()
        elif effect is Effect.GATE:
            if facts.foreign_gates:
                answer.warnings += (request_messages.foreign_gate(facts.foreign_gates[0]),)
            self._cluster.put(gated(pod))
        else:
            why = self._why_unmanaged(facts, verdict, mode, warned=effect is Effect.WARN)
            self._unmanaged(pod, answer, why)

    def _leave_out_claims(self, spec: PodSpec, namespace: str) -> str:
        """Empty its claims if none of them is of a card; why not, where such pods are refused."""
        found = self.ledger.namespaces.get(namespace)
        if found is None or found.mode != v.NAMESPACE_ENFORCED:
            return ""
        listed = self._settings.device_classes_without_cards
        for claim in named_claims(spec):
            there = self._inventory.claims.get((namespace, claim))
            classes = None if there is None else set(there.device_classes())
            if why := why_no_quota_counts(claim, classes, listed):
                return why
        spec.resource_claims = ()
        return ""

    def _asked_about_all(self, facts: PodFacts) -> bool:
        """Whether a pod that does not use cards, as far as the API server knows, reaches the
        webhook: in an enforced namespace for its devices, in an audited one for its claims.
        """
        found = self.ledger.namespaces.get(facts.namespace)
        mode = found.mode if found is not None else ""
        return mode == v.NAMESPACE_ENFORCED or (mode == v.NAMESPACE_AUDIT and facts.claims_devices)

    def _why_never_seen(self, facts: PodFacts, verdict: Verdict, mode: v.Mode) -> str:
        devices = card_devices(facts, self.ledger)
        if mode is v.Mode.OFF or not devices or not (verdict.queue or verdict.text):
            return self._why_unmanaged(facts, verdict, mode, warned=False)
        return without_row(devices[0][0])

    def _why_unmanaged(
        self, facts: PodFacts, verdict: Verdict, mode: v.Mode, *, warned: bool
    ) -> str:
        if mode is v.Mode.OFF:
            return f"card quotas are off in namespace {facts.namespace}"
        if warned:
            return shortfall_messages.audited(verdict.text)
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
            order.add(self.ledger.dirty.take_pending())
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
