"""What no Python kubelet can show: a real kubelet and containerd, and what the containers see.

One node for all of them. Skipped, with the reason, where the machine can have none.
"""

import signal
from collections.abc import Iterator

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.plane.real_node.requirements import real_node_lacks
from cardquota_dev.testing import Cluster, eventually, fresh_namespace, running_plane
from conftest import decides
from harness.newer_kubernetes import HEALTH_OF_DEVICES
from integration.asking import Object

from .real_node import AGENT, ALL, KUBELET, SIZES, RealNode, queue_on_node

pytestmark = [pytest.mark.plane, pytest.mark.long]

AT_ONCE, ROUNDS = 10, 10
"""Pods of equal size that start at the same moment, and how often: 50 pairs in all."""

SICK = {"problem": "XID 79"}


@pytest.fixture(scope="module")
def real_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if lacking := real_node_lacks():
        pytest.skip(lacking)
    folder = tmp_path_factory.mktemp("real")
    with running_plane(folder, extender=True, real_node=True) as cluster:
        eventually(lambda: decides(cluster), "a leader that decides")
        yield cluster


@pytest.fixture
def node(real_plane: Cluster, unique: str) -> Iterator[RealNode]:
    with (
        fresh_namespace(real_plane, unique) as namespace,
        queue_on_node(real_plane, namespace) as node,
    ):
        node.offers(ALL)
        yield node


@pytest.fixture
def by_hand(real_plane: Cluster) -> Iterator[RealNode]:
    """Pods of an exempt namespace: no scheduler gives them a card."""
    node = RealNode(real_plane, "kube-system")
    node.offers(ALL)
    yield node
    node.delete_all()


def container_of(pod: Object) -> tuple[str, int]:
    """The running container, and how often it was started again."""
    (status,) = pod["status"]["containerStatuses"]
    return status["containerID"], status["restartCount"]


def test_a_container_gets_the_card_that_was_chosen_for_its_pod(node: RealNode) -> None:
    node.create("p", 1_500)
    node.runs("p")
    seen = node.environment("p")
    assert {key: value for key, value in seen.items() if key.startswith(("ALI", "NV"))} == {
        v.GPU_MEMORY_CARD: node.card_chosen("p"),
        v.GPU_MEMORY_OF_POD: "1500",
        "ALIYUN_COM_GPU_MEM_CONTAINER": "1500",
        "ALIYUN_COM_GPU_MEM_DEV": str(SIZES[1]),
        "NVIDIA_VISIBLE_DEVICES": "GPU-two",
    }
    assert node.pod("p")["metadata"]["annotations"][v.GPU_MEMORY_ASSIGNED] == "true"
    node.until_allocated(1_500)


def test_pods_of_equal_size_that_start_in_the_same_moment_are_never_crossed(
    node: RealNode,
) -> None:
    amount = SIZES[1] // (AT_ONCE // 2)  # half of them fit on the smaller card, so both are used
    for number in range(ROUNDS):
        names = [f"p{number}-{one}" for one in range(AT_ONCE)]
        for name in names:
            node.create(name, amount)
        node.runs(*names)
        chosen = {name: node.card_chosen(name) for name in names}
        assert sorted(set(chosen.values())) == ["0", "1"]
        assert {name: node.card_seen(name) for name in names} == chosen
        node.delete_all()


def test_containers_go_on_when_the_kubelet_starts_again_and_the_agent_offers_its_cards_anew(
    node: RealNode,
) -> None:
    node.create("before", 1_500)
    (before,) = node.runs("before")
    offered = node.registered()
    node.kill(KUBELET)
    eventually(lambda: node.registered() > offered, "the agent offers its cards again")
    node.offers(ALL)
    node.create("after", 1_500)
    now, _ = node.runs("before", "after")
    assert container_of(now) == container_of(before)
    assert [node.card_seen(name) for name in ("before", "after")] == ["1", "0"]


def test_containers_go_on_without_the_agent_and_those_after_its_restart_get_their_cards(
    node: RealNode,
) -> None:
    node.create("before", 1_500)
    (before,) = node.runs("before")
    offered = node.registered()
    node.kill(AGENT)
    eventually(lambda: node.registered() > offered, "the agent offers its cards again")
    node.offers(ALL)
    node.create("after", 1_500)
    now, _ = node.runs("before", "after")
    assert container_of(now) == container_of(before)
    assert [node.card_seen(name) for name in ("before", "after")] == ["1", "0"]


@pytest.mark.newer_kubernetes(HEALTH_OF_DEVICES)
def test_a_sick_card_gives_no_memory_until_it_recovers_and_its_pods_say_so(
    node: RealNode, by_hand: RealNode
) -> None:
    amount = SIZES[1] + 1  # only the larger card has so much: so these are its devices
    node.create("before", amount)
    node.runs("before")
    assert node.health_of_devices("before") == {"Healthy"}
    node.write_cards(SICK, {})
    try:
        node.offers(SIZES[1])
        eventually(lambda: node.health_of_devices("before") == {"Unhealthy"}, "the pod says so")
        by_hand.create("after", 100)
        by_hand.place("after", 0, 100)
        eventually(lambda: "card <0> is sick: XID 79" in by_hand.waiting("after"), "it waits")
        assert node.pod("before")["status"]["phase"] == "Running"
    finally:
        node.write_cards({}, {})
    node.offers(ALL)
    by_hand.runs("after")
    assert by_hand.card_seen("after") == "0"
    eventually(lambda: node.health_of_devices("before") == {"Healthy"}, "the pod says so")


def test_a_pod_that_arrives_without_the_agent_fails_and_its_quota_is_free_again(
    node: RealNode,
) -> None:
    """The kubelet is stopped meanwhile: so the pod is bound while there is room, and the agent has
    ended when the kubelet sees it.
    """
    kubelet = node.process(KUBELET)
    kubelet.signal(signal.SIGSTOP)
    try:
        node.create("p", 1_500)
        node.until_allocated(1_500)
        node.hide_cards()
        node.kill(AGENT)
    finally:
        kubelet.signal(signal.SIGCONT)
    try:
        failed = eventually(lambda: node.ended("p"), "the pod has ended")
        assert (failed["phase"], failed["reason"]) == ("Failed", "UnexpectedAdmissionError")
        node.until_allocated(0)
        node.offers(0)
    finally:
        node.write_cards({}, {})
    node.offers(ALL)
    node.create("next", 1_500)
    node.runs("next")


@pytest.mark.newer_kubernetes(HEALTH_OF_DEVICES)
def test_a_container_is_tried_again_once_its_pod_says_which_card_it_has(by_hand: RealNode) -> None:
    by_hand.create("p", 100)
    eventually(
        lambda: "has no annotation ALIYUN_COM_GPU_MEM_IDX" in by_hand.waiting("p"), "it waits"
    )
    by_hand.place("p", 0, 100)
    by_hand.runs("p")
    assert by_hand.card_seen("p") == "0"
    # Nobody could know when its IDs were picked: they are of the card with the least free memory.
    # What its status says holds for the card that it has.
    by_hand.write_cards(SICK, {})
    try:
        eventually(lambda: by_hand.health_of_devices("p") == {"Unhealthy"}, "the pod says so")
    finally:
        by_hand.write_cards({}, {})
    eventually(lambda: by_hand.health_of_devices("p") == {"Healthy"}, "the pod says so")
