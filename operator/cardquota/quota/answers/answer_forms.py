"""What answers are made of, as they stand in JSON.

Needs nothing of what it takes to work them out, so that a program that shows one starts fast. The
definitions of QueueReview and WorkloadReview are made from this: `kubectl explain` shows what
stands under each field.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from msgspec import Meta

from ..amounts import Amount, is_card
from ..objects.meta import Wire
from ..words import show

LONGEST_NAME: Final = 160
"""Characters of a card's name that are told. Those of nodes have at most 130."""
LONGEST_MOMENT: Final = 40
"""Characters of a time."""
MOST_AMOUNTS: Final = 5
"""Cards, or choices of cards, that one holder or waiter is told with. The rest are left out."""

Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""RFC 3339."""


class CardAmount(Wire):
    """A number of cards of one name."""

    name: str
    """The card, or a choice of cards as A|B."""
    amount: int
    """Number of cards."""


def card_amounts(amounts: Iterable[Amount]) -> tuple[CardAmount, ...]:
    """Of the cards among these amounts, those with the most first, then by name."""
    return choice_amounts(((name,), amount) for name, amount in amounts if is_card(name))


def choice_amounts(asked: Iterable[tuple[Sequence[str], int]]) -> tuple[CardAmount, ...]:
    """By choice of cards, those with the most first; what is asked of the same is added up."""
    total = Counter[str]()
    for cards, amount in asked:
        if cards and amount:
            total["|".join(map(told_name, cards))] += amount
    largest = sorted(total.items(), key=lambda one: (-one[1], one[0]))[:MOST_AMOUNTS]
    return tuple(CardAmount(name=name, amount=amount) for name, amount in largest)


def told_name(name: str) -> str:
    """The name of a card, safe to show. Users may write any text."""
    return show(name, most=LONGEST_NAME)


def told_moment(text: str) -> str:
    """A time as the API server writes it; empty for what is too long to be one."""
    return text if len(text) <= LONGEST_MOMENT else ""


class CardRoom(Wire):
    """One card of the queue. Numbers are whole cards."""

    name: str
    """Name of the card, as in the quota."""
    quota: int
    """How many cards the queue may hold."""
    allocated: int
    """Held by pods that have a node and have not finished."""
    inqueue: int
    """Held by pods that were released and have no node yet, or reserved for pod groups."""
    elastic: int
    """The part of allocated beyond the minimum of the pod groups."""
    requested: int
    """Requested by all pods that have not finished, including waiting pods."""
    left: int
    """What is left of the quota. 0 if the queue is over it."""
    allocatable: int
    """What the nodes of the cluster offer, in use or not."""
    free: int
    """Free on nodes that accept pods, minus the cards of pods that were released already."""
    most_on_node: int
    """The most that a single one of these nodes has free."""
    fits: int
    """How many would fit now: the smaller of free and what the queue may still hold. 0 if the queue
    takes no new work."""
    deserved: int = 0
    """How many cards the queue deserves."""
    borrowed: int = 0
    """What it holds beyond what it deserves."""


class ResourceRoom(Wire):
    """Cpu or memory of the queue, as Kubernetes quantities."""

    name: str
    """cpu or memory."""
    allocated: str
    """Held by pods that have a node and have not finished."""
    inqueue: str
    """Held by pods that were released and have no node yet, or reserved for pod groups."""
    requested: str
    """Requested by all pods that have not finished, including waiting pods."""
    quota: str | None = None
    """The most that the queue may hold; absent if it is not limited."""
    left: str | None = None
    """What is left of the quota."""


class Holder(Wire):
    """A workload that holds cards, or a pod group with a reservation."""

    kind: str
    """Deployment, Job, ...; Pod for a pod without a controller."""
    namespace: str
    """Namespace of the object."""
    name: str
    """Name of the object."""
    pods: int
    """Number of pods that are released or have a node; 0 for a reservation."""
    cards: tuple[CardAmount, ...]
    """Cards that it holds."""
    since: str
    """When the first of these pods got its node, or was created. Empty for a reservation."""


class Waiter(Wire):
    """A pod that waits, or a group that starts together."""

    place: int
    """Its place in the order of release; 1 is the first."""
    kind: str
    """Pod or PodGroup."""
    namespace: str
    """Namespace of the object."""
    name: str
    """Name of the object."""
    pods: int
    """Number of pods that wait; 0 for a group whose pods do not exist yet."""
    asks: tuple[CardAmount, ...]
    """Cards that these pods request together."""
    since: str
    """When it was created."""
    reason: str
    """Why it waits, in one word. Empty if it has room and is not released yet."""
    message: str
    """Why it waits, as a sentence."""


class QueueAnswer(Wire):
    """One queue at about one moment: on a busy cluster parts of it may be some milliseconds apart.

    Guarantees: at most as many holders and waiters as were asked for, each of bounded size.
    """

    queue: str
    """Name of the queue."""
    state: str
    """Open, Closed or Closing."""
    fifo: bool
    """Whether no pod passes another one that waits for the same card."""
    time: Time
    """When the operator gave this answer."""
    cards: tuple[CardRoom, ...]
    """One row for each card that has a quota, is held or is requested. If there are more than 100,
    those that are requested most."""
    more_cards: int
    """Number of cards that are not listed."""
    resources: tuple[ResourceRoom, ...]
    """Cpu and memory of the queue."""
    held_pods: int
    """Number of pods that are released or have a node."""
    holders: tuple[Holder, ...]
    """Holders of cards, those with the most cards first."""
    more_holders: int
    """Number of holders that are not listed."""
    waiting_pods: int
    """Number of pods that wait."""
    waiters: tuple[Waiter, ...]
    """Waiting pods and groups, in the order of release."""
    more_waiters: int
    """Number of waiting groups and single pods that are not listed."""
    quota_problem: str = ""
    """Why the quota cannot be read. An older quota is in force."""
    refused_writes: int = 0
    """Without a queue name: Bindings and groups of pods that were refused to users who are not in
    volcano.accounts, as the replica that answers has counted them since its start."""


class PodNumbers(Wire):
    """Numbers of unfinished pods of the workload that use cards or a queue."""

    running: int
    """Pods that have a node."""
    released: int
    """Pods whose gates are open and that have no node yet."""
    waiting: int
    """Pods that wait at the gate."""
    lacking: int
    """Pods that the workload wants and that do not exist."""


class OtherQueue(Wire):
    """A queue that has room."""

    queue: str
    """Name of the queue."""
    card: str
    """The card that the queue has room for."""
    left: int
    """What is left of the quota for this card."""


class GivingQueue(Wire):
    """A queue whose pods could end for others."""

    queue: str
    """Name of the queue."""
    pods: int
    """Number of its pods that would end."""
    cards: tuple[CardAmount, ...]
    """Cards that they hold."""


class ReclaimAnswer(Wire):
    """Whether cards can be taken back for a workload that waits for them, or from one that has
    them. Guarantees: of bounded size.
    """

    state: str
    """In one word. Of a workload that waits: Possible, DryRun (it would be, if the setting reclaim
    were on), UnderWay (pods end for it), GaveUp (they did, in vain), Behind (pods end for another),
    Paused (they did, in vain, for several others of its queue), Off, NeverPreempts, NotOwed,
    NobodyAbove, LittleAbove, Protected, DisruptionBudget, NoRoomOnNodes, TooMany, Leaving,
    RoomOnNodes. Of one that has cards: MayEnd, Ends (it was
    chosen), NotPreemptable, PastAdmission, StaticPod, NotEnforced, NotReclaimable, NothingBorrowed,
    MoreThanBorrowed, TooMany."""
    message: str
    """The same as a sentence, with what to do."""
    way: str = ""
    """reclaim (between queues) or preempt (inside its queue). Absent if both were looked at."""
    card: str = ""
    """Name of the card."""
    queues: tuple[GivingQueue, ...] = ()
    """Possible and DryRun: whose pods would end, at most five queues, by name."""
    within_seconds: int = 0
    """Possible and DryRun: it has waited long enough after so many seconds, or earlier."""


class Explanation(Wire):
    """One workload at about one moment. Guarantees: of bounded size."""

    kind: str
    """Kind of the workload."""
    namespace: str
    """Namespace of the workload."""
    name: str
    """Name of the workload."""
    time: Time
    """When the operator gave this answer."""
    queue: str
    """Queue of the workload. Empty if it has none."""
    asks: tuple[CardAmount, ...]
    """Cards that one pod requests. For a group that starts together: cards that all its waiting
    pods request."""
    pods: PodNumbers
    """Numbers of its pods."""
    state: str
    """Fits, Released, Waits, Refused, Coming (it lacks pods, and the next one would not be
    refused) or Ends (it is being deleted, or has finished)."""
    reason: str
    """The reason, in one word as in events. Empty if there is none."""
    message: str
    """The reason as a sentence: that of its event, if there is one."""
    place: int = 0
    """Its place in the order of release of its queue. Absent if it does not wait there."""
    place_of: int = 0
    """How many wait in its queue."""
    holders: tuple[Holder, ...] = ()
    """Who holds its cards in the namespace of the workload."""
    more_holders: int = 0
    """Number of holders in this namespace that are not listed."""
    held_elsewhere: tuple[CardAmount, ...] = ()
    """These cards, as far as they are held in other namespaces or reserved in any namespace."""
    other_cards: tuple[CardAmount, ...] = ()
    """Other cards of its queue with room for it, and what is left of each."""
    other_queues: tuple[OtherQueue, ...] = ()
    """Other queues that its namespace may use, with room for it."""
    reclaim: ReclaimAnswer | None = None
    """Whether cards can be taken back for it, or from it. Absent where the setting reclaim is off,
    and where neither is asked: it waits for something else, or has no cards."""
