"""How a maker's nodes show their cards, and what Kubernetes counts for them (D1-D4).

The plain rule `<prefix>/<type>.product|memory|count` describes most makers. `vendor_table` has the
rows of the makers that we know.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ..vocabulary import GPU_MEMORY, GPU_PRODUCT
from .card import Card, Labels, is_memory
from .card_memory import MemoryLabel, MemoryUnit
from .resource_pattern import LONGEST_NAME, Matcher

PRODUCT: Final = ".product"
MPS: Final = "mps-"
"""An MPS share's card name continues with this after the product (D3)."""
SLICED: Final = "shared-"
"""A time slice's card name continues with this after the product."""
MIG: Final = "mig-"
"""The resource name of a MIG slice continues with this after the slash (D4)."""
TIME_SLICING: Final = "time-slicing"
"""Value of the label `Vendor.sharing`. If a node has no such value, its shares are MPS."""
SLICED_TYPE: Final = "gpu"
"""The type that MIG slices belong to, if a prefix has several types. The only maker of such slices
uses this name, and the name of a slice does not tell the type."""
_SHARE: Final = re.compile(rf"(?:{MPS}|{SLICED})([0-9]{{1,9}})g\*1/[0-9]+")
_SHARED: Final = ".shared"
_NO_CARDS: Final = re.compile(
    r"(^|[^a-z])(rdma|hca|roce|ib|infiniband|mlx|mlnx|nic|net|eth|eni|efa|sriov|hostdev|switchdev"
    r"|vhost|tun|tap|kvm|fuse|tpm|uinput|snd|video)([^a-z]|$)"
)
"""Words in the names of well-known devices that are no cards: networks, and files in /dev."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One way in which nodes show a product."""

    product: str
    """Label whose value is the card's name (D1, D9)."""
    memory: str = ""
    """Label with the memory of one card. Empty if the maker writes none."""
    unit: MemoryUnit = MemoryUnit.MIB
    needs_memory: bool = False
    """Whether the label `product` names a card only if the label `memory` is set (D1)."""


def plain_way(resource: str) -> Shown:
    """The labels of the plain rule for the cards behind a resource name (D1)."""
    return Shown(f"{resource}{PRODUCT}", f"{resource}.memory", needs_memory=True)


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
    other_types: str = ""
    """Further resource names, as a regular expression of `resource_pattern` for the part after
    `<prefix>/`."""
    own: tuple[Shown, ...] = ()
    """How the maker's own software shows its cards, if not by the plain rule; best first."""
    own_first: bool = False
    """Whether `own` comes before a label by the plain rule."""

    @property
    def usual(self) -> str:
        """The usual resource name of whole cards (D2)."""
        return f"{self.prefix}/{self.type}"

    def ways(self, resource: str) -> tuple[Shown, ...]:
        """How nodes may show the product of whole cards of a resource name, best first."""
        plain = (plain_way(resource),)
        return self.own + plain if self.own_first else plain + self.own

    @property
    def replicas(self) -> str:
        """Label with the number of shares of one card."""
        return f"{self.usual}.replicas"

    @property
    def sharing(self) -> str:
        """Label that tells MPS from time slicing."""
        return f"{self.usual}.sharing-strategy"

    @property
    def shared(self) -> str:
        """Resource name of shares (D3)."""
        return f"{self.usual}{_SHARED}"

    def counts_whole(self, resource: str) -> bool:
        """Whether this resource name counts whole cards of this vendor."""
        if resource == self.usual or resource in self.others:
            return True
        prefix, slash, kind = resource.partition("/")
        if not self.other_types or not slash or prefix != self.prefix:
            return False
        return len(kind) <= LONGEST_NAME and _matcher(self.other_types).matches(kind)

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

    def card(self, name: str, resource: str) -> Card:
        """A card that no node has shown, with the node labels that follow from its name.

        It is the card that `discovery` would make by the first way, so a gate opens to the same
        nodes before and after. Of a memory label with a unit the name does not tell the spelling.
        """
        product, _, part = name.partition("/")
        whole = resource if self.counts_whole(resource) and not part else self.usual
        way = self.ways(whole)[0]
        labels: Labels = ((way.product, product),)
        replicas = part.rpartition("*1/")[2]
        if not part.startswith(MIG) and replicas.isdecimal():
            labels += ((self.replicas, replicas),)
        sharing: Labels = ((self.sharing, TIME_SLICING),)
        if part.startswith(SLICED):
            labels += sharing
        size = _SHARE.fullmatch(part)
        memory = MemoryLabel(way.memory, int(size[1]), way.unit) if size and way.memory else None
        return Card(name, resource, labels, memory, sharing if part.startswith(MPS) else ())

    def pattern(self) -> str:
        """A regular expression (RE2 and Python) that matches exactly its resource names."""
        kind = re.escape(self.type)
        kinds = [kind, rf"{kind}\.shared", f"{MIG}.+"]
        if self.other_types:
            kinds.append(f"({self.other_types})")
        own = rf"{re.escape(self.prefix)}/({'|'.join(kinds)})"
        return "|".join([own, *map(re.escape, self.others)])


@lru_cache(maxsize=1024)  # of expressions that an administrator wrote
def _matcher(expression: str) -> Matcher:
    return Matcher(expression)


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
    "shared memory", "aliyun.com", "gpu-mem", own=(Shown(GPU_PRODUCT),), own_first=True
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
    kind = SLICED_TYPE if kind.startswith(MIG) else kind.removesuffix(_SHARED)
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
    return GPU_MEMORY if is_memory(card) else None


def counts_form(resource: str, card: str) -> bool:
    """Whether a resource name can count a card of this name: a slice is never a whole card.

    `product` is whole, `product/mig-<profile>-mixed` that profile (D4), `product/gpu-mem` card
    memory (B10), any other a share (D3).
    """
    if is_memory(card) or resource == GPU_MEMORY:
        return is_memory(card) and resource == GPU_MEMORY
    kind = resource.partition("/")[2]
    _, slash, part = card.partition("/")
    if not slash:
        return not kind.startswith(MIG) and not kind.endswith(_SHARED)
    if part.startswith(MIG):
        return kind == part.removesuffix("-mixed")
    return kind.endswith(_SHARED)
