"""V4: A Job of Volcano is refused for what its pods would be refused for, and for nothing else."""

import pytest

from builders import H200, H800, a_namespace, a_pod, a_queue, a_volcano_job
from builders.body import Body
from builders.pod import PodBody
from builders.volcano_job import VolcanoJobBody
from cardquota.quota import GANG_KINDS, Reason
from cardquota.quota import vocabulary as v

from .written_jobs import PLAIN, RED, a_job, a_template, write

LIMITED = a_queue("red").with_quota({H200: 3}).limited_to(cpu="4", memory="4Gi")
BOTH = a_queue("red").with_quota({H200: 3, H800: 2})
EITHER = f"{H200}|{H800}"


@pytest.mark.parametrize(
    ("job", "says"),
    [
        (a_job(1, a_template(4)), f"a pod of task <worker>: Queue <red> has insufficient <{H200}>"),
        (
            a_job(1, a_template(card="H2000")),
            "a pod of task <worker>: Queue <red>, requested <1> of <H2000>",
        ),
        (a_job(1, a_template(card="A||B")), "volcano.sh/card.name cannot be read"),
        (a_job(1, a_template().asking_for("1.5")), "task <worker>"),
        (a_job(1, a_template(-1)), "task <worker>"),
        (a_job(1, a_pod().naming(H200)), "no container asks for a card resource"),
        (
            a_job(1, a_template().in_queue("blue")),
            "<blue> and volcano.sh/queue-name <red> disagree",
        ),
        (a_job(1, a_template().on_node("h200-a")), "names its node <h200-a>"),
        (a_job().requesting("[]"), "volcano.sh/card.request cannot be read"),
        (a_job().requesting({H200: 4}), "requested <4>, total would be <4>, but capability is <3>"),
        (a_job().requesting({"H2000": 1}), "card <H2000> is not known"),
    ],
)
def test_what_can_never_be_right_is_refused(job: VolcanoJobBody, says: str) -> None:
    verdict = write(job)
    assert says in verdict.text
    assert verdict.text.startswith("Job <team/train> can never run: ")
    assert verdict.reason in (Reason.INVALID_CARD, Reason.INSUFFICIENT_CARD, Reason.NODE_NAMED)


def test_devices_that_are_claimed_are_refused_where_that_is_enforced() -> None:
    job, enforced = (
        a_job(1, PLAIN.claiming_devices()),
        a_namespace("team").labelled(v.NAMESPACE_MODE, "enforced"),
    )
    assert write(job, RED, enforced).reason is Reason.DEVICE_CLAIMED
    assert not any((write(job).text, write(job).warnings))


@pytest.mark.parametrize(
    "job",
    [
        a_job(3),
        a_job(0, a_template(9)),
        a_job(-1, a_template(9)),
        a_job(9, least=3).of(3),
        a_job(10**9, least=1).of(1),
        a_job(9).of(3),  # the minimum of the task is more than the Job's: Volcano waits for any
        a_job(1).with_task("ps", 9, PLAIN),
        a_job(9, least=0).with_task("ps", 9, PLAIN, 0).of(9),
        a_volcano_job(),
        a_volcano_job().put(None, "spec", "tasks"),
    ],
)
def test_what_may_run_is_admitted(job: VolcanoJobBody) -> None:
    assert not write(job).text


@pytest.mark.parametrize(
    ("job", "pods", "asks"),
    [
        (a_job(4), 4, 4),
        (a_job(2, a_template(2)), 2, 4),
        (a_job(9, least=4).of(4), 4, 4),
        (a_job(9).of(4), 4, 4),
        (a_job(9, least=2).of(4), 4, 4),
        (a_job(9, least=1).with_task("ps", 2, PLAIN, 0).of(6), 6, 4),
        (a_job(3).with_task("head", 1, a_template()), 4, 4),
        (a_job(4, a_template(2), 1).with_task("small", 1, a_template(), 0).of(3), 3, 5),
        (a_job(10**9), 10**9, 10**9),
    ],
)
def test_a_minimum_that_is_more_than_the_quota_is_refused(
    job: VolcanoJobBody, pods: int, asks: int
) -> None:
    verdict = write(job)
    assert verdict.reason is Reason.INSUFFICIENT_CARD
    assert f"its minimum of {pods} pods, which start together: Queue <red> has" in verdict.text
    assert f"requested <{asks}>, total would be <{asks}>, but capability is <3>" in verdict.text
    assert "let fewer pods start together" in verdict.text


@pytest.mark.parametrize(
    ("pods", "refused"),
    [(5, False), (6, True)],
)
def test_a_choice_of_cards_is_judged_by_sums(pods: int, *, refused: bool) -> None:
    assert bool(write(a_job(pods, a_template(card=EITHER)), BOTH).text) is refused
    some = a_job(9, a_template(card=EITHER), 0).of(pods)
    assert bool(write(some, BOTH).text) is refused
    # H200 alone has room for three, whatever the others get.
    mixed = a_job(3).with_task("any", pods - 3, a_template(card=EITHER))
    assert bool(write(mixed, BOTH).text) is refused


def test_who_competes_for_a_card_is_counted_and_nobody_else() -> None:
    job = a_job(4).with_task("other", 2, a_template(card=H800)).with_task("head", 1, PLAIN)
    job = job.with_task("later", 1, a_template(2), 0).of(7)
    said = write(job, BOTH).text
    assert f"<{H200}> quota: requested <4>" in said
    assert H800 not in said


def test_amounts_that_cards_cannot_serve_are_counted() -> None:
    """Two of three cards are of use to pods that ask for two, and one H800."""
    assert not write(a_job(2, a_template(2, EITHER)), BOTH).text
    assert write(a_job(3, a_template(2, EITHER)), BOTH).text
    odd = a_queue("red").with_quota({H200: 3, H800: 3})
    said = write(a_job(3, a_template(2, EITHER)), odd).text
    assert "requested <6>" in said


def test_of_pods_that_volcano_may_choose_those_elsewhere_count() -> None:
    """Four of a card with three: one of the other task may start instead."""
    job = a_job(4, least=0).with_task("ps", 1, PLAIN, 0)
    assert not write(job.of(4)).text
    assert write(job.of(5)).text


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (PLAIN.with_cpu("2"), Reason.INSUFFICIENT_CPU),
        (a_pod().with_memory("2Gi"), Reason.INSUFFICIENT_MEMORY),
    ],
)
def test_cpu_and_memory_count_too(template: PodBody, reason: Reason) -> None:
    assert not write(a_job(2, template), LIMITED).text
    assert not write(a_job(9, template, 0).of(2), LIMITED).text
    assert write(a_job(3, template), LIMITED).reason is reason
    assert write(a_job(9, template, 0).of(3), LIMITED).reason is reason
    assert not write(a_job(9, template)).text


def test_a_minimum_that_asks_for_too_many_different_things_is_refused() -> None:
    job = a_job(0)
    for n in range(GANG_KINDS.most + 1):
        job = job.with_task(f"t{n}", 1, a_pod().with_cpu(f"{n + 1}m"))
    said = write(job).text
    assert f"asks for more than <{GANG_KINDS.most}> different things" in said
    assert not write(job.of(1)).text


@pytest.mark.parametrize(
    ("job", "queue", "reason"),
    [
        (a_job().in_queue("gone"), RED, Reason.QUEUE_NOT_FOUND),
        (a_job().in_queue(None), RED, Reason.QUEUE_NOT_FOUND),
        (a_job(), RED.closed(), Reason.QUEUE_NOT_OPEN),
        (a_job(), RED.open_to("other"), Reason.QUEUE_NOT_OPEN),
        (a_job(1, a_template(card=H800)), RED, Reason.CARD_NOT_IN_QUOTA),
        (a_job(9), RED.with_quota({}), Reason.CARD_NOT_IN_QUOTA),
    ],
)
def test_what_an_administrator_can_change_is_no_reason(
    job: VolcanoJobBody, queue: Body, reason: Reason
) -> None:
    both = job.with_task("more", 2, a_template(card=H800))
    for one in (job, both, both.requesting({H200: 2})):
        assert not write(one, queue).text


def test_the_rest_is_judged_where_one_task_waits_for_the_administrator() -> None:
    job = a_job(1, a_template(card=H800)).with_task("more", 4, a_template())
    assert write(job).reason is Reason.INSUFFICIENT_CARD
    assert not write(job.with_task("more", 3, a_template())).text


def test_v4_a_partition_policy_is_told_and_not_supported() -> None:
    job = a_job(2)
    job.body["spec"]["tasks"][0]["partitionPolicy"] = {"totalPartitions": 2, "partitionSize": 1}
    (said,) = write(job).warnings
    assert said.startswith("task <worker> has a partitionPolicy: not supported")
    job.body["spec"]["tasks"][0]["partitionPolicy"] = None
    assert write(job).warnings == ()


def test_v4_a_task_that_waits_for_another_cannot_be_part_of_the_minimum() -> None:
    """What is reserved for it could never be used."""
    job = a_job(1).with_task("late", 2, a_template())
    job.body["spec"]["tasks"][1]["dependsOn"] = {"name": ["worker"]}
    (said,) = write(job).warnings
    assert said.startswith("task <late> has dependsOn, but all <3> pods must start together")
    assert write(job.of(1)).warnings == ()
