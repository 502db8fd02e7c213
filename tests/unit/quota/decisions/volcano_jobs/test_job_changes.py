"""V4: Of a Job that is there, only what a write makes worse is refused."""

import pytest

from builders import H200, H800, a_queue
from builders.volcano_job import VolcanoJobBody
from cardquota.quota.limits import GANG_KINDS

from .written_jobs import GROUP, PLAIN, RED, a_job, a_template, write

BOTH = a_queue("red").with_quota({H200: 3, H800: 3}).limited_to(cpu="8", memory="4Gi")
LARGE = a_job(5)
WRONG = a_job(2, a_template(card="H2000"))
HUGE = a_job(2, a_template(4))
SAID = a_job(2).requesting({H200: 9})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (LARGE, LARGE),
        (LARGE, a_job(4)),
        (LARGE, a_job(9, least=4).of(4)),
        (LARGE, LARGE.put(["keep"], "metadata", "finalizers")),
        (WRONG, WRONG),
        (WRONG, a_job(1, a_template(card="H2000"))),
        (HUGE, a_job(1, a_template(4))),
        (SAID, SAID.requesting({H200: 8})),
        (SAID, SAID),
    ],
)
def test_what_gets_no_worse_is_admitted_and_told(
    before: VolcanoJobBody, after: VolcanoJobBody
) -> None:
    """As when a quota was lowered after the Job was created."""
    verdict = write(after, before=before)
    assert not verdict.refusal
    assert any(text.startswith("train could not run before") for text in verdict.warnings)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (a_job(3), a_job(4)),
        (LARGE, a_job(6)),
        (a_job(9, least=3).of(3), a_job(9, least=4).of(4)),
        (WRONG, a_job(3, a_template(card="H2000"))),
        (WRONG, a_job(2, a_template(card="H3000"))),
        (HUGE, a_job(2, a_template(5))),
        (HUGE, a_job(3, a_template(4))),
        (a_job(2), HUGE),
        (a_job(2), SAID),
        (SAID, SAID.requesting({H200: 10})),
        (SAID, SAID.requesting("[")),
    ],
)
def test_what_gets_worse_is_refused(before: VolcanoJobBody, after: VolcanoJobBody) -> None:
    assert write(after, before=before).refusal


TWO = LARGE.with_task("other", 5, a_template(1, H800))
UNLIKE = a_job(0)
for _n in range(GANG_KINDS.most + 2):
    UNLIKE = UNLIKE.with_task(f"t{_n}", 2, PLAIN.with_cpu(f"{_n + 1}m"))


def scaled(job: VolcanoJobBody, **tasks: int) -> VolcanoJobBody:
    """With other numbers of pods of these tasks, all of which start together."""
    found = [dict(one) for one in job.body["spec"]["tasks"]]
    for one in found:
        one["replicas"] = tasks.get(one["name"], one["replicas"])
        one.pop("minAvailable", None)
    return job.put(found, "spec", "tasks")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TWO, scaled(TWO, worker=3)),  # now the other task is what is told
        (TWO, scaled(TWO, worker=2, other=4)),
        (HUGE.with_task("other", 5, a_template()), a_job(0).with_task("other", 5, a_template())),
        (LARGE.with_task("ps", 1, PLAIN), LARGE.with_task("ps", 5, PLAIN)),  # no card more
        (a_job(5, a_template().with_cpu("9")), a_job(3, a_template().with_cpu("9"))),
        (UNLIKE, scaled(UNLIKE, t0=1)),
        (UNLIKE, scaled(UNLIKE, t0=0)),
    ],
)
def test_a_scale_down_of_one_task_is_admitted_whatever_is_wrong_with_others(
    before: VolcanoJobBody, after: VolcanoJobBody
) -> None:
    verdict = write(after, BOTH, before=before)
    assert not verdict.refusal
    assert any(text.startswith("train could not run before") for text in verdict.warnings)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TWO, scaled(TWO, worker=3, other=6)),
        (a_job(3, PLAIN.with_cpu("3")), a_job(4, PLAIN.with_cpu("3"))),
        (UNLIKE, UNLIKE.with_task("more", 1, PLAIN.with_cpu("500m"))),
    ],
)
def test_what_another_task_makes_worse_is_refused(
    before: VolcanoJobBody, after: VolcanoJobBody
) -> None:
    assert write(before, BOTH).refusal
    assert write(after, BOTH, before=before).refusal


def test_a_scale_down_into_the_quota_says_nothing() -> None:
    assert write(a_job(3), before=LARGE).warnings == ()


def test_another_queue_is_judged_anew() -> None:
    small = a_queue("small").with_quota({H200: 1})
    assert write(a_job(2).in_queue("small"), RED, small, before=a_job(2)).refusal


@pytest.mark.parametrize("phase", ["Completed", "Failed", "Terminated"])
def test_a_job_that_is_over_makes_no_pods(phase: str) -> None:
    verdict = write(HUGE.in_phase(phase), before=a_job(2))
    assert (verdict.refusal, verdict.waits, verdict.warnings) == ("", (), ())
    assert write(HUGE.in_phase("Running"), before=a_job(2)).refusal


def test_a_request_that_is_changed_does_not_reach_the_pod_group() -> None:
    before, after = a_job(2).requesting({H200: 2}), a_job(3).requesting({H200: 3})
    says = "volcano.sh/card.request of a Job is copied to its PodGroup once: change it there too"
    assert says in write(after, RED, GROUP, before=before).warnings
    assert says not in write(after, RED, before=before).warnings
    assert says not in write(before.of(1), RED, GROUP, before=before).warnings


def test_what_waits_for_an_administrator_is_told_again() -> None:
    job = a_job(2, a_template(card=H800))
    assert write(job.of(1), before=job).waits
