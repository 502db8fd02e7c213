"""What is said of a workload that wants more replicas than its queue has room for."""

from ..words import counted, show


def _fit(what: str, name: str, asked: int, fits: int) -> str:
    number = str(fits) if fits else "none"
    return f"{number} of {counted(asked, 'replica')} of {show(what)} <{show(name)}> fit"


def scale_refused(shortfalls: str, what: str, name: str, asked: int, fits: int) -> str:
    """Refusal of a scale-up. `what`: its kind. `fits`: how many replicas it may have."""
    advice = f"scale it to {fits} at most" if fits else "do not scale it up"
    return (
        f"{shortfalls}; {_fit(what, name, asked, fits)}: {advice}, wait until some of the quota "
        "is free, or ask the queue's owner for a higher quota"
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
