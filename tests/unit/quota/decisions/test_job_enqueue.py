"""V3: what a Job's group is enqueued with: what its pods ask for, if the Job does not say it."""

import pytest

from builders import H200, H800, Body, a_group, a_queue
from builders.volcano_job import VolcanoJobBody
from cardquota.quota import to_its_end
from cardquota.quota.decisions.volcano import EnqueueRequest, request_of_job
from cardquota.quota.ledger.groups import GroupRequest, job_of
from cardquota.quota.messages import gang_messages

from .written_jobs import PLAIN, RED, a_job, a_template, a_world

UID = "11111111-2222-3333-4444-555555555555"
FACTS = a_group(f"train-{UID}").in_queue("red").of(2).facts()
SAID = EnqueueRequest(GroupRequest(cpu_memory=(("cpu", 1_000),)), exact=True)


def asks(job: VolcanoJobBody, *things: Body) -> EnqueueRequest | None:
    ledger = a_world(*(things or (RED,)))
    return to_its_end(request_of_job(ledger, job.written(), FACTS, SAID))


def cards(found: EnqueueRequest | None) -> dict[str, int]:
    assert found is not None
    assert found.exact
    assert found.request.cpu_memory == SAID.request.cpu_memory
    return {"|".join(row.cards): row.number for row in found.request.cards}


@pytest.mark.parametrize(
    ("job", "found"),
    [
        (a_job(2, a_template(1, H800)), {H800: 2}),
        (a_job(2, a_template(3, None)), {H200: 6}),
        (a_job(3, a_template(1), 2).of(2), {H200: 2}),
        (a_job(1).with_task("ps", 2, a_template(2, H800)), {H200: 1, H800: 4}),
        (a_job(1).with_task("ps", 9, PLAIN), {H200: 1}),
    ],
)
def test_the_cards_of_the_pods_that_start_together(
    job: VolcanoJobBody, found: dict[str, int]
) -> None:
    assert cards(asks(job)) == found


def test_a_choice_stays_one() -> None:
    both = a_queue("red").with_quota({H200: 3, H800: 2})
    assert cards(asks(a_job(2, a_template(1, f"{H800}|{H200}")), both)) == {f"{H800}|{H200}": 2}


def test_without_cards_it_asks_for_none() -> None:
    assert asks(a_job(2, PLAIN)) is None


@pytest.mark.parametrize(
    "job",
    [
        a_job(9, least=3).of(3).with_task("ps", 9, a_template(1, H800), 3),
        a_job(2, a_template(1, "NVIDIA-Unknown")),
    ],
)
def test_where_it_is_not_known_nothing_is_reserved(job: VolcanoJobBody) -> None:
    assert asks(job) == SAID._replace(exact=False)


def test_whose_group_it_is() -> None:
    assert job_of(f"team/train-{UID}") == "team/train"
    assert job_of("team/train") == ""


def test_v7_who_does_not_run_on_several_cards_is_told_what_to_set() -> None:
    plain = gang_messages.reservation_expired("red", 0, 2, 300, ())
    mixed = gang_messages.reservation_expired("red", 0, 2, 300, (), mixed=True)
    assert mixed.startswith(plain)
    assert mixed.endswith("needs predicateErrorCacheEnable: false for allocate")
