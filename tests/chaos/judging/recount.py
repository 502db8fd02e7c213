"""What each queue holds, counted anew from stored objects alone.

It shares no code with what it judges: plain dictionaries, and the keys as they are documented.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain, combinations

from .stored import Asks, Group, Object, QueuePosition, StoredPod, read_group, read_pod

QUOTA = "volcano.sh/card.quota"
POLICY = "volcano.sh/card.policy"
SURGE = "volcano.sh/card.surge"

Free = Mapping[frozenset[str], int]
"""By set of a queue's cards: how many more may be given of these."""


class Recount:
    """The cluster at one revision; `apply` takes it to the next."""

    def __init__(
        self, namespace: str, card_of_node: Mapping[str, str], *, volcano: bool = False
    ) -> None:
        """`volcano`: whether that schedules too, so that it is what enqueues groups."""
        self.namespace = namespace
        self.volcano = volcano
        self._card_of_node = dict(card_of_node)
        self.pods: dict[str, StoredPod] = {}
        self.groups: dict[str, Group] = {}
        self.members: defaultdict[str, dict[str, StoredPod]] = defaultdict(dict)
        """Pods that exist, finished or not, by group and key."""
        self.quota: dict[str, dict[str, int]] = {}
        self.policy: dict[str, str] = {}
        self.lent: dict[str, int] = {}
        """What rolling updates may borrow of each card, by queue."""
        self.held: defaultdict[QueuePosition, int] = defaultdict(int)
        """Released or bound, and not finished."""
        self._reserving: dict[str, Group] = {}
        """Groups with a reservation, by key."""

    def apply(self, kind: str, key: str, thing: Object | None) -> set[QueuePosition]:
        """One change; the queues and cards it may have changed something for."""
        if kind == "pod":
            return self._pod(key, thing)
        if kind == "group":
            return self._group(key, thing)
        if kind == "queue":
            self._queue(key, thing)
            return {(key, card) for card in self.quota.get(key, ())}
        return set()

    def queue_of(self, pod: StoredPod) -> str:
        """The queue that a pod asks for: its group's, else its own."""
        group = self.groups.get(pod.group)
        return (group.queue if group else "") or pod.own_queue

    def says(self, group: Group) -> Asks:
        """What the minimum of a group will ask for before its pods are there, where it is known of
        which card: it says so, or it is a Job's, and its queue has one card (V3).
        """
        if group.asks or not (self.volcano and group.job and group.counted):
            return group.asks
        cards = tuple(self.quota.get(group.queue, ()))
        return {cards: group.counted} if len(cards) == 1 else {}

    def asks_of(self, group: Group) -> Asks:
        """The same, also where each card may be any of its queue's: nothing is reserved for it."""
        if group.asks or not (self.volcano and group.job and group.counted):
            return group.asks
        cards = tuple(sorted(self.quota.get(group.queue, ())))
        return {cards: group.counted} if cards else {}

    def card_of(self, node: str) -> str:
        """The card of a node; empty if it has none."""
        return self._card_of_node.get(node, "")

    def reserved(self, place: QueuePosition, *, enqueued: bool = False) -> int:
        """What groups hold of a card beyond what their members hold. `enqueued`: of those alone
        that are, and wait for their pods.
        """
        groups = (g for g in self._reserving.values() if g.enqueued or not enqueued)
        return sum(self.outstanding(group).get(place, 0) for group in groups)

    def outstanding(self, group: Group) -> dict[QueuePosition, int]:
        """What a group reserves beyond what its members hold."""
        left = {p: n - self.held_by(group.key, p) for p, n in group.reserved.items()}
        return {place: rest for place, rest in left.items() if rest > 0}

    def free(
        self,
        queue: str,
        *,
        without: str = "",
        quota: Mapping[str, int] | None = None,
        elastic: Mapping[str, int] | None = None,
    ) -> Free:
        """How many more cards may be given out, of each set of a queue's cards.

        `without`: the key of a group whose reservation does not count. `quota`: another one than
        it has now. `elastic`: what more there is of each card.
        """
        allowed = self.quota.get(queue, {}) if quota is None else quota
        single = {
            card: most - self.held[queue, card] + (elastic or {}).get(card, 0)
            for card, most in allowed.items()
        }
        for key, group in self._reserving.items():
            if key == without or group.reserved_in != queue:
                continue
            for (_, card), number in self.outstanding(group).items():
                if card in single:
                    single[card] -= number
        found = {}
        for cards in _sets(allowed):
            found[cards] = sum(max(0, single[card]) for card in cards)
            if len(cards) == 1:
                found[cards] = single[next(iter(cards))]
        return found

    def room(self, place: QueuePosition) -> int:
        """How much more of a card a queue may hold."""
        return room_of(place[1], self.free(place[0]))

    def elastic(self, queue: str) -> dict[str, int]:
        """By card: what groups hold in a queue beyond their minimum."""
        found: defaultdict[str, int] = defaultdict(int)
        for key in self.groups:
            for (where, card), amount in self.elastic_of(key).items():
                found[card] += amount if where == queue else 0
        return {card: amount for card, amount in found.items() if amount}

    def elastic_of(self, group: str) -> dict[QueuePosition, int]:
        """What a group holds beyond its minimum, by its key: who was bound first is the minimum."""
        found = self.groups.get(group)
        members = self.members.get(group, {})
        if found is None or len(members) <= found.minimum:
            return {}
        bound = sorted((p for p in members.values() if p.node and p.charge), key=_bound_as)
        total: defaultdict[QueuePosition, int] = defaultdict(int)
        for pod in bound[found.minimum :]:
            for place, amount in pod.charge.items():
                total[place] += amount
        return dict(total)

    def gated_deny(self, place: QueuePosition) -> int:
        """What waits in a queue whose pods are refused rather than made to wait."""
        if self.policy.get(place[0]) != "Deny":
            return 0
        room = self.room(place)
        return sum(
            pod.amount
            for pod in self.waiting(place[0])
            # Who waits for a group, or for more than there is, is not on the way.
            if place[1] in pod.cards and pod.amount <= room
            if not pod.group or pod.group in self.groups
        )

    def versions(self, pod: StoredPod) -> frozenset[str]:
        """The ReplicaSets of a pod's Deployment that have pods in its queue, by their names."""
        of = pod.maker.rpartition("-")[0]
        return frozenset(
            one.maker
            for one in self.pods.values()
            if of and one.maker.rpartition("-")[0] == of and one.own_queue == pod.own_queue
        )

    def waiting(self, queue: str) -> list[StoredPod]:
        """Pods at the gate."""
        return [p for p in self.pods.values() if p.waits and self.queue_of(p) == queue]

    def held_by(self, group: str, place: QueuePosition) -> int:
        """What the members of a group hold in a queue, by the group's key."""
        return sum(pod.charge.get(place, 0) for pod in self.members[group].values())

    def there(self, group: str) -> int:
        """How many members of a group exist, and have not failed, by the group's key."""
        members = self.members.get(group, {}).values()
        return sum(1 for pod in members if pod.succeeded or not pod.finished)

    def started(self, group: str) -> int:
        """How many members of a group count for its minimum, by the group's key."""
        members = self.members[group].values()
        return sum(1 for pod in members if not pod.gated and (pod.succeeded or not pod.finished))

    def _pod(self, key: str, thing: Object | None) -> set[QueuePosition]:
        touched: set[QueuePosition] = set()
        before = self.pods.pop(key, None)
        if before is not None:
            self.members[before.group].pop(key, None)
            touched |= self._count(before, -1)
        if thing is not None:
            pod = self.pods[key] = read_pod(key, thing)
            pod.charge = self._charge(pod)
            if pod.group:
                self.members[pod.group][key] = pod
            touched |= self._count(pod, 1)
        return touched

    def _count(self, pod: StoredPod, sign: int) -> set[QueuePosition]:
        for place, amount in pod.charge.items():
            self.held[place] += sign * amount
        return set(pod.charge) | {(self.queue_of(pod), card) for card in pod.cards}

    def _charge(self, pod: StoredPod) -> dict[QueuePosition, int]:
        """What is written on it, but never less than what it really uses."""
        if pod.gated or pod.finished:
            return {}
        queue = pod.charged_queue or self.queue_of(pod)
        charge = {(queue, card): amount for card, amount in (pod.stamp or {}).items()}
        real = self._card_of_node.get(pod.node, next(iter(pod.stamp or pod.cards), ""))
        charge[queue, real] = max(charge.get((queue, real), 0), pod.amount)
        return charge

    def _group(self, key: str, thing: Object | None) -> set[QueuePosition]:
        whole = f"{self.namespace}/{key}"
        touched = self._touched_by(whole)
        before = self.groups.pop(whole, None)
        self._reserving.pop(whole, None)
        if thing is not None:
            group = self.groups[whole] = read_group(thing)
            if before is not None and before.uid == group.uid:
                group.follow(before)
            if group.reserved_in:
                self._reserving[whole] = group
        return touched | self._touched_by(whole)

    def _touched_by(self, group: str) -> set[QueuePosition]:
        """What it has reserved and asks for, what of it is elastic, and where its members wait."""
        found = self.groups.get(group)
        waiting = [pod for pod in self.members[group].values() if pod.waits]
        places = {(self.queue_of(pod), card) for pod in waiting for card in pod.cards}
        if found is None:
            return places
        asked = {(found.queue, card) for cards in self.asks_of(found) for card in cards}
        return places | asked | set(found.reserved) | set(self.elastic_of(group))

    def _queue(self, name: str, thing: Object | None) -> None:
        notes = (thing or {"metadata": {}})["metadata"].get("annotations") or {}
        self.quota[name] = json.loads(notes.get(QUOTA, "{}"))
        self.policy[name] = notes.get(POLICY, "")
        self.lent[name] = int(notes.get(SURGE, "0"))


def _bound_as(pod: StoredPod) -> tuple[str, str, str]:
    return pod.bound_as


def room_of(card: str, free: Free) -> int:
    """How much more of one card may be given out."""
    return min((most for cards, most in free.items() if card in cards), default=0)


def fits(free: Free, asks: Asks) -> bool:
    """Whether all of these can be given out together; each of `A|B` may be any of these by itself.

    That is so if no set of cards is asked for more than it has (Hall's theorem).
    """
    known = frozenset().union(*free)
    named = {cards: known.intersection(cards) for cards, number in asks.items() if number}
    if not all(named.values()):
        return False
    for cards, most in free.items():
        asked = sum(asks[one] for one, within in named.items() if within <= cards)
        if asked > most and asked:
            return False
    return True


def _sets(cards: Iterable[str]) -> list[frozenset[str]]:
    names = sorted(cards)
    sizes = range(1, len(names) + 1)
    return [frozenset(one) for one in chain(*(combinations(names, size) for size in sizes))]
