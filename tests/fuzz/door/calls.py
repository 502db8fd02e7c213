"""Calls of kube-scheduler: as it makes them, and as nobody would."""

import json
from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import Any, Final

from builders.pod import PodBody
from cardquota.cluster.serving import HttpCall
from fuzz.mutation import broken, mutated
from fuzz.product import encoded
from fuzz.values import NUMBERS, anything

VERBS: Final = ("filter", "prioritize", "bind", "preempt")
_NOBODY: Final = ("", "nobody", "n0\x00", "a" * 300, "\ud800", "../inspect", "%2e%2e")
_MANY: Final = (5_000, 20_000, 60_000)
_GARBAGE: Final = (
    b"", b" ", b"null", b"[]", b"{}", b"[[]]", b'"x"', b"1e999", b"\xff\xfe", b"{" * 5_000,
    b"[" * 100_000, b'{"Pod":' * 1_000, b'{"Pod":{}}', b'{"Pod":null,"NodeNames":null}',
)  # fmt: skip


def a_call(path: str, body: bytes) -> HttpCall:
    """As the server of the extender gets it."""

    async def read() -> bytes:
        return body

    return HttpCall("POST", path, read, {})


class Calls:
    """By its dice: a verb and a body."""

    def __init__(self, chance: Random, large: float) -> None:
        """`large`: the part with thousands of names, or hundreds of whole nodes."""
        self._chance, self._large = chance, large

    def one(
        self, pods: Sequence[PodBody], nodes: Sequence[str], bodies: Sequence[dict[str, Any]]
    ) -> tuple[str, bytes]:
        """A call about one of these pods and some of these nodes; `bodies`: the nodes whole."""
        chance = self._chance
        verb = chance.choice(VERBS)
        if chance.random() < 0.05 or not pods:
            return verb, chance.choice(_GARBAGE)
        call = self.meant(verb, chance.choice(pods), pods, nodes, bodies)
        return verb, self._spoilt(call)

    def meant(
        self,
        verb: str,
        pod: PodBody,
        pods: Sequence[PodBody],
        nodes: Sequence[str],
        bodies: Sequence[dict[str, Any]],
    ) -> dict[str, Any]:
        """As kube-scheduler makes it."""
        chance = self._chance
        names = [*nodes, *chance.sample(_NOBODY, chance.choice((0, 0, 0, 1, 2)))]
        chance.shuffle(names)
        if verb == "bind":
            return self.binding(pod, chance.choice(names))
        call: dict[str, Any] = {"Pod": pod.body, "Nodes": None, "NodeNames": None}
        if verb == "preempt":
            del call["Nodes"], call["NodeNames"]
            call |= self._victims(pods, names)
        elif chance.random() < self._large:
            call |= self._very_many(bodies)
        elif chance.random() < 0.3:
            call["Nodes"] = {"items": list(bodies), "metadata": {}}
        else:
            call["NodeNames"] = names * chance.choice((1, 1, 1, 2, 200))
        return call

    def _very_many(self, bodies: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """As large as a cluster can be, and larger."""
        if self._chance.random() < 0.5 or not bodies:
            return {"NodeNames": [f"of-many-{n}" for n in range(self._chance.choice(_MANY))]}
        body, number = self._chance.choice(bodies), self._chance.choice(_MANY) // 10
        items = [{**body, "metadata": {**body["metadata"], "name": f"m{n}"}} for n in range(number)]
        return {"Nodes": {"items": items}}

    @staticmethod
    def binding(pod: PodBody, node: str) -> dict[str, Any]:
        """As kube-scheduler asks for it."""
        return {
            "PodName": pod.name,
            "PodNamespace": "team",
            "PodUID": pod.uid,
            "Node": node,
        }

    def _victims(self, pods: Sequence[PodBody], names: Sequence[str]) -> dict[str, Any]:
        chance = self._chance
        some = [chance.sample(pods, min(len(pods), chance.randrange(4))) for _ in names]
        if chance.random() < 0.5:
            found = {
                name: {"Pods": [{"UID": pod.uid} for pod in those], "NumPDBViolations": 0}
                for name, those in zip(names, some, strict=True)
            }
            return {"NodeNameToMetaVictims": found}
        whole = {
            name: {"Pods": [pod.body for pod in those], "NumPDBViolations": chance.choice(NUMBERS)}
            for name, those in zip(names, some, strict=True)
        }
        return {"NodeNameToVictims": whole}

    def _spoilt(self, call: dict[str, Any]) -> bytes:
        chance, fate = self._chance, self._chance.random()
        if fate < 0.5:
            return encoded(call)
        if fate < 0.55:
            return encoded({key.lower(): value for key, value in call.items()})
        if fate < 0.6:
            text = json.dumps(call)[1:]
            twice = json.dumps({chance.choice(list(call)): anything(chance)})[:-1]
            return f"{twice}, {text}".encode()
        if fate < 0.65:
            return encoded([call] * chance.choice((1, 2, 50)))
        if fate < 0.85:
            try:
                return encoded(mutated(chance, deepcopy(call), [deepcopy(call)]))
            except ValueError:
                pass  # what was lent to itself has no end
        return broken(chance, encoded(call))
