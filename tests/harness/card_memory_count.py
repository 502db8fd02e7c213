"""B1, B2, B3: what a plain count of nodes and pods says of card memory.

It shares no code with the product: it reads the texts anew, and adds up.
"""

import json
import re
from dataclasses import dataclass

from cardquota.quota.cards import CardMemory

_INDEX = r"(0|[1-9][0-9]{0,8})"
_MOST_CARDS, _LONGEST_SIZES, _LONGEST_LIST = 256, 8192, 4096


@dataclass(frozen=True)
class SharingNode:
    """What a node says. None: an amount that nobody can read."""

    offered: int | None
    """Memory of all cards that may be given out."""
    number: int | None
    sizes: str | None = None
    """The annotation with the size of each."""
    unhealthy: str | None = None
    """The annotation with its broken cards."""
    whole: bool = False
    """Whether it offers cards otherwise as well."""
    capacity: int = 0
    """Memory with what is broken."""

    def cards(self) -> list[int] | None:
        """None: it shares nothing. Empty: that cannot be read."""
        if self.offered is None or self.number is None:
            return []
        memory = max(self.offered, self.capacity)
        if not memory and not self.number:
            return None
        if not 0 < self.number <= min(memory, _MOST_CARDS):
            return []
        found = [memory // self.number] * self.number
        if self.sizes is not None:
            found = _sizes(self.sizes)
        return found if len(found) == self.number and sum(found) <= memory else []


@dataclass(frozen=True)
class CardHolder:
    """What a pod holds on its node."""

    node: str
    index: str | None
    """Its card, as it is written on it."""
    amount: int
    whole: bool = False
    """Whether it holds cards, not memory."""
    of_pod: str | None = None


class CardMemoryCount:
    """Nodes, pods and lists as they were told."""

    def __init__(self) -> None:
        self.nodes: dict[str, SharingNode] = {}
        self.pods: dict[str, CardHolder] = {}
        """By name or uid: who is on a node and has not ended."""
        self.decided: dict[str, CardHolder] = {}
        """Who is being bound, and was not seen with a node yet."""
        self._lists: dict[str, str] = {}
        self._good: dict[str, set[int]] = {}
        self._good_note: dict[str, set[int]] = {}

    # --- what is told ----

    def node(self, name: str, node: SharingNode) -> None:
        self.nodes[name] = node
        cards = node.cards()
        if cards is None:
            self._good_note.pop(name, None)
        elif cards and (found := _listed(node.unhealthy or "", len(cards))) is not None:
            self._good_note[name] = found
        self._read(name)

    def node_gone(self, name: str) -> None:
        self.nodes.pop(name, None)
        self._good_note.pop(name, None)

    def list_seen(self, name: str, text: str) -> None:
        self._lists[name] = text
        self._read(name)

    def list_gone(self, name: str) -> None:
        self._lists.pop(name, None)
        self._good.pop(name, None)

    def pod(self, key: str, pod: CardHolder) -> None:
        self.pods[key] = pod
        self.decided.pop(key, None)

    def gone(self, key: str) -> None:
        self.pods.pop(key, None)
        self.decided.pop(key, None)

    # --- what follows ----

    def free(self, name: str) -> list[int]:
        """Of each card."""
        cards, broken = self._cards(name) or [], self._broken(name)
        used, unknown = self._used(name)
        node = self.nodes.get(name)
        left = (node.offered or 0) - sum(used) - unknown if node else 0
        return [
            0 if i in broken else max(0, min(left, size - used[i] - unknown))
            for i, size in enumerate(cards)
        ]

    def holders(self) -> list[CardHolder]:
        """Who is on a node, or on the way there."""
        return [*self.pods.values(), *self.decided.values()]

    def takes_memory(self, name: str) -> bool:
        """Whether pods by memory may come."""
        whole = any(pod.whole for pod in self._here(name))
        return self._cards(name) is not None and not whole

    def wrong(self, memory: CardMemory) -> list[str]:
        """Where the product counts otherwise."""
        names = {*self.nodes, *memory.nodes, *(pod.node for pod in self.holders())}
        found = (f"{name}: {self._wrong_on(name, memory)}" for name in sorted(names))
        return [text for text in found if not text.endswith(": ")]

    def _wrong_on(self, name: str, memory: CardMemory) -> str:
        here, node = self._here(name), memory.nodes.get(name)
        if node is None:
            return f"is not known, {here} are there" if name in self.nodes or here else ""
        used, unknown = self._used(name)
        free, cards = self.free(name), self._cards(name)
        by_memory = any(not pod.whole for pod in here)
        by_card = any(pod.whole for pod in here)
        offers = name in self.nodes and self.nodes[name].whole
        undecided = not by_memory and not by_card
        closed = by_memory or (undecided and cards is not None and not offers)
        mine = {
            "used": used,
            "unknown": unknown,
            "free": free,
            "room": max(free, default=0) if self.takes_memory(name) else None,
            "open to cards": name in self.nodes and not closed,
        }
        theirs = {
            "used": node.used,
            "unknown": node.unknown,
            "free": node.free,
            "room": memory.ranks[name][0] if name in memory.ranks else None,
            "open to cards": name in memory.open_to_cards,
        }
        differ = [key for key, value in mine.items() if value != theirs[key]]
        return ", ".join(f"{key} {theirs[key]}, counted {mine[key]}" for key in differ)

    def _here(self, name: str) -> list[CardHolder]:
        return [pod for pod in self.holders() if pod.node == name]

    def _used(self, name: str) -> tuple[list[int], int]:
        used, unknown = [0] * len(self._cards(name) or []), 0
        for pod in self._here(name):
            if pod.whole:
                continue
            readable = re.fullmatch(_INDEX, pod.index or "", re.ASCII)
            agrees = pod.of_pod in (None, str(pod.amount))
            if readable and agrees and int(pod.index or "") < len(used):
                used[int(pod.index or "")] += pod.amount
            else:
                unknown += pod.amount
        return used, unknown

    def _cards(self, name: str) -> list[int] | None:
        node = self.nodes.get(name)
        return node.cards() if node else None

    def _broken(self, name: str) -> set[int]:
        return self._good.get(name, set()) | self._good_note.get(name, set())

    def _read(self, name: str) -> None:
        """A list that cannot be read changes nothing."""
        cards, text = self._cards(name), self._lists.get(name)
        if text is None or cards is None:
            return
        found = _listed(text, len(cards))
        if found is not None:
            self._good[name] = found


def _sizes(text: str) -> list[int]:
    """Empty: they cannot be read."""
    try:
        found: object = json.loads(text) if len(text) <= _LONGEST_SIZES else None
    except (ValueError, RecursionError):
        return []
    sizes = found if isinstance(found, list) else []
    return sizes if all(type(x) is int and x > 0 for x in sizes) else []


def _listed(text: str, cards: int) -> set[int] | None:
    """None: it cannot be read, or names a card that is not there."""
    if not text:
        return set()
    if len(text) > _LONGEST_LIST or not re.fullmatch(f"{_INDEX}(,{_INDEX})*", text, re.ASCII):
        return None
    found = {int(one) for one in text.split(",")}
    return found if max(found) < cards else None
