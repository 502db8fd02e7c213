"""Amounts of resources: whole thousandths by name, from Kubernetes' quantities and back."""

from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Any, Final

Amounts = dict[str, int]
"""Thousandths by resource name."""

_BINARY: Final = {f"{letter}i": 1024**power for power, letter in enumerate("KMGTPE", 1)}
_DECIMAL: Final = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal(1000),
    **{letter: Decimal(1000) ** power for power, letter in enumerate("MGTPE", 2)},
}
_THOUSAND: Final = 1000


def thousandths(quantity: str | float) -> int:
    """A quantity in thousandths, rounded up. Raises ValueError or ArithmeticError for no quantity.

    The API server has checked what it stores, so the forms of quantities are not checked here.
    """
    text = str(quantity)
    for suffix, factor in (*_BINARY.items(), *_DECIMAL.items()):
        if text.endswith(suffix):
            amount = Decimal(text.removesuffix(suffix)) * factor
            break
    else:
        amount = Decimal(text)
    return int((amount * _THOUSAND).to_integral_value(ROUND_CEILING))


def quantity(amount: int) -> str:
    """An amount of thousandths as a quantity."""
    whole, rest = divmod(amount, _THOUSAND)
    return f"{amount}m" if rest else str(whole)


def amounts(resources: Mapping[str, Any] | None) -> Amounts:
    """The amounts of a resource list."""
    return {name: thousandths(value) for name, value in (resources or {}).items()}


def resource_list(held: Mapping[str, int]) -> dict[str, str]:
    """A resource list of amounts, those of zero left out."""
    return {name: quantity(amount) for name, amount in sorted(held.items()) if amount}


def total(several: Iterable[Mapping[str, int]]) -> Amounts:
    """The sum by resource name."""
    found: Amounts = {}
    for one in several:
        for name, amount in one.items():
            found[name] = found.get(name, 0) + amount
    return found


def largest(several: Iterable[Mapping[str, int]]) -> Amounts:
    """The largest amount by resource name."""
    found: Amounts = {}
    for one in several:
        for name, amount in one.items():
            found[name] = max(found.get(name, 0), amount)
    return found


def pod_requests(spec: Mapping[str, Any]) -> Amounts:
    """What a pod with this spec requests, itself (`pods`) included. Limits count as requests where
    there are none. Resources of the pod as a whole are not read.
    """
    return {**_pod_amounts(spec, "requests", "limits"), "pods": _THOUSAND}


def quota_usage(spec: Mapping[str, Any]) -> Amounts:
    """What a ResourceQuota would count of such a pod: the form of a group's `minResources`."""
    requests = pod_requests(spec)
    usage = {**requests, "count/pods": requests["pods"]}
    for name, amount in requests.items():
        if name != "pods":
            usage[f"requests.{name}"] = amount
    for name, amount in _pod_amounts(spec, "limits").items():
        if name in ("cpu", "memory", "ephemeral-storage"):
            usage[f"limits.{name}"] = amount
    return usage


def is_counted(name: str) -> bool:
    """Whether the scheduler counts a resource of that name: no counts of objects, no limits."""
    if name in ("cpu", "memory", "pods", "ephemeral-storage"):
        return True
    return not name.startswith(("count/", "requests.", "limits.")) and "/" in name


def counted(held: Mapping[str, int]) -> Amounts:
    """Those of the amounts that the scheduler counts."""
    return {name: amount for name, amount in held.items() if is_counted(name)}


def _pod_amounts(spec: Mapping[str, Any], *kinds: str) -> Amounts:
    first = list(spec.get("initContainers") or ())
    sidecars = [one for one in first if one.get("restartPolicy") == "Always"]
    lasting = total(_container(one, kinds) for one in (*(spec.get("containers") or ()), *sidecars))
    # Sidecars started earlier run beside a first container; that they may start later is ignored.
    alone = (one for one in first if one.get("restartPolicy") != "Always")
    beside = total(_container(one, kinds) for one in sidecars)
    starting = (total([_container(one, kinds), beside]) for one in alone)
    return total([largest([lasting, *starting]), amounts(spec.get("overhead"))])


def _container(container: Mapping[str, Any], kinds: tuple[str, ...]) -> Amounts:
    resources = container.get("resources") or {}
    found: Amounts = {}
    for kind in reversed(kinds):
        found |= amounts(resources.get(kind))
    return found
