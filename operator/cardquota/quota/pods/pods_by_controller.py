"""Which pods a controller has made: those that a workload counts as its own."""

from collections.abc import Callable
from typing import Final

from ..steps import Steps
from .pod_record import PodRecord

_AT_A_TIME: Final = 256
"""Pods that are looked at in one step: a fraction of a millisecond."""


class PodsByController:
    """Pods with a controller, by the queue they are charged to and their namespace.

    Finding those of one controller costs in proportion to the pods of that queue in that
    namespace: an entry for each controller would cost more memory than all of its pods where each
    has one. Names are compared, not uids, and of kinds no API group: a Job of another group that is
    called alike is taken for the same.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[PodRecord, None]] = {}
        """Those of one queue and namespace, as they came."""

    def add(self, record: PodRecord) -> None:
        """A pod is charged to its queue."""
        facts = record.facts
        if facts.controller:
            self._found.setdefault((record.queue, facts.namespace), {})[record] = None

    def discard(self, record: PodRecord) -> None:
        """The inverse of `add`, before anything of the pod changes."""
        facts = record.facts
        if facts.controller:
            key = (record.queue, facts.namespace)
            self._found[key].pop(record, None)
            if not self._found[key]:
                del self._found[key]

    def number_in(self, queue: str, namespace: str) -> int:
        """How many there are of all controllers: what `each` goes through."""
        return len(self._found.get((queue, namespace), ()))

    def each(
        self,
        queue: str,
        namespace: str,
        kind: str,
        named: Callable[[str], bool],
        do: Callable[[PodRecord], None],
    ) -> Steps[None]:
        """Have it done with each whose controller is of this kind and has such a name.

        In the order in which they were charged. Between two steps pods may come, change and go:
        one that comes is left out, and so is one that goes before it is its turn.
        """
        key = queue, namespace
        found = list(self._found.get(key, ()))
        for first in range(0, len(found), _AT_A_TIME):
            there = self._found.get(key, {})
            for record in found[first : first + _AT_A_TIME]:
                facts = record.facts
                if facts.controller == kind and record in there and named(facts.controller_name):
                    do(record)
            yield
