"""The inputs, one after the other, from a seed: bytes and where they are sent."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any, Final

from cardquota.quota import REVIEW_GROUP

from . import seeds, values
from .mutation import broken, enlarged, mutated
from .product import encoded

PODS: Final = ("", "v1", "pods")
QUEUES: Final = ("scheduling.volcano.sh", "v1beta1", "queues")
GROUPS: Final = ("scheduling.volcano.sh", "v1beta1", "podgroups")
OBJECTS: Final = 40
"""Different objects of each kind at most: what exists is not to grow with the inputs."""
_ASKED: Final = 4
"""Which of ten inputs asks something."""
MOST: Final = 3 * 2**20
"""Bytes of an input: an API server takes no larger request."""
_FIRST_REVISION: Final = 100
_APART: Final = 10
"""Revisions between two inputs, for what is sent between them."""
_EVENTS: Final = ("ADDED", "MODIFIED", "MODIFIED", "DELETED")
_BYTES: Final = 0.15
"""Of so many the bytes are changed, not the object."""


@dataclass(frozen=True, slots=True)
class Input:
    """One input. `to`: a path of the webhook, or a kind that is watched."""

    number: int
    to: str
    body: bytes
    watch: bool = False

    def __str__(self) -> str:
        where = f"a watch of {self.to}" if self.watch else self.to
        return f"input {self.number}, {len(self.body):,} bytes, to {where}"


def revision_of(number: int) -> int:
    """What an input is written at, if it is an object; the next few are nobody's."""
    return _FIRST_REVISION + _APART * number


class Inputs:
    """Endless; the same for the same seed."""

    def __init__(self, seed: int, *, large: float = 0.002) -> None:
        """`large`: the part of the inputs that is up to 3 MB."""
        self._seed = seed
        self._large = large
        self._pods = [json.dumps(body) for body in seeds.pods()]
        self._kinds: dict[str, list[str]] = {"pods": self._pods}
        for kind, body in seeds.world():
            self._kinds.setdefault(kind, []).append(json.dumps(body))
        self._workloads = {name: json.dumps(body) for name, body in seeds.workloads().items()}
        self._questions = [(name, json.dumps(body)) for name, body in seeds.questions()]
        self._others = [json.loads(text) for texts in self._kinds.values() for text in texts]

    def __iter__(self) -> Iterator[Input]:
        return map(self.numbered, count())

    def numbered(self, number: int) -> Input:
        """One of them. Each has dice of its own, so it can be made without those before it."""
        made = self._watched if number % 2 else self._review
        if number % 10 == _ASKED:
            made = self._question
        for turn in count():
            try:
                found = made(Random(f"{self._seed}/{number}/{turn}"), number)
            except ValueError:
                continue  # a part of it was put into itself
            if len(found.body) <= MOST:
                return found
        raise AssertionError("unreachable")

    def _review(self, chance: Random, number: int) -> Input:
        kind = chance.choice(
            ("pods", "pods", "pods", "resizes", "queues", "workloads", "podgroups", "podgroups")
        )
        operation = chance.choice(("CREATE", "UPDATE", "DELETE"))
        match kind:
            case "workloads":
                name = chance.choice(list(self._workloads))
                group = "batch" if name in ("jobs", "cronjobs") else "apps"
                resource, text = (group, "v1", name), self._workloads[name]
                if name == seeds.VOLCANO_JOBS:
                    resource = ("batch.volcano.sh", "v1alpha1", "jobs")
            case "queues" | "podgroups":
                resource = QUEUES if kind == "queues" else GROUPS
                text = chance.choice(self._kinds[kind])
            case _:
                resource, text = PODS, chance.choice(self._pods)
        new, old = self._body(chance, text), json.loads(text)
        if chance.random() < 0.2:
            new, old = old, new
        request: dict[str, Any] = {
            "uid": f"review-{number}",
            "resource": dict(zip(("group", "version", "resource"), resource, strict=True)),
            "operation": operation,
            "name": chance.choice(("", "pod", "queue", "web")),
            "namespace": chance.choice((*seeds.NAMESPACES, "team", "unseen", "")),
            "userInfo": {"username": chance.choice(("tenant", "system:node:a", ""))},
            "object": None if operation == "DELETE" else new,
            "oldObject": None if operation == "CREATE" else old,
            "dryRun": chance.random() < 0.3,
        }
        if kind == "resizes":
            request |= {"subResource": "resize", "operation": "UPDATE", "oldObject": old}
            request["object"] = new
        if chance.random() < 0.05:
            request = mutated(chance, request, self._others)
        review = {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": request,
        }
        body = encoded(review)
        if chance.random() < _BYTES:
            body = broken(chance, body)
        return Input(number, chance.choice(("/mutate", "/validate")), body)

    def _question(self, chance: Random, number: int) -> Input:
        resource, asked = chance.choice(self._questions)
        request = {
            "uid": f"review-{number}",
            "resource": {"group": REVIEW_GROUP, "version": "v1alpha1", "resource": resource},
            "operation": "CREATE",
            "namespace": chance.choice(seeds.NAMESPACES),
            "userInfo": {"username": "tenant"},
            "object": self._body(chance, asked) if chance.random() < 0.5 else json.loads(asked),
            "dryRun": chance.random() < 0.95,
        }
        review = {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": request,
        }
        return Input(number, "/mutate", encoded(review))

    def _watched(self, chance: Random, number: int) -> Input:
        kind = chance.choice(("pods", "pods", "pods", "podgroups", *self._kinds))
        body = self._body(chance, chance.choice(self._kinds[kind]))
        self._name(chance, kind, body, revision_of(number))
        event = {"type": chance.choice(_EVENTS), "object": body}
        line = encoded(event)
        if chance.random() < _BYTES:
            line = broken(chance, line)
        return Input(number, kind, line, watch=True)

    def _body(self, chance: Random, text: str) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(text)
        roll = chance.random()
        if roll < self._large:
            size = chance.choice((100_000, 1_000_000, values.LONGEST - 200_000))
            return enlarged(chance, body, size)
        return mutated(chance, body, self._others) if roll < 0.85 else body

    def _name(self, chance: Random, kind: str, body: dict[str, Any], revision: int) -> None:
        """Of a small number of objects, each newer than what came before of it."""
        meta = body.get("metadata")
        if not isinstance(meta, dict):
            return
        meta["resourceVersion"] = str(revision)
        if kind in ("pods", "nodes") and chance.random() < 0.9:
            which = chance.randrange(OBJECTS)
            meta |= {"name": f"{kind}-{which}", "uid": f"{kind}-{which}"}
            if kind == "pods":
                meta["namespace"] = seeds.NAMESPACES[which % len(seeds.NAMESPACES)]
