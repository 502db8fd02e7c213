import msgspec
import pytest

from cardquota.cluster.watch import Delivery, ObjectIndex
from cardquota.quota.objects import Meta, Wire


class SizedThing(Wire):
    metadata: Meta
    size: int


class RecordingSink:
    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []
        self.broken = False

    def seen(self, obj: SizedThing) -> None:
        if self.broken:
            raise RuntimeError("out of order")
        self.told.append(("seen", obj.metadata.name, obj.metadata.uid, str(obj.size)))

    def gone(self, namespace: str, name: str, uid: str) -> None:
        self.told.append(("gone", name, uid))

    def undecodable(self, namespace: str, name: str, uid: str, error: str) -> None:
        self.told.append(("undecodable", name, uid, error.split(" - ")[0]))


def _raw(name: str, uid: str, revision: int, size: object = 1) -> msgspec.Raw:
    metadata = {"namespace": "ns", "name": name, "uid": uid, "resourceVersion": str(revision)}
    return msgspec.Raw(msgspec.json.encode({"metadata": metadata, "size": size}))


@pytest.fixture
def sink() -> RecordingSink:
    return RecordingSink()


@pytest.fixture
def delivery(sink: RecordingSink) -> Delivery[SizedThing]:
    return Delivery("Thing", SizedThing, sink)


def test_changes_and_ends(delivery: Delivery[SizedThing], sink: RecordingSink) -> None:
    assert delivery.changed(_raw("a", "1", 5)) == 5
    assert delivery.changed(_raw("a", "1", 6, 2), newer_than=5) == 6
    assert delivery.deleted(_raw("a", "1", 7)) == 7
    assert sink.told == [("seen", "a", "1", "1"), ("seen", "a", "1", "2"), ("gone", "a", "1")]
    assert len(delivery.objects) == 0


def test_nothing_older_is_told(delivery: Delivery[SizedThing], sink: RecordingSink) -> None:
    delivery.changed(_raw("a", "1", 5), newer_than=5)
    assert sink.told == []


def test_a_taken_name_is_gone_first(delivery: Delivery[SizedThing], sink: RecordingSink) -> None:
    delivery.changed(_raw("a", "1", 5))
    delivery.changed(_raw("a", "2", 9))
    assert sink.told[1:] == [("gone", "a", "1"), ("seen", "a", "2", "1")]


def test_what_is_odd_is_told_by_name(delivery: Delivery[SizedThing], sink: RecordingSink) -> None:
    delivery.changed(_raw("a", "1", 5, "big"), newer_than=0)
    delivery.changed(msgspec.Raw(b'{"metadata": 7}'), newer_than=5)
    assert sink.told == [
        ("undecodable", "a", "1", "Expected `int`, got `str`"),
        ("undecodable", "", "", "Expected `object`, got `int`"),
    ]
    assert sum(delivery.only_in_steps(ObjectIndex())) == 1
    assert sink.told[-1] == ("gone", "a", "1")


def test_what_cannot_be_read_counts_until_it_can_or_is_gone(
    delivery: Delivery[SizedThing],
) -> None:
    def wrong(name: str, revision: int, uid: str = "") -> None:
        delivery.changed(_raw(name, uid or name, revision, "big"))

    wrong("a", 5)
    wrong("a", 6)
    assert len(delivery.unreadable) == 1
    delivery.changed(_raw("a", "a", 7))
    assert not delivery.unreadable
    wrong("a", 8)
    delivery.deleted(_raw("a", "a", 9, "big"))
    assert not delivery.unreadable
    wrong("b", 10)
    wrong("b", 11, uid="another of that name")
    wrong("c", 12)
    assert len(delivery.unreadable) == 2
    assert sum(delivery.only_in_steps(ObjectIndex())) == 2
    assert not delivery.unreadable


def test_who_fails_hears_of_the_rest(delivery: Delivery[SizedThing], sink: RecordingSink) -> None:
    sink.broken = True
    delivery.changed(_raw("a", "1", 5))
    sink.broken = False
    delivery.changed(_raw("b", "2", 6))
    failed = ("undecodable", "a", "1", "RuntimeError: out of order")
    assert sink.told == [failed, ("seen", "b", "2", "1")]


def test_vanished_objects(delivery: Delivery[SizedThing], sink: RecordingSink) -> None:
    delivery.changed(_raw("a", "1", 5))
    delivery.changed(_raw("b", "2", 6))
    listed = ObjectIndex()
    delivery.changed(_raw("b", "2", 6), listed=listed)
    assert sum(delivery.only_in_steps(listed)) == 1
    assert sink.told[-1] == ("gone", "a", "1")


def test_one_without_a_uid_is_left_out(delivery: Delivery[SizedThing], sink: RecordingSink) -> None:
    delivery.changed(_raw("a", "", 5))
    assert sink.told == [("undecodable", "a", "", "it has no uid")]
    assert len(delivery.objects) == 0
