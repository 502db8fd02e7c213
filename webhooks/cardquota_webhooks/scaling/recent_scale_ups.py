"""What workloads were scaled to a moment ago, until the pods are there.

A queue's totals follow from pods. Between the moment when a workload may have more replicas and the
moment when they exist, another one would be granted the same room; so the missing ones count as on
their way, for a few seconds. After that they are not expected any more: their controller waits, or
their pods are refused.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cardquota.quota.decisions.create_judgement import ToCome, number_admitted
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.pods.pod_request import PodRequest
from cardquota.quota.workloads.workload_facts import WorkloadFacts

from .remembered import Remembered
from .scale_targets import ScaleTarget, ScaleTargets

LIFETIME: Final = 5.0
"""Seconds in which a controller has usually made the pods that it was told to make."""
LOOKED_AT: Final = 8
"""How many of one queue an answer looks at."""


@dataclass(slots=True, frozen=True)
class _ScaleUp:
    target: ScaleTarget
    queue: str
    replicas: int


class RecentScaleUps:
    """Scale-ups that this replica granted, and those that it sees in the watch, of any replica.

    Not guaranteed: two replicas that answer within the same few milliseconds may grant the same
    room. Then the gate decides, as for pods.
    """

    def __init__(
        self, ledger: LedgerReader, targets: ScaleTargets, clock: Callable[[], float]
    ) -> None:
        """`clock`: seconds, monotonic."""
        self._ledger = ledger
        self._targets = targets
        self._found = Remembered[_ScaleUp](LIFETIME, clock)
        ledger.workloads.listen(self._seen)

    def __len__(self) -> int:
        return len(self._found)

    def add(self, target: ScaleTarget, queue: str, replicas: int) -> None:
        """It may have so many replicas from now on. Nothing comes of it in a queue that is not
        there.
        """
        account = self._ledger.account(queue)
        if account is not None and account.facts is not None:
            self._found.put(queue, target.uid, _ScaleUp(target, queue, replicas))

    def to_come(self, queue: str, target: ScaleTarget | None = None, *, but: str = "") -> ToCome:
        """What the missing pods of a queue will ask for, as far as they would be admitted; without
        those of this target and what belongs to it, and of the object with the uid `but`.
        """
        out = {but, *((target.uid, *target.follow) if target is not None else ())}
        of_queue = [
            one
            for one in self._found.of_queue(queue).values()
            if out.isdisjoint((one.target.uid, *one.target.follow))
        ]
        found: list[tuple[PodRequest, int]] = []
        for one in of_queue[-LOOKED_AT:]:
            missing = self._missing(one)
            number = missing and number_admitted(
                self._ledger, one.target.pod, queue, missing, found
            )
            if number:
                found.append((self._ledger.request_of(one.target.pod, queue), number))
        return found

    def _missing(self, one: _ScaleUp) -> int:
        """How many of its pods do not exist yet. None is expected where they cannot be counted."""
        numbers = self._ledger.made_pods.numbers(one.queue, one.target.namespace)
        if numbers is None or not one.target.counted:
            return 0
        made = sum(numbers.get(key, 0) for key in one.target.counted)
        return max(0, one.replicas - made)

    def _seen(self, workload: WorkloadFacts, before: int) -> None:
        """The watch shows that a workload has another number of replicas."""
        known = self._found.get(workload.uid)
        if known is not None and workload.replicas <= known.replicas:
            # What we granted has landed, or is taken back.
            if workload.replicas < before:
                self._found.drop(workload.uid)
            return
        if workload.replicas < before or (workload.owner and self._is_scaled(workload.owner)):
            return  # what follows its owner is counted there
        target = self._targets.of_workload(workload)
        if target is not None:
            self.add(target, self._ledger.queue_of(target.pod), workload.replicas)

    def _is_scaled(self, uid: str) -> bool:
        return uid in self._found or self._ledger.workloads.get(uid) is not None
