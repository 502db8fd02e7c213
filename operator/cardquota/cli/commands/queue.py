"""`kubectl cardquota queue NAME`: what a queue holds, who holds it, who waits, what would fit now.

In: the operator's answer. Out: lines for people, or data for programs.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from rich.text import Text

from ...quota.answers.answer_forms import Holder, QueueAnswer, Waiter
from ...quota.vocabulary import QUEUE_REVIEWS
from ...quota.words import counted, first_of, show
from ..ask import NOTHING, ago, amounts_text, ask
from ..leader import note_unless_led
from ..output import ClusterChoice, Output
from ..printing import print_data, print_lines, table
from ..reading import client_of, done

_CARDS: Final = (
    *("CARD", "QUOTA", "ALLOCATED", "INQUEUE", "ELASTIC", "REQUESTED", "LEFT"),
    *("IN CLUSTER", "FREE", "MOST ON A NODE", "FITS NOW"),
)
_LENT: Final = ("DESERVED", "BORROWED")
"""After these, where the queue has borrowed anything (L1)."""
_RESOURCES: Final = ("RESOURCE", "QUOTA", "ALLOCATED", "INQUEUE", "REQUESTED", "LEFT")
_HOLDERS: Final = ("HOLDER", "NAMESPACE", "PODS", "CARDS", "FOR")
_WAITERS: Final = ("PLACE", "WAITER", "NAMESPACE", "PODS", "ASKS FOR", "WAITS", "REASON")
_LONGEST: Final = 1_000
"""Characters of a sentence. What the operator writes is shorter."""
_ROOM: Final = "RoomNow"
"""Stands for the reason of who has room and is not released yet."""


def queue(
    name: str,
    namespace: str,
    *,
    limit: int,
    cluster: ClusterChoice,
    output: Output,
) -> None:
    """`namespace`: the operator's. Any replica answers; the Lease tells whether one of them leads.
    Errors: typer.Exit, if it could not be shown.
    """
    found, unled = done(_read(name, namespace, limit, cluster))
    notes = [unled] if unled else []
    if output.is_data:
        print_data({**msgspec.to_builtins(found), "notes": notes}, output)
    else:
        print_lines(queue_lines(found, notes))


async def _read(
    name: str, namespace: str, limit: int, cluster: ClusterChoice
) -> tuple[QueueAnswer, str]:
    spec = {"queue": name, "limit": limit}
    async with client_of(cluster) as client:
        found = await ask(client, QueueAnswer, "QueueReview", QUEUE_REVIEWS, spec)
        return found, await note_unless_led(client, namespace, published=False)


def queue_lines(found: QueueAnswer, notes: Sequence[str] = ()) -> Iterator[Text]:
    """Its numbers and of when they are, who holds them, who waits and why."""
    order = ", strictly in order (fifo)" if found.fifo else ""
    yield Text(f"Queue {show(found.queue)}: {show(found.state)}{order}, at {show(found.time)}")
    for note in notes:
        yield Text(f"note: {note}", style="dim")
    if found.quota_problem:
        problem = show(found.quota_problem, most=300)
        why = f"the quota cannot be read, the last good one is in force: {problem}"
        yield Text(f"note: {why}", style="dim")
    yield Text()
    yield from _rooms(found)
    yield Text()
    holders = [_holder(one, found.time) for one in found.holders]
    yield from _list(_HOLDERS, holders, found.more_holders, "holders", "Nobody holds anything.")
    yield Text()
    waiters = [_waiter(one, found.time) for one in found.waiters]
    yield from _list(_WAITERS, waiters, found.more_waiters, "waiters", "Nobody waits.")
    if found.waiters or found.more_waiters:
        yield from _reasons(found)


def _rooms(found: QueueAnswer) -> Iterator[Text]:
    borrows = any(one.borrowed for one in found.cards)
    cards = [
        (
            show(one.name),
            *map(str, (one.quota, one.allocated, one.inqueue, one.elastic, one.requested)),
            *map(str, (one.left, one.allocatable, one.free, one.most_on_node, one.fits)),
            *map(str, (one.deserved, one.borrowed) if borrows else ()),
        )
        for one in found.cards
    ]
    more = found.more_cards if cards else 0
    nothing = "No cards: the queue has no quota, and nobody holds any."
    head = (*_CARDS, *_LENT) if borrows else _CARDS
    yield from _list(head, cards, more, "cards", nothing)
    yield Text()
    others = (
        (
            show(one.name),
            one.quota or NOTHING,
            *map(show, (one.allocated, one.inqueue, one.requested)),
            one.left or NOTHING,
        )
        for one in found.resources
    )
    yield from table([_RESOURCES, *others])


def _list(
    head: tuple[str, ...], rows: Sequence[tuple[str, ...]], more: int, what: str, nothing: str
) -> Iterator[Text]:
    if not rows and not more:
        yield Text(nothing)
        return
    yield from table([head, *rows])
    if more:
        yield Text(f"and {more} more {what}", style="dim")


def _holder(one: Holder, now: str) -> tuple[str, ...]:
    pods = str(one.pods) if one.pods else "reserved"
    since = ago(one.since, now)
    return (_name(one), show(one.namespace), pods, amounts_text(one.cards), since)


def _waiter(one: Waiter, now: str) -> tuple[str, ...]:
    return (
        str(one.place),
        _name(one),
        show(one.namespace),
        str(one.pods),
        amounts_text(one.asks),
        ago(one.since, now),
        show(one.reason) or _ROOM,
    )


def _reasons(found: QueueAnswer) -> Iterator[Text]:
    """Each sentence once, with the places of those who wait for that."""
    places: dict[str, list[str]] = {}
    for one in found.waiters:
        places.setdefault(one.message, []).append(str(one.place))
    for message, those in places.items():
        yield Text()
        who = "place" if len(those) == 1 else "places"
        yield Text(f"{who} {first_of(those, ', ')}: {show(message, most=_LONGEST)}")
    yield Text()
    yield Text(f"{counted(found.waiting_pods, 'pod')} at the gate in all", style="dim")


def _name(one: Holder | Waiter) -> str:
    return f"{show(one.kind)}/{show(one.name)}"
