"""Q2: card resources in a queue's specification are no quota."""

from cardquota.quota.accounts import IgnoredCards
from cardquota.quota.accounts.queue_write import ignored_cards
from cardquota.quota.objects import Guarantee, QueueSpec

GPU = "nvidia.com/gpu"


def counts(resource: str) -> bool:
    return resource == GPU


def test_q2_they_are_found_in_every_field() -> None:
    spec = QueueSpec(
        capability={"cpu": "4", GPU: "8"},
        deserved={GPU: 4},
        guarantee=Guarantee(resource={GPU: "2", "NVIDIA-H200": 1}),
    )
    assert ignored_cards(spec, counts) == (
        IgnoredCards("capability", GPU, "8"),
        IgnoredCards("deserved", GPU, "4"),
        IgnoredCards("guarantee.resource", GPU, "2"),
    )


def test_p8_no_more_than_a_thousand_names_are_looked_at() -> None:
    asked: list[str] = []

    def hears(resource: str) -> bool:
        asked.append(resource)
        return True

    spec = QueueSpec(capability={f"x/{number}": "1" * 1_000 for number in range(5_000)})
    found = ignored_cards(spec, hears)
    assert len(found) == len(asked) == 1_000
    assert len(found[0].amount) == 40
