"""Jobs of Volcano that are created: why one is refused (V4)."""

from ...words import counted, logged, show


def job_refused(job: str, text: str) -> str:
    """A Job can never run as it is written. `text`: why."""
    return f"Job <{logged(job)}> can never run: {text}"


def task_never_fits(task: str, text: str) -> str:
    """Why: a pod of this task can never be let through. `text`: why, with numbers."""
    return f"a pod of task <{show(task)}>: {text}"


def minimum_never_fits(pods: int, text: str) -> str:
    """Why: the pods that start together never fit. `text`: why, with numbers."""
    return f"its minimum of {counted(pods, 'pod')}, which start together: {text}"


def tasks_too_unlike(pods: int, most: int) -> str:
    """Why: the pods that start together ask for too many different things."""
    return (
        f"its minimum of {counted(pods, 'pod')}, which start together, asks for more than "
        f"<{most}> different things: give more tasks the same requests, or lower minAvailable"
    )


def partitions_not_supported(task: str) -> str:
    """Warning: Volcano schedules the members of a task by partition. Short."""
    return (
        f"task <{show(task)}> has a partitionPolicy: not supported, its members start in any order "
        "and may span partitions"
    )


def dependent_task(task: str, minimum: int) -> str:
    """Warning: pods that start together, of which some come only when others run."""
    return (
        f"task <{show(task)}> has dependsOn, but all <{minimum}> pods must start together: they "
        "never can; lower minAvailable"
    )


def job_not_read(problem: str) -> str:
    """Warning: the Job has a shape that no pod template can have."""
    return f"the Job cannot be read ({show(problem, most=200)}): its pods are not checked now"


def job_not_looked_at(problem: str) -> str:
    """Warning: more than is read of a Job (P8). `problem`: the limit, and what was found."""
    return f"{problem}; its pods are not checked now, each is checked when it is created"
