"""The table asked of a real API server with the product.

The objects that all cases are given are created together, then the cases play, many of them at
once. What is waited for is what the table, or else the simulation, says;
what is there when the time is over is what was found.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from cardquota_dev.predicate import Predicate
from cardquota_dev.testing import Cluster, eventually
from integration.asking import MERGE, ApiReply, ask
from integration.bursts import end_surplus

from .case import ALTERED, Case, CaseStage, Expected, Thing
from .comparing import differences_in
from .found import ADMITTED, DENIED, UNMANAGED, ObservedCase
from .patterns import says, says_each
from .short_forms import CASE_LABEL, SHARED_NAMESPACE
from .sight import KINDS, QUEUES, Sight, refusal, sentence, usable

PATIENCE = 60.0
"""Seconds in which a case has become what it is going to be. After 10, a pod whose group or gang is
not complete is told so.
"""
_EVERY = 0.2
"""Seconds between two looks at a case. Many play at once: to ask takes time from the plane."""
_AT_ONCE = "propagationPolicy=Background"
_CONTROLLED = ("deployment", "statefulset", "daemonset", "job")


@dataclass
class OnPlane:
    """One case on the plane."""

    cluster: Cluster
    case: Case
    sight: Sight = field(init=False)

    def __post_init__(self) -> None:
        self.sight = Sight(self.cluster)

    # --- what is given --------------------------------------------------------------------

    @property
    def namespaces(self) -> list[str]:
        return [self.case.namespace, *(thing.name for thing in self.case.objects("namespace"))]

    def give(self) -> None:
        """Create all that the pods of the case need. Returns before it is usable."""
        for kind in ("namespace", "node", "queue"):
            for thing in self.case.objects(kind):
                reply = self.sight.replies[thing.name] = self._create(thing)
                assert reply.ok or "refused" in (thing.expect or {}), reply

    def until_given(self, seen: ObservedCase) -> None:
        """Returns once the product counts with what was given, as the simulation does."""
        for thing in self.case.objects("node"):
            path = f"/api/v1/nodes/{thing.name}"
            self._until(lambda p=path: usable(self.sight.get(p)), f"{path} usable")
        for name in self.namespaces:
            path = f"/api/v1/namespaces/{name}/serviceaccounts"
            self._until(lambda p=path: self.sight.get(p)["items"], f"a service account in {name}")
        for name in seen.rows:
            self._until(
                lambda n=name: self.sight.rows(n) == seen.rows[n], f"{name}: {seen.rows[name]}"
            )
        for thing in self.case.objects("group"):
            reply = self.sight.replies[thing.name] = self._create(thing)
            assert reply.ok or "refused" in (thing.expect or {}), reply
            path = f"{self._path(thing)}/{thing.name}"
            if reply.ok:
                self._until(lambda p=path: self.sight.get(p).get("status"), f"{path} seen")

    def take_away(self) -> None:
        """Leave nothing behind but namespaces that are going."""
        mine = f"labelSelector={CASE_LABEL}={self.case.prefix}"
        for name in dict.fromkeys(self.namespaces):
            kinds = _CONTROLLED if self.sight.controlled else ()
            for kind in (*kinds, "pod", "group"):
                path = KINDS[kind] % name
                self._ask("DELETE", f"{path}?{mine}&gracePeriodSeconds=0&{_AT_ONCE}")
            if name != SHARED_NAMESPACE:
                self._ask("DELETE", f"/api/v1/namespaces/{name}")
        for thing in self.case.objects("node"):
            self._ask("DELETE", f"/api/v1/nodes/{thing.name}")
        for thing in self.case.objects("queue"):
            path = f"{QUEUES}/{thing.name}"
            self._until(lambda p=path: self._ask("DELETE", p).code in (200, 404), f"{path} gone")

    # --- what happens ---------------------------------------------------------------------

    def play(self, simulated: ObservedCase) -> tuple[ObservedCase, list[str]]:
        """What the first stage came to, and how the later ones differ from the table."""
        first, *later = self.case.stages
        self._enter(first)
        self._wait(lambda: self._settled(first, simulated))
        found = self._found(first, simulated)
        wrong = self.sight.stored_wrong(first, self.case.namespace)
        for number, stage in enumerate(later, start=1):
            wrong += [f"then {number}: {text}" for text in self._change(stage)]
        return found, wrong

    def _enter(self, stage: CaseStage) -> None:
        altered = False
        for thing in stage.things:
            if thing.kind in ALTERED:
                self._alter(thing)
                altered = altered or thing.kind == "queue"
                continue
            if altered or ("group" in thing.row and _refused(thing)):
                # The webhook hears of the queue, and of a gang that has started, a moment later.
                # A dry run leaves nothing behind.
                self._wait(lambda t=thing: self._create(t, dry=True).ok != _refused(t))
            if thing.kind == "pod":
                self._let_be_warned(thing)
            reply = self._create(thing)
            if thing.kind == "pod":
                self.sight.replies[thing.name] = reply
                self._let_settle(thing)
            else:
                assert reply.ok, reply
                told = thing.told is None or says_each(sorted(reply.warnings), thing.told)
                assert told, reply
                self.sight.controlled[thing.name] = thing.namespace
                self._wait(lambda t=thing: self._played(t))

    def _played(self, thing: Thing) -> bool:
        """Whether a workload's pods are as the table says."""
        room = sum(one.answer != DENIED for one in thing.pods)
        if room < len(thing.pods):
            end_surplus(self.cluster, thing.namespace, room, thing.name)
        return not self._pods_wrong({thing.name: thing.pods})

    def _let_be_warned(self, thing: Thing) -> None:
        """In audit mode a pod counts once its binding is heard of, not when it is created."""
        for one in thing.pods:
            if one.answer == UNMANAGED and one.warnings:
                self._wait(
                    lambda w=one.warnings: says_each(
                        sorted(self._create(thing, dry=True).warnings), w
                    )
                )

    def _let_settle(self, thing: Thing) -> None:
        """The simulation creates a pod when all is said about the one before; a member waits for
        the others of its gang.
        """
        answers = {one.answer for one in thing.pods}
        if "group" not in thing.row and answers & {ADMITTED, UNMANAGED}:
            self._wait(lambda: not self._pods_wrong({thing.name: thing.pods}))

    def _change(self, stage: CaseStage) -> list[str]:
        wrong: list[str] = []
        for row in stage.deletes:
            wrong += self._delete(row)
        self._enter(stage)

        def told() -> list[str]:
            found = ObservedCase(rows={queue: self.sight.rows(queue) for queue in stage.rows})
            found.pods = {name: self.sight.pods(name) for name in stage.pods}
            found.answers = self.sight.answers(stage, self.case.namespace)
            return [
                *differences_in(stage, found),
                *self.sight.stored_wrong(stage, self.case.namespace),
            ]

        self._wait(lambda: not told())
        return [*wrong, *told()]

    def _alter(self, thing: Thing) -> None:
        keys = {"annotations": thing.body["metadata"].get("annotations", {})}
        change = {"metadata": keys, "spec": thing.body["spec"]}
        path = QUEUES if thing.kind == "queue" else self._path(thing)
        reply = self._ask("PATCH", f"{path}/{thing.name}", change, content_type=MERGE)
        expected = (thing.expect or {}).get("refused", "")
        assert says(sentence(reply, thing), expected), reply
        assert says_each(sorted(reply.warnings), thing.warnings), reply

    def _delete(self, row: Mapping[str, Any]) -> list[str]:
        what = row["delete"]
        kind, name = ("pod", what) if isinstance(what, str) else next(iter(what.items()))
        path = KINDS[kind]
        path = path % self.case.namespace if "%s" in path else path
        reply = self._ask("DELETE", f"{path}/{name}?gracePeriodSeconds=0")
        expected = row.get("expect", {}).get("refused", "")
        return [] if says(refusal(reply), expected) else [f"delete {name}: {reply}"]

    # --- what is there --------------------------------------------------------------------

    def _settled(self, stage: CaseStage, simulated: ObservedCase) -> bool:
        return (
            all(self.sight.rows(name) == rows for name, rows in simulated.rows.items())
            and all(self.sight.told(name) for name in simulated.not_counted)
            and not self._pods_wrong(stage.pods)
            and not self._answers_wrong(stage)
            and not self.sight.stored_wrong(stage, self.case.namespace)
        )

    def _found(self, stage: CaseStage, simulated: ObservedCase) -> ObservedCase:
        written = (*self.case.objects("queue"), *self.case.objects("group"))
        said = {thing.name: sentence(self.sight.replies[thing.name], thing) for thing in written}
        return ObservedCase(
            pods={name: self.sight.pods(name) for name in stage.pods},
            answers=self.sight.answers(stage, self.case.namespace),
            warned={
                thing.name: tuple(sorted(told))
                for thing in self.case.objects("group")
                if (told := self.sight.replies[thing.name].warnings)
            },
            refused={name: text for name, text in said.items() if text},
            not_counted={
                thing.name: text
                for thing in self.case.objects("node")
                if (text := self.sight.told(thing.name))
            },
            rows={name: self.sight.rows(name) for name in simulated.rows},
        )

    def _pods_wrong(self, expected: Mapping[str, list[Expected]]) -> list[str]:
        stage = CaseStage((), (), expected, {}, {}, {})
        found = ObservedCase(pods={name: self.sight.pods(name) for name in expected})
        return differences_in(stage, found)

    def _answers_wrong(self, stage: CaseStage) -> list[str]:
        asked = CaseStage((), (), {}, {}, {}, stage.answers)
        found = ObservedCase(answers=self.sight.answers(stage, self.case.namespace))
        return differences_in(asked, found)

    # --- requests -------------------------------------------------------------------------

    def _until(self, condition: Predicate[object], what: str, seconds: float = 30.0) -> None:
        eventually(condition, what, seconds, every=_EVERY)

    def _wait(self, condition: Predicate[bool]) -> None:
        """Until the condition holds or the time is over: what is there then is judged later."""
        with suppress(AssertionError):
            self._until(condition, "as the table says", PATIENCE)

    def _create(self, thing: Thing, *, dry: bool = False) -> ApiReply:
        path = self._path(thing) + ("?dryRun=All" if dry else "")
        return self._ask("POST", path, thing.body)

    def _path(self, thing: Thing) -> str:
        path = KINDS[thing.kind]
        return path % thing.namespace if thing.namespace else path

    def _ask(self, method: str, path: str, thing: object = None, **options: Any) -> ApiReply:
        return ask(self.cluster, method, path, thing, **options)


def _refused(thing: Thing) -> bool:
    return any(one.answer == DENIED for one in thing.pods)
