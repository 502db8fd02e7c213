"""Where the numbers of a queue stand, and what has room there."""

import json
from typing import Any

import pytest

from cardquota.cluster.api import JSON_PATCH, MERGE_PATCH
from cardquota.control.queues import StatusAnnotation
from cardquota.quota import vocabulary as v
from cardquota.quota.accounts import LONGEST_TEXT

ABOUT = {"name": "q", "uid": "u"}
CARDS = [{"name": "A", "quota": 2, "allocated": 1}]
STATUS: dict[str, Any] = {"cards": CARDS, "columns": {"cards": "A 1/2"}}


def noted(text: object, **others: str) -> dict[str, Any]:
    return {"metadata": {"annotations": {v.STATUS: text, **others}}}


def rows(number: int, used: int = 0) -> list[dict[str, Any]]:
    """So many rows, of which the last ones are in use."""
    allocated = (int(n >= number - used) for n in range(number))
    return [{"name": f"CARD-{n:04}", "quota": 1, "allocated": a} for n, a in enumerate(allocated)]


def test_the_annotation_is_written_where_there_is_none() -> None:
    place = StatusAnnotation()
    for queue in ({}, {"metadata": {"annotations": None}}):
        seen = place.seen(queue)
        assert (seen.status, seen.text) == ({}, None)
        write = place.write(ABOUT, STATUS, seen)
        assert (write.path.rpartition("/")[2], write.content_type) == ("q", MERGE_PATCH)
        text = write.published.text
        assert text is not None
        assert json.loads(text) == STATUS
        # Nothing else of the queue, and of no other queue with its name.
        assert write.body == {"metadata": {"uid": "u", "annotations": {v.STATUS: text}}}
        assert place.seen(noted(text))[:2] == write.published[:2]


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "[]", "1", '"x"', "{", "[" * 90_000, '{"cards": 1}', '{"cards": [1]}'),
        *('{"conditions": [1]}', '{"conditions": [{"type": {}}]}', '{"columns": {"cards": []}}'),
        *('{"a": "' + "x" * LONGEST_TEXT + '"}', 7, {"a": 1}),
    ],
)
def test_an_annotation_that_cannot_be_read_is_written_anew(text: object) -> None:
    place = StatusAnnotation()
    seen = place.seen(noted(text))
    assert seen.status == {}
    assert place.write(ABOUT, STATUS, seen).published.status == STATUS


def test_a_thousand_cards_have_room() -> None:
    status = {"cards": rows(1_000), "columns": {"cards": "x"}}
    assert StatusAnnotation().fitted(status, StatusAnnotation().seen({})) is status


@pytest.mark.parametrize("used", [0, 3, 300])
def test_rows_that_nobody_uses_go_first_where_there_is_little_room(used: int) -> None:
    """The annotations of an object have a bound together; a quota may be long."""
    place, status = StatusAnnotation(), {"cards": rows(1_000, used), "columns": {"cards": "x"}}
    others = {"a": "x" * 200_000, "b": "y" * 50_000}
    seen = place.seen({"metadata": {"annotations": others}})
    found = place.fitted(status, seen)
    assert found is not None
    kept = found["cards"]
    assert 100 < len(kept) < 300
    assert found["cardsLeftOut"] == 1_000 - len(kept)
    assert found["columns"] == status["columns"]
    in_use = [row for row in kept if row["allocated"]]
    assert len(in_use) == min(used, len(kept))
    assert kept == sorted(kept, key=lambda row: str(row["name"]))
    text = place.write(ABOUT, found, seen).published.text
    assert text is not None
    whole = {**others, v.STATUS: text}
    assert sum(len(key) + len(one) for key, one in whole.items()) <= 262_144
    # What is stored then is what is wanted: nothing more is written.
    assert place.seen({"metadata": {"annotations": whole}}).status == found


def test_the_bound_is_in_bytes_whatever_the_letters() -> None:
    """As the API server counts; a name may have three bytes for each letter."""
    long = [{"name": "\u6f22" * 250 + str(n), "quota": 1, "allocated": 1} for n in range(1_000)]
    place, others = StatusAnnotation(), {"a": "\u6f22" * 80_000}
    for there, most in (({}, LONGEST_TEXT), (others, 262_144 - 240_001 - len(v.STATUS))):
        seen = place.seen({"metadata": {"annotations": there}})
        found = place.fitted({"cards": long}, seen)
        assert found is not None
        assert found["cardsLeftOut"] == 1_000 - len(found["cards"])
        text = place.write(ABOUT, found, seen).published.text
        assert text is not None
        # A row has some 1,500 bytes, for the letters are escaped.
        assert most - 2_000 < len(text.encode()) <= most


def test_where_there_is_no_room_at_all_nothing_is_written() -> None:
    place = StatusAnnotation()
    seen = place.seen({"metadata": {"annotations": {"a": "x" * 262_100}}})
    assert place.fitted(STATUS, seen) is None


@pytest.mark.parametrize("text", ["<A>", "a & b", "\u00e9\u2028", "\x7f\n\t\x00", '\\u003c "x"'])
def test_the_text_is_written_as_the_api_server_writes_it(text: str) -> None:
    """Its test of a patch compares how a string is written: `<` is not `\\u003c` there."""
    place, status = StatusAnnotation(), {**STATUS, "conditions": [{"type": "T", "message": text}]}
    first = place.write(ABOUT, status, place.seen({}))
    written = first.published.text
    assert written is not None
    assert all(" " <= letter <= "~" and letter not in "<>&" for letter in written)
    assert json.loads(written) == status
    # So the next write may test it.
    assert place.write(ABOUT, STATUS, place.seen(noted(written))).content_type == JSON_PATCH


@pytest.mark.parametrize("foreign", ["<", "a & b", "\u00e9", "\n"])
def test_a_text_that_cannot_be_ours_is_replaced_without_a_test(foreign: str) -> None:
    """A test would fail for ever, however long nobody writes anything else."""
    place = StatusAnnotation()
    write = place.write(ABOUT, STATUS, place.seen(noted(foreign)))
    assert write.content_type == MERGE_PATCH


def test_a_text_that_is_known_is_not_read_again() -> None:
    place = StatusAnnotation()
    known = place.seen(noted(json.dumps(STATUS)))
    again = place.seen(noted(json.dumps(STATUS), other="x" * 200_000), known)
    assert again.status is known.status
    assert again.room < known.room
    assert place.seen(noted("{}"), known).status == {}
    assert place.seen({"metadata": {"annotations": {}}}, known).text is None
