"""The answer about a queue, for people."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from ...quota.answers.answer_forms import Holder, QueueAnswer, Waiter
from ...quota.words import counted, first_of, show
from ..reviews import review_sentences
from ..reviews.amounts_text import NOTHING, ago, amounts_text
from ..table import table

_CARDS: Final = (
    "CARD",
    "QUOTA",
    "ALLOCATED",
    "INQUEUE",
    "ELASTIC",
    "REQUESTED",
    "LEFT",
    "IN CLUSTER",
    "FREE",
    "MOST ON A NODE",
    "FITS NOW",
)
_RESOURCES: Final = ("RESOURCE", "QUOTA", "ALLOCATED", "INQUEUE", "REQUESTED", "LEFT")
_HOLDERS: Final = ("HOLDER", "NAMESPACE", "PODS", "CARDS", "FOR")
_WAITERS: Final = ("PLACE", "WAITER", "NAMESPACE", "PODS", "ASKS FOR", "WAITS", "REASON")
_LONGEST: Final = 1_000
"""Characters of a sentence. What the operator writes is shorter."""
_ROOM: Final = "RoomNow"
"""Stands for the reason of who has room and is not let through yet."""


def queue_lines(found: QueueAnswer, notes: Sequence[str] = ()) -> Iterator[Text]:
    """Its numbers and of when they are, who holds them, who waits and why."""
    order = ", strictly in order (fifo)" if found.fifo else ""
    yield Text(f"Queue {show(found.queue)}: {show(found.state)}{order}, at {show(found.time)}")
    for note in notes:
        yield Text(f"note: {note}", style="dim")
    if found.quota_problem:
        yield Text(f"note: {review_sentences.quota_problem(found.quota_problem)}", style="dim")
    yield Text()
    yield from _rooms(found)
    yield Text()
    yield from _holders(found)
    yield Text()
    yield from _waiters(found)


def _rooms(found: QueueAnswer) -> Iterator[Text]:
    if found.cards:
        rows = (
            (
                show(one.name),
                *map(str, (one.quota, one.allocated, one.inqueue, one.elastic, one.requested)),
                *map(str, (one.left, one.allocatable, one.free, one.most_on_node, one.fits)),
            )
            for one in found.cards
        )
        yield from table([_CARDS, *rows])
        if found.more_cards:
            yield Text(review_sentences.more(found.more_cards, "cards"), style="dim")
    else:
        yield Text(review_sentences.NO_CARDS)
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


def _holders(found: QueueAnswer) -> Iterator[Text]:
    if not found.holders and not found.more_holders:
        yield Text(review_sentences.NOBODY_HOLDS)
        return
    yield from table([_HOLDERS, *(_holder(one, found.time) for one in found.holders)])
    if found.more_holders:
        yield Text(review_sentences.more(found.more_holders, "holders"), style="dim")


def _holder(one: Holder, now: str) -> tuple[str, ...]:
    pods = str(one.pods) if one.pods else "reserved"
    since = ago(one.since, now)
    return (_name(one), show(one.namespace), pods, amounts_text(one.cards), since)


def _waiters(found: QueueAnswer) -> Iterator[Text]:
    if not found.waiters and not found.more_waiters:
        yield Text(review_sentences.NOBODY_WAITS)
        return
    yield from table([_WAITERS, *(_waiter(one, found.time) for one in found.waiters)])
    if found.more_waiters:
        yield Text(review_sentences.more(found.more_waiters, "waiters"), style="dim")
    yield from _reasons(found)


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
