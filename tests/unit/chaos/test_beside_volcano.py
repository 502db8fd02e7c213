"""V3, E5: what a run says of Volcano's Jobs once nothing is on its way any more."""

from pathlib import Path
from typing import Any

import pytest

from chaos.clients.objects import CARD_OF_NODE, NAMESPACE, A
from chaos.clients.volcano_objects import volcano_job
from chaos.judging.agreement import of_status
from chaos.judging.recount import Recount
from chaos.judging.volcano_judge import refused_for_quota, stuck
from chaos.replay import replay

from .story import Story

GROUP = "of_a_job j-1 Inqueue 2"


@pytest.mark.parametrize(
    ("steps", "phase", "said"),
    [
        (f"{GROUP}; waits a group=j-1; waits b group=j-1", "Pending", ""),
        (f"{GROUP}; waits a group=j-1; starts a; waits b group=j-1; starts b", "Running", ""),
        ("of_a_job j-1 Pending", "Pending", ""),
        ("waits x", "Completed", ""),
        (
            f"{GROUP}; waits a group=j-1; waits b group=j-1; opens a",
            "Pending",
            "Job j has pods that are released and not bound: ['a']",
        ),
        ("waits x", "Pending", "Job j has no pod group"),
        (f"{GROUP}; waits a group=j-1", "Pending", "Job j lacks 1 pods, and is Inqueue"),
        ("waits x", "Aborting", "Job j is still Aborting"),
    ],
)
def test_which_jobs_are_stuck(tmp_path: Path, steps: str, phase: str, said: str) -> None:
    story = Story(tmp_path).tell(f"queue q A:3; {steps}")
    job = volcano_job("j", "me", "q", A, 2, 2, seconds=1, says=True)
    job["metadata"]["uid"] = "1"
    job["status"] = {"state": {"phase": phase}}
    found = stuck([job], replay(story.file, volcano=True).recount)
    assert found == ([said] if said else [])


def test_a_pod_of_a_job_may_be_refused_by_others_and_not_for_quota_by_us() -> None:
    def event(kind: str, message: str) -> dict[str, Any]:
        about = {"kind": kind, "name": "j"}
        return {"reason": "FailedCreate", "involvedObject": about, "message": message}

    no = "admission webhook denied the request: Queue <q> has insufficient <A> quota"
    events = [event("ReplicaSet", no), event("Job", "exceeded quota: chaos"), event("Job", no)]
    assert refused_for_quota(events) == [f"a pod of Job j was refused: {no}"]


def test_a_pod_of_a_job_is_in_the_queue_of_the_job() -> None:
    """Volcano writes it under another key; its group may be gone."""
    recount = Recount(NAMESPACE, CARD_OF_NODE, volcano=True)
    notes = {"volcano.sh/queue-name": "q", "volcano.sh/card.name": A}
    gates = [{"name": "volcano.sh/card-quota"}]
    spec = {"schedulingGates": gates, "containers": []}
    recount.apply("pod", "p", {"metadata": {"name": "p", "annotations": notes}, "spec": spec})
    assert [pod.key for pod in recount.waiting("q")] == ["p"]


def test_where_the_status_has_no_room_the_annotation_has_the_numbers() -> None:
    note = f'{{"cards": [{{"name": "{A}", "allocated": 2, "inqueue": 1}}]}}'
    meta = {"name": "q", "annotations": {"volcano.sh/card.status": note}}
    assert of_status([{"metadata": meta, "status": {"allocated": {}}}]) == {("q", A): (2, 1, 0)}
