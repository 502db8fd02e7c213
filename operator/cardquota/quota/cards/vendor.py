"""How a maker's nodes show their cards, and what Kubernetes counts for them (D1-D4).

The plain rule `<prefix>/<type>.product|memory|count` describes most makers. `vendor_table` has the
rows of the makers that we know.
"""

import re
from dataclasses import dataclass
from typing import Final

from ..vocabulary import GPU_MEMORY, GPU_PRODUCT, SLOT
from .card import SLOT_PART, Card, Labels, MemoryLabel, MemoryUnit, is_memory

PRODUCT: Final = ".product"
MPS: Final = "mps-"
"""An MPS share's card name continues with this after the product (D3)."""
SLICED: Final = "shared-"
"""A time slice's card name continues with this after the product."""
MIG: Final = "mig-"
"""The resource name of a MIG slice continues with this after the slash (D4)."""
TIME_SLICING: Final = "time-slicing"
"""Value of the label `SHARING`. If a node has no such value, its shares are MPS."""
SLICED_TYPE: Final = "gpu"
"""The type that MIG slices belong to, if a prefix has several types. The only maker of such slices
uses this name, and the name of a slice does not tell the type."""
PARTITIONS: Final = tuple(f"{how}px_nps{n}" for how in "dtqc" for n in (1, 2, 4, 8))
"""Values of the label `Vendor.partition` that stand for parts of a card."""
WHOLE_PARTITION: Final = "spx_"
"""With this such a value begins where a card is not divided."""
_REST: Final = re.compile(r"[A-Za-z0-9_-]+")
"""What may follow `Vendor.kinds`: what has a dot is a part of a card, or a label."""
REPLICAS: Final = ".replicas"
"""The number of shares of one card: the end of a label."""
SHARING: Final = ".sharing-strategy"
"""What tells MPS from time slicing: the end of a label."""
_SHARE: Final = re.compile(rf"(?:{MPS}|{SLICED})([0-9]{{1,9}})g\*1/[0-9]+")
SHARED: Final = ".shared"
_NO_CARDS: Final = re.compile(
    r"(^|[^a-z])(rdma|hca|roce|ib|infiniband|mlx|mlnx|nic|net|eth|eni|efa|sriov|hostdev|switchdev"
    r"|vhost|tun|tap|kvm|fuse|tpm|uinput|snd|video)([^a-z]|$)"
)
"""Words in the names of well-known devices that are no cards: networks, and files in /dev."""


@dataclass(frozen=True, slots=True)
class ProductLabels:
    """One way in which nodes show a product."""

    product: str
    """Label whose value is the card's name (D1, D9)."""
    memory: str = ""
    """Label with the memory of one card. Empty if the maker writes none."""
    unit: MemoryUnit = MemoryUnit.MIB


def plain_way(resource: str) -> ProductLabels:
    """The labels of the plain rule for the cards behind a resource name (D1)."""
    return ProductLabels(f"{resource}{PRODUCT}", f"{resource}.memory")


@dataclass(frozen=True, slots=True)
class Vendor:
    """One maker's labels and resource names.

    By the plain rule all follow from `<prefix>/<type>`: whole cards, shares and slices, and the
    labels `.product`, `.memory` (MiB), `.replicas` and `.sharing-strategy`.
    """

    name: str
    """For people."""
    prefix: str
    type: str
    others: tuple[str, ...] = ()
    """More resource names of whole cards."""
    kinds: str = ""
    """Further resource names of whole cards: `<prefix>/`, this, and letters, digits, `-` and `_`.
    Only for those who know that no such name counts memory or shares."""
    own: tuple[ProductLabels, ...] = ()
    """How the maker's own software shows its cards, if not by the plain rule; best first."""
    own_first: bool = False
    """Whether `own` comes before a label by the plain rule."""
    partition: str = ""
    """Label that says into what each card of a node is divided (`PARTITIONS`): the resource name of
    whole cards then counts the parts."""
    part: str = ""
    """Of a row whose resource name of whole cards counts parts: what follows the product in their
    names."""

    @property
    def usual(self) -> str:
        """The usual resource name of whole cards (D2)."""
        return f"{self.prefix}/{self.type}"

    def ways(self, resource: str) -> tuple[ProductLabels, ...]:
        """How nodes may show the product of whole cards of a resource name, best first."""
        plain = (plain_way(resource),)
        return self.own + plain if self.own_first else plain + self.own

    @property
    def shared(self) -> str:
        """Resource name of shares (D3)."""
        return f"{self.usual}{SHARED}"

    def counts_whole(self, resource: str) -> bool:
        """Whether this resource name counts whole cards of this vendor."""
        if resource == self.usual or resource in self.others:
            return True
        prefix, slash, kind = resource.partition("/")
        if not (self.kinds and slash and prefix == self.prefix and kind.startswith(self.kinds)):
            return False
        return bool(_REST.fullmatch(kind, len(self.kinds)))

    def mig_profile(self, resource: str) -> str | None:
        """The profile in a MIG slice's resource name (D4), as `mig-1g.18gb`; else None."""
        prefix, _, name = resource.partition("/")
        return name if prefix == self.prefix and name.startswith(MIG) else None

    def owns(self, resource: str) -> bool:
        """Whether this resource name counts cards of this vendor."""
        return (
            self.counts_whole(resource)
            or resource == self.shared
            or self.mig_profile(resource) is not None
        )

    def card(self, name: str, resource: str, way: ProductLabels | None = None) -> Card:
        """A card, with the node labels that follow from its name. `way`: how nodes show its
        product; None: no node has shown it, and the first way counts.

        So a gate opens to the same nodes before and after. Of a memory label with a unit the name
        does not tell the spelling.
        """
        product, _, part = name.partition("/")
        whole = resource if self.counts_whole(resource) and not part else self.usual
        way = way or self.ways(whole)[0]
        labels: Labels = ((way.product, product),)
        if self.partition and whole == resource:
            if part:
                return Card(name, resource, (*labels, (self.partition, part)))
            # Whole cards are told from parts of cards by what their label does not say.
            others: Labels = tuple((self.partition, value) for value in PARTITIONS)
            return Card(name, resource, labels, barred=others)
        replicas = part.rpartition("*1/")[2]
        if not part.startswith(MIG) and replicas.isdecimal():
            labels += ((f"{self._of_share(part)}{REPLICAS}", replicas),)
        sharing: Labels = ((f"{self._of_share(part)}{SHARING}", TIME_SLICING),)
        if part.startswith(SLICED):
            labels += sharing
        size = _SHARE.fullmatch(part)
        memory = MemoryLabel(way.memory, int(size[1]), way.unit) if size and way.memory else None
        return Card(name, resource, labels, memory, sharing if part.startswith(MPS) else ())

    def _of_share(self, part: str) -> str:
        """What the labels of a share begin with: the name of the resource that is shared."""
        kind = part.partition("-")[2].partition("*")[0]
        return f"{self.prefix}/{kind}" if kind.startswith(MIG) else self.usual

    def pattern(self) -> str:
        """A regular expression (RE2 and Python) that matches exactly its resource names."""
        kind = re.escape(self.type)
        kinds = [kind, rf"{kind}\.shared", f"{MIG}.+"]
        if self.kinds:
            kinds.append(rf"{re.escape(self.kinds)}{_REST.pattern}")
        own = rf"{re.escape(self.prefix)}/({'|'.join(kinds)})"
        return "|".join([own, *map(re.escape, self.others)])


def plain_vendor(label: str) -> Vendor | None:
    """The vendor that a label `<prefix>/<type>.product` belongs to by the plain rule (D1)."""
    prefix, slash, rest = label.partition("/")
    if not slash or not rest.endswith(PRODUCT):
        return None
    kind = rest.removesuffix(PRODUCT)
    if not kind or kind.startswith(MIG):
        return None
    return Vendor(f"{prefix}/{kind}", prefix, kind)


SHARED_MEMORY: Final = Vendor(
    "shared memory", "aliyun.com", "gpu-mem", own=(ProductLabels(GPU_PRODUCT),), own_first=True
)
"""The memory of cards that pods share (B10). It is no row of the vendor table: pods that ask for it
are managed only while some quota limits it."""


def vendor_behind(resource: str) -> Vendor:
    """The vendor whose cards, shares or slices a resource name counts by the plain rule (D1-D4), or
    whose memory (B10).
    """
    if resource == GPU_MEMORY:
        return SHARED_MEMORY
    prefix, _, kind = resource.partition("/")
    kind = SLICED_TYPE if kind.startswith(MIG) else kind.removesuffix(SHARED)
    return Vendor(resource, prefix, kind)


def may_count_cards(resource: str) -> bool:
    """Whether a resource name that is not known could count cards, judged by its form.

    The form is `<maker's domain>/<type>` without any word of a well-known other device. It cannot
    tell a card from another device of this form (`xilinx.com/fpga`): there we trust the pod that
    names a card and asks for this one device. At worst it is charged too much: the gate opens only
    to nodes with the label `<resource>.product`.
    """
    prefix, slash, kind = resource.lower().partition("/")
    return bool(slash and "." in prefix) and not (_NO_CARDS.search(kind))


def resource_by_name(card: str) -> str | None:
    """The resource name behind a card that no node has shown, where its name alone tells it."""
    if is_memory(card):
        return GPU_MEMORY
    return SLOT if card.endswith(f"/{SLOT_PART}") else None


def counts_form(resource: str, card: str) -> bool:
    """Whether a resource name can count a card of this name: a slice is never a whole card.

    `product` and its partitions are whole (D6), `product/mig-<profile>-mixed` is that profile (D4),
    `product/gpu-mem` card memory (B10), `product/slot` a slot (D10), any other a share (D3).
    """
    by_itself = resource_by_name(card)
    if by_itself is not None or resource in (GPU_MEMORY, SLOT):
        return by_itself == resource
    kind = resource.partition("/")[2]
    _, slash, part = card.partition("/")
    if not slash or part in PARTITIONS:
        return not kind.startswith(MIG) and not kind.endswith(SHARED)
    if part.startswith(MIG):
        return kind == part.removesuffix("-mixed") and not kind.endswith(SHARED)
    of_slice = part.partition("-")[2].partition("*")[0]
    if of_slice.startswith(MIG):
        return kind.removesuffix(SHARED) == of_slice
    return kind.endswith(SHARED) and not kind.startswith(MIG)
