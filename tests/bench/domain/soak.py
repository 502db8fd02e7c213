"""One million pod lives through reflector and ledger, with time compressed: does memory grow?

Events come as raw objects, as from a watch: created and gated, released, bound, finished or
not, deleted. At any time 2,000 pods live. Memory is the process's resident set, after a fifth of
the lives, when every cache was full once, and at the end.
"""

import gc
import os
import time
from collections import deque
from collections.abc import Iterator

import msgspec

from builders import CARDS, H200, a_group, a_pod, a_queue, see
from builders.body import Body
from cardquota.cluster.watch import ChangeNotifier, Delivery, watched_kinds
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports.drift import drift
from cardquota.runtime import spare_what_stays
from cardquota.settings import Settings
from harness.floods import resident

from ..figure import Figure, Report

LIVES = 1_000_000
ALIVE = 2_000
QUEUES = 50
_NAME = "pod-of-the-soak-"


def run(report: Report) -> None:
    """Growth of memory from a fifth of the lives to all of them."""
    ledger = Ledger(Settings().vendor_table)
    see(ledger, *CARDS, *(a_queue(f"q{n}").with_quota({H200: 10**6}) for n in range(QUEUES)))
    kinds = {w.kind: w for w in watched_kinds(ledger, ChangeNotifier())}
    pods = Delivery("pods", kinds["pods"].struct, kinds["pods"])
    groups = Delivery("podgroups", kinds["podgroups"].struct, kinds["podgroups"])
    templates = [_PodTemplate(shape) for shape in range(4)]
    alive: deque[tuple[int, _PodTemplate]] = deque()
    spare_what_stays()
    begun, after_a_fifth, revision = time.perf_counter(), 0.0, 1
    for number in range(LIVES):
        template = templates[number % len(templates)]
        if template.group:
            revision += 1
            groups.changed(template.group_line(number, revision))
        for line in template.life(number, revision + 1):
            revision += 1
            pods.changed(line)
        alive.append((number, template))
        if len(alive) > ALIVE:
            old, its = alive.popleft()
            revision += 1
            pods.deleted(its.last(old, revision))
            if its.group:
                revision += 1
                groups.deleted(its.group_line(old, revision))
        ledger.decisions.rest()  # as a replica that does not lead
        if number == LIVES // 5:
            after_a_fifth = _resident()
    spent = time.perf_counter() - begun
    at_the_end = _resident()
    assert len(ledger.pods) <= ALIVE
    assert drift(ledger) == {}
    report(Figure("lives a second", LIVES / spent, "/s"))
    report(Figure("resident after a fifth", after_a_fifth, "MB"))
    report(Figure("resident at the end", at_the_end, "MB"))
    report(Figure("growth", at_the_end / after_a_fifth, "", 1.05))


class _PodTemplate:
    """Pods of one shape; name, uid and revision are put into prepared bytes."""

    def __init__(self, shape: int) -> None:
        self.group = shape == 3
        pod = a_pod(f"{_NAME}0").in_queue("q0").naming(H200).asking_for(1 + shape).with_cpu("4")
        pod = pod.in_group("group-of-the-soak-0") if self.group else pod
        charge = {H200: 1 + shape}
        states = [pod.gated(), pod.stamped("q0", charge)]
        states.append(pod.stamped("q0", charge).on_node("h200-a"))
        if shape % 2:
            states.append(states[-1].in_phase("Succeeded"))
        self._states = [_bytes(state) for state in states]
        self._group = _bytes(a_group("group-of-the-soak-0").in_queue("q0").of(2))

    def life(self, number: int, revision: int) -> Iterator[msgspec.Raw]:
        """Its events, but for its end."""
        for step, state in enumerate(self._states):
            yield _line(state, number, revision + step)

    def last(self, number: int, revision: int) -> msgspec.Raw:
        """As it was when it was deleted."""
        return _line(self._states[-1], number, revision)

    def group_line(self, number: int, revision: int) -> msgspec.Raw:
        """Its group."""
        return _line(self._group, number, revision)


def _bytes(body: Body) -> bytes:
    return msgspec.json.encode(body.at_revision(7_777_777).body)


def _line(state: bytes, number: int, revision: int) -> msgspec.Raw:
    text = state.replace(b"-of-the-soak-0", f"-of-the-soak-{number}".encode())
    text = text.replace(b'"q0"', f'"q{number % QUEUES}"'.encode())
    return msgspec.Raw(text.replace(b"7777777", str(revision).encode()))


def _resident() -> float:
    """Megabytes."""
    gc.collect()
    return resident(os.getpid()) / 2**20
