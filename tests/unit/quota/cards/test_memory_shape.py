"""What a node says of its shared cards: read strictly, and never read as free."""

import pytest

from builders import a_node, a_pod
from builders.node import NodeBody
from cardquota.quota import vocabulary as v
from cardquota.quota.cards import (
    CardPlacement,
    MemoryShape,
    SharedUnit,
    UnhealthyListError,
    placement_annotations,
    read_unhealthy,
)


def shape(**amounts: object) -> MemoryShape | None:
    found = a_node()
    for name, amount in amounts.items():
        resource = v.GPU_MEMORY if name == "mem" else v.GPU_COUNT
        found = found.put(amount, "status", "allocatable", resource)
    return found.facts().memory


@pytest.mark.parametrize(
    ("node", "sizes", "offered"),
    [
        (a_node().sharing_memory(65104, 4), (16276,) * 4, 65104),
        (a_node().sharing_memory(10, 3), (3, 3, 3), 10),  # what is left over belongs to no card
        (
            a_node()
            .sharing_memory(16276, 2)
            .with_capacity(32552, v.GPU_MEMORY)
            .with_capacity(2, v.GPU_COUNT),
            (16276, 16276),  # a broken card makes less allocatable
            16276,
        ),
        (a_node().offering(10, v.GPU_MEMORY).with_capacity(2, v.GPU_COUNT), (5, 5), 10),
        (
            a_node().sharing_memory(24414, 2).annotated(v.CARD_MEMORY, "[16276, 8138]"),
            (16276, 8138),
            24414,
        ),
    ],
)
def test_b1_the_cards_of_a_node(node: NodeBody, sizes: tuple[int, ...], offered: int) -> None:
    found = node.facts().memory
    assert found == MemoryShape(sizes, offered)
    assert found.unit is (SharedUnit.MIB if max(sizes) >= 1_024 else SharedUnit.GIB)


def test_b1_a_node_without_both_shares_nothing() -> None:
    assert a_node().facts().memory is None
    assert a_node().sharing_memory(0, 0).facts().memory is None


@pytest.mark.parametrize(
    ("amounts", "words"),
    [
        ({"mem": 8}, "<8> is offered without aliyun.com/gpu-count"),
        ({"count": 8}, "<8> is offered without aliyun.com/gpu-mem"),
        ({"mem": 8, "count": 0}, "without aliyun.com/gpu-count"),
        ({"mem": 4, "count": 8}, "<8> is more than aliyun.com/gpu-mem <4>"),
        ({"mem": 10**12, "count": 10**9}, "at most <256> are read"),
        ({"mem": "-4", "count": 2}, "<-4> is negative"),
        ({"mem": "4.5", "count": 2}, "<4.5> is not a whole number"),
        ({"mem": "1e30", "count": 2}, "more than can be counted"),
        ({"mem": "x", "count": 2}, "<x> is not a quantity"),
    ],
)
def test_b1_what_cannot_be_read_is_reported_and_never_free(
    amounts: dict[str, object], words: str
) -> None:
    found = shape(**amounts)
    assert found is not None
    assert found.sizes == ()
    assert words in found.problems[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not a JSON list"),
        ("{}", "is not a JSON list"),
        ("[]", "is not a JSON list"),
        ("[8, -8]", "is not a JSON list"),
        ("[8, true]", "is not a JSON list"),
        ("[8, 1e3]", "is not a JSON list"),
        ("[8, 99999999999999999999]", "is not a JSON list"),
        ("[" * 9000, "is not a JSON list"),
        ("[" * 2000, "is not a JSON list"),
        ("[8]", "has <1> cards, aliyun.com/gpu-count is <2>"),
        ("[8, 9]", "has <17> in all, aliyun.com/gpu-mem is <16>"),
    ],
)
def test_b1_sizes_that_cannot_be_read(text: str, words: str) -> None:
    found = a_node().sharing_memory(16, 2).annotated(v.CARD_MEMORY, text).facts().memory
    assert found is not None
    assert found.sizes == ()
    assert words in found.problems[0]


def test_b2_a_bad_annotation_is_reported() -> None:
    found = a_node().sharing_memory(16, 4).annotated(v.UNHEALTHY_CARDS, "4").facts().memory
    assert found is not None
    assert found.unhealthy is None
    assert found.sizes == (4, 4, 4, 4)
    assert "names card <4>, the node has cards 0 to 3" in found.problems[0]


@pytest.mark.parametrize(
    "text", ["1, 2", " 1", "1,", ",", "-1", "01", "GPU-8f6a9a3e", "1.0", "٣", "0," * 3000 + "0"]
)
def test_b2_lists_are_read_strictly(text: str) -> None:
    with pytest.raises(UnhealthyListError, match="is not a list of cards: write their indexes"):
        read_unhealthy(text, 8)


def test_b2_an_empty_list_is_a_list() -> None:
    assert read_unhealthy("", 8) == ()
    assert read_unhealthy("7,0", None) == (0, 7)


@pytest.mark.parametrize(("cards", "words"), [(8, "cards 0 to 7"), (0, "the node has none")])
def test_b2_a_card_that_is_not_there(cards: int, words: str) -> None:
    with pytest.raises(UnhealthyListError, match=words):
        read_unhealthy("999999999", cards)


def test_b5_what_is_written_is_what_is_read() -> None:
    """The annotations by which the device plugin learns of the card."""
    found = placement_annotations(3, 1024, 16276, 1_700_000_000_000_000_001)
    assert found == {
        "ALIYUN_COM_GPU_MEM_IDX": "3",
        "ALIYUN_COM_GPU_MEM_POD": "1024",
        "ALIYUN_COM_GPU_MEM_DEV": "16276",
        "ALIYUN_COM_GPU_MEM_ASSIGNED": "false",
        "ALIYUN_COM_GPU_MEM_ASSUME_TIME": "1700000000000000001",
    }
    pod = a_pod().asking_for_memory(1024).on_node("n")
    for key, value in found.items():
        pod = pod.annotated(key, value)
    assert pod.facts().placement == CardPlacement(3, 1024, assumed_at=1_700_000_000_000_000_001)
