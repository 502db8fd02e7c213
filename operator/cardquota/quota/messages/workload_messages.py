"""What is said of a workload that wants more replicas than its queue has room for, and of a Job of
Volcano that can never run.
"""

from ..words import counted, logged, show


def scale_refused(shortfalls: str, what: str, name: str, asked: int, fits: int) -> str:
    """Refusal of a scale-up. `what`: its kind. `fits`: how many replicas it may have."""
    advice = f"scale it to {fits} at most" if fits else "do not scale it up"
    return (
        f"{shortfalls}; {fits or 'none'} of {counted(asked, 'replica')} of {show(what)} "
        f"<{show(name)}> fit: {advice}, wait until some of the quota is free, or ask the queue's "
        "owner for a higher quota"
    )


def scale_never_fits(text: str, what: str, name: str) -> str:
    """Refusal of a scale-up of a workload none of whose pods can ever be created."""
    return f"{show(what)} <{show(name)}> cannot have more replicas: {text}"


def too_many_at_once(namespace: str) -> str:
    """Answer 429 to a scale-up: a namespace has many under review."""
    return (
        f"many workloads of namespace <{show(namespace)}> are scaled up at once; "
        "try again in a second"
    )


def scale_granted(what: str, name: str, asked: int, granted: int) -> str:
    """Warning to an autoscaler that gets a part."""
    return f"{show(what)} <{show(name)}>: granted {granted} of {counted(asked, 'replica')}"


def woken(queue: str, pods: int) -> str:
    """Condition of a workload whose refused pods have room now."""
    return (
        f"Queue <{show(queue)}> had room for {counted(pods, 'more pod')} of this workload: its "
        "controller was made to try again"
    )


def scale_granted_event(asked: int, granted: int, shortfalls: str) -> str:
    """Event on a workload whose autoscaler got a part."""
    return f"granted {granted} of {counted(asked, 'replica')}: {shortfalls}"


def job_refused(job: str, text: str) -> str:
    """A Job can never run as it is written. `text`: why."""
    return f"Job <{logged(job)}> can never run: {text}"


def task_never_fits(task: str, text: str) -> str:
    """Why: a pod of this task can never be released. `text`: why, with numbers."""
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
