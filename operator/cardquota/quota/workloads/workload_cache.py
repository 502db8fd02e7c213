"""The workloads whose pods concern us, by name and by owner.

For answers about scaling, and to wake those that were refused. Advice: a workload that is not here,
or is here as it was a moment ago, lets nothing past the quota.
"""

from collections.abc import Callable, Mapping
from sys import intern
from typing import Final

from .workload_facts import WorkloadFacts

DEPTH: Final = 2
"""How many owners are followed: from a custom resource by way of a Deployment to its ReplicaSets.
"""
_MOST_OWNED: Final = 64
"""How many workloads of one owner are looked at. Honest ones have a handful."""

Grown = Callable[[WorkloadFacts], None]
"""Called with a workload that wants more pods than before."""


class WorkloadCache:
    """Workloads by uid, name and owner. An event costs nothing that grows with their number."""

    def __init__(self) -> None:
        self._found: dict[str, WorkloadFacts] = {}
        """By uid."""
        self._names: dict[str, dict[tuple[str, str], str]] = {}
        """By namespace, then by kind and name: uids."""
        self._owned: dict[str, dict[str, None]] = {}
        """By uid of the owner: the uids of what it owns."""
        self._refused: dict[str, WorkloadFacts] = {}
        """Those that lack pods because we refused some."""
        self._news: dict[str, None] = {}
        """Uids of those that came to these, changed, or left them."""
        self._grown: list[Grown] = []

    def __len__(self) -> int:
        return len(self._found)

    def listen(self, grown: Grown) -> None:
        """Call `grown` whenever a known workload is seen to want more pods. It must be quick."""
        self._grown.append(grown)

    def see(self, facts: WorkloadFacts) -> None:
        """A workload was added or changed."""
        before = self._found.get(facts.uid)
        if before is None:
            names = self._names.setdefault(facts.namespace, {})
            names[intern(facts.kind), facts.name] = facts.uid
            if facts.owner:
                self._owned.setdefault(facts.owner, {})[facts.uid] = None
        elif before.owner != facts.owner:
            self._disown(before)
            if facts.owner:
                self._owned.setdefault(facts.owner, {})[facts.uid] = None
        self._found[facts.uid] = facts
        if facts.refused and facts.missing:
            self._refused[facts.uid] = facts
            self._news[facts.uid] = None
        elif self._refused.pop(facts.uid, None) is not None:
            self._news[facts.uid] = None
        if before is not None and facts.replicas > before.replicas:
            for grown in self._grown:
                grown(facts)

    def gone(self, uid: str) -> None:
        """A workload was deleted, or does not concern us any more."""
        facts = self._found.pop(uid, None)
        if facts is None:
            return
        if self._refused.pop(uid, None) is not None:
            self._news[uid] = None
        self._disown(facts)
        names, key = self._names[facts.namespace], (facts.kind, facts.name)
        if names.get(key) == uid:
            del names[key]
            if not names:
                del self._names[facts.namespace]

    def named(self, kind: str, namespace: str, name: str) -> WorkloadFacts | None:
        """The workload of this kind and name."""
        uid = self._names.get(namespace, {}).get((kind, name))
        return self._found[uid] if uid is not None else None

    def get(self, uid: str) -> WorkloadFacts | None:
        """The workload with this uid."""
        return self._found.get(uid)

    def owned_by(self, uid: str) -> list[WorkloadFacts]:
        """What the object with this uid owns, also by way of another workload, the nearest first.
        Bounded.
        """
        found: list[WorkloadFacts] = []
        owners = [uid]
        for _ in range(DEPTH):
            owned = [one for owner in owners for one in self._owned.get(owner, ())]
            owners = owned[: _MOST_OWNED - len(found)]
            found += [self._found[one] for one in owners]
        return found

    @property
    def refused(self) -> Mapping[str, WorkloadFacts]:
        """By uid: those that lack pods because we refused some."""
        return self._refused

    def take_refused_news(self) -> list[str]:
        """Uids of what has come to `refused`, changed there, or left it since the last call.

        Whoever does not ask has to call `rest` instead.
        """
        found = list(self._news)
        self._news.clear()
        return found

    def rest(self) -> None:
        """Nobody asks for news now: all that are there are news for whoever asks next."""
        self._news = dict.fromkeys(self._refused)

    def _disown(self, facts: WorkloadFacts) -> None:
        owned = self._owned.get(facts.owner)
        if owned is not None:
            owned.pop(facts.uid, None)
            if not owned:
                del self._owned[facts.owner]
