"""L5: what ends for somebody is written on him, and read as no more than we can have written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import CARDS, H200, a_group, a_ledger, a_pod, a_queue, see
from cardquota.quota import vocabulary as v
from cardquota.quota.plan_record import PlanRecord, plan_text, read_plan
from cardquota.quota.reclaim.plan import ReclaimWay

PLAN = PlanRecord("host_1", 1_800_000_000, "reclaim", H200, ("uid-a", "uid-b"))
TIMES = st.integers(1, 4_000_000_000)
NAMES = st.text(min_size=1, max_size=16)


def test_it_names_term_time_card_and_victims() -> None:
    assert json.loads(plan_text(PLAN)) == {
        "term": "host_1",
        "since": "2027-01-15T08:00:00Z",
        "way": "reclaim",
        "card": H200,
        "victims": ["uid-a", "uid-b"],
    }
    given_up = json.loads(plan_text(PLAN._replace(gave_up=1_800_000_060)))
    assert given_up["gaveUp"] == "2027-01-15T08:01:00Z"


WAYS = st.sampled_from([*ReclaimWay])


@given(st.builds(PlanRecord, NAMES, TIMES, WAYS, NAMES, st.tuples(NAMES, NAMES), TIMES))
def test_it_is_read_back(plan: PlanRecord) -> None:
    assert read_plan(plan_text(plan)) == plan
    assert read_plan(plan_text(plan._replace(gave_up=0))) == plan._replace(gave_up=0)


def without(key: str) -> str:
    return json.dumps({k: value for k, value in json.loads(plan_text(PLAN)).items() if k != key})


def changed(**values: object) -> str:
    return json.dumps({**json.loads(plan_text(PLAN)), **values})


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "3", "null", "[" * 8_000),
        *map(without, ("term", "since", "way", "card", "victims")),
        *(
            changed(term=3),
            changed(since="soon"),
            changed(way="other"),
            changed(way=[]),
            changed(card=None),
        ),
        *(changed(victims="uid-a"), changed(victims=[3]), changed(victims=["u" * 65])),
        *(changed(gaveUp="later"), changed(gaveUp=7)),
    ],
)
def test_text_that_is_none_of_ours_reads_as_none(text: str) -> None:
    assert read_plan(text) is None


def test_the_ledger_knows_it_of_who_waits_alone() -> None:
    pod = a_pod("a").in_queue("red").asking_for(1).annotated(v.RECLAIM_PLAN, plan_text(PLAN))
    group = a_group("gang").in_queue("red").annotated(v.RECLAIM_PLAN, plan_text(PLAN))
    red = a_queue("red").with_quota({H200: 4})
    ledger = a_ledger(*CARDS, red, group, pod.managed().gated())
    assert dict(ledger.plans) == {"uid-a": PLAN, "team/gang": PLAN}
    stamped = pod.stamped("red", {H200: 1}).at_revision(2)
    see(ledger, stamped)
    assert "uid-a" in ledger.plans
    # It has a node: nothing ends for it any more.
    see(ledger, stamped.on_node("h200-a").at_revision(3))
    assert "uid-a" not in ledger.plans
    see(ledger, a_group("gang").in_queue("red").at_revision(2))
    assert dict(ledger.plans) == {}
    see(ledger, group.at_revision(3))
    ledger.group_gone("team/gang")
    assert dict(ledger.plans) == {}


def test_beside_no_label_of_ours_it_is_somebody_elses() -> None:
    pod = a_pod("a").in_queue("red").annotated(v.RECLAIM_PLAN, plan_text(PLAN))
    assert pod.facts().plan is None
