"""What the ledger holds of one pod: its facts and its charge; and how many bytes that takes."""

from collections.abc import Hashable
from dataclasses import replace
from enum import IntEnum
from typing import Final, NamedTuple

from ..amounts import Amounts, Charge, Devices, MutableAmounts
from ..cards.vendor import may_count_cards
from ..stamp import Stamp
from .pod_facts import PodFacts, State
from .pod_request import PodRequest


class ChargeState(IntEnum):
    """The state of a pod's charge: exactly one of these."""

    ALLOCATED = 0
    RELEASED = 1
    """Released, not bound."""
    GATED_DENY = 2
    """Gated, policy Deny: judged at create, will be released."""
    GATED_GATE = 3
    """Gated, policy Gate: waits for quota. Under any policy: waits for a node with its card."""


class SortKey(NamedTuple):
    """A pod's place in the order of release (E6): the smallest goes first."""

    negated_priority: int
    """Of its class; of a group without pods, of the class that the group names."""
    created: str
    """When its job was, as far as that is known, or else when it was created itself."""
    first_name: str
    """The name of its group, or else its own: among those that were created in one second."""
    made: str
    """When it was created itself. Since then it waits."""
    name: str
    uid: str

    @classmethod
    def alone(cls, negated_priority: int, created: str, name: str, uid: str) -> "SortKey":
        """Of what has a place of its own."""
        return cls(negated_priority, created, name, created, name, uid)


class PodRecord:
    """One unfinished pod. Only the ledger writes it; admission and release read it."""

    __slots__ = (
        "assumed",
        "audited",
        "backed_off",
        "by_card",
        "charge",
        "charge_state",
        "class_key",
        "compared",
        "elsewhere",
        "facts",
        "fixed",
        "holds",
        "named",
        "node_cards",
        "notified",
        "offline",
        "place",
        "queue",
        "request",
        "settled_revision",
    )

    def __init__(self, facts: PodFacts) -> None:
        self.facts = facts
        self.queue = ""
        """The name of the account where it is charged: its queue's, or that of no queue, empty."""
        self.named = ""
        """While it has no stamp: the queue that it names itself, or by its group or namespace."""
        self.fixed: str | None = None
        """Where it is charged from now on, if it came past admission: whatever it, its group or
        namespace name later (I3). None: that is not decided."""
        self.charge_state: ChargeState
        """Set together with the charge, before anything reads it."""
        self.charge: Charge = ()
        self.request: PodRequest | None = None
        """What it asks for while it is unbound and unstamped."""
        self.elsewhere = False
        """Whether it is gated and none of the nodes that it names has a card for it. Then its
        request is only requested, under any policy, and counts against no other pod."""
        self.assumed: Stamp | None = None
        """Set if it is charged although its gate was last seen shut: our patch is under way or has
        landed."""
        self.audited = False
        """Whether it came where nothing is enforced: then it did not bypass us (I3)."""
        self.by_card = False
        """Whether it counts on its node as one that holds cards, other than by their memory."""
        self.settled_revision = 0
        """The revision at which our patch landed. Older revisions are no news."""
        self.backed_off = False
        """Whether not to try it until it changes or is put back: opening its gate has failed."""
        self.notified: tuple[str, str] | None = None
        """Why it waits, as its last event says: reason and subject (section 9)."""
        self.class_key: Hashable = None
        """The key of its class in the pending queue; None if it does not wait there."""
        self.holds: tuple[tuple[str, str], ...] = ()
        """Cards, with resource name, that it was released for when no node had shown them."""
        self.place = facts.created, facts.name
        """Creation time and name by which it has its place: its own, or its group's."""
        self.node_cards: tuple[tuple[str, str], ...] = ()
        """By resource name: the cards of its node when it was bound (D8), if it has no stamp or if
        they are not those of its stamp (E3)."""
        self.offline = False
        """Whether it is bound, and would be gated (off-line) where the queue has no policy."""
        self.compared = facts.started
        """Whether its stamp was compared with the cards of the node it is bound to. A pod that
        already ran when first seen was compared when it was bound: its stamp is right (D8)."""

    @property
    def stamp(self) -> Stamp | None:
        """The stamp that it is charged by, if we opened its gate."""
        return self.assumed or self.facts.stamp

    @property
    def on_node(self) -> Amounts:
        """How many it holds of each card in `node_cards`."""
        cards: MutableAmounts = {}
        amounts = dict(self.facts.devices)
        for resource, name in self.node_cards:
            cards[name] = cards.get(name, 0) + amounts.get(resource, 0)
        return cards

    @property
    def gated(self) -> bool:
        """Whether it waits at our gate and we have not decided to open it."""
        return self.facts.state is State.GATED and self.assumed is None

    @property
    def held(self) -> bool:
        """Whether it is released or bound: these count against the quota."""
        return self.charge_state in (ChargeState.ALLOCATED, ChargeState.RELEASED)

    @property
    def leaves(self) -> bool:
        """Whether it is being deleted and holds its charge until it is gone."""
        return self.facts.terminating and self.held

    @property
    def releasable(self) -> bool:
        """Whether its gate may be opened: it is gated, not being deleted and not held back."""
        return self.gated and not self.facts.terminating and not self.backed_off

    @property
    def refused(self) -> bool:
        """Whether it is held back: it waits at its gate, and is not tried for now."""
        return self.gated and not self.facts.terminating and self.backed_off

    @property
    def sort_key(self) -> SortKey:
        """Its place in the order of release (E6)."""
        facts = self.facts
        # To call the class takes several times as long, and this is asked with every event.
        key = (-facts.priority, *self.place, facts.created, facts.name, facts.uid)
        return tuple.__new__(SortKey, key)


_WAITING: Final = 2_420
"""Bytes of a pod that waits with a class of its own, besides its texts: facts, record, indexes."""
_SELECTOR: Final = 400
"""Bytes of a selector that is read, besides its characters."""
_OBJECT: Final = 300
"""Bytes of a toleration besides its characters, of a gate, or of an alternative."""
_DEVICE: Final = 150
"""Bytes of a resource name besides its characters, with the amount."""
_FEW: Final = 4
"""Resource names that are always kept: a pod may ask for one kind of card."""


def kept_size(facts: PodFacts) -> int:
    """Bytes that a pod without a node takes: at least what is measured, and not twice that."""
    size = _WAITING + len(facts.name) + len(facts.task)
    if facts.selector:
        size += _SELECTOR + 3 * len(facts.selector) // 2
    for resource, _ in facts.devices:
        size += _DEVICE + len(resource)
    if facts.card_text:
        alternatives = facts.card_text.count("|")
        size += 4 * len(facts.card_text) + _OBJECT * alternatives  # one by one
    for one in facts.tolerations:
        size += _OBJECT + len(one.key) + len(one.value)
    for gate in facts.foreign_gates:
        size += _OBJECT + len(gate)
    return size


def without_texts(facts: PodFacts, problem: str) -> PodFacts:
    """A pod that is charged and has no node, without what says where it may run."""
    return replace(
        facts,
        card_text=None,
        devices=_few(facts.devices),
        selector=b"",
        tolerations=(),
        foreign_gates=(),
        problem=problem,
        oversized=True,
    )


def _few(devices: Devices) -> Devices:
    """The first few, possible cards first. They are all read again once the pod has a node."""
    if len(devices) <= _FEW:
        return devices
    return tuple(sorted(sorted(devices, key=lambda one: not may_count_cards(one[0]))[:_FEW]))
