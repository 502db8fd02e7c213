"""How many pods of one queue wait for which reason (T7): counted as they come, go, are judged."""

from collections.abc import Mapping

from ..vocabulary import Reason
from .candidate import Candidate, PodClass


class ReasonCounts:
    """The waiting pods by why they wait, as they were last judged; None: they were not yet.

    All pods of a class wait for the same, so a judgement costs a step for each class.
    """

    __slots__ = ("_pods",)

    def __init__(self) -> None:
        self._pods: dict[Reason | None, int] = {}

    @property
    def pods(self) -> Mapping[Reason | None, int]:
        """How many by reason; only reasons for which somebody waits."""
        return self._pods

    def add(self, pod_class: PodClass, number: int) -> None:
        """So many pods join a class; leave it, if negative."""
        self._add(pod_class.waits_for, number)

    def judged(self, candidate: Candidate, reason: Reason | None) -> None:
        """A candidate was judged. None: it waits for no reason that has a name, as for a write of
        ours, and what was known before stays.
        """
        if reason is None or candidate.group_to_enqueue is not None:  # that has no pods
            return
        for pod_class in candidate.classes:
            if pod_class.waits_for is not reason:
                number = len(pod_class.sort_keys)
                self._add(pod_class.waits_for, -number)
                self._add(reason, number)
                pod_class.waits_for = reason

    def _add(self, reason: Reason | None, number: int) -> None:
        total = self._pods.get(reason, 0) + number
        if total:
            self._pods[reason] = total
        else:
            self._pods.pop(reason, None)
