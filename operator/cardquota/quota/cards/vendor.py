"""How a maker's nodes show their cards, and what Kubernetes counts for them (D1-D4).

Most makers can be described by the plain rule `<prefix>/<type>.product|memory|count`. The rows of
those we know are in `vendor_table`.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from .card import NOT, Card, Labels
from .card_memory import MemoryLabel, MemoryUnit
from .resource_pattern import LONGEST_NAME, Matcher

PRODUCT: Final = ".product"
MPS: Final = "mps-"
"""How the part of a card's name behind the product begins for an MPS share (D3)."""
SLICED: Final = "shared-"
"""The same for a time slice."""
MIG: Final = "mig-"
"""How the part of a slice's resource name behind the slash begins (D4)."""
TIME_SLICING: Final = "time-slicing"
"""Value of the label `Vendor.sharing`; on a node without it, or with any other, shares are MPS."""
SLICED_TYPE: Final = "gpu"
"""The type whose cards MIG slices are of, where a prefix has several: the only maker of such slices
calls it so, and the name of a slice does not tell the type."""
_SHARE: Final = re.compile(rf"(?:{MPS}|{SLICED})([0-9]{{1,9}})g\*1/[0-9]+")
_SHARED: Final = ".shared"
_NO_CARDS: Final = re.compile(
    r"(^|[^a-z])(rdma|hca|roce|ib|infiniband|mlx|mlnx|nic|net|eth|eni|efa|sriov|hostdev|switchdev"
    r"|vhost|tun|tap|kvm|fuse|tpm|uinput|snd|video)([^a-z]|$)"
)
"""Words in the names of well-known devices that are no cards: networks, and files of /dev."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One way in which nodes show a product."""

    product: str
    """Label whose value is the card's name (D1, D9)."""
    memory: str = ""
    """Label with the memory of one card; empty: the maker writes none."""
    unit: MemoryUnit = MemoryUnit.MIB
    needs_memory: bool = False
    """Whether it names no card where that label is missing (D1)."""


def plain_way(resource: str) -> Shown:
    """How the plain rule has it for the cards behind a resource name (D1)."""
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
    """The same, as a regular expression, as `resource_pattern` has them, for what follows
    `<prefix>/`."""
    own: tuple[Shown, ...] = ()
    """How the maker's own software shows them, if not by the plain rule; best first."""
    own_first: bool = False
    """Whether that counts before a label by the plain rule."""

    @property
    def usual(self) -> str:
        """The resource name that whole cards mostly have (D2)."""
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
        """The profile of a MIG slice's resource name (D4), `mig-1g.18gb`, else None."""
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
        """A card that no node has shown, with the node labels that its name speaks of.

        As `discovery` would have it by what counts first, so that a gate opens to the same nodes
        before and after; but of a memory label with a unit the name does not say how it is written.
        """
        product, _, part = name.partition("/")
        whole = resource if self.counts_whole(resource) and not part else self.usual
        way = self.ways(whole)[0]
        labels: Labels = ((way.product, product),)
        replicas = part.rpartition("*1/")[2]
        if not part.startswith(MIG) and replicas.isdecimal():
            labels += ((self.replicas, replicas),)
        if part.startswith(SLICED):
            labels += ((self.sharing, TIME_SLICING),)
        elif part.startswith(MPS):
            labels += ((self.sharing, NOT + TIME_SLICING),)
        size = _SHARE.fullmatch(part)
        memory = MemoryLabel(way.memory, int(size[1]), way.unit) if size and way.memory else None
        return Card(name, resource, labels, memory)

    def pattern(self) -> str:
        """A regular expression (RE2 and Python) for exactly the resource names it owns."""
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
    """The vendor that a label `<prefix>/<type>.product` speaks of by the plain rule (D1)."""
    prefix, slash, rest = label.partition("/")
    if not slash or not rest.endswith(PRODUCT):
        return None
    kind = rest.removesuffix(PRODUCT)
    if not kind or kind.startswith(MIG):
        return None
    return Vendor(f"{prefix}/{kind}", prefix, kind)


def vendor_behind(resource: str) -> Vendor:
    """The vendor whose cards, shares or slices a resource name counts by the plain rule (D1-D4)."""
    prefix, _, kind = resource.partition("/")
    kind = SLICED_TYPE if kind.startswith(MIG) else kind.removesuffix(_SHARED)
    return Vendor(resource, prefix, kind)


def may_count_cards(resource: str) -> bool:
    """Whether a resource name that nothing is known of could count cards, as its form goes.

    That is a `<maker's domain>/<type>` that holds no word of a well-known other device. It cannot
    tell a maker's card from any other device of such a form (`xilinx.com/fpga`): there the word
    of the pod that names a card and asks for this one device is taken. What is then charged is
    only ever too much: the gate opens to nodes with the label `<resource>.product` alone.
    """
    prefix, slash, kind = resource.lower().partition("/")
    return bool(slash and "." in prefix) and not (_NO_CARDS.search(kind))


def counts_form(resource: str, card: str) -> bool:
    """Whether a resource name can count a card of this name: a slice is never a whole card.

    `product` is whole, `product/mig-<profile>-mixed` that profile (D4), any other a share (D3).
    """
    kind = resource.partition("/")[2]
    _, slash, part = card.partition("/")
    if not slash:
        return not kind.startswith(MIG) and not kind.endswith(_SHARED)
    if part.startswith(MIG):
        return kind == part.removesuffix("-mixed")
    return kind.endswith(_SHARED)
