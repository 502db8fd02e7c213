"""Which pods and groups that wait are to be told why, and what (I4).

Of those that wait for the same reason many are told at once, each of them once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..accounts.account import Account
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger import Ledger
from ..messages import gate_messages
from ..pending.candidate import Candidate
from ..pending.pending_notices import BehindHead
from ..pods.pod_record import PodRecord
from ..verdict import Outcome, Verdict
from ..vocabulary import Reason
from .release_judge import ReleaseJudge, Wait

AT_A_TIME: Final = 32
"""Pods in one refusal. Further pods that wait for the same reason follow in the next one."""


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
    pending_notices = account.pending.pending_notices
    found = pending_notices.next()
    if found is not None and found[1] is None:
        _ask_again(ledger, account, found[0])
        found = pending_notices.next()
    if found is None:
        return None
    candidate, words = found
    if words is None:
        return []
    uids = pending_notices.take(words, AT_A_TIME)
    there = (ledger.pods[uid] for uid in uids if uid in ledger.pods)
    pods = sorted(there, key=lambda record: record.sort_key)
    groups = [ledger.groups[uid] for uid in uids if uid in ledger.groups]
    if isinstance(words, BehindHead):
        return list(_of_those_behind(account, pods, groups, words))
    if groups:
        return [Refusal((), words, group) for group in groups]
    gang = ledger.groups.get(candidate.gang.key) if candidate.gang is not None else None
    return [Refusal(tuple(pods), words, gang)]


def _of_those_behind(
    account: Account, pods: list[PodRecord], groups: list[PodGroupState], behind: BehindHead
) -> Iterator[Refusal]:
    """Names the one before them only to those of its namespace, whose users may see it."""
    for named in (False, True):
        name = f"{behind.namespace}/{behind.name}" if named else None
        text = gate_messages.behind(
            account.name, behind.dimension, name, group=behind.group, waited=behind.waited
        )
        verdict = Verdict(Outcome.WAITS, account.name, Reason.BEHIND, text)
        those = [one for one in pods if (one.facts.namespace == behind.namespace) is named]
        if those:
            yield Refusal(tuple(those), verdict)
        for group in groups:
            if (group.key.partition("/")[0] == behind.namespace) is named:
                yield Refusal((), verdict, group)


def _ask_again(ledger: Ledger, account: Account, candidate: Candidate) -> None:
    """Judge a candidate again whose verdict was not kept, as too many others were to be told."""
    found = ReleaseJudge(ledger, account).judge(candidate)
    if not isinstance(found, Wait) or found.verdict.reason is not candidate.classes[0].reason:
        account.pending.activate(candidate)
        ledger.dirty.pending.add(account.name)
    else:
        account.pending.pending_notices.keep(candidate, found.verdict)
