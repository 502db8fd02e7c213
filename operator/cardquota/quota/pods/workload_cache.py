"""The workloads whose pods concern us, by name and by owner.

For answers about scaling, and to wake those that were refused. Advice: a workload that is not here,
or is here as it was a moment ago, lets nothing past the quota.
"""

from collections.abc import Callable, Mapping
from itertools import islice
from sys import intern
from typing import Final

from ..kept_objects import KeptObjects
from .workload_facts import WorkloadFacts

DEPTH: Final = 2
"""How many owners are followed: from a custom resource by way of a Deployment to its ReplicaSets.
"""
_MOST_OWNED: Final = 64
"""How many workloads of one owner are looked at. Honest ones have a handful."""

_WORKLOAD: Final = 800
"""Bytes of a workload besides its template."""
_NOBODY: Final[dict[str, None]] = {}

Wishes = Callable[[WorkloadFacts], None]


class WorkloadCache:
    """Workloads by uid, name and owner. An event costs nothing that grows with their number."""

    def __init__(self, kept: KeptObjects, wishes: Wishes = lambda _: None) -> None:
        """`kept`: how much is kept of workloads. `wishes`: called whenever a workload is seen to
        want another number of pods, is new or gone. It must be quick.
        """
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
        self.kept = kept
        self._wishes = wishes
        self._asked = False
        """Whether somebody asks for news."""

    def __len__(self) -> int:
        return len(self._found)

    def see(self, facts: WorkloadFacts) -> None:
        """A workload was added or changed. Not kept if too many are."""
        size = _WORKLOAD + len(facts.template)
        if self.kept.keep(facts.uid, facts.namespace, size) is not None:
            self.gone(facts.uid)
            return
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
            self._note(facts.uid)
        elif self._refused.pop(facts.uid, None) is not None:
            self._note(facts.uid)
        wanted = (facts.replicas, facts.desired)
        if before is None or wanted != (before.replicas, before.desired):
            self._tell_wishes(facts)

    def _tell_wishes(self, facts: WorkloadFacts) -> None:
        self._wishes(facts)
        for one in self.owned_by(facts.uid, facts.namespace):
            if one.uid in self._refused:
                self._note(one.uid)  # it may borrow now (R6)

    def gone(self, uid: str) -> None:
        """A workload was deleted, or does not concern us any more."""
        facts = self._found.pop(uid, None)
        if facts is None:
            return
        self.kept.forget(uid)
        if self._refused.pop(uid, None) is not None:
            self._note(uid)
        self._tell_wishes(facts)
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

    def names_in(self, namespace: str) -> list[tuple[str, str]]:
        """Kind and name of each workload of a namespace."""
        return list(self._names.get(namespace, ()))

    def get(self, uid: str) -> WorkloadFacts | None:
        """The workload with this uid."""
        return self._found.get(uid)

    def owned_by(self, uid: str, namespace: str) -> list[WorkloadFacts]:
        """What the object with this uid owns in its namespace, also by way of another workload, the
        nearest first. Of very many those that were seen last.
        """
        found: list[WorkloadFacts] = []
        owners = [uid]
        for _ in range(DEPTH):
            uids = (one for owner in owners for one in reversed(self._owned.get(owner, _NOBODY)))
            owned = (self._found[one] for one in uids)
            nearest = (one for one in owned if one.namespace == namespace)
            some = list(islice(nearest, _MOST_OWNED - len(found)))
            found += some
            owners = [one.uid for one in some]
        return found

    @property
    def refused(self) -> Mapping[str, WorkloadFacts]:
        """By uid: those that lack pods because we refused some."""
        return self._refused

    def take_refused_news(self) -> list[str]:
        """Uids of what has come to `refused`, changed there, or left it since the last call. At the
        first call of a term (`ask`): of all that are there.
        """
        found = list(self._news)
        self._news.clear()
        return found

    def ask(self, *, asked: bool) -> None:
        """Whether somebody asks for news from now on. Until then none are kept."""
        self._asked = asked
        self._news = dict.fromkeys(self._refused) if asked else {}

    def _note(self, uid: str) -> None:
        if self._asked:
            self._news[uid] = None

    def _disown(self, facts: WorkloadFacts) -> None:
        owned = self._owned.get(facts.owner)
        if owned is not None:
            owned.pop(facts.uid, None)
            if not owned:
                del self._owned[facts.owner]
