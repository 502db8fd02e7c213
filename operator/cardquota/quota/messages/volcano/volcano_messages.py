"""Messages about Volcano beside us: pods without a queue."""

from ... import vocabulary as v


def runs_without_quota() -> str:
    """Warning: a pod with cards names no queue, and Volcano schedules it (V5). Short."""
    return (
        f"no queue: Volcano runs it in <{v.DEFAULT_QUEUE}>, and no quota counts it; "
        f"add {v.QUEUE_NAME}"
    )
