"""What answers are made of, as they stand in JSON.

Needs nothing of what it takes to work them out, so that a program that shows one starts fast.
"""

from ..objects.meta import Wire


class CardAmount(Wire):
    """`name`: a card, or a choice of cards as `A|B`."""

    name: str
    amount: int


class CardRoom(Wire):
    """All amounts are cards. The first five are those of the queue's status."""

    name: str
    quota: int
    allocated: int
    inqueue: int
    elastic: int
    requested: int
    left: int
    """Of the quota. 0 also where the queue is over it."""
    allocatable: int
    """What nodes offer now, in use or not."""
    free: int
    """Free on nodes that take pods, less what pods will take that are let through already."""
    most_on_node: int
    """The most that one of these nodes has free, once those pods have filled nodes tightly."""
    fits: int
    """What would fit now: the smaller of `left` and `free`. 0 if the queue takes nothing new."""


class ResourceRoom(Wire):
    """Cpu or memory of a queue, as quantities."""

    name: str
    allocated: str
    inqueue: str
    requested: str
    quota: str | None = None
    """None: not limited."""
    left: str | None = None
    """Of the quota; None: not limited."""


class Holder(Wire):
    """A workload, or a pod group of whose reservation something is left."""

    kind: str
    namespace: str
    name: str
    pods: int
    """Those that are let through or bound. 0 of a reservation."""
    cards: tuple[CardAmount, ...]
    """Together as many as `allocated` and `inqueue` of the queue."""
    since: str
    """When the first of these pods was bound, or else created. Empty of a reservation."""


class Waiter(Wire):
    """A pod that goes by itself, or a group."""

    place: int
    """In the order of release (E6); 1: the first."""
    kind: str
    """`Pod`, or `PodGroup`: a gang that starts whole, or a group that waits to be enqueued."""
    namespace: str
    name: str
    pods: int
    """How many wait: 0 of a group whose pods are still to come."""
    asks: tuple[CardAmount, ...]
    since: str
    """When the pod or the group was created."""
    reason: str
    """One word, as in events. Empty: it has room, and is not let through yet."""
    message: str
    """A sentence: why it waits."""


class QueueAnswer(Wire):
    """One queue at about one moment: on a busy cluster parts of it may be some milliseconds apart.

    Guarantees: at most as many holders and waiters as were asked for, each of bounded size.
    """

    queue: str
    state: str
    fifo: bool
    """Whether no pod passes another that waits for the same card."""
    time: str
    """Of the answer, RFC 3339."""
    cards: tuple[CardRoom, ...]
    more_cards: int
    """How many others there are, of very many."""
    resources: tuple[ResourceRoom, ...]
    """Cpu and memory."""
    held_pods: int
    """Pods that are let through or bound."""
    holders: tuple[Holder, ...]
    """Those with the most cards, first."""
    more_holders: int
    waiting_pods: int
    waiters: tuple[Waiter, ...]
    """In the order of release."""
    more_waiters: int
    quota_problem: str = ""
    """Why the stored quota cannot be read, so that an older one is in force (Q4)."""
    refused_writes: int = 0
    """Only without a name: what this replica has counted since its start (V1)."""


class PodNumbers(Wire):
    """Its unfinished pods that use cards or a queue."""

    running: int
    """On a node."""
    let_through: int
    """Their gates are open, and they have no node yet."""
    waiting: int
    """At our gate."""
    lacking: int
    """That it wants and that do not exist."""


class OtherQueue(Wire):
    """A queue that has room now."""

    queue: str
    card: str
    left: int
    """Of its quota, cards."""


class Explanation(Wire):
    """One workload at about one moment. Guarantees: of bounded size."""

    kind: str
    namespace: str
    name: str
    time: str
    """Of the answer, RFC 3339."""
    queue: str
    """Empty: none."""
    asks: tuple[CardAmount, ...]
    """What one pod asks for; of a group, and of a gang that starts whole, what all that wait do."""
    pods: PodNumbers
    state: str
    """A `WorkloadState`."""
    reason: str
    """As in events; empty where there is none."""
    message: str
    """A sentence, that of its event where there is one."""
    place: int = 0
    """In the order of release of its queue; 0: it does not wait there."""
    place_of: int = 0
    """How many wait there."""
    holders: tuple[Holder, ...] = ()
    """Who holds its cards in its own namespace."""
    more_holders: int = 0
    held_elsewhere: tuple[CardAmount, ...] = ()
    """What is held in other namespaces, and reserved."""
    other_cards: tuple[CardAmount, ...] = ()
    """Other cards of its queue that have room for it: what is left of them."""
    other_queues: tuple[OtherQueue, ...] = ()
    """Other queues that its namespace may use and that have room for it."""
