"""One run: inputs in, and what of it is wrong."""

import ctypes
import gc
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from time import thread_time
from typing import Any, Final

from cardquota.runtime import spare_what_stays

from . import seeds
from .inputs import Input, Inputs, revision_of
from .paths import count_paths
from .product import FuzzedProduct, encoded

SLOWEST: Final = 0.1
"""Seconds of processor time that no input may take (I5)."""
LONGEST_TEXT: Final = 64 * 1024
"""Bytes of an answer, characters of a line in the log."""
GROWTH: Final = 32.0
"""MB by which the process may grow once it is warm."""
_WARM: Final = 0.5
"""The part of the inputs after which everything that is kept is there: caches are full, up to their
bounds in bytes, after a few hundred thousand."""
_LEAD: Final = 25
"""Inputs between two looks of the leader."""
_GANG: Final = 250
"""Inputs after which a whole gang comes that nothing is wrong with, and the group of another."""
_ENQUEUED: Final = 60
"""Inputs later that come the pods of that one: by then it is enqueued, if nothing spoilt it."""
_REACHES_ALL: Final = 2_000
"""Inputs after which every way through the leader must have been gone."""
_RELIST: Final = 1_000
"""Inputs after which only what was there at the beginning is left."""
_KEPT: Final = 20
"""Findings of a kind that are told."""


@dataclass
class Findings:
    """What a run found."""

    inputs: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    findings: list[str] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)
    """Findings by kind, those that are not told too."""
    grown: float = 0.0
    paths: dict[str, int] = field(default_factory=dict)
    """How often each way through the leader was gone."""

    def add(self, kind: str, text: str) -> None:
        """One finding."""
        self.counted[kind] += 1
        if self.counted[kind] <= _KEPT:
            self.findings.append(f"{kind}: {text}")

    def text(self) -> str:
        """For people."""
        answers = ", ".join(f"{what} {count:,}" for what, count in sorted(self.answers.items()))
        lines = [
            f"{self.inputs:,} inputs; answers: {answers}",
            f"slowest {self.slowest * 1000:.1f} ms, grown by {self.grown:.1f} MB once warm",
            ", ".join(f"{path} {times:,}" for path, times in self.paths.items()),
            *self.findings,
        ]
        more = {kind: count for kind, count in self.counted.items() if count > _KEPT}
        lines += [f"{kind}: {count:,} in all" for kind, count in more.items()]
        lines.append("nothing found" if not self.counted else f"FOUND: {dict(self.counted)}")
        return "\n".join(lines)


class _FoundInLog(logging.Handler):
    """What must not be logged: a bug, or a line without a bound."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.bad: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info:
            self.bad.append(("exception", f"{text}: {record.exc_info[1]!r}"))
        elif len(text) > LONGEST_TEXT:
            self.bad.append(("log", f"a line of {len(text):,} characters: {text[:100]}"))


async def fuzz(
    count: int,
    seed: int,
    *,
    large: float = 0.002,
    timed: bool = True,
    keep: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Findings:
    """Send so many inputs. `timed`: whether slowness and memory are findings; `keep`: a folder for
    the inputs that were."""
    found = Findings()
    with logged() as log, _spared(), count_paths() as paths:
        product = FuzzedProduct()
        run = _Run(product, found, log, keep, timed=timed)
        run.relist()
        warm_at, warm = int(count * _WARM), 0.0
        for given in islice(Inputs(seed, large=large), count):
            await run.send(given)
            if given.number % _GANG == 0:
                run.told(seeds.gang(given.number) + seeds.announced(given.number // _GANG))
            if given.number % _GANG == _ENQUEUED:
                run.told(seeds.announced_members(given.number // _GANG))
            if given.number % _LEAD == 0:
                await run.decide(given)
            if given.number % _RELIST == _RELIST - 1:
                run.relist()
            if timed and given.number == warm_at:
                warm = run.resident()
            if timed and count >= 10 and (given.number + 1) % (count // 10) == 0:
                blocks = sys.getallocatedblocks()
                told = f"{run.resident():.0f} MB, {blocks:,} blocks, {dict(found.counted)}"
                progress(f"{given.number + 1:,}: {told}")
        run.relist()
        await product.end()
        if timed:
            found.grown = run.resident() - warm
    found.paths = dict(paths)
    for path, times in paths.items():
        if not times and count >= _REACHES_ALL:
            found.add("unreached", path)
    if found.grown > GROWTH:
        found.add("memory", f"{found.grown:.0f} MB more than once it was warm")
    return found


class _Run:
    def __init__(
        self,
        product: FuzzedProduct,
        found: Findings,
        log: _FoundInLog,
        keep: Path | None,
        *,
        timed: bool,
    ) -> None:
        self._product = product
        self._found = found
        self._log = log
        self._keep = keep
        self._timed = timed
        self._newest = revision_of(0)

    async def send(self, given: Input) -> None:
        self._found.inputs += 1
        self._newest = revision_of(given.number)
        begun = thread_time()
        try:
            if given.watch:
                self._product.line(given.to, given.body, self._newest)
            else:
                status, text = await self._product.review(given.to, given.body)
                self._answered(given, status, text)
        except Exception as error:  # noqa: BLE001 - each of them is a finding
            self._note("exception", given, repr(error)[:500])
        spent = thread_time() - begun
        self._found.slowest = max(self._found.slowest, spent)
        if self._timed and spent > SLOWEST:
            self._note("slow", given, f"{spent * 1000:.0f} ms")
        self._take_log(given)

    async def decide(self, given: Input) -> None:
        """The leader looks at what there is, now and then a new one."""
        product = self._product
        product.longest = 0.0
        try:
            await product.decide(self._newest)
            if given.number % (3 * _LEAD) == 0:
                product.expire()
                await product.decide(self._newest)
            if given.number % (7 * _LEAD) == 0:
                await product.show()
                await product.another_term()
        except Exception as error:  # noqa: BLE001
            self._note("exception", given, f"the leader, after it: {error!r}"[:500])
        beyond, product.beyond = product.beyond, []
        for text in beyond:
            self._note("over", given, text)
        self._found.slowest = max(self._found.slowest, product.longest)
        if self._timed and product.longest > SLOWEST:
            self._note("slow", given, f"the leader, after it: {product.longest * 1000:.0f} ms")
        self._take_log(given)

    def told(self, things: list[tuple[str, dict[str, Any]]]) -> None:
        """Objects that nothing is wrong with, by kind: what comes next may spoil them."""
        for kind, body in things:
            self._newest += 1
            body["metadata"]["resourceVersion"] = str(self._newest)
            line = encoded({"type": "MODIFIED", "object": body})
            self._product.line(kind, line, self._newest)

    def relist(self) -> None:
        """Everything is as at the beginning, and the totals are right before and after it."""
        self._agree("before a re-list")
        objects: dict[str, list[bytes]] = {}
        for kind, body in seeds.world():
            body["metadata"]["resourceVersion"] = str(self._newest)
            objects.setdefault(kind, []).append(encoded(body))
        self._product.relist(objects)
        self._agree("after a re-list")
        if left := len(self._product.ledger.pods):
            first = next(iter(self._product.ledger.pods.values())).facts
            self._found.add("left", f"{left} pods after a list without any, {first}"[:500])
        pods = self._product.ledger.kept_pods
        if pods.total or pods.number_left_out:
            self._found.add("left", f"{pods.total} bytes of pods, {pods.number_left_out} unread")
        self._take_log(None)

    def resident(self) -> float:
        """MB of this process, without what the allocator keeps though nobody uses it."""
        gc.collect()
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * 4096 / 1e6 if sys.platform == "linux" else 0.0

    def _agree(self, when: str) -> None:
        for key, (kept, counted) in self._product.differences().items():
            self._found.add("drift", f"{when}, {key}: {kept} in the ledger, {counted} counted")

    def _answered(self, given: Input, status: int, text: bytes) -> None:
        kind = "denied" if status == 200 and b'"allowed":false' in text else str(status)
        self._found.answers[kind] += 1
        if status >= 500 or b"this is a bug" in text:
            self._note("bug", given, f"{status} {text[:300]!r}")
        if len(text) > LONGEST_TEXT:
            self._note("answer", given, f"an answer of {len(text):,} bytes")

    def _take_log(self, given: Input | None) -> None:
        bad, self._log.bad = self._log.bad, []
        for kind, text in bad:
            self._note(kind, given, text[:500])

    def _note(self, kind: str, given: Input | None, text: str) -> None:
        self._found.add(kind, f"{given}: {text}")
        if given is not None and self._keep is not None and self._found.counted[kind] <= _KEPT:
            self._keep.mkdir(parents=True, exist_ok=True)
            (self._keep / f"{kind}-{given.number}").write_bytes(given.body)


@contextmanager
def _spared() -> Iterator[None]:
    """The garbage collector as the operator sets it up once it knows the cluster."""
    thresholds = gc.get_threshold()
    spare_what_stays()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)


@contextmanager
def logged() -> Iterator[_FoundInLog]:
    """Nothing is written to the log; what is bad is kept."""
    root, handler = logging.getLogger(), _FoundInLog()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    try:
        yield handler
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
