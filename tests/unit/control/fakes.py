"""What the releaser needs of the world, without a cluster.

The writer is a fake on purpose: answers that are lost, late or refused cannot be had of a real
API server on demand. What a real one does with these patches is in tests/integration/release.
"""

import asyncio
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from builders import CARDS, Body, a_ledger
from builders.pod import PodBody
from cardquota.cluster.api import MERGE_PATCH, ApiError, Client, OutcomeUnknown
from cardquota.cluster.events import EventRecorder, ObjectReference
from cardquota.cluster.writes import FencedWriter, TermGuard
from cardquota.quota import Stamp
from cardquota.quota import vocabulary as v
from cardquota.quota.accounts import Account
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import PodFacts
from cardquota.quota.reports.drift import drift
from cardquota_dev.predicate import Predicate

TERM = "replica-1_abc"
Answer = bytes | Exception


def refused(status: int, reason: str = "") -> ApiError:
    return ApiError(status, reason, "as the test wants it")


def denied(status: int) -> ApiError:
    """By somebody's webhook: the object may be as it was, whatever the status."""
    said = 'admission webhook "x.example.com" denied the request: as the test wants it'
    return ApiError(status, "", said)


def lost() -> OutcomeUnknown:
    return OutcomeUnknown("no answer")


def stored(revision: int, **more: Any) -> bytes:
    """An object as the API server returns it."""
    body = {"metadata": {"resourceVersion": str(revision), **more.pop("metadata", {})}, **more}
    return json.dumps(body).encode()


def _of_that_name(answer: bytes, path: str) -> bytes:
    """What the builders make of that name, unless the answer says which object it is."""
    try:
        found = json.loads(answer)
        found["metadata"].setdefault("uid", "uid-" + path.rpartition("/")[-1])
    except (ValueError, KeyError):
        return answer  # not what an API server answers, and so it stays
    return json.dumps(found).encode()


def _metadata(answer: bytes) -> bytes:
    try:
        return json.dumps({"metadata": json.loads(answer)["metadata"]}).encode()
    except (ValueError, KeyError):
        return answer  # not what an API server answers, and so it stays


@dataclass
class Call:
    """One request."""

    method: Literal["PATCH", "POST", "GET"]
    path: str
    body: Any = None
    params: dict[str, str] = field(default_factory=dict)
    timeout: float = 0.0
    content_type: str = ""

    @property
    def asks(self) -> bool:
        """A dry run: nothing is written."""
        return "dryRun" in self.params

    @property
    def settles(self) -> bool:
        merges = self.method == "PATCH" and self.content_type == MERGE_PATCH
        written = self.body["metadata"] if merges else {}
        return v.SETTLE in written.get("annotations", {})


class Script:
    """A writer that answers as it is told, in order, and then always with success."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.calls: list[Call] = []
        self.on_call: Callable[[Call], None] = lambda _: None
        self.answer_to: Callable[[Call], Answer] = self._next
        self.asked: list[Call] = []
        """Dry runs; they are in no other list."""
        self.would_answer: Callable[[Call], Answer] = lambda _: stored(100)
        self.hold: asyncio.Event | None = None
        """While it is not set, patches are not answered."""
        self.in_flight = 0
        self.most_in_flight = 0

    async def patch(
        self,
        path: str,
        body: object,
        *,
        content_type: str = MERGE_PATCH,
        params: dict[str, str] | None = None,
        timeout: float = 0.0,
        metadata_only: bool = False,
    ) -> bytes:
        call = Call("PATCH", path, body, params or {}, timeout, content_type)
        answer = self.would(call) if call.asks else await self._answer(call)
        if isinstance(answer, Exception):
            raise answer
        return _metadata(answer) if metadata_only else answer

    async def post(
        self, path: str, body: object, *, params: dict[str, str] | None = None, timeout: float = 0.0
    ) -> bytes:
        call = Call("POST", path, body, params or {}, timeout)
        if not call.asks:
            return await self._answer(call)
        answer = self.would(call)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def get(self, path: str) -> bytes:
        return await self._answer(Call("GET", path))

    def would(self, call: Call) -> Answer:
        self.asked.append(call)
        return self.would_answer(call)

    @property
    def patches(self) -> list[Call]:
        return [call for call in self.calls if call.method == "PATCH"]

    async def _answer(self, call: Call) -> bytes:
        self.calls.append(call)
        self.on_call(call)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.hold is not None:
                await self.hold.wait()
            await asyncio.sleep(0)
        finally:
            self.in_flight -= 1
        answer = self.answer_to(call)
        if isinstance(answer, Exception):
            raise answer
        return _of_that_name(answer, call.path)

    def _next(self, _: Call) -> Answer:
        return self.answers.pop(0) if self.answers else stored(100, spec={})


class Told(EventRecorder):
    """One that keeps what it is given and writes nothing: once per reason, as any does."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str, str]] = []
        self._last: dict[str, tuple[str, str]] = {}
        self._at: dict[str, float] = {}
        self.clock: Callable[[], float] = lambda: 0.0
        self.renew_after = math.inf
        self.gives_way = False
        self.room = True

    @property
    def has_room(self) -> bool:
        return self.room

    def give_way(self) -> None:
        self.gives_way = True

    def go_on(self) -> None:
        self.gives_way = False

    def record(
        self,
        ref: ObjectReference,
        *,
        type: Literal["Normal", "Warning"],  # noqa: A002
        reason: str,
        message: str,
        topic: str = "",
        renewable: bool = False,
        again: bool = False,
    ) -> None:
        if again or self._last.get(ref.uid) != (reason, topic):
            self.events.append((ref.name, reason, message))
            self._at[ref.uid] = self.clock()
        self._last[ref.uid] = (reason, topic)

    def last_reason(self, uid: str) -> str | None:
        return self._last[uid][0] if uid in self._last else None

    def is_due(self, uid: str) -> bool:
        return self.clock() - self._at.get(uid, -math.inf) >= self.renew_after

    def forget(self, uid: str) -> None:
        self._last.pop(uid, None)


def a_world(*things: Body, **settings: Any) -> Ledger:
    return a_ledger(*CARDS, *things, **settings)


def a_writer(
    script: Script,
    left: Callable[[], float] = lambda: 60.0,
    at_a_time: int = 32,
    guard: TermGuard | None = None,
) -> FencedWriter:
    """The real one over a script."""
    client = cast("Client", script)
    return FencedWriter(client, left, timeout=2.0, at_a_time=at_a_time, guard=guard)


def assumed(ledger: Ledger, pod: PodBody, cards: dict[str, int]) -> tuple[PodFacts, Stamp]:
    """Charge a gated pod, as the releaser does before it asks for its gate to be opened."""
    facts = ledger.pods[pod.uid].facts
    stamp = Stamp("queue", tuple(sorted(cards.items())), TERM)
    ledger.decisions.assume(pod.uid, stamp)
    return facts, stamp


def account(ledger: Ledger, queue: str = "queue") -> Account:
    found = ledger.account(queue)
    assert found is not None
    return found


def charged(ledger: Ledger, card: str, queue: str = "queue") -> int:
    """What counts against the quota now."""
    assert drift(ledger) == {}
    return account(ledger, queue).row(card).charged


def no_charge_is_left(ledger: Ledger) -> bool:
    """Nothing that was assumed is still charged: no pod, no reservation."""
    pods = [one for one in ledger.pods.values() if one.assumed]
    groups = [one for one in ledger.groups.values() if one.assumed]
    return drift(ledger) == {} and not pods and not groups


async def until(condition: Predicate[object], seconds: float = 60.0) -> None:
    """Return once the condition holds."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not condition():
        assert loop.time() < deadline, "not in time"
        await asyncio.sleep(0.001)
