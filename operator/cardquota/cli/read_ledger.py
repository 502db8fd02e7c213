"""A ledger of one moment: of what the user may list of a cluster, or of what stands in files."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..cluster.api.api_error import ApiError
from ..cluster.api.client import Client
from ..cluster.watch.delivery import ChangeNotifier
from ..cluster.watch.feed import WatchedKind, ledger_settings, watched_kinds
from ..cluster.watch.listing import Unreadable
from ..quota.ledger.ledger import Ledger
from ..settings import Settings
from .reading import ClusterError, listed


@dataclass(slots=True)
class ReadLedger:
    """What was read, and what was not. Kinds have the names of their resources: `nodes`."""

    ledger: Ledger
    number: Counter[str] = field(default_factory=Counter)
    """By kind: how many objects there are, readable or not."""
    unread: dict[str, ClusterError] = field(default_factory=dict)
    """By kind that may not be listed, or that the API server does not have: its answer."""
    unreadable: list[Unreadable] = field(default_factory=list)
    noted: Mapping[str, Callable[[Any], None]] = field(default_factory=dict)
    """By kind: who is told of each object that could be read."""

    def take(self, kind: WatchedKind[Any], found: Any) -> None:
        """One object, as it is listed. One that cannot be read affects no other."""
        self.number[kind.kind] += 1
        if isinstance(found, Unreadable):
            self.unreadable.append(found)
            return
        try:
            kind.take(found)
            if note := self.noted.get(kind.kind):
                note(found)
        except (ValueError, TypeError) as error:
            meta = found.metadata
            self.unreadable.append(Unreadable(kind.kind, meta.namespace, meta.name, str(error)))

    async def read(
        self,
        client: Client,
        kind: WatchedKind[Any],
        *more: tuple[str, Mapping[str, str]],
        selector: Mapping[str, str] | None = None,
        look: Callable[[msgspec.Raw], None] | None = None,
    ) -> bool:
        """Read a kind by the first of its lists that the user may read: of its versions, then of
        `more`, each a path with its selector. Returns whether one of the latter was needed.

        `look`: as in `list_objects`. Errors: ClusterError, of any answer but that it may not be
        listed, or that there is no such kind.
        """
        own = [(path, selector or {}) for path in (kind.path, *kind.older)]
        for number, (path, selecting) in enumerate([*own, *more]):
            every = listed(client, path, kind.struct, selector=selecting, ahead=True, look=look)
            try:
                async for one in every:
                    self.take(kind, one)
            except ClusterError as error:
                if not (isinstance(error.__cause__, ApiError) and error.__cause__.absent):
                    raise
                self.unread.setdefault(kind.kind, error)
            else:
                self.unread.pop(kind.kind, None)
                return number >= len(own)
        return False

    def need(self, *kinds: str) -> None:
        """Raise the ClusterError of the first of these kinds that was not read."""
        for kind in kinds:
            if kind in self.unread:
                raise self.unread[kind]


def empty_ledger(settings: Settings) -> Ledger:
    """A ledger that keeps all that it is told, by the operator's settings."""
    return Ledger(settings.vendor_table, ledger_settings(settings), bounded=False)


def kinds_of(ledger: Ledger) -> dict[str, WatchedKind[Any]]:
    """How each kind gets into a ledger, by its resource."""
    every = watched_kinds(ledger, ChangeNotifier(), broken_cards=True)
    return {one.kind: one for one in every}
