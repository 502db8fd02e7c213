"""The queues of a cluster with what the operator has published of each: in the status, or in the
annotation beside Volcano, whose definition of Queues has no fields for it.
"""

from dataclasses import dataclass
from typing import Any, Final

from ...cluster.api.client import Client
from ...cluster.watch.listing import Unreadable
from ...control.queues.published_status import PATH, StatusAnnotation, StatusFields
from ...quota.objects.meta import Meta, Wire
from ...quota.vocabulary import QueueState
from ...quota.words import read_moment
from ..reading import NOT_FOUND, ClusterError, listed

OLD_WHILE_CLOSING: Final = (
    "Volcano's webhook refuses every update of a queue that is Closing: its numbers are right "
    "again once it is Closed or Open"
)
_CARDS: Final = "cards"
MOST_ROWS: Final = 1_000
"""Of one queue. The operator publishes no more than fit on the object."""
_COLUMNS: Final = "columns"


class _TopMeta(Meta):
    annotations: Any = None


class _TopQueue(Wire):
    """What is read of a queue: its form is not relied upon."""

    metadata: _TopMeta
    status: Any = None


@dataclass(frozen=True, slots=True)
class PublishedQueue:
    """One queue."""

    name: str
    created: int | None
    """Milliseconds since 1970; None if that cannot be read."""
    state: str
    """Empty: nobody has written one, so it is open."""
    published: dict[str, Any]
    """As in the status. Of the operator only if it says `where`."""
    in_annotation: bool

    @property
    def columns(self) -> dict[str, str]:
        """By name, those that are texts."""
        found = self.published.get(_COLUMNS)
        if not isinstance(found, dict):
            return {}
        return {key: text for key, text in found.items() if isinstance(text, str)}

    @property
    def where(self) -> str | None:
        """Where anything readable of it is published. A queue without a quota has no cards."""
        if not (self.published.get(_CARDS) or self.published.get(_COLUMNS)):
            return None
        return "annotation" if self.in_annotation else "status"

    @property
    def cards(self) -> list[dict[str, Any]]:
        """A row each, in the order of the status, which is by name. What is no row is left out."""
        rows = self.published.get(_CARDS)
        some = rows[:MOST_ROWS] if isinstance(rows, list) else []
        return [row for row in some if isinstance(row, dict) and isinstance(row.get("name"), str)]

    @property
    def cannot_be_written(self) -> bool:
        """Whether what is published may be old: beside Volcano's definition of Queues it is in an
        annotation, and Volcano's webhook refuses every update of a queue that is Closing.
        """
        return self.in_annotation and self.state == QueueState.CLOSING

    @property
    def waiting(self) -> tuple[int, int | None]:
        """How many pods wait at their gate, and when the first of them was created: milliseconds
        since 1970; None if none waits, or that cannot be read.
        """
        found = self.published.get("waiting")
        pods = found.get("pods") if isinstance(found, dict) else None
        if not isinstance(found, dict) or type(pods) is not int or pods <= 0:
            return 0, None
        oldest = found.get("oldest")
        return pods, read_moment(oldest) if isinstance(oldest, str) else None


@dataclass(slots=True, repr=False)  # asyncio.run would write out 10,000 queues, for nobody
class PublishedQueues:
    """All of them, by name."""

    queues: list[PublishedQueue]
    unreadable: list[str]
    """Queues that do not have the form of their kind, and why."""


async def list_queues(client: Client) -> PublishedQueues:
    """Needs the right to list queues. Errors: ClusterError."""
    found = PublishedQueues([], [])
    try:
        async for queue in listed(client, PATH, _TopQueue):
            if isinstance(queue, Unreadable):
                found.unreadable.append(f"{queue.name}: {queue.error}")
            else:
                found.queues.append(_published(queue))
    except ClusterError as error:
        if error.status != NOT_FOUND:
            raise
        raise ClusterError(
            "the cluster has no definition of Queue; apply the manifests of cardquota first"
        ) from error
    return found


def _published(queue: _TopQueue) -> PublishedQueue:
    """What is published of a queue, wherever that is."""
    meta = queue.metadata
    annotations = meta.annotations if isinstance(meta.annotations, dict) else {}
    status = queue.status if isinstance(queue.status, dict) else {}
    raw = {"metadata": {"annotations": annotations}, "status": status}
    fields = StatusFields().seen(raw).status
    in_annotation = not fields.get(_CARDS)
    published = StatusAnnotation().seen(raw).status if in_annotation else fields
    state = status.get("state")
    return PublishedQueue(
        name=meta.name,
        created=read_moment(meta.creation_timestamp),
        state=state if isinstance(state, str) else "",
        published=published or fields,
        in_annotation=in_annotation and bool(published),
    )
