"""Pods that have as much as may be read, of one thing or of several that could be multiplied."""

from collections.abc import Callable
from typing import Final

from builders import GPU, H200, SHARED
from builders.pod import PodBody
from cardquota.quota import KIB, limits

from ..loop.stall_world import gated

Asked = tuple[str, str, list[str]]
PRODUCT: Final = f"{GPU}.product"
MEMORY: Final = f"{GPU}.memory"
HOST: Final = "kubernetes.io/hostname"
POOL: Final = "pool"
"""A label of one node, whose value changes."""
SERIALS: Final = tuple(f"serial-{number}" for number in range(limits.COMPARISONS.most))
"""Labels with another number on each node."""

_NAMES: Final = limits.ALTERNATIVES.most
_TERMS: Final = limits.TERMS.most
_EACH: Final = limits.EXPRESSIONS.most // _TERMS
"""Requirements of one term."""
_NEVER: Final[Asked] = (PRODUCT, "In", ["none"])


def _named(number: int) -> PodBody:
    return gated("q0000").naming("|".join([H200, *(f"X{n}y{number}" for n in range(_NAMES - 1))]))


def _shares(number: int) -> PodBody:
    names = "|".join(f"X{number}/mps-{n}g*1/2" for n in range(_NAMES))
    spec = {"containers": [{"name": "main", "resources": {"limits": {SHARED: "1"}}}]}
    return gated("q0000").with_spec(**spec).naming(names)


def _unnamed(_: int) -> PodBody:
    return gated("q0000").naming(None)


def _terms(first: Asked, number: int) -> list[list[Asked]]:
    """As many as may be, of which each is read to its end."""
    others: list[Asked] = [(PRODUCT, "NotIn", [f"a{number}"]), (PRODUCT, "Exists", []), _NEVER]
    return [[first, *others][:_EACH]] * _TERMS


def _long(number: int) -> list[Asked]:
    """One requirement, of as much text as may be; what it picks changes with one node."""
    each, most = 31, limits.SELECTOR_TEXT.most - 64
    values = [f"{number:06}{n:025}" for n in range(most // each)]
    return [(POOL, "In", ["new", *values])]


def _compared(keys: tuple[str, ...], number: int) -> list[list[Asked]]:
    return [[(key, "Gt", [f"{number + n}"])] for n, key in enumerate(keys)]


def _values(number: int) -> list[list[Asked]]:
    each = limits.VALUES.most // _TERMS
    return [
        [(SERIALS[0], "In", [f"{number + each * term + n}" for n in range(each)])]
        for term in range(_TERMS)
    ]


def _containers(number: int) -> PodBody:
    """With as many resources, too, as many containers can have."""
    names = [f"example.com/{number}-{n}" for n in range(limits.RESOURCES.most - 4)]
    each = limits.RESOURCE_ENTRIES.most // limits.CONTAINERS.most - 1
    return gated("q0000").with_spec(
        containers=[
            {"name": "main", "resources": {"limits": {GPU: "1"}}},
            *(
                {
                    "name": f"c{n}",
                    "resources": {"limits": dict.fromkeys(_some(names, n, each), "1")},
                }
                for n in range(limits.CONTAINERS.most - 1)
            ),
        ]
    )


def _some(names: list[str], place: int, each: int) -> list[str]:
    return [names[(place * each + n) % len(names)] for n in range(each)]


def _waiting(number: int) -> PodBody:
    """As many tolerations, gates and owners, as long as they may be together."""
    tolerations = limits.TOLERATION_TEXT.most // limits.TOLERATIONS.most - 6
    gates = limits.GATE_TEXT.most // limits.GATES.most
    owner = {"apiVersion": "v1", "kind": "Job", "name": "o" * 253, "uid": "o"}
    return (
        gated("q0000")
        .with_spec(
            tolerations=[
                {"key": f"{n:05}-{number}".ljust(tolerations, "k"), "operator": "Exists"}
                for n in range(limits.TOLERATIONS.most)
            ]
        )
        .gated(*(f"x/{n}".ljust(gates - 1, "g") for n in range(limits.GATES.most - 1)))
        .put([owner] * limits.OWNERS.most, "metadata", "ownerReferences")
    )


def _text_of_cards(number: int) -> PodBody:
    each = limits.CARD_TEXT.most // _NAMES - 1
    return gated("q0000").naming(
        "|".join(f"{n:04}x{number}".ljust(each, "n") for n in range(_NAMES))
    )


PODS: Final[dict[str, Callable[[int], PodBody]]] = {
    f"{_NAMES} alternatives, {limits.CARD_TEXT.most // KIB} KiB": _text_of_cards,
    f"{_NAMES} alternatives and {_TERMS * _EACH} requirements": lambda n: _named(n).requiring(
        *_terms((PRODUCT, "NotIn", ["b"]), n)
    ),
    f"{_NAMES} alternatives and {_TERMS * _EACH} requirements on memory, shares": lambda n: _shares(
        n
    ).requiring(*_terms((MEMORY, "NotIn", ["1"]), n)),
    f"{_NAMES} alternatives, each term names a host": lambda n: _named(n).requiring(
        *_terms((HOST, "In", ["node-0007"]), n)
    ),
    f"{_TERMS * _EACH} requirements, no card named": lambda n: _unnamed(n).requiring(
        *_terms((PRODUCT, "NotIn", ["b"]), n)
    ),
    f"{limits.SELECTOR_TEXT.most // KIB} KiB of selector": lambda n: _unnamed(n).requiring(
        _long(n)
    ),
    f"{limits.SELECTOR_TEXT.most // KIB} KiB of selector, the same in all pods": lambda _: _unnamed(
        0
    ).requiring(_long(0)),
    f"{limits.VALUES.most:,} values": lambda n: _unnamed(n).requiring(*_values(n)),
    f"{len(SERIALS)} Gt requirements on labels that all nodes have": lambda n: _unnamed(
        n
    ).requiring(*_compared(SERIALS, n)),
    f"{len(SERIALS)} Gt requirements, one on a label that nodes have": lambda n: _unnamed(
        n
    ).requiring(*_compared((HOST, *(f"none-{n}" for n in range(len(SERIALS) - 1))), n)),
    "containers and their resources": _containers,
    "tolerations, gates and owners": _waiting,
}
"""By what each has so much of: a pod that waits. Of another number it is another one."""
