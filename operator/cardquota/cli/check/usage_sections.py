"""The sections `past`, `outside`, `drift` and `refused`: cards that are used and should not be,
what is published of that, and who is refused what only Volcano may do.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final, NamedTuple

from ...cluster.api.client import Client
from ...quota import vocabulary as v
from ...quota.accounts.account import OUTSIDE, AccountReader
from ...quota.amounts import is_card
from ...quota.answers.answer_forms import QueueAnswer
from ...quota.ledger.ledger import Ledger
from ...quota.messages import report_messages
from ...quota.reports.cluster_report import outside_use
from ...quota.words import counted, first_of, listed, show
from ...settings import Settings
from ..ask import NoAnswerError, ask
from ..commands.top import OLD_WHILE_CLOSING
from .checked_cluster import JUDGED_BY, PODS, CheckedCluster
from .section import CheckSection, Finding, FindingKind, bounded_section, section_of

REFUSED: Final = "refused"
PAUSE: Final = 3.0
"""Seconds until a difference is looked at again: the status follows within one or two."""


def past_section(read: CheckedCluster) -> CheckSection:
    """Pods that are charged and never passed their gate (I3), by queue, in the words of its event.
    In a namespace only its pods count. It also names objects that cannot be read: each of them may
    decide whether a pod came past. O(such pods).
    """
    lacking = read.not_known(JUDGED_BY)
    found = section_of("past", _past(read), lacking, "pods that got past the gate may be missed")
    return CheckSection(
        "past", found.findings, [*map(str, read.unreadable), *found.notes], not lacking
    )


def _past(read: CheckedCluster) -> Iterator[Finding]:
    for account in sorted(read.ledger.accounts(), key=lambda one: one.name):
        if account.name == OUTSIDE or not account.unadmitted:
            continue
        pods, held = _pods_and_held(read, account)
        if not pods:
            continue
        amounts = sorted(held.items(), key=lambda row: (not is_card(row[0]), row[0]))
        why = report_messages.unadmitted(account.name, pods, amounts)
        yield _of_queue(
            FindingKind.PAST,
            account.name,
            (v.UNADMITTED, why, "delete what should not run"),
            {name: amount for name, amount in amounts if is_card(name)},
        )


def _pods_and_held(read: CheckedCluster, account: AccountReader) -> tuple[int, dict[str, int]]:
    held: dict[str, int] = {}
    pods = 0
    for uid in account.unadmitted:
        record = read.ledger.pods[uid]
        if read.namespace not in ("", record.facts.namespace):
            continue
        pods += 1
        for name, amount in record.charge:
            held[name] = held.get(name, 0) + amount
    return pods, held


def _of_queue(
    kind: FindingKind, queue: str, texts: tuple[str, str, str], cards: dict[str, int]
) -> Finding:
    return Finding(kind, "Queue", "", queue, *texts, queue=queue, cards=cards)


def outside_section(read: CheckedCluster) -> CheckSection:
    """The cards that are used outside every queue (V5), as a note: whether that is wanted is the
    administrator's to say (`defaultQueue`, `requireQueue`). Nothing is said where nothing is used
    so, or pods are not known: of these `past` tells.
    """
    section = CheckSection("outside")
    if PODS not in read.unread:
        pods, cards, first = outside_use(read.ledger, read.namespace)
        held = first_of([f"{show(card)} {amount}" for card, amount in cards.items()], ", ")
        more = f" and {pods - len(first)} more" if pods > len(first) else ""
        if pods:
            by = f"{counted(pods, 'pod')} ({listed(first)}{more})"
            section.notes.append(f"used outside every queue: {held}, by {by}")
    return section


class Difference(NamedTuple):
    """A card of a queue, of which its status says something else than is counted."""

    queue: str
    card: str
    published: int
    counted: int
    closing: bool = False
    """Whether the queue is Closing: then Volcano's webhook lets nobody correct it."""


async def lasting_differences(
    read: CheckedCluster,
    again: Callable[[], Awaitable[CheckedCluster]],
    sleep: Callable[[float], Awaitable[None]],
) -> list[Difference]:
    """Those that are there, and the same, when all is read again after a pause; sorted. Objects are
    read one kind after the other, so while pods come and go there are always some.

    `again` is called only if there are any at first.
    """
    first = differences(read.ledger)
    if not first:
        return []
    await sleep(PAUSE)
    second = await again()
    if second.not_known(JUDGED_BY):
        return []
    return sorted(first & differences(second.ledger))


def differences(ledger: Ledger) -> set[Difference]:
    """Of all queues whose status is one of the operator's. O(queues and their cards)."""
    found = set()
    for account in ledger.accounts():
        facts = account.facts
        if facts is None or not facts.published:
            continue
        held = {card: row.allocated for card, row in account.rows.items() if is_card(card)}
        published, closing = facts.published_allocated, facts.state is v.QueueState.CLOSING
        for card in held.keys() | published.keys():
            said, now = published.get(card, 0), held.get(card, 0)
            if said != now:
                found.add(Difference(account.name, card, said, now, closing))
    return found


def drift_section(
    read: CheckedCluster, found: Sequence[Difference], *, nobody_publishes: bool
) -> CheckSection:
    """`found`: those that last. `nobody_publishes`: then they mean nothing, and there are none."""
    notes = []
    if nobody_publishes:
        notes.append("no replica leads, so no totals are published now: they are not compared")
    if found:
        notes.append(
            "counted with the settings of --config, or the defaults: if the operator has another "
            "default queue or other vendors, it counts differently"
        )
    lacking = read.not_known(JUDGED_BY)
    missed = "published totals are not compared"
    return section_of("drift", map(_drift, found), lacking, missed, *notes)


def _drift(one: Difference) -> Finding:
    why = (
        f"status says allocated {one.published} of <{show(one.card)}>, its pods on nodes hold "
        f"{one.counted}"
    )
    see = "see whether a replica leads, and what its log says of this queue's status"
    reason, advice = ("NumbersOld", OLD_WHILE_CLOSING) if one.closing else ("TotalsDiffer", see)
    return _of_queue(FindingKind.DRIFT, one.queue, (reason, why, advice), {one.card: one.counted})


async def refused_section(client: Client, settings: Settings) -> CheckSection:
    """Whether somebody is refused what only Volcano may do (V1), as the replica that answers has
    counted it. Nothing is asked where nobody counts. Needs the right to create QueueReviews.
    """
    if settings.scheduler != "volcano":
        return CheckSection(REFUSED)
    spec = {"queue": "", "limit": 1}
    try:
        found = await ask(client, QueueAnswer, "QueueReview", v.QUEUE_REVIEWS, spec)
    except NoAnswerError as error:
        note = f"{error}: it is not known whether Bindings are refused"
        return CheckSection(REFUSED, notes=[note])
    why = (
        f"{counted(found.refused_writes, 'write')} of Bindings, or of groups of pods, refused to "
        "users that are not in volcano.accounts, since the replica that answers has started"
    )
    advice = (
        "if these are Volcano's scheduler and controllers (the refusal names the user), add them "
        "to volcano.accounts, apply the output of `cardquota manifests` and restart the operator"
    )
    about = "Deployment", settings.namespace, v.DEPLOYMENT
    finding = Finding(FindingKind.REFUSED, *about, "VolcanoNotKnown", why, advice)
    return bounded_section(REFUSED, [finding] if found.refused_writes else [])
