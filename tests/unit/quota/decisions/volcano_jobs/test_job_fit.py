"""V4: How many pods of a Job fit now, and what is said of its `card.request`."""

import pytest

from builders import H200, H800, a_pod, a_queue
from builders.pod import PodBody
from builders.volcano_job import VolcanoJobBody
from cardquota.quota.decisions.volcano_jobs.job_write import JobFit
from cardquota.quota.limits import ALTERNATIVES, GANG_KINDS, JOB_ALTERNATIVES

from .written_jobs import (
    GROUP,
    PLAIN,
    RED,
    a_job,
    a_template,
    a_world,
    holding,
    of_the_job,
    write,
    write_in,
)

BOTH = a_queue("red").with_quota({H200: 3, H800: 2})
EITHER = f"{H200}|{H800}"


def taken(cards: int, card: str = H200, cpu: str = "0") -> PodBody:
    """Somebody else's pod, which holds so many cards."""
    body = (
        a_pod("other")
        .with_uid("other")
        .in_queue("red")
        .naming(card)
        .asking_for(cards)
        .with_cpu(cpu)
    )
    return body.stamped("red", {card: cards}).on_node("h200-a" if card == H200 else "h800-a")


def lacks(what: str, asked: int, would_be: int, quota: int) -> str:
    return (
        f"Queue <red> has insufficient <{what}> quota: requested <{asked}>, "
        f"total would be <{would_be}>, but capability is <{quota}>"
    )


def test_nothing_is_said_if_all_fit() -> None:
    verdict = write(a_job(3))
    assert (verdict.fit, verdict.waits, verdict.warnings) == (None, (), ())


def test_nothing_is_said_without_cards_and_quota() -> None:
    assert write(a_job(1_000, PLAIN), a_queue("red")).fit is None


def test_a_gang_fits_whole_or_not_at_all() -> None:
    why = lacks(H200, 3, 4, 3)
    assert write(a_job(3), RED, taken(1)).fit == JobFit(3, 0, why)
    assert write(a_job(2), RED, taken(1)).fit is None


def test_beyond_the_minimum_pods_fit_one_by_one() -> None:
    fit = write(a_job(5, least=1).of(1), RED, taken(1)).fit
    why = lacks(H200, 1, 4, 3)
    assert fit == JobFit(5, 2, why)
    assert write(a_job(10**9, least=1).of(1)).fit is not None


def test_the_minimum_of_each_task_comes_first_then_the_others_in_order() -> None:
    job = a_job(9, least=1).with_task("head", 2, a_template(), 1).of(2)
    fit = write(job).fit
    assert fit is not None
    assert fit.fits == 3
    fit = write(job.of(3), RED, taken(1)).fit
    assert fit is not None
    assert fit.fits == 0


def test_pods_with_a_choice_fit_if_they_can_be_assigned_together() -> None:
    job = a_job(2, a_template(card=EITHER)).with_task("rest", 3, a_template())
    assert write(job, BOTH).fit is None
    fit = write(job, BOTH, taken(1, H800)).fit
    assert fit is not None
    assert fit.fits == 0
    assert lacks(H200, 5, 5, 3) in fit.why


def test_cpu_counts_too() -> None:
    queue = a_queue("red").with_quota({H200: 9}).limited_to(cpu="4")
    job = a_job(3, a_template().with_cpu("1"), 0).of(1)
    fit = write(job, queue, taken(1, cpu="1")).fit
    assert fit is None
    fit = write(job, queue, taken(1, cpu="3")).fit
    why = lacks("cpu", 1, 5, 4)
    assert fit == JobFit(3, 1, why)


def test_pods_on_their_way_count_as_held() -> None:
    waiting = a_pod("p").with_uid("p").in_queue("red").naming(H200).asking_for(2).gated()
    fit = write(a_job(2), RED.with_policy("Deny"), waiting).fit
    assert fit is not None
    assert fit.fits == 0


def test_its_own_pods_keep_what_they_hold() -> None:
    own = [holding(n) for n in range(2)]
    grown = a_job(4, least=2).of(2)
    fit = write(grown, RED, GROUP.of(2), *own, before=a_job(2)).fit
    assert fit is not None
    assert (fit.asked, fit.fits) == (4, 3)
    assert write(a_job(3, least=2).of(2), RED, GROUP.of(2), *own, before=a_job(2)).fit is None


def test_once_enough_of_them_hold_something_the_others_follow_one_by_one() -> None:
    """Whichever tasks those are of."""
    own = [holding(n, "other") for n in range(2)]
    job = a_job(3, least=0).with_task("other", 3, a_template(), 0).of(2)
    fit = write(job, RED, GROUP.of(2), *own, before=job.of(1)).fit
    assert fit is not None
    assert (fit.asked, fit.fits) == (6, 3)


def test_those_at_the_gate_and_those_that_go_hold_nothing_for_it() -> None:
    own = (holding(0).terminating(), of_the_job(1), of_the_job(2))
    fit = write(a_job(3, least=2).of(2), RED, GROUP.of(2), *own, before=a_job(2)).fit
    assert fit is not None
    assert fit.fits == 2
    other = holding(0).owned_by("Job", name="train")  # of Kubernetes
    fit = write(a_job(3), RED, other, before=a_job(2)).fit
    assert fit is not None
    assert fit.fits == 0


def test_pods_of_a_former_job_of_this_name_are_not_its_own() -> None:
    fit = write(a_job(3), RED, holding(0)).fit
    assert fit is not None
    assert fit.fits == 0


def test_what_is_reserved_for_it_is_its_own() -> None:
    ledger = a_world(RED, GROUP.of(3).requesting({H200: 3}).enqueued("red", {H200: 3}))
    fit = write_in(ledger, a_job(4, least=3).of(3), a_job(3, least=3).of(3)).fit
    assert fit is not None
    assert fit.fits == 3
    fit = write_in(ledger, a_job(3).put("other", "metadata", "name")).fit
    assert fit is not None
    assert fit.fits == 0


def test_of_very_many_different_requests_nothing_is_counted() -> None:
    job = a_job(0)
    for n in range(GANG_KINDS.most + 1):
        job = job.with_task(f"t{n}", 9, a_template().with_cpu(f"{n + 1}m"), 0)
    assert write(job.of(1)).fit is None


def test_nothing_is_counted_where_nodes_are_named_that_have_no_card() -> None:
    job = a_job(9, a_template().made_for("4090-a"))
    verdict = write(job)
    assert verdict.fit is None
    assert len(verdict.warnings) == 1


# --- card.request ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("job", "request_"),
    [
        (a_job(2), {H200: 2}),
        (a_job(2).with_task("head", 1, PLAIN), {H200: 2}),
        (a_job(2, a_template(card=EITHER)), {EITHER: 2}),
        (a_job(2, a_template(card=EITHER)), {H200: 1, H800: 1}),
        (a_job(2, a_template(card=None)), {H200: 2}),
        (a_job(9, least=1).of(2), {H200: 2}),
        (a_job(2, least=0).with_task("head", 2, PLAIN, 0).of(2), {H200: 1}),
    ],
)
def test_a_request_that_agrees_with_the_tasks(
    job: VolcanoJobBody, request_: dict[str, int]
) -> None:
    assert write(job.requesting(request_), BOTH).warnings == ()


@pytest.mark.parametrize(
    ("job", "request_", "says"),
    [
        (
            a_job(2),
            {H200: 1},
            f"says <1> of <{H200}>, but its minimum of 2 pods asks for <2> of <{H200}>",
        ),
        (
            a_job(1),
            {H200: 3},
            f"says <3> of <{H200}>, but its minimum of 1 pod asks for <1> of <{H200}>",
        ),
        (
            a_job(2),
            {H800: 2},
            f"says <2> of <{H800}>, but its minimum of 2 pods asks for <2> of <{H200}>",
        ),
        (a_job(2), {H200: 1, H800: 1}, f"asks for <2> of <{H200}>"),
        (a_job(2, PLAIN), {H200: 1}, "asks for <0> cards"),
        (
            a_job(2, least=0).with_task("h", 2, PLAIN, 0).of(3),
            {H200: 3},
            "asks for <1> to <2> cards",
        ),
    ],
)
def test_a_request_that_disagrees_is_told(
    job: VolcanoJobBody, request_: dict[str, int], says: str
) -> None:
    verdict = write(job.requesting(request_), BOTH)
    assert not verdict.refusal
    (said,) = verdict.warnings
    assert said.startswith("volcano.sh/card.request says ")
    assert says in said


def test_what_is_told_of_pods_is_told_of_a_job() -> None:
    zero = a_queue("red").with_quota({"NVIDIA-NEW": 2})
    verdict = write(a_job(1, a_template(card="NVIDIA-NEW")), zero)
    assert verdict.warnings == (
        "no node has card <NVIDIA-NEW> at present: the pod waits until one has",
    )
    old = a_job(1, a_pod().asking_for(1).annotated("volcano.sh/card.card", H200))
    (said,) = write(old).warnings
    assert "is an old name; write volcano.sh/card.name" in said


def test_a_dry_count_leaves_nothing_behind() -> None:
    ledger = a_world(BOTH, taken(1))
    account = ledger.account("red")
    assert account is not None
    before = {name: row.charged for name, row in account.rows.items()}
    first = write_in(ledger, a_job(6, a_template(card=EITHER), 1).of(1))
    assert write_in(ledger, a_job(6, a_template(card=EITHER), 1).of(1)) == first
    assert {name: row.charged for name, row in account.rows.items()} == before


@pytest.mark.parametrize(("more", "judged"), [(0, True), (1, False)])
def test_of_too_many_alternatives_nothing_is_said_together(more: int, *, judged: bool) -> None:
    """P8: each pod is judged all the same."""
    each, tasks = ALTERNATIVES.most, JOB_ALTERNATIVES.most // ALTERNATIVES.most
    cards = [[f"C{task}-{n}" for n in range(each - 1)] for task in range(tasks)]
    quota = dict.fromkeys([card for some in cards for card in some], 0)
    queue = a_queue("red").with_quota({**quota, H200: 1})
    job = a_job(9, a_template(card="|".join([H200, *cards[0]])), 0)
    for task in range(1, tasks):
        template = a_template(card="|".join([H200, *cards[task]]))
        job = job.with_task(f"t{task}", 9, template, 0)
    if more:
        job = job.with_task("more", 9, a_template(card=H200), 0)
    assert (write(job.of(1), queue).fit is not None) is judged
    assert bool(write(job.of(2), queue).refusal) is judged
    assert write(job.of(1).with_task("x", 1, a_template(9)), queue).refusal
