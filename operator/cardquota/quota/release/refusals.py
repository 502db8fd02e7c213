"""Which pods and groups that wait are to be told why, and what (I4).

Of those that wait for the same reason many are told at once, each of them once.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ..accounts.account import Account
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger import Ledger
from ..messages import order_messages
from ..pending.candidate import Candidate
from ..pending.release_key import ORDINARY, ReleaseKey
from ..pending.untold import Behind, BehindLongWait, Words
from ..pods.pod_record import PodRecord
from ..verdict import Outcome, Verdict
from ..vocabulary import Reason
from .release_judge import ReleaseJudge, Wait

AT_A_TIME: Final = 32
"""Pods in one refusal. Further pods that wait for the same reason follow in the next one."""

MOST_CLASSES: Final = 1_000
"""Classes in which the pods before a pod are counted. If there are more, the number in the text is
one: at least."""


@dataclass(slots=True, frozen=True)
class Refusal:
    """Pods that still wait and have not been told why, and the reason."""

    pods: tuple[PodRecord, ...]
    verdict: Verdict
    gang: PodGroupState | None = None


def next_refusals(ledger: Ledger, account: Account) -> list[Refusal] | None:
    """Some of the pods that wait in a queue and have not been told why. They then count as told.

    None: all have been told. An empty list: there are more, but this call has already judged one
    candidate. Pods that began waiting after the last pass are not known yet.
    """
    untold = account.pending.untold
    found = untold.next()
    if isinstance(found, Candidate):
        _ask_again(ledger, account, found)
        found = untold.next()
        if isinstance(found, Candidate):
            return []
    if found is None:
        return None
    uids = untold.take(found, AT_A_TIME)
    there = (ledger.pods[uid] for uid in uids if uid in ledger.pods)
    pods = sorted(there, key=lambda record: record.sort_key)
    groups = [ledger.groups[uid] for uid in uids if uid in ledger.groups]
    if isinstance(found, Behind):
        return list(_of_those_behind(ledger, account, pods, groups, found))
    if isinstance(found, BehindLongWait):
        return list(_of_those_behind_long_wait(account, pods, groups, found))
    if groups:
        return [Refusal((), found.verdict, group) for group in groups]
    gang = ledger.groups.get(found.gang.key) if found.gang is not None else None
    return [Refusal(tuple(pods), found.verdict, gang)]


def _of_those_behind(
    ledger: Ledger,
    account: Account,
    pods: list[PodRecord],
    groups: list[PodGroupState],
    behind: Behind,
) -> Iterator[Refusal]:
    """How many are before those that came. Names the first of them only to pods and groups of the
    same namespace, whose users may see it.
    """
    card, first = behind
    by_namespace: tuple[list[PodRecord], list[PodRecord]] = [], []
    pods = sorted(pods, key=lambda record: _place(account, record))
    for record in pods:
        by_namespace[record.facts.namespace == first.namespace].append(record)

    def verdict(key: ReleaseKey, *, named: bool) -> Verdict:
        before = _before(ledger, account, card, key)
        name = f"{first.namespace}/{first.name}" if named else None
        text = order_messages.behind(account.name, card, before, name)
        return Verdict(Outcome.WAITS, account.name, Reason.BEHIND, text)

    for named, those in zip((False, True), by_namespace, strict=True):
        if those:
            yield Refusal(tuple(those), verdict(_place(account, those[0]), named=named))
    for group in groups:
        if group.asks is not None:
            named = group.key.partition("/")[0] == first.namespace
            yield Refusal((), verdict(ORDINARY.key_of(group.asks.sort_key), named=named), group)


def _of_those_behind_long_wait(
    account: Account,
    pods: list[PodRecord],
    groups: list[PodGroupState],
    behind: BehindLongWait,
) -> Iterator[Refusal]:
    first = behind.first

    def text(*, named: bool) -> str:
        name = f"{first.namespace}/{first.name}" if named else None
        return order_messages.behind_long_wait(
            account.name, behind.waited, behind.asked, group=behind.group, name=name
        )

    return _by_namespace(account, pods, groups, first.namespace, text)


def _by_namespace(
    account: Account,
    pods: list[PodRecord],
    groups: list[PodGroupState],
    namespace: str,
    text: Callable[..., str],
) -> Iterator[Refusal]:
    """The text names somebody only to pods and groups of his namespace."""
    for named in (False, True):
        verdict = Verdict(Outcome.WAITS, account.name, Reason.BEHIND, text(named=named))
        those = [one for one in pods if (one.facts.namespace == namespace) is named]
        if those:
            yield Refusal(tuple(those), verdict)
        for group in groups:
            if (group.key.partition("/")[0] == namespace) is named:
                yield Refusal((), verdict, group)


def _place(account: Account, record: PodRecord) -> ReleaseKey:
    """The place of a waiting pod."""
    pod_class = account.pending.classes.get(record.class_key)
    candidate = pod_class.candidate if pod_class is not None else None
    return (candidate or ORDINARY).key_of(record.sort_key)


def _before(ledger: Ledger, account: Account, card: str, key: ReleaseKey) -> int:
    """How many pods before a place, at least, wait for a card and hold up those behind them.

    Pods that can never fit hold up no other.
    """
    classes = account.pending.classes
    if len(classes) > MOST_CLASSES:
        return 1
    number = sum(
        bisect_left(pod_class.sort_keys, key, key=pod_class.candidate.key_of)
        for pod_class in classes.values()
        if pod_class.candidate
        and pod_class.candidate.inadmissible
        and pod_class.candidate.inadmissible.holds_up
        and card in pod_class.candidate.inadmissible.cards
        and (request := ledger.pods[pod_class.sort_keys[0].uid].request)
        and card in request.cards
    )
    return max(1, number)


def _ask_again(ledger: Ledger, account: Account, candidate: Candidate) -> None:
    """Judge a candidate again whose verdict was not kept, as too many others were to be told."""
    found = ReleaseJudge(ledger, account).judge(candidate)
    if not isinstance(found, Wait) or found.verdict.reason is not candidate.classes[0].reason:
        account.pending.activate(candidate)
        ledger.dirty.mark_pending(account.name)
    else:
        account.pending.untold.keep(candidate, Words(found.verdict, found.gang))
