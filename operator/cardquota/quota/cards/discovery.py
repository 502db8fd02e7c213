"""Which cards a node has, from its labels and allocatable resources (D1-D5, D9)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..amounts import Quantity, QuantityError, count
from ..words import first_of, show
from .card import Card, CardNameError, MemoryUnit, check_name, gib_of, mib_of
from .vendor import (
    MIG,
    MPS,
    PARTITIONS,
    REPLICAS,
    SHARED,
    SHARING,
    SLICED,
    SLICED_TYPE,
    TIME_SLICING,
    WHOLE_PARTITION,
    ProductLabels,
    Vendor,
    plain_vendor,
    plain_way,
)
from .vendor_table import VendorTable

_MOST_DIGITS = 18
_MIG_INVALID: Final = "-MIG-INVALID"
"""NVIDIA's labeller ends a product with this where the cards of a node are not all divided alike.
"""


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
    way: ProductLabels
    resource: str


def discover(
    labels: Mapping[str, str], allocatable: Mapping[str, Quantity], vendors: VendorTable
) -> NodeCards:
    """Read a node. Never raises: what is wrong is not counted and is in `problems` (D9)."""
    products, problems = _products(labels, allocatable, vendors)
    # One name alone counts whole cards: plugins leave the names of earlier versions behind.
    by_name = {one: found for found in products for one in (found.resource, found.vendor.shared)}
    of_slices = _of_slices(products, vendors)
    cards: list[tuple[Card, int]] = []
    for resource in sorted(allocatable):
        prefix, _, kind = resource.partition("/")
        product = of_slices.get(prefix) if kind.startswith(MIG) else by_name.get(resource)
        if product is None:
            continue
        try:
            amount = _amount(resource, allocatable[resource])
            if resource == product.vendor.shared:
                if not amount:
                    continue
                _check_shares(product.vendor, labels, allocatable)
            cards.append((_card(product, resource, labels), amount))
        except _NotCountedError as error:
            problems.append(str(error))
    label = products[0].way.product if len(products) == 1 else ""
    return NodeCards(tuple(cards), some_of(list(dict.fromkeys(problems))), label)


def _of_slices(products: list[_Product], vendors: VendorTable) -> dict[str, _Product]:
    """By prefix: the product whose slices have it (D4)."""
    by_prefix: dict[str, list[_Product]] = {}
    for product in products:
        by_prefix.setdefault(product.vendor.prefix, []).append(product)
    found = {}
    for prefix, some in by_prefix.items():
        owner = vendors.owner(f"{prefix}/{MIG}")
        if owner is not None:
            some = [one for one in some if one.vendor == owner]
        elif len(some) > 1:
            some = [one for one in some if one.vendor.type == SLICED_TYPE]
        if some:
            found[prefix] = some[0]
    return found


def _products(
    labels: Mapping[str, str], allocatable: Mapping[str, Quantity], vendors: VendorTable
) -> tuple[list[_Product], list[str]]:
    """What the node shows. What it does not offer must have its memory shown to count (D1)."""
    problems: list[str] = []
    found: dict[str, _Product] = {}
    """By the resource name of whole cards."""
    owners = dict.fromkeys(map(vendors.owner, sorted(allocatable)))
    for vendor in owners:
        if vendor is not None:
            product = _product_of(vendor, labels, allocatable, problems)
            if product is not None:
                found[product.resource] = product
    sliced = {
        prefix
        for prefix, _, kind in (name.partition("/") for name in allocatable)
        if kind.startswith(MIG) and vendors.owner(f"{prefix}/{kind}") is None
    }
    for label in sorted(labels):
        plain = plain_vendor(label)
        if plain is None or plain.usual in found:
            continue
        vendor, way = vendors.owner(plain.usual) or plain, plain_way(plain.usual)
        offered = vendor in owners or vendor.prefix in sliced
        offered = offered or vendor.usual in allocatable or vendor.shared in allocatable
        if offered or way.memory in labels:
            found[plain.usual] = _Product(vendor, way, plain.usual)
    return list(found.values()), problems or _nameless(found, allocatable, vendors)


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
            if way.product in labels:
                return _Product(vendor, way, resource)
    if len(offered) > 1 and any(way.product in labels for way in vendor.own):
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
    if product.endswith(_MIG_INVALID):
        raise _NotCountedError(f"label {way.product}: <{show(product)}> says that slices are wrong")
    if vendor.counts_whole(resource):
        return vendor.card(_whole(vendor, product, labels), resource, way)
    profile = vendor.mig_profile(resource)
    size, of = (profile or "").removesuffix(SHARED), vendor.usual
    values: tuple[str, ...] = ()
    if profile is None:
        memory = _memory(way, labels)
        if memory is None:
            name = f"label {way.memory}" if way.memory else "any label"
            raise _NotCountedError(f"the memory of one card is missing: it is not said by {name}")
        size = f"{gib_of(memory)}g"
        values = (labels[way.memory],) if way.unit is MemoryUnit.WRITTEN else ()
    else:
        of = f"{vendor.prefix}/{size}"
        if not profile.endswith(SHARED) and labels.get(f"{of}{REPLICAS}", "1") in ("0", "1"):
            return vendor.card(f"{product}/{profile}-mixed", resource, way)
    replicas = _shares(labels, f"{of}{REPLICAS}")
    how = SLICED if labels.get(f"{of}{SHARING}") == TIME_SLICING else MPS
    card = vendor.card(f"{product}/{how}{size}*1/{replicas}", resource, way)
    return replace(card, memory=card.memory.also(values)) if card.memory is not None else card


def _whole(vendor: Vendor, product: str, labels: Mapping[str, str]) -> str:
    """The name of a whole card, or of the parts into which the node divides its cards."""
    if vendor.part:
        return f"{product}/{vendor.part}"
    value = labels.get(vendor.partition, WHOLE_PARTITION) if vendor.partition else WHOLE_PARTITION
    if value.startswith(WHOLE_PARTITION):
        return product
    if value not in PARTITIONS:
        raise _NotCountedError(f"label {vendor.partition}: <{show(value)}> is no known partition")
    return f"{product}/{value}"


def _check_shares(
    vendor: Vendor, labels: Mapping[str, str], allocatable: Mapping[str, Quantity]
) -> None:
    """Raises if slices may be offered as the shares of whole cards: their sizes would be mixed."""
    for key in labels:
        of = key.removesuffix(REPLICAS)
        if of == key or vendor.mig_profile(of) is None or labels[key] in ("0", "1"):
            continue
        if of not in allocatable and f"{of}{SHARED}" not in allocatable:
            raise _NotCountedError(
                f"{vendor.shared} also counts shares of slices, as label {key} says: leave the "
                "slices their own resource name"
            )


def _memory(way: ProductLabels, labels: Mapping[str, str]) -> int | None:
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


def _shares(labels: Mapping[str, str], label: str) -> int:
    """How many share one card: at least two, or the label is about something else."""
    text = labels.get(label)
    if text is None:
        raise _NotCountedError(f"label {label} is missing")
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else 0
    if number < 2 or text != str(number):
        raise _NotCountedError(f"label {label}: <{show(text)}> is not a number above one")
    return number


MOST_PROBLEMS: Final = 20
"""Problems kept of one node and one kind. A node may have thousands."""


def some_of(texts: Sequence[str]) -> tuple[str, ...]:
    """The first problems of a node, and the number of the rest."""
    more = len(texts) - MOST_PROBLEMS
    return (*texts[:MOST_PROBLEMS], f"and {more} more") if more > 0 else tuple(texts)
