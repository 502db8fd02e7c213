"""A cluster in plain dictionaries, and what the rules say everything in it is charged.

It keeps facts only and works every total out anew, so it can be compared with the ledger after
each event. Nothing of the package under test is used here. What depends on history (the quota
that was good last, the card a node had) is kept as history.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

PRODUCT_LABEL = "nvidia.com/gpu.product"
GPU_MEMORY = "aliyun.com/gpu-mem"
_FROM_THE_TABLE = {
    "nvidia.com/gpu",
    "nvidia.com/gpu.shared",
    "huawei.com/Ascend910",
    "alibabacloud.com/ppu",
}
_KNOWN_TO_BE_NO_CARDS = {"rdma/hca", GPU_MEMORY}


@dataclass(kw_only=True)
class PlainPod:
    uid: str
    namespace: str
    state: str
    """gated, open or bound"""
    own_queue: str | None
    group: str | None
    cards: str | None
    devices: dict[str, int]
    cpu: int
    memory: int
    job: bool
    products: list[str] | None
    created: str
    node: str = ""
    scheduled: str = ""
    terminating: bool = False
    stamp: tuple[str, dict[str, int]] | None = None
    assumed: tuple[str, dict[str, int]] | None = None
    backed_off: bool = False
    let_by: bool = False
    """Whether it came where nothing is enforced."""
    fixed: str | None = None
    """Where it is charged from now on, if it came past admission."""
    on_node_cpu: int = 0
    """Milli-cores that its node has given it, if it was resized; `cpu` is what it asks for."""
    node_cards: dict[str, str] = field(default_factory=dict)
    """By resource name."""
    compared: bool = False
    """Whether its stamp was held against the cards of its node."""


@dataclass(kw_only=True)
class PlainGroup:
    queue: str
    minimum: int
    reservation: tuple[str, dict[str, int]] | None = None
    """An earlier version wrote a choice of cards as `A|B`: it counts for the first of them."""
    mark: str = ""
    """Of the reservation, if it was made before the pods were there (E1)."""
    assumed: tuple[str, dict[str, int]] | None = None
    assumed_mark: str = ""
    unsure: bool = False
    """Whether it is not known that what is assumed was written."""


@dataclass(kw_only=True)
class PlainQueue:
    quota: dict[str, int]
    policy: str | None
    limits: dict[str, int] = field(default_factory=dict)
    """Of cpu, milli-cores."""
    reported: dict[str, str] = field(default_factory=dict)
    """The cards of its status with their resource names, empty where there is none."""
    open_to: tuple[str, ...] | None = None
    """None: to all namespaces."""


@dataclass(kw_only=True)
class PlainCard:
    """A card as a node shows it."""

    name: str
    resource: str
    product_label: str
    product: str
    amount: int
    unit: str = ""
    """Of memory."""


@dataclass
class Sums:
    """One dimension of one queue. `coming` is the part of requested that is gated under Deny,
    `leaving` the part of what counts that is free once pods that are being deleted are gone.
    """

    requested: int = 0
    inqueue: int = 0
    allocated: int = 0
    elastic: int = 0
    coming: int = 0
    leaving: int = 0


@dataclass
class PlainCluster:
    default_queue: str = ""
    exempt_cpu_memory: bool = False
    all_read: bool = False
    """Whether the operator has read everything, and so decides where a pod is charged."""
    pods: dict[str, PlainPod] = field(default_factory=dict)
    groups: dict[str, PlainGroup] = field(default_factory=dict)
    queues: dict[str, PlainQueue] = field(default_factory=dict)
    namespaces: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Default queue and mode."""
    offered: dict[str, list[PlainCard]] = field(default_factory=dict)
    remembered: dict[str, dict[str, str]] = field(default_factory=dict)
    """Node -> resource name -> the card it had (D8)."""
    shown: dict[str, dict[str, PlainCard]] = field(default_factory=dict)
    """By name and resource name, in the order seen."""
    recorded: dict[str, str] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)
    """By card that no node has shown: the resource name of those released for it (D7)."""
    units: dict[str, str] = field(default_factory=dict)
    """By card: that of the node which showed it first (B10)."""

    # --- history --------------------------------------------------------------------------

    def node_shows(self, node: str, cards: list[PlainCard], *, new: bool) -> None:
        if new:
            self.remembered.pop(node, None)
        for card in cards:
            self.shown.setdefault(card.name, {}).setdefault(card.resource, card)
            self.units.setdefault(card.name, card.unit)
        self.offered[node] = cards
        self._remember(node)
        self._find_again()

    def _remember(self, node: str) -> None:
        had = self.remembered.setdefault(node, {})
        for card in self.offered[node]:
            if card.unit == self.units[card.name]:
                had[card.resource] = card.name
            else:
                had.pop(card.resource, None)

    def _find_again(self) -> None:
        """B10: another unit counts once no node has the first one any more."""
        for name, unit in list(self.units.items()):
            of = {n: c.unit for n, cards in self.offered.items() for c in cards if c.name == name}
            if of and unit not in of.values():
                self.units[name] = of[min(of)]
                for node in of:
                    self._remember(node)

    def node_is_gone(self, node: str) -> None:
        self.offered.pop(node, None)
        self.remembered.pop(node, None)
        self._find_again()

    def queue_is_seen(self, name: str, queue: PlainQueue) -> None:
        before = self.queues.get(name)
        for card, resource in queue.reported.items():
            if resource:
                self.status_says(card, resource)
        if before is not None:
            self.forget(before.reported.keys() - queue.reported.keys())
        self.queues[name] = queue
        rows = before.quota.items() if before is not None else set[tuple[str, int]]()
        self.forget({card for card, _ in rows ^ queue.quota.items()})

    def queue_is_gone(self, name: str) -> None:
        before = self.queues.pop(name, None)
        self.forget(set(before.quota) if before is not None else set())

    def forget(self, cards: set[str]) -> None:
        """P4: of a card that is in no quota any more, and was on no node, nothing is known."""
        for card in cards:
            if card not in self.shown and not any(card in q.quota for q in self.queues.values()):
                self.recorded.pop(card, None)

    def status_says(self, card: str, resource: str) -> None:
        counted = self.counted(card)
        if counted is not None and counted.resource == resource:
            self.recorded[card] = resource
        else:
            self.recorded.setdefault(card, resource)

    def counted(self, name: str) -> PlainCard | None:
        """D7: as a status recorded it, if a node shows it so; else the first stays."""
        shown = self.shown.get(name, {})
        return shown.get(self.recorded.get(name, "")) or next(iter(shown.values()), None)

    def cards_had(self, node: str) -> dict[str, str]:
        had = self.remembered.get(node, {})
        return {resource: card for resource, card in had.items() if self.is_so(card, resource)}

    def limits_memory(self) -> bool:
        """B10: card memory counts while a quota has a row for any."""
        return any(name.endswith("/gpu-mem") for q in self.queues.values() for name in q.quota)

    def is_so(self, card: str, resource: str) -> bool:
        counted = self.counted(card)
        return counted is not None and counted.resource == resource

    def bound_pods_take_their_nodes_card(self) -> None:
        """D8: once known, the card of a bound pod never changes."""
        for pod in self.pods.values():
            if not all(self.is_so(card, resource) for resource, card in pod.node_cards.items()):
                pod.node_cards, pod.compared = {}, False
            if pod.state == "bound" and pod.stamp and not pod.compared:
                models = {card.split("/")[0] for card, n in pod.stamp[1].items() if n}
                there = self.cards_had(pod.node)
                here = {r: there[r] for r in pod.devices if r in there}
                pod.compared = bool(here) or not models  # E3: is it on a node of another model?
                elsewhere = {r: c for r, c in here.items() if c.split("/")[0] not in models}
                pod.node_cards = elsewhere if models else {}
            if pod.state == "bound" and not pod.stamp and not pod.node_cards:
                there = self.cards_had(pod.node)
                pod.node_cards = {r: there[r] for r in pod.devices if r in there}

    # --- section 2: whose is it -----------------------------------------------------------

    def queue_of(self, pod: PlainPod) -> str:
        stamp = pod.assumed or pod.stamp
        if stamp:
            return stamp[0]
        if pod.state == "gated":
            return self.named(pod) if self.enforced(pod) else ""
        if not self.counts(pod):
            return ""
        return self.where_it_lands(pod) if pod.fixed is None else pod.fixed

    def enforced(self, pod: PlainPod) -> bool:
        return self.namespaces.get(pod.namespace, ("", ""))[1] in ("", "enforced")

    def counts(self, pod: PlainPod) -> bool:
        """I3, of a pod without a stamp."""
        if pod.state == "gated":
            return self.enforced(pod)
        return pod.state == "bound" or not self.comes_unjudged(pod)

    def comes_unjudged(self, pod: PlainPod) -> bool:
        """I3: whoever was charged when it was seen stays so."""
        return pod.let_by or not (self.enforced(pod) or pod.fixed is not None)

    def where_it_lands(self, pod: PlainPod) -> str:
        """I3, of a pod past the gate: in the queue that it names, if that is open to it."""
        found = self.queues.get(named := self.named(pod))
        off = self.namespaces.get(pod.namespace, ("", ""))[1] == "off"
        open_to_it = found and (found.open_to is None or pod.namespace in found.open_to)
        return named if open_to_it and not off else ""

    def decide(self) -> None:
        """To be called after each event: who is first seen stays where it is."""
        for pod in self.pods.values():
            if pod.state == "gated" or pod.stamp:
                continue
            pod.let_by = self.comes_unjudged(pod)
            named = self.named(pod)
            if self.namespaces.get(pod.namespace, ("", ""))[1] == "off":
                named = ""
            known = pod.namespace in self.namespaces and (
                pod.group is None or pod.group in self.groups
            )
            there = named == "" or named in self.queues
            if self.all_read and pod.fixed is None and self.counts(pod) and known and there:
                pod.fixed = self.where_it_lands(pod)

    def named(self, pod: PlainPod) -> str:
        group = self.groups.get(pod.group or "")
        if group and group.queue:
            return group.queue
        if pod.own_queue:
            return pod.own_queue
        default, mode = self.namespaces.get(pod.namespace, ("", ""))
        if mode == "off" or (pod.cards is None and not self.card_devices(pod)):
            return ""
        return default or self.default_queue

    def waits(self, pod: PlainPod) -> bool:
        if self._is_unclear(pod):
            return True
        queue = self.queues.get(self.queue_of(pod))
        if queue and queue.policy:
            return queue.policy == "Gate"
        group = self.groups.get(pod.group or "")
        return pod.job or bool(group and group.minimum > 1)

    # --- section 4: what does it ask for --------------------------------------------------

    def is_a_card_resource(self, resource: str) -> bool:
        if resource == GPU_MEMORY:  # B10
            return self.limits_memory()
        return (
            resource in _FROM_THE_TABLE
            or resource.startswith("nvidia.com/mig-")
            or any(self.is_so(name, resource) for name in self.shown)
            or any(
                self.recorded[name] == resource for name in self.recorded if name not in self.shown
            )
        )

    def resource_of(self, card: str) -> str | None:
        if card.endswith("/gpu-mem"):
            return GPU_MEMORY  # its name says so
        counted = self.counted(card)
        return counted.resource if counted is not None else self.recorded.get(card)

    def card_devices(self, pod: PlainPod) -> list[tuple[str, int]]:
        found = [d for d in sorted(pod.devices.items()) if self.is_a_card_resource(d[0])]
        if found or pod.cards is None:
            return found
        possible = [d for d in sorted(pod.devices.items()) if d[0] not in _KNOWN_TO_BE_NO_CARDS]
        return possible if len(possible) == 1 else []

    def alternatives(self, pod: PlainPod, resource: str) -> list[str]:
        return self._usable(pod, resource)[0]

    def _usable(self, pod: PlainPod, resource: str) -> tuple[list[str], list[str]]:
        """What a pod may use, or between which cards nothing decides (P3).

        As long as no node has shown the label of products, it is a label like any other, and its
        nodes are still to come.
        """
        queue = self.queues.get(self.queue_of(pod))
        quota = queue.quota if queue else {}
        products = self._selected_products(pod)
        nodes_to_come = products is not None and not self._shows_products()
        if pod.cards is not None:  # P2, P5
            names = [part.strip() for part in pod.cards.split("|")]
            left = [] if "" in names else [n for n in names if self._fits(pod, n, resource)]
            if not nodes_to_come or len(left) < 2:
                return left, []
            return _the_only(left, quota)
        known = [name for name in quota if self.resource_of(name) == resource]
        known.sort(key=lambda name: (-quota[name], name))
        if known and products is None:
            return known, []
        shown = [name for name in self.shown if self.is_so(name, resource)]
        at_zero = [
            name for name in quota if name not in self.shown and self.recorded.get(name) == resource
        ]
        behind = {name: self._product(name, resource) for name in [*shown, *at_zero]}
        by_label = products is not None and PRODUCT_LABEL in {label for label, _ in behind.values()}
        left = self._left(pod, resource, [*behind], quota) if by_label else known
        maybe = [name for name in quota if self._may_be_of(name, resource)]
        to_come = [name for name in self._left(pod, resource, maybe, quota) if quota[name]]
        usable = [name for name in left if quota.get(name)]
        if nodes_to_come:
            return _the_only([*usable, *to_come], quota, left)
        return (usable, []) if usable else _the_only(to_come, quota, left)

    def _shows_products(self) -> bool:
        counted = [self.counted(name) for name in self.shown]
        return any(card is not None and card.product_label == PRODUCT_LABEL for card in counted)

    def _is_unclear(self, pod: PlainPod) -> bool:
        """P3: it waits at the gate and is told to name a card: it is requested with the first, and
        counts against nobody.
        """
        devices = self.card_devices(pod)
        if _holds(pod) or len(devices) != 1 or not devices[0][1]:
            return False
        return bool(self._usable(pod, devices[0][0])[1])

    def _left(
        self, pod: PlainPod, resource: str, cards: list[str], quota: dict[str, int]
    ) -> list[str]:
        """The cards that the products of its selector leave: in their order, most quota first."""
        products = self._selected_products(pod) or []

        def place(name: str) -> tuple[int, int, str]:
            label, product = self._product(name, resource)
            named = label == PRODUCT_LABEL and product in products
            return products.index(product) if named else 0, -quota.get(name, 0), name

        return sorted([n for n in cards if self._fits(pod, n, resource)], key=place)

    def _may_be_of(self, name: str, resource: str) -> bool:
        """P4: whether a card that no node has shown may be counted so, by the form of both."""
        if self.resource_of(name) is not None or self.held.get(name, resource) != resource:
            return False
        model, _, part = name.partition("/")
        if model in {shown.partition("/")[0] for shown in self.shown}:
            return False
        kind = resource.partition("/")[2]
        if part.startswith("mig-"):
            return kind == part.removesuffix("-mixed")
        of_part = kind.startswith("mig-") or kind.endswith(".shared")
        return kind.endswith(".shared") if part else not of_part

    def _fits(self, pod: PlainPod, name: str, resource: str) -> bool:
        products = self._selected_products(pod)
        label, product = self._product(name, resource)
        return products is None or label != PRODUCT_LABEL or product in products

    def _product(self, name: str, resource: str) -> tuple[str, str]:
        """Label and value by which nodes show a card, or would show it: by its own name (P4)."""
        card = self.counted(name)
        if card is not None and card.resource == resource:
            return card.product_label, card.product
        of_nvidia = resource.startswith("nvidia.com/")
        return PRODUCT_LABEL if of_nvidia else f"{resource}.product", name.split("/")[0]

    def _selected_products(self, pod: PlainPod) -> list[str] | None:
        """Once a pod is bound its node tells its card, and what it selected is not kept."""
        return None if pod.state == "bound" else pod.products

    def charge(self, pod: PlainPod) -> dict[str, int]:
        queue, stamp = self.queue_of(pod), pod.assumed or pod.stamp
        if not stamp and not self.counts(pod):
            return {}
        cards: dict[str, int] = {}
        devices = self.card_devices(pod)
        if stamp and not pod.node_cards:
            cards = {name: n for name, n in stamp[1].items() if n}
        elif pod.state == "bound" and pod.node_cards:
            for resource, card in pod.node_cards.items():
                if resource == GPU_MEMORY and not stamp and not self.limits_memory():
                    continue
                cards[card] = cards.get(card, 0) + pod.devices.get(resource, 0)
        else:
            quota = self.queues[queue].quota if queue in self.queues else {}
            for resource, amount in devices:
                names = self.alternatives(pod, resource)
                if self._is_unclear(pod):
                    names = self._usable(pod, resource)[1]
                names = [n for n in names if quota.get(n)] or names
                if names:
                    cards[names[0]] = cards.get(names[0], 0) + amount
        if queue and not (self.exempt_cpu_memory and cards):  # P6
            cpu = max(pod.cpu, pod.on_node_cpu)
            if pod.on_node_cpu and pod.let_by and not stamp:
                cpu = pod.on_node_cpu
            cards |= {name: n for name, n in (("cpu", cpu), ("memory", pod.memory)) if n}
        return cards

    # --- section 6: the totals ------------------------------------------------------------

    def totals(self) -> dict[tuple[str, str], Sums]:
        found: defaultdict[tuple[str, str], Sums] = defaultdict(Sums)
        for pod in self.pods.values():
            for dimension, amount in self.charge(pod).items():
                sums = found[self.queue_of(pod), dimension]
                sums.requested += amount
                if pod.state == "bound":
                    sums.allocated += amount
                elif pod.state == "open" or pod.assumed:
                    sums.inqueue += amount
                elif not self.waits(pod):
                    sums.coming += amount
                sums.leaving += amount if self._leaves(pod) else 0
        for key, group in self.groups.items():
            self._count_reservation(found, key, group)
            self._count_elastic(found, key, group)
        return {key: sums for key, sums in found.items() if sums != Sums()}

    def _leaves(self, pod: PlainPod) -> bool:
        """T4: what it holds is free once it is gone, and not reserved for others then."""
        group = self.groups.get(pod.group or "")
        if group is not None and (group.assumed or group.reservation):
            return False
        return pod.terminating and _holds(pod)

    def _count_reservation(
        self, found: dict[tuple[str, str], Sums], key: str, group: PlainGroup
    ) -> None:
        queue, amounts = group.assumed or group.reservation or ("", {})
        held = self._held_by(key, queue)
        self._count_rest(found, queue, amounts, held)
        if group.assumed and group.unsure and group.reservation:
            # What is written stays reserved until it is replaced.
            written_in, written = group.reservation
            held = self._held_by(key, written_in)
            for dimension, amount in amounts.items() if written_in == queue else ():
                held[dimension] = max(held[dimension], amount)
            self._count_rest(found, written_in, written, held)

    def _held_by(self, key: str, queue: str) -> defaultdict[str, int]:
        held: defaultdict[str, int] = defaultdict(int)
        for pod in self.pods.values():
            if pod.group == key and self.queue_of(pod) == queue and _holds(pod):
                for dimension, amount in self.charge(pod).items():
                    held[dimension] += amount
        return held

    @staticmethod
    def _count_rest(
        found: dict[tuple[str, str], Sums],
        queue: str,
        amounts: dict[str, int],
        held: defaultdict[str, int],
    ) -> None:
        firsts = Counter[str]()
        for dimension, amount in amounts.items():
            firsts[dimension.split("|")[0]] += amount
        for dimension, amount in firsts.items():
            found[queue, dimension].inqueue += max(0, amount - held[dimension])

    def _count_elastic(
        self, found: dict[tuple[str, str], Sums], key: str, group: PlainGroup
    ) -> None:
        bound = [pod for pod in self.pods.values() if pod.group == key and pod.state == "bound"]
        bound.sort(key=lambda pod: (pod.scheduled, pod.created, pod.uid))
        for pod in bound[group.minimum :]:
            for dimension, amount in self.charge(pod).items():
                found[self.queue_of(pod), dimension].elastic += amount

    def charged(self) -> dict[tuple[str, str], int]:
        """What counts against the limits: released, bound, and reserved for gangs."""
        return {key: sums.inqueue + sums.allocated for key, sums in self.totals().items()}

    def limit(self, queue: str, dimension: str) -> int | None:
        """None: not limited."""
        found = self.queues.get(queue)
        if not queue or found is None:
            return None
        if dimension in ("cpu", "memory"):
            return found.limits.get(dimension)
        return found.quota.get(dimension, 0)

    def reservation_for(self, key: str, queue: str, asked: dict[str, int]) -> dict[str, int]:
        """T2: what members that start ask for, and what others hold in that queue already."""
        total = dict(asked)
        for pod in self.pods.values():
            held = pod.state != "gated" or pod.assumed
            if pod.group == key and held and self.queue_of(pod) == queue:
                for dimension, amount in self.charge(pod).items():
                    total[dimension] = total.get(dimension, 0) + amount
        return {dimension: amount for dimension, amount in total.items() if amount}

    def waiting(self) -> dict[str, set[str]]:
        """Who waits for a gate to open, by queue; empty: in none."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for uid, pod in self.pods.items():
            at_gate = pod.state == "gated" and not pod.assumed and not pod.terminating
            if at_gate:
                found[self.queue_of(pod)].add(uid)
        return dict(found)

    def cluster_totals(self) -> dict[str, int]:
        found: defaultdict[str, int] = defaultdict(int)
        for cards in self.offered.values():
            for card in cards:
                if self.is_so(card.name, card.resource) and card.unit == self.units[card.name]:
                    found[card.name] += card.amount
        return {name: n for name, n in found.items() if n}

    def cluster_quotas(self) -> dict[str, int]:
        found: defaultdict[str, int] = defaultdict(int)
        for queue in self.queues.values():
            for name, n in queue.quota.items():
                found[name] += n
        return dict(found)


def _holds(pod: PlainPod) -> bool:
    return pod.state != "gated" or pod.assumed is not None


def _the_only(
    cards: list[str], quota: dict[str, int], otherwise: list[str] | None = None
) -> tuple[list[str], list[str]]:
    """The only card with a quota; if several have, nothing decides between them (P3)."""
    rows = [name for name in cards if quota.get(name)]
    return ([], rows) if len(rows) > 1 else (rows or otherwise or cards, [])
