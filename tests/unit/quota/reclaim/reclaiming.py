"""A cluster in a few words, and what is planned for those who wait there."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from time import process_time
from typing import Any

from builders import H200, H800, a_group, a_ledger, a_namespace, a_node, a_pod, a_queue, see
from builders.group import GroupBody
from builders.node import NodeBody
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.quota import to_its_end
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.reclaim import (
    Beneficiary,
    NoPlan,
    Plan,
    plans,
    preempt_waiters,
    reclaim_waiters,
)
from cardquota.quota.steps import Steps

from ..releasing import release

CARDS = {"H200": H200, "H800": H800, "memory": "NVIDIA-A10/gpu-mem"}
AFTER = 60.0
LONG_AGO = "2026-01-01T00:00:00Z"


@dataclass
class CaseWords:
    """`a 2 n1 priority=5`: what stands first, and what has a name."""

    first: list[str]
    named: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, text: object) -> "CaseWords":
        words = str(text).split()
        return cls(
            [word for word in words if "=" not in word],
            dict(word.split("=", 1) for word in words if "=" in word),
        )

    def get(self, name: str, otherwise: str = "") -> str:
        return self.named.get(name, otherwise)


def node(name: str, text: object) -> NodeBody:
    """How many cards; `card=`, `zone=`, `taint=`, `cordoned=yes`, `memory=` of a card beside them;
    of memory how many `cards=` there are, and which are `broken=`.
    """
    words = CaseWords.of(text)
    card, amount = words.get("card", "H200"), int(words.first[0])
    if card == "memory":
        found = a_node(name).labelled("aliyun.accelerator/nvidia_name", "NVIDIA-A10")
        found = found.sharing_memory(amount, words.get("cards", "1"))
    else:
        found = a_node(name).with_cards(CARDS[card], amount)
    if words.get("memory"):
        found = found.sharing_memory(words.get("memory"), 1)
    if words.get("broken"):
        found = found.annotated(v.UNHEALTHY_CARDS, words.get("broken"))
    if words.get("zone"):
        found = found.labelled("zone", words.get("zone"))
    if words.get("taint"):
        taint = {"key": words.get("taint"), "effect": "NoSchedule"}
        found = found.put([taint], "spec", "taints")
    if words.get("cordoned"):
        found = found.put(True, "spec", "unschedulable")
    return found


def queue(name: str, text: object) -> QueueBody:
    """The quota of H200; `H800=`, `memory=`, `weight=`, `owed=`, `reclaimable=false`, `cpu=`."""
    words = CaseWords.of(text)
    rows = {H200: int(words.first[0])} if words.first else {}
    rows |= {CARDS[key]: int(n) for key, n in words.named.items() if key in CARDS}
    found = a_queue(name).with_quota(rows).weighing(int(words.get("weight", "1")))
    if words.get("owed"):
        found = found.deserving_cards({H200: int(words.get("owed"))})
    if words.get("reclaimable"):
        found = found.reclaimable(words.get("reclaimable") != "false")
    return found.limited_to(cpu=words.get("cpu")) if words.get("cpu") else found


def group(name: str, text: object) -> GroupBody:
    """Its queue and its minimum; `preemptable=false`, `label=false`, `reserved=` cards, `task=`
    how many of the task worker.
    """
    words = CaseWords.of(text)
    found = a_group(name).in_queue(words.first[0]).of(int(words.first[1]))
    if words.get("label"):
        found = found.labelled(v.PREEMPTABLE, words.get("label"))
    if words.get("task"):
        found = found.of_tasks({"worker": int(words.get("task"))})
    if words.get("reserved"):
        found = found.reserving(words.first[0], {H200: int(words.get("reserved"))})
    return found.annotated(v.PREEMPTABLE, words.get("preemptable") or None)


def pod(name: str, words: CaseWords) -> PodBody:
    """Its queue and how many cards; what else it may be is told below. It has neither stamp nor
    gate.
    """
    card, amount = CARDS[words.get("card", "H200").partition("|")[0]], int(words.first[1])
    named = "|".join(CARDS[one] for one in words.get("card", "H200").split("|"))
    found = a_pod(name).in_queue(words.first[0]).with_priority(int(words.get("priority", "0")))
    found = found.in_namespace(words.get("namespace", "team")).created(LONG_AGO)
    if words.get("group"):
        found = found.in_group(words.get("group"))
    if amount and card == CARDS["memory"]:
        found = found.naming(card).asking_for_memory(amount)
    elif amount:
        found = found.naming(named).asking_for(amount)
    if words.get("zone"):
        found = found.on_nodes_labelled({"zone": words.get("zone")})
    if words.get("tolerates"):
        found = found.with_spec(tolerations=[{"operator": "Exists", "key": words.get("tolerates")}])
    if words.get("policy"):
        found = found.with_spec(preemptionPolicy=words.get("policy"))
    if words.get("cpu"):
        found = found.with_cpu(words.get("cpu"))
    if words.get("label"):
        found = found.labelled(v.PREEMPTABLE, words.get("label"))
    if words.get("leaving"):
        found = found.terminating()
    if words.get("mirror"):
        found = found.annotated("kubernetes.io/config.mirror", "m")
    return found.annotated(v.PREEMPTABLE, words.get("preemptable") or None)


def bound(name: str, text: object) -> PodBody:
    """And its node; `at=` says when it was bound, `past=yes` that we did not release it, `place=`
    the index of the card whose memory it holds.
    """
    words = CaseWords.of(text)
    found, card = pod(name, words), CARDS[words.get("card", "H200")]
    at = f"2026-01-01T01:00:{int(words.get('at', '0')):02d}Z"
    if words.get("place"):
        found = found.on_card(words.first[2], words.get("place"), words.first[1])
    if not words.get("past"):
        found = found.stamped(words.first[0], {card: int(words.first[1])})
    return found.on_node(words.first[2], at)


def unplaced(name: str, text: object) -> PodBody:
    """Released, and the scheduler has found no node for it."""
    words = CaseWords.of(text)
    card = CARDS[words.get("card", "H200")]
    amount = int(words.first[1])
    return unschedulable(pod(name, words).stamped(words.first[0], {card: amount} if amount else {}))


def unschedulable(found: PodBody) -> PodBody:
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return found.put([said], "status", "conditions")


def cluster(case: Mapping[str, Any]) -> Ledger:
    """All that a case has."""
    audited, lends = a_namespace("audited").in_mode("audit"), bool(case.get("lends"))
    ledger = a_ledger(a_namespace("team"), audited, lends_what_is_there=lends)
    things: list[Any] = [node(name, text) for name, text in case.get("nodes", {}).items()]
    things += [queue(name, text) for name, text in case.get("queues", {}).items()]
    things += [group(name, text) for name, text in case.get("groups", {}).items()]
    for name, text in case.get("bound", {}).items():
        times = int(CaseWords.of(text).get("times", "1"))
        names = [name] if times == 1 else [f"{name}-{number}" for number in range(times)]
        things += [bound(one, text) for one in names]
    things += [unplaced(name, text) for name, text in case.get("unplaced", {}).items()]
    things += [
        pod(name, CaseWords.of(text)).gated() for name, text in case.get("gated", {}).items()
    ]
    see(ledger, *things)
    return ledger


def waiters(ledger: Ledger) -> list[Beneficiary]:
    """All that have waited long enough."""
    for account in list(ledger.accounts()):
        if account.pending:
            release(ledger, account.name)
    since = dict.fromkeys(ledger.unplaced, 0.0)
    found = to_its_end(reclaim_waiters(ledger, since, AFTER, AFTER))
    return found + to_its_end(preempt_waiters(ledger, "9999"))


def planned_for(ledger: Ledger, one: Beneficiary) -> Plan | NoPlan | None:
    """For it alone."""
    return next(iter(to_its_end(plans(ledger, [one]))), None)


def planned(ledger: Ledger, **options: Any) -> list[Plan | NoPlan]:
    return to_its_end(plans(ledger, waiters(ledger), **options))


def told(results: Collection[Plan | NoPlan]) -> dict[str, Any]:
    """By name of who waits: the names of those that end, sorted, or the obstacle."""
    return {
        one.beneficiary.name: sorted(victim.name for victim in one.victims)
        if isinstance(one, Plan)
        else " ".join([one.obstacle, *one.queues])
        for one in results
    }


def longest_of(steps: Steps[Any]) -> float:
    """Seconds of the processor in the longest of these steps."""
    finished, longest = object(), 0.0
    step: object = None
    while step is not finished:
        begin = process_time()
        step = next(steps, finished)
        longest = max(longest, process_time() - begin)
    return longest
