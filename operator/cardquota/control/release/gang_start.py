"""A gang starts whole or not at all. All members are charged, the API server is asked by dry run
whether their gates may open, what they need is written ahead (T2), and then the gates open.

Of pods that one controller made alike only the first is asked about: a dry run costs the API server
as much as the patch itself, and what a webhook says of one it says of all. One that refuses another
of them all the same is met when the gates open: the group is told, and has its time to be complete.

A gang may have thousands of members, so each step handles some at a time: the reservation holds the
room of members that are not charged yet, and patches are sent as slots become free.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from ...quota.ledger.groups.group_facts import GroupFacts
from ...quota.ledger.groups.pod_group_state import PodGroupState
from ...quota.ledger.ledger import Ledger
from ...quota.stamp import Reservation
from .gate import Chosen, GateAttempts, Opened, Sending
from .pacing import SlotClaim, Start
from .pod_group_writer import PodGroupWriter
from .wait_reports import GangReports

T = TypeVar("T")

AT_A_TIME: Final = 100
"""Members that are charged, or whose charge is taken back, before other work has a turn."""


Answers = dict[str, tuple[Opened, str]]
"""To dry runs, by uid of the pod: what would become of the gate, and why."""
_NOT_ASKED: Final = Opened.TOO_LATE, ""


class Members(NamedTuple):
    """The members of a gang that start, as they were judged."""

    charged: list[Chosen]
    """The first members; the list grows."""
    others: Iterator[Chosen]
    """Members that are not charged yet. Each is built when it is taken."""
    number: int
    """The number of all."""


class GangStart:
    """Runs starts of gangs, also many at once. Belongs to the ledger's loop."""

    def __init__(
        self,
        ledger: Ledger,
        attempts: GateAttempts,
        groups: PodGroupWriter,
        give_up: Callable[[str, PodGroupState], None],
        reports: GangReports,
    ) -> None:
        """`give_up`: nothing of a gang could be started, so its reservation is over."""
        self._ledger = ledger
        self._attempts = attempts
        self._slots = attempts.slots
        self._groups = groups
        self._give_up = give_up
        self._reports = reports
        self._turn = asyncio.Lock()

    def run(
        self,
        gang: PodGroupState,
        reservation: Reservation,
        members: Members,
        since: float,
        start: Start,
    ) -> Coroutine[Any, Any, None]:
        """Start a gang after the ledger has charged its reservation and the first of its members.

        If the group has changed by the time its reservation is to be written, for example to
        another queue, that write is refused.

        Dry runs come first: if a webhook refuses one pod, the others must not run without it for
        ever. If this is cancelled, whatever ends the term handles all charges. Slots are claimed at
        once: no more gangs of a queue are charged than can soon use them.

        `start` ends when the first patches of all are answered, or when it is not known whether the
        reservation is written. The fate of an unanswered gate may never be known, and other gangs
        of its namespace do not wait for it.
        """
        claim = self._claim(reservation, members.charged, members.number, asks=True)
        return self._run(gang, gang.facts, reservation, members, since, claim, start)

    async def _run(
        self,
        gang: PodGroupState,
        facts: GroupFacts | None,
        reservation: Reservation,
        members: Members,
        since: float,
        claim: SlotClaim,
        start: Start,
    ) -> None:
        pods, answers = members.charged, Answers()
        all_may = False
        try:
            if await self._charge_the_others(gang.key, reservation, members):
                first = await _first_of_each_template(pods)
                answers = await self._ask(claim, first)
                all_may = len(answers) == len(first) and _all_may(answers)
        finally:
            self._slots.close(claim)
        reserved = (
            facts is not None
            and all_may
            and await self._groups.reserve(
                facts,
                reservation,
                unsure=partial(self._unsure, gang, reservation, start),
                objected=partial(self._reports.not_reserved, gang),
            )
        )
        if facts is None or not reserved:
            await self._take_back(gang, reservation, pods, answers, all_may=all_may)
        elif await self._is_whole(gang, pods):
            self._attempts.events.forget(facts.uid)
            await self._open(gang, reservation, pods, since, start)
        else:
            await self._begin_anew(pods)

    async def _is_whole(self, gang: PodGroupState, pods: Sequence[Chosen]) -> bool:
        """Whether those that start are all there, and still the gang's minimum, as far as is seen.

        Nothing of it is open yet. What is deleted or changed from here on is met when the gates
        open: then a part of it runs, and the rest is reserved until E8.
        """
        async for facts, _, _ in _some_at_a_time(pods):
            record = self._ledger.pods.get(facts.uid)
            if record is None or record.facts.terminating:
                return False
        return self._ledger.groups.get(gang.key) is gang and gang.missing <= 0

    async def _begin_anew(self, pods: Sequence[Chosen]) -> None:
        """Open none of the gates. The reservation stays: it is replaced when enough members are
        there, which are judged again, or ends by E8.
        """
        async for facts, stamp, _ in _some_at_a_time(pods):
            self._ledger.decisions.retract(facts.uid, stamp)

    def _unsure(
        self, gang: PodGroupState, reservation: Reservation, start: Start, why: str
    ) -> None:
        start.end()
        self._reports.unsure(gang, reservation, why)

    async def _charge_the_others(
        self, key: str, reservation: Reservation, members: Members
    ) -> bool:
        """Whether all members are as they were judged and the reservation still holds their room.
        A changed member may ask for something else, and the room of a deleted group may be taken.
        One gang at a time, so that all together take no longer in one turn of the loop.
        """
        async with self._turn:
            return await self._charge_in_turns(key, reservation, members)

    async def _charge_in_turns(self, key: str, reservation: Reservation, members: Members) -> bool:
        while len(members.charged) < members.number:
            await asyncio.sleep(0)
            group = self._ledger.groups.get(key)
            if self._slots.draining or group is None or group.reservation is not reservation:
                return False
            for pod in islice(members.others, AT_A_TIME):
                facts, stamp, _ = pod
                record = self._ledger.pods.get(facts.uid)
                if record is None or record.facts is not facts or not record.releasable:
                    return False
                if not self._ledger.reassessment.read_first((facts.uid,)):
                    return False
                self._ledger.decisions.assume(facts.uid, stamp)
                members.charged.append(pod)
        return True

    def _claim(
        self, reservation: Reservation, pods: Sequence[Chosen], number: int, *, asks: bool = False
    ) -> SlotClaim:
        return self._slots.claim(reservation.queue, pods[0].facts.namespace, number, asks=asks)

    async def _ask(self, claim: SlotClaim, pods: Sequence[Chosen]) -> Answers:
        """The answers to dry runs. After a no, no more are sent.

        None at all if we drain meanwhile: a gang that is not written ahead by then does not start.
        """
        self._slots.lower(claim, len(pods))
        noes: list[Sending] = []
        asked: list[asyncio.Task[tuple[Opened, str]]] = []
        while claim.left and not noes and not self._slots.draining:
            for slot in await claim.some():
                sending = self._attempts.send(pods[len(asked)], slot)
                asked.append(self._attempts.start(self._ask_one(sending, noes)))
        answers = await results_in_slices(asked)
        if self._slots.draining:
            return Answers()
        return Answers((pod.facts.uid, answer) for pod, answer in zip(pods, answers, strict=False))

    async def _ask_one(self, sending: Sending, noes: list[Sending]) -> tuple[Opened, str]:
        opened, words = None, ""
        if noes:
            self._attempts.answered(sending, None)
            return Opened.TOO_LATE, ""
        try:
            opened, words = await self._attempts.gate.would_open(
                sending.facts, sending.stamp, sending.resource
            )
        finally:
            self._attempts.answered(sending, None if opened is Opened.YES else opened)
        if opened is not Opened.YES:
            noes.append(sending)
        return opened, words

    async def _open(
        self,
        gang: PodGroupState,
        reservation: Reservation,
        pods: Sequence[Chosen],
        since: float,
        start: Start,
    ) -> None:
        claim = self._claim(reservation, pods, len(pods))
        tasks: list[asyncio.Task[Opened]] = []
        unanswered = len(pods)

        def answered() -> None:
            nonlocal unanswered
            unanswered -= 1
            if not unanswered:
                start.end()

        try:
            while claim.left:
                for slot in await claim.some():
                    sending = self._attempts.send(pods[len(tasks)], slot)
                    sending = sending._replace(then=answered)
                    tasks.append(self._attempts.start(self._attempts.open(sending, since)))
        finally:
            self._slots.close(claim)
        opened = await results_in_slices(tasks)
        # A gate may be refused although its dry run was accepted.
        number = opened.count(Opened.YES)
        shut = [pod[0] for pod, o in zip(pods, opened, strict=True) if o is Opened.REFUSED]
        if shut and number:
            self._reports.in_part(gang, shut[0], number)
        elif len(shut) == len(pods):
            self._give_up(gang.key, gang)

    async def _take_back(
        self,
        gang: PodGroupState,
        reservation: Reservation,
        pods: Sequence[Chosen],
        answers: Answers,
        *,
        all_may: bool,
    ) -> None:
        """Start nothing of the gang. The pods at fault are retried later; if none is, all are."""
        async for facts, stamp, _ in _some_at_a_time(pods):
            found, _ = answers.get(facts.uid, _NOT_ASKED)
            backed_off = all_may or found not in (Opened.YES, Opened.TOO_LATE)
            self._ledger.decisions.retract(facts.uid, stamp, back_off=backed_off)
            if backed_off:
                self._attempts.failed(facts)
        self._ledger.decisions.retract_reservation(gang.key, reservation)
        for facts, _, _ in pods:
            found, answer = answers.get(facts.uid, _NOT_ASKED)
            if found is Opened.REFUSED:
                self._reports.not_started(gang, facts, answer)
                break


async def _first_of_each_template(pods: Sequence[Chosen]) -> list[Chosen]:
    """Of pods that one controller made alike, in all that is read of a pod, the first; and all that
    have no controller.
    """
    found: dict[Hashable, Chosen] = {}
    async for pod in _some_at_a_time(pods):
        facts = pod.facts
        template: Hashable = facts.uid
        if facts.controller:
            template = (
                (facts.controller, facts.controller_name, facts.task, facts.priority),
                (facts.card_text, facts.devices, facts.cpu, facts.memory),
                (facts.selector, facts.tolerations, facts.foreign_gates, pod.stamp.cards),
            )
        found.setdefault(template, pod)
    return list(found.values())


async def _some_at_a_time(pods: Sequence[Chosen]) -> AsyncIterator[Chosen]:
    """All of them in order. After each `AT_A_TIME` other work has a turn."""
    for number, pod in enumerate(pods):
        if number and number % AT_A_TIME == 0:
            await asyncio.sleep(0)
        yield pod


def _all_may(answers: Answers) -> bool:
    return all(found is Opened.YES for found, _ in answers.values())


async def results_in_slices(tasks: Sequence[asyncio.Task[T]]) -> list[T]:
    """The results in order. Most tasks are done by then: gathering thousands is one long step."""
    results: list[T] = []
    for number, task in enumerate(tasks, 1):
        results.append(await task)
        if number % AT_A_TIME == 0:
            await asyncio.sleep(0)
    return results
