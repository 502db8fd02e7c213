"""What is there of card memory: nodes that share their cards, and the pods that ask for a part."""

import json
from typing import NamedTuple

from . import objects
from .objects import C, Object

_MEMORY, _COUNT = "aliyun.com/gpu-mem", "aliyun.com/gpu-count"
_WHOLE = "nvidia.com/gpu"
_SIZES, _UNHEALTHY = "volcano.sh/card.memory", "volcano.sh/card.unhealthy"
_WHERE = "cardquota.dev/where"
BOTH = "both"
"""The place of the nodes whose cards are given out by card too."""
LISTS = "/api/v1/namespaces/kube-system/configmaps"


class Cards(NamedTuple):
    """The shared cards of a node, in MiB."""

    number: int
    memory: int
    sizes: tuple[int, ...] = ()
    """Of each; empty: all are of one size, and the node does not say so."""


_ALIKE = Cards(4, 64_000)
_TWO = Cards(2, 32_000)
_UNLIKE = Cards(3, 48_000, (24_000, 12_000, 12_000))
SHARING = {
    "memory-0": _ALIKE,
    "memory-1": _UNLIKE,
    "both-0": _TWO,
    "both-1": _TWO,
}
"""By node. They are this at first, and in the end."""
SHAPES = (
    _ALIKE,
    _TWO,
    _UNLIKE,
    Cards(4, 60_000),
    Cards(2, 24_000, (16_000, 8_000)),
    Cards(3, 48_000, (40_000, 40_000, 40_000)),
    Cards(0, 64_000),
)
"""What nodes become meanwhile; the last two cannot be read."""
LISTED = ("", "0", "1", "0,1", "1, 0", "9", "GPU-1", "0,")
"""Lists of broken cards; the latter half cannot be read, or name a card that is not there."""
AMOUNTS = (1_000, 2_000, 4_000, 5_500, 7_000, 8_000, 12_000, 16_000, 30_000)
"""MiB that pods ask for; the last has room nowhere."""


def by_card(node: str) -> bool:
    """Whether its cards are given out by card too."""
    return node.startswith(BOTH)


def sharing_node(name: str, cards: Cards) -> Object:
    """A node that shares its cards; if it is one of both kinds, it offers them whole as well."""
    body = objects.node(name, C)
    amounts, labels = body["status"]["allocatable"], body["metadata"]["labels"]
    amounts |= _amounts(cards)
    if by_card(name):
        amounts[_WHOLE] = "4"
        labels |= {f"{_WHOLE}.memory": "16384", f"{_WHOLE}.count": "4", _WHERE: BOTH}
    else:
        del amounts[_WHOLE]
        body["metadata"]["labels"] = {"kubernetes.io/hostname": name}
    body["metadata"]["annotations"] = _notes(cards)
    return body


def reshaped(cards: Cards) -> tuple[Object, Object]:
    """The changes of a node and of its status that give it other cards."""
    amounts = _amounts(cards)
    return (
        {"metadata": {"annotations": {_SIZES: None, **_notes(cards)}}},
        {"status": {"capacity": amounts, "allocatable": amounts}},
    )


def broken(text: str | None) -> Object:
    """The change of a node that names its broken cards; None takes the annotation away."""
    return {"metadata": {"annotations": {_UNHEALTHY: text}}}


def list_name(node: str) -> str:
    """Of the ConfigMap with a node's broken cards."""
    return f"unhealthy-gpu-{node}"


def broken_list(node: str, text: str) -> Object:
    """That ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": list_name(node), "namespace": "kube-system"},
        "data": {"gpus": text},
    }


def memory_pod(name: str, owner: str, memory: int, *, seconds: int = 0, where: str = "") -> Object:
    """A pod that asks for memory of one card; with `seconds` it ends by itself."""
    body = objects.pod(name, owner, "", "", 0, seconds=seconds, where=where)
    body["spec"]["containers"] = [_container(memory)]
    return body


def memory_deployment(name: str, memory: int) -> Object:
    """A service of such pods, which is scaled."""
    body = objects.deployment(name, "", "")
    template = body["spec"]["template"]
    template["metadata"]["annotations"].clear()
    template["spec"]["containers"] = [_container(memory)]
    return body


def _amounts(cards: Cards) -> dict[str, str]:
    return {_MEMORY: str(cards.memory), _COUNT: str(cards.number)}


def _notes(cards: Cards) -> dict[str, str]:
    return {_SIZES: json.dumps(cards.sizes)} if cards.sizes else {}


def _container(memory: int) -> Object:
    resources = {"limits": {"cpu": "1", _MEMORY: str(memory)}, "requests": {"cpu": "100m"}}
    return {"name": "main", "image": "none", "resources": resources}
