"""Which cards a node has, from its labels and allocatable resources (D1-D5, D9)."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from ..quantity import Quantity, QuantityError, count
from ..words import first_of, show
from .card import Card, CardNameError, Labels, check_name
from .card_memory import MemoryLabel, MemoryUnit, gib_of, mib_of
from .node_problems import some_of
from .vendor import MIG, MPS, SLICED, TIME_SLICING, Shown, Vendor, plain_vendor, plain_way
from .vendor_table import VendorTable

_MOST_DIGITS = 18
_NOBODY: Final[AbstractSet[Vendor | None]] = frozenset()


@dataclass(frozen=True, slots=True)
class NodeCards:
    """The cards of one node and how many there are, and what could not be counted and why.

    Of very many problems the first are listed and the rest counted.
    """

    cards: tuple[tuple[Card, int], ...] = ()
    problems: tuple[str, ...] = ()
    product_label: str = ""
    """The label of the only product that the node shows; empty if it shows none, or several."""


class _NotCountedError(ValueError):
    """Labels or amounts that cannot be read; the text says which."""


@dataclass(frozen=True, slots=True)
class _Product:
    """A product that a node shows: the vendor, the labels, and the resource name of whole cards."""

    vendor: Vendor
    way: Shown
    resource: str


def discover(
    labels: Mapping[str, str], allocatable: Mapping[str, Quantity], vendors: VendorTable
) -> NodeCards:
    """Read a node. Never raises: what is wrong is not counted and is in `problems` (D9)."""
    products, problems = _products(labels, allocatable, vendors)
    if len(products) > 1:
        keys = [found.way.product for found in products]
        names = first_of([f"{key}={show(labels[key])}" for key in keys], ", ")
        return NodeCards((), (f"the node has labels of {len(products)} products ({names})",))
    cards: list[tuple[Card, int]] = []
    for found in products:
        for resource in sorted(allocatable):
            vendor = found.vendor
            # One name alone counts whole cards: plugins leave the names of earlier versions behind.
            other = vendor.counts_whole(resource) and resource != found.resource
            if other or not vendors.counts_for(vendor, resource):
                continue
            try:
                amount = _amount(resource, allocatable[resource])
                if resource == vendor.shared and not amount:
                    continue
                cards.append((_card(found, resource, labels), amount))
            except _NotCountedError as error:
                problems.append(str(error))
    label = products[0].way.product if products else ""
    return NodeCards(tuple(cards), some_of(list(dict.fromkeys(problems))), label)


def _products(
    labels: Mapping[str, str], allocatable: Mapping[str, Quantity], vendors: VendorTable
) -> tuple[list[_Product], list[str]]:
    """What the node shows, offered or not. A product without memory does not count (D1)."""
    problems: list[str] = []
    found: dict[str, _Product] = {}
    """By the resource name of whole cards."""
    for vendor in dict.fromkeys(map(vendors.owner, sorted(allocatable))):
        if vendor is not None:
            product = _product_of(vendor, labels, allocatable, problems)
            if product is not None:
                found[product.resource] = product
    offered = _Offered(allocatable, vendors)
    for label in sorted(labels):
        plain = plain_vendor(label)
        if plain is None or plain.usual in found:
            continue
        vendor, way = vendors.owner(plain.usual) or plain, plain_way(plain.usual)
        if _is_shown(way, labels):
            found[plain.usual] = _Product(vendor, way, plain.usual)
        elif offered.counts_for(vendor):
            problems.append(f"label {label} is set without {way.memory}")
    return list(found.values()), problems or _nameless(found, allocatable, vendors)


class _Offered:
    """Whether anything that a node offers counts cards of a vendor. Called for many of its labels.

    Costs a few lookups for each vendor. The offered resources are read once, and once more for each
    row with an expression.
    """

    def __init__(self, allocatable: Mapping[str, Quantity], vendors: VendorTable) -> None:
        self._names = allocatable.keys()
        self._vendors = vendors
        self._slices: dict[str, set[Vendor | None]] = {}
        """By prefix: the vendors whose slices are offered."""
        self._by_expression: dict[Vendor, bool] = {}
        for resource in allocatable:
            prefix, _, kind = resource.partition("/")
            if kind.startswith(MIG):
                self._slices.setdefault(prefix, set()).add(vendors.owner(resource))

    def counts_for(self, vendor: Vendor) -> bool:
        """Whether `VendorTable.counts_for` is true of any offered name."""
        if not self._slices.get(vendor.prefix, _NOBODY).isdisjoint((None, vendor)):
            return True
        for one in (vendor.usual, vendor.shared, *vendor.others):
            if one in self._names and self._vendors.counts_for(vendor, one):
                return True
        if not vendor.other_types:
            return False
        if vendor not in self._by_expression:
            found = any(self._vendors.counts_for(vendor, one) for one in self._names)
            self._by_expression[vendor] = found
        return self._by_expression[vendor]


def _is_shown(way: Shown, labels: Mapping[str, str]) -> bool:
    return way.product in labels and (not way.needs_memory or way.memory in labels)


def _product_of(
    vendor: Vendor,
    labels: Mapping[str, str],
    allocatable: Mapping[str, Quantity],
    problems: list[str],
) -> _Product | None:
    """The product of one maker whose resources the node has.

    The maker's own labels do not say which resource name they are about, and other software may
    write some of them. They count only if the node offers exactly one resource of the maker.
    """
    whole = sorted(resource for resource in allocatable if vendor.counts_whole(resource))
    offered = [resource for resource in whole if not _is_zero(allocatable[resource])]
    for resource in offered or whole or [vendor.usual]:
        ways = vendor.ways(resource) if len(offered) == 1 else (plain_way(resource),)
        for way in ways:
            if _is_shown(way, labels):
                return _Product(vendor, way, resource)
    if len(offered) > 1 and any(_is_shown(way, labels) for way in vendor.own):
        problems.append(
            f"the node offers {first_of(offered, ' and ')}, but its labels name one product: it is "
            "not known which of them that is"
        )
    return None


def _nameless(
    found: Mapping[str, _Product],
    allocatable: Mapping[str, Quantity],
    vendors: VendorTable,
) -> list[str]:
    """Resources that a known maker's plugin offers and that no label names a product for."""
    known = {product.vendor for product in found.values()}
    problems = []
    for resource, value in sorted(allocatable.items()):
        vendor = vendors.owner(resource)
        if vendor is None or _is_zero(value):
            continue
        # The labels of whole cards also name the slices and shares of those cards.
        whole = resource if vendor.counts_whole(resource) else vendor.usual
        named = resource in found if whole == resource else vendor in known
        if not named:
            labels = " or ".join(way.product for way in vendor.ways(whole))
            problems.append(f"{resource} is offered, but no label says of which product ({labels})")
    return problems


def _is_zero(value: Quantity) -> bool:
    try:
        return count(value) == 0
    except QuantityError:
        return False


def _amount(resource: str, value: Quantity) -> int:
    try:
        amount = count(value)
    except QuantityError as error:
        raise _NotCountedError(f"allocatable {resource}: {error}") from None
    if amount < 0:
        raise _NotCountedError(f"allocatable {resource}: <{value}> is negative")
    return amount


def _card(found: _Product, resource: str, labels: Mapping[str, str]) -> Card:
    vendor, way = found.vendor, found.way
    product = labels[way.product]
    try:
        check_name(product)
    except CardNameError as error:
        raise _NotCountedError(f"label {way.product}: {error}") from None
    memory = _memory(way, labels)
    shown: Labels = ((way.product, product),)
    if vendor.counts_whole(resource):
        return Card(product, resource, shown)
    profile = vendor.mig_profile(resource)
    if profile is not None:
        return Card(f"{product}/{profile}-mixed", resource, shown)
    replicas = _positive(labels, vendor.replicas)
    if memory is None:
        label = f"label {way.memory}" if way.memory else "any label"
        raise _NotCountedError(f"the memory of one card is missing: it is not said by {label}")
    size = gib_of(memory)
    sliced = labels.get(vendor.sharing) == TIME_SLICING
    shown += ((vendor.replicas, labels[vendor.replicas]),)
    sharing: Labels = ((vendor.sharing, TIME_SLICING),)
    share = SLICED if sliced else MPS
    values = (labels[way.memory],) if way.unit is MemoryUnit.WRITTEN else ()
    written = MemoryLabel(way.memory, size, way.unit, values)
    name = f"{product}/{share}{size}g*1/{replicas}"
    if sliced:
        return Card(name, resource, shown + sharing, written)
    return Card(name, resource, shown, written, barred=sharing)


def _memory(way: Shown, labels: Mapping[str, str]) -> int | None:
    """MiB of one card. None if the maker's labeller did not write it."""
    text = labels.get(way.memory) if way.memory else None
    if text is None:
        return None
    memory = mib_of(text, way.unit)
    if memory is None:
        wanted = "a number above zero"
        if way.unit is MemoryUnit.WRITTEN:
            wanted += " with its unit, such as 64G"
        raise _NotCountedError(f"label {way.memory}: <{show(text)}> is not {wanted}")
    return memory


def _positive(labels: Mapping[str, str], label: str) -> int:
    text = labels.get(label)
    if text is None:
        raise _NotCountedError(f"label {label} is missing")
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS) or int(text) == 0:
        raise _NotCountedError(f"label {label}: <{show(text)}> is not a number above zero")
    return int(text)
