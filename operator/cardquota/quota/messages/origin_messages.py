"""Which queue something is in, and who has said so (section 2)."""

from .. import vocabulary as v
from ..words import show


def no_queue_named() -> str:
    """No quota counts it."""
    return (
        "it is in no queue, so no quota holds it: neither a pod group, nor its annotation "
        f"{v.QUEUE_NAME}, nor that of its namespace names one"
    )


def queue_by_stamp(queue: str) -> str:
    """It was let through before somebody named another queue."""
    return f"it was let through in Queue <{show(queue)}>, and stays charged there until it ends"


def queue_by_group(queue: str, group: str) -> str:
    """`group`: namespace and name."""
    return f"its pod group <{show(group)}> is in Queue <{show(queue)}>"


def queue_by_spec(queue: str) -> str:
    """Of a pod group itself."""
    return f"its spec.queue names Queue <{show(queue)}>"


def queue_by_annotation(queue: str) -> str:
    """The pod, or the template of its workload, names it."""
    return f"its own annotation {v.QUEUE_NAME} names Queue <{show(queue)}>"


def queue_by_namespace(queue: str, namespace: str) -> str:
    """It names none itself."""
    return (
        f"it names no queue, and the annotation {v.QUEUE_NAME} of namespace <{show(namespace)}> "
        f"names <{show(queue)}>"
    )


def queue_by_configuration(queue: str) -> str:
    """Neither does its namespace."""
    return (
        f"neither it nor its namespace names a queue, and Queue <{show(queue)}> is the operator's "
        "defaultQueue"
    )
