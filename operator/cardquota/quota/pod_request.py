"""What a pod asks for, once its annotations meet the known cards (P2-P5).

`read_request` says which cards could serve the pod; `objection` says what is wrong with the
asking itself, whatever room there is. Both are pure functions of the pod, its queue's quota and
the known cards.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from .card import Card, CardNameError, read_alternatives, show
from .catalog import Catalog
from .pod_facts import PodFacts
from .selector import Selector, decode
from .vendor import counts_form
from .vocabulary import CARD_NAME, Reason


class Knowledge(Protocol):
    """What is known of cards beyond one queue."""

    catalog: Catalog

    def counts(self, resource: str) -> bool:
        """Whether a resource name counts cards, by the vendor table or by a node."""

    def in_any_quota(self, card: str) -> bool:
        """Whether some queue has a row for this card."""


@dataclass(slots=True, frozen=True)
class PodRequest:
    """Alternatives, best first, of which the pod needs `amount` cards of one; cpu and memory.

    `cards` is empty for a pod without cards, and where nothing could serve it.
    """

    cards: tuple[str, ...]
    resource: str
    amount: int
    cpu: int
    memory: int


@dataclass(slots=True, frozen=True)
class Objection:
    """Why a request cannot be judged by amounts at all."""

    reason: Reason
    text: str


def read_request(
    facts: PodFacts, quota: Mapping[str, int], known: Knowledge, *, free_cpu_memory: bool = False
) -> PodRequest:
    """The request of an unbound pod. Never raises."""
    devices = card_devices(facts, known)
    resource, amount = devices[0] if len(devices) == 1 else ("", 0)
    cards: tuple[str, ...] = ()
    if resource:
        selector = decode(facts.selector)
        if facts.card_text is not None:
            cards = _named(facts.card_text, resource, selector, known)
        else:
            cards = _derived(resource, selector, quota, known)
    free = free_cpu_memory and amount > 0
    return PodRequest(
        cards, resource, amount, 0 if free else facts.cpu, 0 if free else facts.memory
    )


def card_devices(facts: PodFacts, known: Knowledge) -> list[tuple[str, int]]:
    """The card resources among a pod's devices.

    Where a card is named and the only device is of a name we do not know, it is that card's (P4).
    """
    found = [(resource, n) for resource, n in facts.devices if known.counts(resource)]
    if not found and facts.card_text is not None and len(facts.devices) == 1:
        return list(facts.devices)
    return found


def _named(text: str, resource: str, selector: Selector, known: Knowledge) -> tuple[str, ...]:
    """The cards of `card.name` that the pod's own selector and affinity leave (P5)."""
    try:
        names = read_alternatives(text)
    except CardNameError:
        return ()
    return tuple(name for name in names if _selected(name, resource, selector, known))


def _selected(name: str, resource: str, selector: Selector, known: Knowledge) -> bool:
    """A card of another resource name is left for `objection` to speak of."""
    card = known.catalog.card(name)
    return card is None or card.resource != resource or selector.allows(card)


def _derived(
    resource: str, selector: Selector, quota: Mapping[str, int], known: Knowledge
) -> tuple[str, ...]:
    """The alternatives of a pod that names no card (P3)."""
    seen = known.catalog.cards_of(resource)
    label_keys = {key for card in seen for key, _ in card.labels}
    if selector.keys() & label_keys:
        allowed = _in_named_order([c for c in seen if selector.allows(c)], selector, quota)
        return tuple(c.name for c in allowed if quota.get(c.name)) or tuple(c.name for c in allowed)
    rows = [(-n, name) for name, n in quota.items() if known.catalog.resource(name) == resource]
    return tuple(name for _, name in sorted(rows))


def _in_named_order(cards: list[Card], selector: Selector, quota: Mapping[str, int]) -> list[Card]:
    """In the order the selector names them; what it names alike, most quota first."""

    def place(card: Card) -> tuple[tuple[int, ...], int, str]:
        ranks = []
        for key, value in card.labels:
            values = selector.values(key)
            ranks.append(values.index(value) if value in values else len(values))
        return tuple(ranks), -quota.get(card.name, 0), card.name

    return sorted(cards, key=place)


def objection(
    facts: PodFacts, request: PodRequest, quota: Mapping[str, int], known: Knowledge
) -> Objection | None:
    """What is wrong with the asking, or None (P2-P5)."""
    if facts.problem:
        return _invalid(f"{facts.problem}; correct the pod's amounts or annotations")
    devices = card_devices(facts, known)
    if len(devices) > 1:
        asked = " and ".join(resource for resource, _ in devices)
        return _invalid(
            f"the pod asks for {len(devices)} card resources ({asked}), but one pod may use one "
            "card model only; split it into several pods"
        )
    if facts.card_text is None:
        return _without_name(request, quota) if devices else None
    try:
        names = read_alternatives(facts.card_text)
    except CardNameError as error:
        return _invalid(
            f"annotation {CARD_NAME} cannot be read: {error}; "
            "write one card name, or several as A|B, best first"
        )
    if not devices:
        return _invalid(
            f"annotation {CARD_NAME} names <{show(facts.card_text)}>, but no container asks for a "
            "card resource such as nvidia.com/gpu; add it to the limits or drop the annotation"
        )
    for name in names:
        wrong = _unfit(name, request.resource, known)
        if wrong is not None:
            return wrong
    if not request.cards:
        return _excluded(facts, names, known)
    return None


def _without_name(request: PodRequest, quota: Mapping[str, int]) -> Objection | None:
    if request.cards:
        return None
    rows = ", ".join(sorted(quota)) or "none"
    return Objection(
        Reason.CARD_NOT_IN_QUOTA,
        f"no card counted as {request.resource} is both allowed by the pod's node selector and "
        f"affinity and in the queue's quota (its cards: {rows}); name a card in {CARD_NAME}, or "
        "ask the queue's owner for a quota",
    )


def _unfit(name: str, resource: str, known: Knowledge) -> Objection | None:
    behind = known.catalog.resource(name)
    if behind is None:
        product = name.split("/", 1)[0]
        if known.in_any_quota(name) and not known.catalog.shows_product(product):
            # A pool scaled to zero: its resource is the one the pod asks for, if it can be.
            return None if counts_form(resource, name) else _other_form(name, resource)
        return _invalid(
            f"card <{show(name)}> is not known: no node offers it"
            + (" although nodes have its product" if known.catalog.shows_product(product) else "")
            + f"; correct {CARD_NAME} (`kubectl get queues` shows the cards with a quota)"
        )
    if behind != resource:
        return _invalid(
            f"card <{show(name)}> is counted as {behind}, but the containers ask for {resource}; "
            "ask for the card's own resource, and name only cards that share it"
        )
    return None


def _other_form(name: str, resource: str) -> Objection:
    return _invalid(
        f"card <{show(name)}> is not what {resource} counts; "
        "ask for the resource of that very card: a slice or a share is not a whole card"
    )


def _excluded(facts: PodFacts, names: tuple[str, ...], known: Knowledge) -> Objection:
    selector = decode(facts.selector)
    keys = {
        key
        for name in names
        for card in (known.catalog.card(name),)
        if card is not None
        for key, _ in card.labels
    }
    wants = "; ".join(f"{k} {' or '.join(selector.values(k)) or 'set'}" for k in sorted(keys))
    return _invalid(
        f"the pod's node selector or affinity ({show(wants)}) excludes every card that "
        f"{CARD_NAME} names ({show(' | '.join(names))}); make them agree"
    )


def _invalid(text: str) -> Objection:
    return Objection(Reason.INVALID_CARD, text)
