"""Which cards a node has, from its labels and allocatable resources (D1-D5, D9)."""

from collections.abc import Mapping
from dataclasses import dataclass

from .card import NOT, Card, CardNameError, check_name
from .quantity import Quantity, QuantityError, count
from .vendor import MPS, SLICED, TIME_SLICING, Vendor, plain_vendor
from .words import show

_MIB_PER_GIB = 1024
_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class NodeCards:
    """The cards of one node with their number, and what could not be counted and why."""

    cards: tuple[tuple[Card, int], ...] = ()
    problems: tuple[str, ...] = ()


class _NotCountedError(ValueError):
    """Labels or amounts that cannot be read; the text says which."""


def discover(labels: Mapping[str, str], allocatable: Mapping[str, Quantity]) -> NodeCards:
    """Read a node. Never raises: what is wrong is in `problems`, and is not counted (D9)."""
    vendors, problems = _vendors(labels, allocatable)
    if len(vendors) > 1:
        names = ", ".join(f"{v.product}={show(labels[v.product])}" for v in vendors)
        return NodeCards((), (f"the node has labels of {len(vendors)} products ({names})",))
    cards: list[tuple[Card, int]] = []
    for vendor in vendors:
        for resource in sorted(r for r in allocatable if vendor.owns(r)):
            try:
                amount = _amount(resource, allocatable[resource])
                if resource == vendor.shared and not amount:
                    continue
                cards.append((_card(vendor, resource, labels), amount))
            except _NotCountedError as error:
                problems.append(str(error))
    return NodeCards(tuple(cards), tuple(dict.fromkeys(problems)))


def _vendors(
    labels: Mapping[str, str], allocatable: Mapping[str, Quantity]
) -> tuple[list[Vendor], list[str]]:
    """Vendors whose product label is there; a product without memory is no card (D1)."""
    vendors, problems = [], []
    for label in sorted(labels):
        vendor = plain_vendor(label)
        if vendor is None:
            continue
        if vendor.memory in labels:
            vendors.append(vendor)
        elif any(vendor.owns(resource) for resource in allocatable):
            problems.append(f"label {label} is set without {vendor.memory}")
    return vendors, problems


def _amount(resource: str, value: Quantity) -> int:
    try:
        amount = count(value)
    except QuantityError as error:
        raise _NotCountedError(f"allocatable {resource}: {error}") from None
    if amount < 0:
        raise _NotCountedError(f"allocatable {resource}: <{value}> is negative")
    return amount


def _card(vendor: Vendor, resource: str, labels: Mapping[str, str]) -> Card:
    product = labels[vendor.product]
    try:
        check_name(product)
    except CardNameError as error:
        raise _NotCountedError(f"label {vendor.product}: {error}") from None
    memory = _positive(labels, vendor.memory)
    shown: tuple[tuple[str, str], ...] = ((vendor.product, product),)
    if resource == vendor.whole:
        return Card(product, resource, shown)
    profile = vendor.mig_profile(resource)
    if profile is not None:
        return Card(f"{product}/{profile}-mixed", resource, shown)
    replicas = _positive(labels, vendor.replicas)
    size = (2 * memory + _MIB_PER_GIB) // (2 * _MIB_PER_GIB)  # rounded half up
    sliced = labels.get(vendor.sharing) == TIME_SLICING
    shown += (
        (vendor.replicas, labels[vendor.replicas]),
        (vendor.sharing, TIME_SLICING if sliced else NOT + TIME_SLICING),
    )
    share = SLICED if sliced else MPS
    return Card(f"{product}/{share}{size}g*1/{replicas}", resource, shown)


def _positive(labels: Mapping[str, str], label: str) -> int:
    text = labels.get(label)
    if text is None:
        raise _NotCountedError(f"label {label} is missing")
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS) or int(text) == 0:
        raise _NotCountedError(f"label {label}: <{show(text)}> is not a number above zero")
    return int(text)
