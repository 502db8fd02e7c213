"""What pods at our gate wait for now (F3, F5)."""

from bisect import bisect_left
from collections.abc import Hashable
from typing import NamedTuple

from .. import vocabulary as v
from ..accounts.account import OUTSIDE
from ..accounts.account_reader import AccountReader
from ..decisions.groups.gang_judgement import judge_gang
from ..decisions.held_up import HeldUp, held_up_in
from ..decisions.judgement import judge_release
from ..decisions.probably_meant import with_group_meant
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..messages import order_messages, standing_messages
from ..pending.first_members import first_members
from ..pods.pod_record import PodRecord
from ..release.release_judge import judge_member
from ..verdict import Outcome, Verdict
from ..vocabulary import Mode, Reason


class Why(NamedTuple):
    """For want of what a pod waits, or is refused."""

    reason: str
    text: str


class GateReasons:
    """Why pods wait, as the ledger stands now. Equal pods are judged once, and a gang is, however
    much its members differ. So it is for one look.

    Not guaranteed: that it is what a pod was told. Who comes before it in the order of release is
    known of a fifo queue alone.
    """

    def __init__(self, ledger: LedgerReader, *, guesses: bool = False) -> None:
        """`guesses`: whether it is looked up which group was meant by a wrong name, for a few
        pods.
        """
        self._ledger = ledger
        self._guesses = guesses
        self._verdicts: dict[Hashable, Verdict | Why] = {}
        self._gangs: dict[tuple[str, str], Verdict | Why] = {}
        """By queue and group: what all members wait for in whom nothing else is wrong."""
        self._held_up: dict[str, HeldUp] = {}

    def of(self, record: PodRecord) -> Why:
        """Why this pod waits."""
        facts = record.facts
        if record.held_back:
            return Why(v.GATE_REFUSED, standing_messages.GATE_HELD_BACK)
        if self._ledger.mode_in(facts.namespace) is not Mode.ENFORCE and not facts.oversized:
            return Why("", standing_messages.NOT_ENFORCED)
        account = self._ledger.account(record.queue)
        if account is None or record.queue == OUTSIDE:
            return why_of(self._told(record, judge_member(self._ledger, record)))
        key = record.queue, record.class_key
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._verdicts[key] = self._judge(account, record)
        if isinstance(verdict, Why):
            return verdict
        if verdict.fits and self._is_held_up(account, record):
            card = record.request.cards[0] if record.request and record.request.cards else ""
            text = order_messages.behind(account.name, card)
            return Why(Reason.BEHIND, text)
        return why_of(verdict)

    def _told(self, record: PodRecord, verdict: Verdict) -> Verdict:
        if not self._guesses:
            return verdict
        return with_group_meant(self._ledger, record.facts, verdict)

    def _judge(self, account: AccountReader, record: PodRecord) -> Verdict | Why:
        verdict = self._told(record, judge_release(self._ledger, record))
        group = self._ledger.groups.get(record.facts.group) if record.facts.group else None
        if verdict.outcome is not Outcome.UNSEEN or verdict.reason is not None or group is None:
            return verdict
        key = account.name, group.key
        if key not in self._gangs:
            verdict = judge_member(self._ledger, record)
            unsaid = verdict.reason is None
            self._gangs[key] = (unsaid and self._judge_gang(account, group)) or verdict
        return self._gangs[key]

    def _judge_gang(self, account: AccountReader, group: PodGroupState) -> Verdict | Why | None:
        """The verdict on the members with which a gang would start, or why it is held back though
        it fits; None if it is not to start.
        """
        classes = account.pending.classes_of(group)
        found = first_members(classes, group.missing, group.missing_by_task)
        members = [self._ledger.pods[sort_key.uid] for sort_key in found]
        if group.started or group.being_reserved or not members:
            return None
        verdict, _ = judge_gang(self._ledger, members)
        if not verdict.fits:
            return verdict
        return Why(v.GATE_REFUSED, standing_messages.GATE_HELD_BACK) if group.held_back else verdict

    def _is_held_up(self, account: AccountReader, record: PodRecord) -> bool:
        """Whether it is behind a pod without room in a fifo queue."""
        if account.facts is None or not account.facts.fifo:
            return False
        held_up = self._held_up.get(account.name)
        if held_up is None:
            held_up = self._held_up[account.name] = held_up_in(self._ledger, account)
        pod_class = account.pending.classes.get(record.class_key)
        if pod_class is None:
            return False  # it waits no more
        place = bisect_left(pod_class.sort_keys, record.sort_key)
        return place >= held_up.going(record, pod_class)


def why_of(verdict: Verdict) -> Why:
    """What a verdict says to a pod, or group, that waits."""
    if verdict.fits:
        return Why("", standing_messages.room_now(verdict.queue))
    text = verdict.text or standing_messages.START_UNDER_WAY
    return Why(verdict.reason or "", text)
