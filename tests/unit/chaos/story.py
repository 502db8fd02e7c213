"""A history written by hand: what etcd would have told, change by change."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from chaos.clients.objects import NAMESPACE, A, B, D

PodNotes = dict[str, str]


_CARD = re.compile(r"\b[ABD]\b")


def with_cards(text: str) -> str:
    """A text that names cards `A`, `B` and `D`, with their names."""
    return _CARD.sub(lambda found: {"A": A, "B": B, "D": D}[found[0]], text)


def _value(word: str) -> Any:
    if word.lstrip("-").isdigit():
        return int(word)
    if ":" in word:
        pairs = (pair.split(":") for pair in word.split(","))
        return {with_cards(cards): int(number) for cards, number in pairs}
    return with_cards(word)


class Teller:
    """Tells a story by a text."""

    def tell(self, text: str) -> Self:
        """Steps, separated by `;`: one of its methods, and what it takes. `A` and `B` are
        cards, `A|B` a choice, and `A:2,B:1` so many of each.
        """
        for step in text.split(";"):
            verb, *words = step.split()
            options = dict(word.split("=") for word in words if "=" in word)
            getattr(self, verb)(
                *(_value(word) for word in words if "=" not in word),
                **{name: _value(word) for name, word in options.items()},
            )
        return self


class Story(Teller):
    """Every step is one revision, half a second after the one before."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "history"
        self._lines: list[str] = []
        self._versions: dict[tuple[str, str], int] = {}
        self._objects: dict[str, dict[str, Any]] = {}
        self.revision = 0
        self.now = 0.0

    def put(self, kind: str, key: str, thing: dict[str, Any] | None) -> Self:
        self.revision += 1
        self.now += 0.5
        before = self._versions.get((kind, key), 0)
        version = before + 1 if thing else 0
        self._versions[kind, key] = version
        row = [self.now, kind, key, version, thing]
        if thing is None:
            row.append(before)
        self._lines.append(f"{self.revision:012} {json.dumps(row)}")
        self.file.write_text("\n".join(reversed(self._lines)))
        return self

    def lose_last(self) -> Self:
        """One change is missing from what was told."""
        self._lines.pop()
        return self

    def queue(
        self, name: str, quota: Mapping[str, int], policy: str = "Gate", *, lent: int = 0
    ) -> Self:
        notes = {"volcano.sh/card.quota": json.dumps(quota), "volcano.sh/card.policy": policy}
        if lent:
            notes["volcano.sh/card.surge"] = str(lent)
        return self.put("queue", name, {"metadata": {"name": name, "annotations": notes}})

    def group(
        self, name: str, minimum: int, reserving: int | None = None, *, queue: str = "q",
        reserved_in: str = "", uid: str = "",
    ) -> Self:  # fmt: skip
        cards = None if reserving is None else {A: reserving}
        return self._group(name, minimum, queue, uid, None, cards, reserved_in=reserved_in)

    def announces(
        self, name: str, asks: Mapping[str, int], reserving: Mapping[str, int] | None = None
    ) -> Self:
        """A group of two that says what it will ask for; `reserving`: as it is enqueued."""
        return self._group(name, 2, "q", "", asks, reserving, request="mark")

    def of_a_job(
        self, name: str, phase: str, reserving: int | None = None, *,
        asks: Mapping[str, int] | None = None, uid: str = "",
    ) -> Self:  # fmt: skip
        """The group of a Job of Volcano of two cards, in one of its phases. It says what it `asks`
        for, or not. `reserving`: as we enqueue it.
        """
        cards = None if reserving is None else {A: reserving}
        return self._group(name, 2, "q", uid, asks, cards, request="mark", phase=phase)

    def _group(
        self, name: str, minimum: int, queue: str, uid: str, asks: Mapping[str, int] | None,
        cards: Mapping[str, int] | None, *, reserved_in: str = "", request: str = "",
        phase: str = "",
    ) -> Self:  # fmt: skip
        """`cards`: of its reservation; `request`: the mark of one that is enqueued; `phase`: of one
        that is a Job's.
        """
        notes = {"volcano.sh/card.request": json.dumps(asks)} if asks else {}
        if cards is not None:
            found = {"term": "t", "queue": reserved_in or queue, "cards": cards}
            found |= {"request": request} if request else {}
            notes["volcano.sh/card.reservation"] = json.dumps(found)
        meta: dict[str, Any] = {"name": name, "namespace": NAMESPACE, "uid": uid or name}
        thing: dict[str, Any] = {
            "metadata": {**meta, "annotations": notes},
            "spec": {"queue": queue, "minMember": minimum},
        }
        if phase:
            owner = {"apiVersion": "batch.volcano.sh/v1alpha1", "name": "job"}
            thing["metadata"]["ownerReferences"] = [owner]
            thing["spec"]["minResources"] = {"nvidia.com/gpu": "2", "count/pods": str(minimum)}
            thing["status"] = {"phase": phase}
        return self.put("group", name, thing)

    def job(self, name: str, reason: str = "") -> Self:
        """A Job of Volcano; `reason`: why it is in its phase."""
        meta = {"name": name, "namespace": NAMESPACE, "uid": name}
        state = {"phase": "Terminated" if reason else "Running", "reason": reason}
        return self.put("job", name, {"metadata": meta, "status": {"state": state}})

    def unjob(self, name: str) -> Self:
        return self.put("job", name, None)

    def gang(self, name: str, members: str, minimum: int, amount: int = 1) -> Self:
        """A group, and a pod that waits for each letter."""
        self.group(name, minimum)
        for member in members:
            self.waits(member, amount, group=name)
        return self

    def service(self, number: int) -> Self:
        """A group that needs one pod, and has so many."""
        self.group("service", 1)
        for name in (f"s{n}" for n in range(number)):
            self.waits(name, group="service").starts(name)
        return self

    def ungroup(self, name: str) -> Self:
        return self.put("group", name, None)

    def pause(self, seconds: float) -> Self:
        """Nothing happens for so long."""
        self.now += seconds
        return self

    def waits(
        self,
        name: str,
        amount: int = 1,
        cards: str = A,
        queue: str = "q",
        group: str = "",
        maker: str = "",
        priority: int = 0,
    ) -> Self:
        notes = {"scheduling.volcano.sh/queue-name": queue, "volcano.sh/card.name": cards}
        if group:
            del notes["scheduling.volcano.sh/queue-name"]  # it goes where its group goes
            notes["scheduling.k8s.io/group-name"] = group
        meta: dict[str, Any] = {
            "name": name, "namespace": NAMESPACE, "annotations": notes,
            "uid": f"{name}-{self.revision}",
        }  # fmt: skip
        if maker:
            meta["ownerReferences"] = [{"kind": "ReplicaSet", "name": maker, "controller": True}]
        spec = {
            "schedulingGates": [{"name": "volcano.sh/card-quota"}],
            "containers": [{"resources": {"limits": {"nvidia.com/gpu": str(amount)}}}],
            "priority": priority,
        }
        self._objects[name] = {"metadata": meta, "spec": spec, "status": {"phase": "Pending"}}
        return self.put("pod", name, self._objects[name])

    def opens(self, name: str, card: str = A, amount: int | None = None, queue: str = "q") -> Self:
        thing = self._objects[name]
        limits = thing["spec"]["containers"][0]["resources"]["limits"]
        amount = int(limits["nvidia.com/gpu"]) if amount is None else amount
        notes = {
            "volcano.sh/card.allocated": json.dumps({card: amount}),
            "volcano.sh/card.queue": queue,
            "volcano.sh/card.term": "cardquota-0_aa",
        }
        self._change(name, notes=notes, gates=None)
        return self.put("pod", name, self._objects[name])

    def opens_by_itself(self, name: str) -> Self:
        self._change(name, notes={}, gates=None)
        return self.put("pod", name, self._objects[name])

    def runs(self, name: str, node: str = "chaos-0", phase: str = "Running") -> Self:
        thing = self._objects[name]
        bound = {"type": "PodScheduled", "lastTransitionTime": f"{self.now:012.3f}"}
        status = {"phase": phase, "conditions": [bound]}
        found = {**thing, "spec": {**thing["spec"], "nodeName": node}, "status": status}
        self._objects[name] = found
        return self.put("pod", name, found)

    def lets(self, *names: str) -> Self:
        """Each waits, and is released."""
        for name in names:
            self.waits(name).opens(name)
        return self

    def starts(self, *names: str) -> Self:
        """Each is released, and runs."""
        for name in names:
            self.opens(name).runs(name)
        return self

    def lends(self, *names: str, group: str = "") -> Self:
        """Each runs in the queue that borrows."""
        for name in names:
            self.waits(name, cards=D, queue="b", group=group).opens(name, D, queue="b")
            self.runs(name, "few-0")
        return self

    def owed(self, name: str, amount: int = 1) -> Self:
        """It is released in the queue that lends, and has no node."""
        return self.waits(name, amount, D, "o").opens(name, D, queue="o")

    def plans(self, name: str, *victims: str, way: str = "reclaim") -> Self:
        """What ends for it is written on a pod."""
        uids = [self._objects[victim]["metadata"]["uid"] for victim in victims]
        plan = json.dumps({"way": way, "card": D, "victims": uids})
        gates = self._objects[name]["spec"]["schedulingGates"]
        self._change(name, notes={"volcano.sh/card.reclaim-plan": plan}, gates=gates)
        return self.put("pod", name, self._objects[name])

    def ends(self, name: str) -> Self:
        """An Eviction of it is accepted."""
        thing = self._objects[name]
        evicted = {"type": "DisruptionTarget", "reason": "EvictionByEvictionAPI"}
        status = {**thing["status"], "conditions": [*thing["status"]["conditions"], evicted]}
        self._objects[name] = {**thing, "status": status}
        return self.put("pod", name, self._objects[name])

    def is_deleted(self, name: str) -> Self:
        """Somebody deletes it, and it is not gone yet."""
        thing = self._objects[name]
        meta = {**thing["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
        self._objects[name] = {**thing, "metadata": meta}
        return self.put("pod", name, self._objects[name])

    def goes(self, name: str) -> Self:
        return self.put("pod", name, None)

    def _change(self, name: str, notes: PodNotes, gates: Any) -> None:
        thing = self._objects[name]
        meta = thing["metadata"]
        meta = {**meta, "annotations": {**meta["annotations"], **notes}}
        spec = {**thing["spec"], "schedulingGates": gates}
        self._objects[name] = {**thing, "metadata": meta, "spec": spec}
