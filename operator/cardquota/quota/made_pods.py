"""Which pods a controller has made: those that a workload counts as its own."""

from collections.abc import Callable

from .pod_record import PodRecord


class MadePods:
    """Pods with a controller, by the queue they are charged to and their namespace.

    Finding those of one controller costs in proportion to the pods of that queue in that
    namespace: an entry for each controller would cost more memory than all of its pods where each
    has one. Names are compared, not uids, and of kinds no API group: a Job of another group that is
    called alike is taken for the same.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], set[PodRecord]] = {}

    def add(self, record: PodRecord) -> None:
        """A pod is charged to its queue."""
        facts = record.facts
        if facts.controller:
            self._found.setdefault((record.queue, facts.namespace), set()).add(record)

    def discard(self, record: PodRecord) -> None:
        """The inverse of `add`, before anything of the pod changes."""
        facts = record.facts
        if facts.controller:
            key = (record.queue, facts.namespace)
            self._found[key].discard(record)
            if not self._found[key]:
                del self._found[key]

    def of(
        self, queue: str, namespace: str, kind: str, named: Callable[[str], bool]
    ) -> list[PodRecord]:
        """Those whose controller is of this kind and has such a name; sorted by the pods' names."""
        there = self._found.get((queue, namespace), ())
        found = [
            record
            for record in there
            if record.facts.controller == kind and named(record.facts.controller_name)
        ]
        return sorted(found, key=lambda record: record.facts.name)
