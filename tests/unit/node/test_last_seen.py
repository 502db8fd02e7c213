"""Containers that are gone, by what a kubelet lists (K4)."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from cardquota_node.api_server import ApiServer
from cardquota_node.cdi import CdiFolder
from cardquota_node.container_starts import CardsGiven, ContainerStarts, Told
from cardquota_node.inventory import NodeCard
from cardquota_node.kubelet import ContainerOwner, PodResources
from cardquota_node.last_seen import LastSeen
from harness.python_kubelet import PythonKubelet

RESOURCE, KIND = "example.com/memory", "example.com/card"
CARD = NodeCard(index=0, uuid="GPU-0", product="A", path="/dev/null", memory=8_000)


def test_what_was_not_there_for_the_whole_time_is_gone() -> None:
    now = [0.0]
    seen = LastSeen[str](60.0, lambda: now[0])
    assert seen.gone("ab", "a") == set()
    now[0] = 59.0
    assert seen.gone("ab", "a") == set()
    now[0] = 60.0
    assert seen.gone("ab", "") == {"b"}
    now[0] = 119.0
    assert seen.gone("a", "") == {"a"}
    assert seen.gone("b", "") == set()  # it was forgotten, and is there anew


class CleanedNode:
    def __init__(self, folder: Path) -> None:
        self.now = 0.0
        self.kubelet = PythonKubelet(folder)
        self.cdi = CdiFolder(KIND, folder / "cdi")
        self.told: list[Sequence[ContainerOwner]] = []
        self.starts = ContainerStarts(
            RESOURCE,
            PodResources(self.kubelet.pod_resources),
            ApiServer(None, "n"),
            self.cdi,
            Told.CDI,
            LastSeen(60.0, lambda: self.now),
            Counter[str]().update,
        )

    def look(self, at: float, own_pod: str = "") -> list[str]:
        """The devices that have files after a look at this time."""
        self.now = at
        asyncio.run(self.starts.forget_gone(self.told.append, own_pod))
        return sorted(self.cdi.devices())


@pytest.fixture
def cleaned() -> Iterator[CleanedNode]:
    with tempfile.TemporaryDirectory(prefix="node-") as folder:
        node = CleanedNode(Path(folder))
        node.kubelet.start()
        yield node
        node.kubelet.stop()


def test_a_kubelet_that_lists_no_pods_yet_says_nothing(cleaned: CleanedNode) -> None:
    cleaned.cdi.write("GPU-0_1", {"A": "b"}, [])
    assert cleaned.look(0) == cleaned.look(1_000) == ["GPU-0_1"]
    cleaned.kubelet.hear_of("kube-system", "static", "main")
    assert cleaned.look(2_000, "agent") == cleaned.look(3_000, "agent") == ["GPU-0_1"]
    assert cleaned.told == []
    cleaned.kubelet.hear_of("kube-system", "agent", "main")
    assert cleaned.look(4_000, "agent") == ["GPU-0_1"]
    assert cleaned.look(4_059, "agent") == ["GPU-0_1"]
    assert cleaned.look(4_060, "agent") == []


def test_an_id_that_is_given_anew_has_nothing_of_the_container_before(cleaned: CleanedNode) -> None:
    cleaned.cdi.write("GPU-0_1", {"NVIDIA_VISIBLE_DEVICES": "GPU-7"}, [])
    cleaned.starts.answer(["GPU-0_2", "GPU-0_1"])
    owner = ContainerOwner("a", "p", "main", ("GPU-0_1", "GPU-0_2"))
    assert cleaned.starts.environment(owner) == {}


def test_a_file_that_is_written_before_its_pod_is_listed_stays(cleaned: CleanedNode) -> None:
    asyncio.run(cleaned.starts.answer_now(["GPU-0_1"], CardsGiven((CARD,), {})))
    cleaned.kubelet.hear_of("a", "other", "main")
    assert cleaned.look(0) == cleaned.look(59) == ["GPU-0_1"]
