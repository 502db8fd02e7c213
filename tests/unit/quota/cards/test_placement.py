"""The annotations by which the device plugin learns of the card."""

from builders import a_pod
from cardquota.quota.cards import CardPlacement
from cardquota.quota.cards.memory_shape import placement_annotations


def test_b5_what_is_written_is_what_is_read() -> None:
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
