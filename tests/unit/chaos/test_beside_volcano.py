"""V3, E5: what a run says of Volcano's Jobs, and of what Volcano enqueues."""

from pathlib import Path
from typing import Any

import pytest

from chaos.breakages.broken import BREAKAGES
from chaos.clients.objects import CARD_OF_NODE, NAMESPACE, A, B
from chaos.clients.volcano_objects import volcano_job
from chaos.judging.agreement import of_status
from chaos.judging.fitting import fitting
from chaos.judging.job_agreement import stuck
from chaos.judging.recount import Recount
from chaos.judging.refused_jobs import refused_for_quota
from chaos.judging.volcano_enqueues import VOTED
from chaos.lengths import SHORT, beside_volcano, full
from chaos.replay import Replay, replay

from .story import Story


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path).queue("q", {A: 3})


def shown(story: Story) -> Replay:
    return replay(story.file, volcano=True)


def found(story: Story) -> list[str]:
    return [violation.what for violation in shown(story).violations]


def fits(story: Story) -> list[str]:
    return fitting(shown(story).recount, "q")


# --- what Volcano enqueues ----------------------------------------------------------------------


def test_a_job_that_is_reserved_first_is_enqueued_rightly(story: Story) -> None:
    story.of_a_job("g", "").of_a_job("g", "Pending").of_a_job("g", "Pending", 2)
    story.of_a_job("g", "Inqueue", 2)
    assert found(story) == []
    assert shown(story).counts["groups enqueued by Volcano, and judged"] == 1


@pytest.mark.parametrize("asks", [{A: 2}, None])
def test_one_that_is_not_is_found(story: Story, asks: dict[str, int] | None) -> None:
    """Also where its queue has one card, and it need not say which."""
    story.of_a_job("g", "", asks=asks).of_a_job("g", "Inqueue", asks=asks)
    assert found(story) == [
        f"{NAMESPACE}/g is enqueued by Volcano, asks for 2 of {A}, and nothing is reserved"
    ]


def test_a_vote_may_be_old_when_volcano_writes_but_not_of_another_age(story: Story) -> None:
    story.of_a_job("g", "").of_a_job("g", "", 2).of_a_job("g", "").pause(5)
    assert found(story.of_a_job("g", "Inqueue")) == []
    story.of_a_job("late", "").of_a_job("late", "", 2).of_a_job("late", "").pause(VOTED + 1)
    assert len(found(story.of_a_job("late", "Inqueue"))) == 1


def test_what_was_reserved_for_another_of_its_name_says_nothing(story: Story) -> None:
    story.of_a_job("g", "", 2).put("group", "g", None).of_a_job("g", "", uid="new")
    assert len(found(story.of_a_job("g", "Inqueue", uid="new"))) == 1


def test_of_several_cards_nothing_is_known_and_of_its_pods_the_gates_decide(story: Story) -> None:
    story.queue("q", {A: 3, B: 1}).of_a_job("g", "").of_a_job("g", "Inqueue")
    assert found(story) == []
    story.of_a_job("there", "", asks={A: 2})
    story.waits("a", group="there").waits("b", group="there").of_a_job("there", "Inqueue")
    assert found(story) == []


# --- what waits to be enqueued ------------------------------------------------------------------


def test_a_job_that_volcano_asks_about_and_that_fits_is_named(story: Story) -> None:
    story.of_a_job("g", "Pending").waits("x", 2)
    assert fits(story) == ["x", f"{NAMESPACE}/g, to be enqueued,"]
    assert fits(story.opens("x")) == []


def test_one_that_volcano_has_enqueued_is_not_asked_about_again(story: Story) -> None:
    assert fits(story.of_a_job("g", "", 2).of_a_job("g", "Inqueue")) == []


def test_one_whose_time_was_over_is_asked_about_again(story: Story) -> None:
    story.of_a_job("g", "", 2).of_a_job("g", "Pending")
    assert fits(story) == [f"{NAMESPACE}/g, to be enqueued,"]


def test_one_whose_card_only_its_job_names_fits_where_each_has_room(story: Story) -> None:
    story.queue("q", {A: 2, B: 2}).of_a_job("g", "")
    assert fits(story) == [f"{NAMESPACE}/g, to be enqueued,"]
    story.waits("x").opens("x")
    assert fits(story) == []


def test_alone_such_a_group_asks_for_nothing(story: Story) -> None:
    story.of_a_job("g", "Pending")
    assert fitting(replay(story.file).recount, "q") == []


# --- Jobs ---------------------------------------------------------------------------------------


def test_a_job_that_volcano_ended_for_refused_pods_is_told_once(story: Story) -> None:
    story.job("j").job("j", "PodsRefused").job("j", "PodsRefused").job("other")
    assert found(story) == ["Job j was ended by Volcano since its pods were refused"]


def test_a_pod_of_a_job_may_be_refused_by_others_and_not_for_quota_by_us() -> None:
    def event(kind: str, message: str) -> dict[str, Any]:
        about = {"kind": kind, "name": "j"}
        return {"reason": "FailedCreate", "involvedObject": about, "message": message}

    no = "admission webhook denied the request: Queue <q> has insufficient <A> quota"
    events = [event("ReplicaSet", no), event("Job", "exceeded quota: chaos"), event("Job", no)]
    assert refused_for_quota(events) == [f"a pod of Job j was refused: {no}"]


def a_job(phase: str, pods: int = 2) -> dict[str, Any]:
    job = volcano_job("j", "me", "q", A, pods, pods, seconds=1, says=True)
    job["metadata"]["uid"] = "1"
    return {**job, "status": {"state": {"phase": phase}}}


def told(story: Story, phase: str) -> list[str]:
    return stuck([a_job(phase)], shown(story).recount)


def test_a_job_that_goes_on_is_not_stuck(story: Story) -> None:
    story.of_a_job("j-1", "Inqueue", 2).waits("a", group="j-1").waits("b", group="j-1")
    assert told(story, "Pending") == []
    assert told(story.opens("a").runs("a").opens("b").runs("b"), "Running") == []
    assert told(story.runs("a", phase="Succeeded"), "Running") == []


def test_one_that_waits_to_be_enqueued_needs_no_pods(story: Story) -> None:
    assert told(story.of_a_job("j-1", "Pending"), "Pending") == []


def test_one_that_was_let_through_is_to_be_bound(story: Story) -> None:
    story.of_a_job("j-1", "Inqueue", 2).waits("a", group="j-1").waits("b", group="j-1").opens("a")
    assert told(story, "Pending") == [
        "Job j has pods that are let through and not bound: ['a']",
    ]


def test_one_that_lacks_pods_or_its_group_is_stuck(story: Story) -> None:
    assert told(story, "Pending") == ["Job j has no pod group"]
    story.of_a_job("j-1", "Inqueue", 2).waits("a", group="j-1")
    assert told(story, "Pending") == ["Job j lacks 1 pods, and is Inqueue"]


def test_one_that_has_ended_is_not_and_one_that_never_ends_is(story: Story) -> None:
    assert told(story, "Completed") == []
    assert told(story, "Aborting") == ["Job j is still Aborting"]


def test_a_pod_of_a_job_is_in_the_queue_of_the_job() -> None:
    """Volcano writes it under another key; its group may be gone."""
    recount = Recount(NAMESPACE, CARD_OF_NODE, volcano=True)
    notes = {"volcano.sh/queue-name": "q", "volcano.sh/card.name": A}
    gates = [{"name": "volcano.sh/card-quota"}]
    spec = {"schedulingGates": gates, "containers": []}
    recount.apply("pod", "p", {"metadata": {"name": "p", "annotations": notes}, "spec": spec})
    assert [pod.key for pod in recount.waiting("q")] == ["p"]


# --- the rest -----------------------------------------------------------------------------------


def test_where_the_status_has_no_room_the_annotation_has_the_numbers() -> None:
    note = f'{{"cards": [{{"name": "{A}", "allocated": 2, "inqueue": 1}}]}}'
    meta = {"name": "q", "annotations": {"volcano.sh/card.status": note}}
    assert of_status([{"metadata": meta, "status": {"allocated": {}}}]) == {("q", A): (2, 1, 0)}


def test_a_run_beside_volcano_keeps_its_lengths_and_has_faults_of_its_own() -> None:
    short = beside_volcano(SHORT)
    assert set(SHORT.faults) < set(short.faults)
    assert beside_volcano(full(480)).faults == ()
    assert beside_volcano(full(480)).config["scheduler"] == "volcano"


def test_what_a_breakage_is_of_is_there_or_nothing_is_broken() -> None:
    assert {breakage.of for breakage in BREAKAGES.values()} == {"", "extender", "volcano"}
