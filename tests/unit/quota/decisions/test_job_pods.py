"""V4: The pods that a Job would make are read as Volcano makes them, within a limit."""

from builders import H200, a_ledger, a_pod, a_volcano_job
from builders.volcano_job import VolcanoJobBody
from cardquota.quota import JOB_TASKS, to_its_end
from cardquota.quota.decisions.volcano import JobPods, has_too_many_tasks, read_job

from .written_jobs import a_job


def read(job: VolcanoJobBody) -> JobPods:
    return to_its_end(read_job(a_ledger(), job.written(), "team"))


def test_volcano_writes_queue_and_group_over_those_of_the_template() -> None:
    template = a_pod().naming(H200).asking_for(1).in_group("mine")
    template = template.annotated("volcano.sh/queue-name", "mine")
    (task,) = read(a_job(2, template)).tasks
    facts = task.facts
    assert (facts.own_queue, facts.group, facts.namespace) == ("red", "", "team")
    assert (facts.controller, facts.controller_name, facts.of_volcano_job) == ("Job", "train", True)
    assert facts.problem == ""


def test_names_and_numbers_that_are_left_out() -> None:
    job = read(a_volcano_job().with_task("", 2, a_pod()).with_task("b", 0, a_pod()))
    assert (job.queue, job.min_available) == ("default", 0)
    assert [(task.name, task.number, task.least) for task in job.tasks] == [("default0", 2, 2)]
    generated = a_volcano_job().put(None, "metadata", "name").put("t-", "metadata", "generateName")
    assert read(generated).name == "t-"


def test_the_least_is_never_more_than_there_are() -> None:
    assert [task.least for task in read(a_job(2, least=5)).tasks] == [2]
    assert [task.least for task in read(a_job(2, least=-5)).tasks] == [0]


def test_more_tasks_than_are_read() -> None:
    job = a_volcano_job()
    tasks = [{"name": str(n), "replicas": 1} for n in range(JOB_TASKS.most + 1)]
    assert has_too_many_tasks(job.put(tasks, "spec", "tasks").written()) == JOB_TASKS.most + 1
    assert not has_too_many_tasks(job.put(tasks[1:], "spec", "tasks").written())
