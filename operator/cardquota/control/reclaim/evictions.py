"""Asks the API server to end a pod, and how many may be asked in a minute (L5).

The Eviction names our term, which a policy of the API server compares with the current one, and the
pod's uid: whoever has stood still ends nobody. PodDisruptionBudgets and grace hold.
"""

import logging
from collections import Counter, deque
from collections.abc import Callable, Collection
from enum import StrEnum
from typing import Final

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.writes import FencedWriter, TooLateError, pod_path
from ...quota import vocabulary as v
from ...quota.pods.pod_facts import PodFacts
from ...quota.words import logged

_LOG = logging.getLogger(__name__)
LEFT_OUT: Final = 300.0
"""Seconds for which nobody asks again for a pod that may not end."""
_MINUTE: Final = 60.0
_BUDGET: Final = b"DisruptionBudget"
"""The cause by which the API server tells this 429 from that of being busy."""
_SEVERAL: Final = "more than one PodDisruptionBudget"
"""What it says, with 500, of a pod that it never evicts."""


class EvictionAnswer(StrEnum):
    """What became of one."""

    ENDS = "ends"
    GONE = "gone"
    """The pod is not there any more, or another one has its name."""
    REFUSED = "refused"
    """A PodDisruptionBudget, a policy or a webhook keeps it."""
    UNKNOWN = "unknown"
    """No answer. Whether it ends the watch will show."""
    NOT_NOW = "not now"
    """Not asked, or not heard: the API server is busy, or our term may be over."""


class Evictor:
    """Of one term."""

    def __init__(self, writer: FencedWriter, term: str) -> None:
        """`writer`: for decisions."""
        self._writer = writer
        self._term = term

    async def ask(self, facts: PodFacts, *, dry_run: bool = False) -> EvictionAnswer:
        """End this pod. `dry_run`: only whether it could be ended now, by itself."""
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {
                "name": facts.name,
                "namespace": facts.namespace,
                "annotations": {v.TERM: self._term},
            },
            "deleteOptions": {"preconditions": {"uid": facts.uid}},
        }
        who = logged(facts.namespace, facts.name)
        try:
            await self._writer.post(f"{pod_path(facts)}/eviction", body, dry_run=dry_run)
        except TooLateError:
            return EvictionAnswer.NOT_NOW
        except OutcomeUnknown as error:
            _LOG.warning("eviction of pod %s: %s", who, error)
            several = _SEVERAL in str(error)
            return EvictionAnswer.REFUSED if several else EvictionAnswer.UNKNOWN
        except ApiError as error:
            _LOG.info("eviction of pod %s: %s", who, error)
            if error.moved:
                return EvictionAnswer.GONE
            if error.busy and _BUDGET not in error.body:
                return EvictionAnswer.NOT_NOW
            return EvictionAnswer.REFUSED
        return EvictionAnswer.ENDS


class EvictionBudget:
    """How many pods one leader may end in any minute, in all and of one queue. Costs by that
    number.
    """

    def __init__(self, in_all: int, of_one: int, clock: Callable[[], float]) -> None:
        """`clock`: seconds, monotonic."""
        self._in_all = in_all
        self._of_one = of_one
        self._clock = clock
        self._spent: deque[tuple[float, str]] = deque()

    def allows(self, queues: Collection[str]) -> bool:
        """Whether pods of these queues, one for each time that a queue is named, may be ended now,
        together. More than fit into a minute may be if nobody was ended in the last one: they could
        never be else.
        """
        since = self._clock() - _MINUTE
        while self._spent and self._spent[0][0] <= since:
            self._spent.popleft()
        spent = Counter(queue for _, queue in self._spent)
        if self._spent and len(self._spent) + len(queues) > self._in_all:
            return False
        return all(
            not spent[queue] or spent[queue] + number <= self._of_one
            for queue, number in Counter(queues).items()
        )

    def spend(self, queue: str) -> None:
        """One was ended, or may have been."""
        self._spent.append((self._clock(), queue))
