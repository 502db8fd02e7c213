"""What the ledger holds of one pod: its facts and where they are charged."""

from collections.abc import Collection, Hashable

from ..assignment.claim import Claim
from ..stamp import Charge, Stamp
from .charge_state import ChargeState
from .pod_facts import PodFacts, State
from .pod_request import PodRequest


class PodRecord:
    """One unfinished pod. Written by the ledger alone; admission and release read it."""

    __slots__ = (
        "assumed",
        "audited",
        "charge",
        "charge_state",
        "claim",
        "class_key",
        "compared",
        "elsewhere",
        "facts",
        "held_back",
        "holds",
        "node_cards",
        "offline",
        "priority",
        "queue",
        "request",
        "settled_revision",
        "told",
    )

    def __init__(self, facts: PodFacts) -> None:
        self.facts = facts
        self.queue = ""
        self.charge_state: ChargeState
        """Where it is charged; set with the charge, before anybody reads it."""
        self.charge: Charge = ()
        self.claim: tuple[Claim, str] | None = None
        """If it may end up on any of several cards (T3): its claim, and the card it is charged."""
        self.request: PodRequest | None = None
        """What it asks for while it is unbound and unstamped."""
        self.elsewhere = False
        """Whether it is gated, and none of the nodes that it names has a card for it: whatever its
        policy, what it asks for is only requested, and counts against nobody."""
        self.assumed: Stamp | None = None
        """Charged before its gate was seen open: a patch is on its way, or has landed."""
        self.audited = False
        """Whether audit mode has let it by: then it did not get past us (I3)."""
        self.settled_revision = 0
        """The revision at which our patch landed; what is older is no news."""
        self.held_back = False
        """Not to be tried until it changes or is put back: opening its gate just failed."""
        self.told: tuple[str, str] | None = None
        """Why it waits, as its last event says: reason, and what it is about (section 9)."""
        self.class_key: Hashable = None
        """The key of its class in the pending queue; None: it does not wait there."""
        self.holds: tuple[tuple[str, str], ...] = ()
        """Cards that it was let through for and no node had shown, and by which resource name."""
        self.priority = facts.priority
        """Its own, or its group's if that is higher."""
        self.node_cards: tuple[tuple[str, str], ...] = ()
        """By resource name the cards of its node when it was bound (D8), where no stamp says it, or
        where they are not those of its stamp (E3)."""
        self.offline = False
        """Whether it is bound, and of those that wait where the queue leaves it to the pods."""
        self.compared = facts.started
        """Whether its stamp was compared with the cards of the node it is bound to. Of one that
        is first seen when it runs, that was for those who saw it bound: its stamp says it (D8)."""

    @property
    def stamp(self) -> Stamp | None:
        """What it is charged by, if we opened its gate."""
        return self.assumed or self.facts.stamp

    @property
    def on_node(self) -> dict[str, int]:
        """What it holds of the cards in `node_cards`."""
        cards: dict[str, int] = {}
        amounts = dict(self.facts.devices)
        for resource, name in self.node_cards:
            cards[name] = cards.get(name, 0) + amounts.get(resource, 0)
        return cards

    def runs_on(self, cards: Collection[str]) -> bool:
        """Whether `node_cards` has one of these."""
        return any(card in cards for _, card in self.node_cards)

    @property
    def gated(self) -> bool:
        """Whether it waits at our gate, as far as we have decided."""
        return self.facts.state is State.GATED and self.assumed is None

    @property
    def held(self) -> bool:
        """Whether it is let through or bound: whether it counts against the quota."""
        return self.charge_state in (ChargeState.ALLOCATED, ChargeState.RELEASED)

    @property
    def releasable(self) -> bool:
        """Whether opening its gate would mean anything."""
        return self.gated and not self.facts.terminating and not self.held_back

    @property
    def sort_key(self) -> tuple[int, str, str, str]:
        """Its place in the order of release (E6): priority class, creation time, name."""
        facts = self.facts
        return (-self.priority, facts.created, facts.name, facts.uid)
