"""What a pod asks for, given its annotations and the known cards (P2-P5).

`read` returns the cards that could serve the pod, and what is wrong with the request itself,
regardless of room: a pure function of the pod, its queue's quota, the known cards and the nodes.
"""

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field
from sys import getsizeof
from typing import Final, NamedTuple, Protocol

from ..amounts import Amounts, Charge, Devices, is_card
from ..cards.card import (
    Card,
    CardNameError,
    Catalog,
    can_exist,
    is_memory,
    model_of,
    read_alternatives,
)
from ..cards.vendor import Vendor, counts_form, may_count_cards, resource_by_name
from ..close_names import close_names
from ..kept_objects import SizedCache
from ..limits import KIB
from ..messages import request_messages, shortfall_messages
from ..selectors.selector import Selector, decode, requirements
from ..vocabulary import CPU, GPU_MEMORY, MEMORY, Reason
from .pod_facts import PodFacts, memory_of


class Nodes(Protocol):
    """What is known of nodes."""

    def picked(self, selector: bytes) -> Collection[str]:
        """The names of the cards on the nodes that a selector picks."""

    def named_by(self, selector: bytes) -> bool:
        """Whether a selector names single nodes."""

    def picks_by_node(self, selector: bytes) -> bool:
        """Whether a selector requires more of nodes than the products of their cards."""

    def has(self, card: str) -> bool:
        """Whether some node has the card."""


class Knowledge(Protocol):
    """What is known of cards beyond one queue."""

    @property
    def catalog(self) -> Catalog:
        """The kinds of cards."""

    @property
    def nodes(self) -> Nodes:
        """What is known of nodes."""

    def counts(self, resource: str) -> bool:
        """Whether a resource name counts cards, by the vendor table or by a node."""

    def in_any_quota(self, card: str) -> bool:
        """Whether some queue has a row for this card."""

    def known_card(self, name: str, resource: str) -> Card:
        """The card as a node showed it, or else as follows from its name and its vendor's rule."""

    def vendor_of(self, resource: str) -> Vendor:
        """The vendor whose cards a resource name counts, by the vendor table or the plain rule."""


class CardChoice(NamedTuple):
    """`amount` cards, all of one of `cards`, best first."""

    cards: tuple[str, ...]
    amount: int


@dataclass(slots=True, frozen=True)
class PodRequest:
    """Alternatives, best first, and the `amount` that the pod needs of one of them; cpu and memory.

    `cards` is empty for a pod without cards, and if no card could serve it.
    """

    cards: tuple[str, ...]
    resource: str
    """The resource name behind its cards; empty where `amount` is 0."""
    amount: int
    cpu: int
    memory: int
    cpu_memory: Charge = field(init=False, compare=False, repr=False)
    """Cpu and memory. Zeros are left out: no limit stops them (E4)."""

    def __post_init__(self) -> None:
        """Compute `cpu_memory` once: a request is judged many times."""
        both = ((CPU, self.cpu), (MEMORY, self.memory))
        object.__setattr__(self, "cpu_memory", tuple([one for one in both if one[1]]))


@dataclass(slots=True, frozen=True)
class InvalidRequest:
    """Why a request cannot be judged by amounts."""

    reason: Reason
    text: str


class Reading(NamedTuple):
    """A pod's request for one queue's quota and the known cards and nodes."""

    request: PodRequest
    invalid_request: InvalidRequest | None
    """What is wrong with the request itself, regardless of room."""
    elsewhere: tuple[str, ...] | None
    """The cards it asks for, if the nodes that it names have none of them; else None."""
    lacks_node: bool
    """Whether none of the nodes that it names has a card for it, so far."""


def read(facts: PodFacts, quota: Amounts, known: Knowledge, *, exempt_cpu_memory: bool) -> Reading:
    """What an unbound pod asks for. Never raises."""
    devices = card_devices(facts, known)
    resource, amount = devices[0] if len(devices) == 1 else ("", 0)
    cards = _cards(facts, resource, quota, known) if resource else _Cards(())
    free = exempt_cpu_memory and amount > 0
    cpu, memory = (0, 0) if free else (facts.cpu, facts.memory)
    without = amount > 0 and not cards.usable
    named = without and known.nodes.named_by(facts.selector)
    elsewhere = (cards.unclear or None) if without else None
    if named and elsewhere is None:
        elsewhere = _left_elsewhere(facts, resource, quota, known)
    lacks_node = named and elsewhere is not None and not facts.problem
    if lacks_node and facts.card_text is not None:
        # What is wrong whatever the nodes are, such as an unknown card, does not count here.
        names = read_alternatives(facts.card_text)
        lacks_node = all(_unfit(name, resource, {}, known) is None for name in names)
    return Reading(
        PodRequest(cards.usable, resource, amount, cpu, memory),
        _invalid_request(facts, devices, cards, quota, known),
        elsewhere,
        lacks_node,
    )


def card_devices(facts: PodFacts, known: Knowledge) -> list[tuple[str, int]]:
    """The card resources among a pod's devices.

    If the pod names a card, no device is known to count cards and exactly one has the form of a
    card resource, that device is the card's resource. So pods can use a card whose pool has been at
    zero from the start (P4). The form does not tell a card from every other device: see
    `may_count_cards`.
    """
    found = [(resource, n) for resource, n in facts.devices if known.counts(resource)]
    if found or facts.card_text is None:
        return found
    possible = [(r, n) for r, n in facts.devices if r != GPU_MEMORY and may_count_cards(r)]
    return possible if len(possible) == 1 else []


class _Cards(NamedTuple):
    """The cards that a pod may use, best first, or between which of them nothing decides."""

    usable: tuple[str, ...]
    unclear: tuple[str, ...] = ()


def _cards(facts: PodFacts, resource: str, quota: Amounts, known: Knowledge) -> _Cards:
    """What a pod's text leaves by the labels of cards, and if it requires other labels too, of that
    the cards of the nodes that it picks (P3, P5).

    If it picks no node with a card, its nodes are still to come, as in a pool at zero. That tells
    no card from another, so it is the only one with a quota, or unclear. But if it names single
    nodes, as pods of a DaemonSet do, there is no card for it elsewhere; and one card by name stays.
    """
    selected, text = facts.selector, facts.card_text
    by_node, single = known.nodes.picks_by_node(selected), known.nodes.named_by(selected)
    unseen: tuple[str, ...] = ()
    if text is not None:
        seen = others = _allowed(text, resource, selected, known)
        if not by_node or (len(seen) < 2 and not single):
            return _Cards(seen)
    else:
        models = models_in(quota, resource, known)
        if models and not selected:
            return _Cards(models)
        selector, behind = decode(selected), _cards_behind(resource, quota, known)
        maybe = [known.known_card(n, resource) for n in quota if _may_count(resource, n, known)]
        seen, unseen = (_left(cards, selector, quota) for cards in (behind, maybe))
        keys = {key for card in behind for key in card.keys}
        others = models if keys.isdisjoint(selector.keys()) else seen
    if by_node:
        on_nodes = known.nodes.picked(selected)
        here = tuple(name for name in seen if name in on_nodes)
        if here or single:
            return _Cards((text is None and _with_quota(here, quota)) or here)
        rows = _with_quota((*seen, *unseen), quota)
    else:
        rows = _with_quota(seen, quota)
        if rows:
            return _Cards(rows)
        rows = _with_quota(unseen, quota)
    return _Cards((), rows) if len(rows) > 1 else _Cards(rows or others)


def _with_quota(cards: tuple[str, ...], quota: Amounts) -> tuple[str, ...]:
    return tuple(name for name in cards if quota.get(name))


def _left(cards: list[Card], selector: Selector, quota: Amounts) -> tuple[str, ...]:
    """The cards that a selector leaves by their labels. See `_in_named_order`."""
    left = _in_named_order(selector.allowed(cards), selector, quota)
    return tuple(card.name for card in left)


def _may_count(resource: str, name: str, known: Knowledge) -> bool:
    """Whether a resource name may count a card that no node has shown, by the form of both (P4)."""
    return (
        is_card(name)
        and not any(_behind(name, known))
        and known.catalog.held_as(name) in (None, resource)
        and can_exist(name)
        and counts_form(resource, name)
        and not known.catalog.shows_product(model_of(name))
    )


def _allowed(text: str, resource: str, selected: bytes, known: Knowledge) -> tuple[str, ...]:
    """The named cards that the selector leaves, judged only by the labels of the cards."""
    try:
        names = read_alternatives(text)
    except CardNameError:
        return ()
    if not selected:
        return names
    cards = [_as_shown(name, resource, known) for name in names]
    return tuple(card.name for card in decode(selected).allowed(cards))


def may_run_on(card: str, resource: str, selected: bytes, known: Knowledge) -> bool:
    """Whether a pod with this selector could run on a card, named instead of its own (P5): neither
    the labels of the card exclude it, nor are the nodes that the selector picks all without it.
    """
    if not _allowed(card, resource, selected, known):
        return False
    picked = known.nodes.picked(selected) if selected else ()
    return not picked or card in picked


def _as_shown(name: str, resource: str, known: Knowledge) -> Card:
    """The card as nodes that offer it under this resource name show it, or would show it.

    If the card is known by another resource name, its labels do not count here; `invalid_request`
    reports that.
    """
    card = known.catalog.card(name)
    if card is not None and card.resource != resource:
        return known.vendor_of(resource).card(name, resource)
    return known.known_card(name, resource)


def models_in(quota: Amounts, resource: str, known: Knowledge) -> tuple[str, ...]:
    """The cards of a quota that a resource name counts, most quota first."""
    rows = [(-n, name) for name, n in quota.items() if resource in _behind(name, known)]
    return tuple(name for _, name in sorted(rows))


def _cards_behind(resource: str, quota: Amounts, known: Knowledge) -> list[Card]:
    """All cards that nodes have shown under a resource name, and cards of the quota whose pool is
    at zero and whose resource name a Queue's status has kept.
    """
    catalog = known.catalog
    recorded = (
        known.known_card(name, resource)
        for name in quota
        if catalog.card(name) is None and resource in _behind(name, known)
    )
    return [*catalog.cards_of(resource), *recorded]


def _behind(name: str, known: Knowledge) -> tuple[str | None, ...]:
    """The resource name of a card, as it is known, or as the name alone tells it (B10)."""
    return known.catalog.resource(name), resource_by_name(name)


def _in_named_order(cards: list[Card], selector: Selector, quota: Amounts) -> list[Card]:
    """In the order in which the selector names them; if it names them alike, most quota first."""
    keys = {key for card in cards for key, _ in (*card.labels, *card.barred)}
    ranks = {key: {value: n for n, value in enumerate(selector.values(key))} for key in keys}

    def place(card: Card) -> tuple[tuple[int, ...], int, str]:
        named = [ranks[key].get(value, len(ranks[key])) for key, value in card.labels]
        # What a node must not show is named by nobody: it comes after all that is.
        named += [len(ranks[key]) for key, _ in card.barred]
        return tuple(named), -quota.get(card.name, 0), card.name

    return sorted(cards, key=place)


def _left_elsewhere(
    facts: PodFacts, resource: str, quota: Amounts, known: Knowledge
) -> tuple[str, ...] | None:
    """The cards that a pod asks for which names nodes that have none of them: those that it names,
    or else those of the quota, most first, as far as its selector leaves them by the labels of the
    cards alone; empty if that is none.
    """
    if facts.card_text is not None:
        return _allowed(facts.card_text, resource, facts.selector, known) or None
    selector = decode(facts.selector)
    cards = [c for c in _cards_behind(resource, quota, known) if quota.get(c.name)]
    rows = [(-quota[card.name], card.name) for card in selector.allowed(cards)]
    return tuple(name for _, name in sorted(rows))


def _invalid_request(
    facts: PodFacts,
    devices: list[tuple[str, int]],
    cards: _Cards,
    quota: Amounts,
    known: Knowledge,
) -> InvalidRequest | None:
    """What is wrong with the request itself, or None (P2-P5)."""
    if facts.problem:
        said = facts.problem if facts.oversized else request_messages.unreadable(facts.problem)
        return _invalid(said)
    differ = _resources_differ(facts.card_text, known) if devices else ""
    if differ:
        return _invalid(differ)
    if len(devices) > 1:
        return _invalid(request_messages.several_resources([resource for resource, _ in devices]))
    resource, names = devices[0][0] if devices else "", tuple[str, ...]()
    if facts.card_text is not None:
        try:
            names = read_alternatives(facts.card_text)
        except CardNameError as error:
            return _invalid(request_messages.card_unreadable(str(error)))
        asks_memory = memory_of(facts.devices) > 0
        if asks_memory and not all(map(is_memory, names)):
            return _invalid(request_messages.memory_by_product(names))
        if not devices and not asks_memory:
            return _invalid(request_messages.no_card_asked(facts.card_text))
    if not devices:
        return None  # without a row for any, card memory is not limited (B10)
    wrong = next(filter(None, (_unfit(name, resource, quota, known) for name in names)), None)
    if wrong is not None or cards.usable:
        return wrong
    if cards.unclear:
        return InvalidRequest(Reason.CARD_UNCLEAR, request_messages.card_unclear(cards.unclear))
    if names:
        keys = {key for name in names for key in _as_shown(name, resource, known).keys}
        asked = requirements(decode(facts.selector), keys)
        return _invalid(request_messages.selector_excludes(asked, names))
    rows, has = sorted(quota), known.nodes.has
    offered = [card for card in rows if has(card)]
    others = [card for card in rows if not has(card)]
    text = shortfall_messages.no_card_left(resource, offered, others)
    return InvalidRequest(Reason.CARD_NOT_IN_QUOTA, text)


def _resources_differ(text: str | None, known: Knowledge) -> str:
    """What is wrong with alternatives of different resource names; empty if nothing is."""
    if text is None or "|" not in text:
        return ""
    try:
        names = read_alternatives(text)
    except CardNameError:
        return ""
    behind = {name: next(filter(None, _behind(name, known)), None) for name in names}
    resources = {name: resource for name, resource in behind.items() if resource is not None}
    if len(set(resources.values())) < 2:
        return ""
    return request_messages.resources_differ(resources)


def _unfit(name: str, resource: str, quota: Amounts, known: Knowledge) -> InvalidRequest | None:
    behind = known.catalog.resource(name)
    if behind is not None:
        if behind == resource:
            return None
        return _invalid(request_messages.other_resource(name, behind, resource))
    there = known.catalog.shows_product(model_of(name))
    if there or not known.in_any_quota(name):
        meant = card_meant(name, known, resource=resource)
        return _invalid(request_messages.card_unknown(name, product_there=there, meant=meant))
    if not can_exist(name):
        return _invalid(request_messages.card_impossible(name))
    # A pool scaled to zero: its resource is that of the first pod, if the form allows it.
    first = known.catalog.held_as(name)
    if first is not None and first != resource:
        return _invalid(request_messages.other_resource(name, first, resource))
    return (
        None
        if counts_form(resource, name)
        else _invalid(request_messages.other_form(name, resource))
    )


def _invalid(text: str) -> InvalidRequest:
    return InvalidRequest(Reason.INVALID_CARD, text)


def card_meant(written: str, known: Knowledge, *, resource: str = "") -> str:
    """The closest card that a node has; empty if none is close. `resource`: the resource name that
    must count it, if that is known.
    """
    catalog = known.catalog
    there = [
        name
        for name in catalog.names
        if known.nodes.has(name) and (not resource or catalog.resource(name) == resource)
    ]
    return next(iter(close_names(written, there, cards=True)), "")


# --- read once for all pods with the same text ---------------------------------------------------

MOST_READINGS: Final = 8 * 1024 * KIB
"""Bytes of the readings of all queues: thousands of usual pods, dozens of the largest allowed."""
_READING: Final = 1_000
"""Bytes of a reading and its key besides texts and cards."""
_Key = tuple[Hashable, str | None, Devices, bytes, int, int, str]
"""All that a reading follows from beside what is known: the mark of the quota; of the pod the text
that names cards, devices, selector, cpu, memory and problem. A plain tuple, for it is made at every
question and never taken apart.
"""


class Readings:
    """The readings for all queues of a ledger, kept until something they depend on changes.

    Guarantee: the same result as reading again, if `version` changes whenever the known cards or
    nodes change, and if each quota has its own mark. Together they take at most `most` bytes.
    """

    __slots__ = ("_found", "_version")

    def __init__(self, most: int = MOST_READINGS) -> None:
        self._found = SizedCache[_Key, Reading](most)
        self._version: Hashable = None

    def __len__(self) -> int:
        """How many readings are kept."""
        return len(self._found)

    def of(
        self,
        facts: PodFacts,
        quota: Amounts,
        mark: Hashable,
        known: Knowledge,
        version: Hashable,
        *,
        exempt_cpu_memory: bool,
    ) -> Reading:
        """The reading of an unbound pod. The key has every fact of the pod that matters."""
        if version != self._version:
            self._found.clear()
            self._version = version
        key = (
            mark,
            facts.card_text,
            facts.devices,
            facts.selector,
            facts.cpu,
            facts.memory,
            facts.problem,
        )
        found = self._found.get(key)
        if found is None:
            found = read(facts, quota, known, exempt_cpu_memory=exempt_cpu_memory)
            self._found.put(key, found, _size_of(facts, found))
        return found


def _size_of(facts: PodFacts, found: Reading) -> int:
    """Bytes of a reading and its key; an overestimate if it shares texts with the pod."""
    texts: list[object] = [facts.card_text, facts.selector, facts.problem, facts.devices]
    texts += [text for device in facts.devices for text in (device, *device)]
    for cards in (found.request.cards, found.elsewhere or ()):
        texts += (cards, *cards)
    if found.invalid_request is not None:
        texts.append(found.invalid_request.text)
    return _READING + sum(map(getsizeof, texts))
