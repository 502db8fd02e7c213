"""What is ended for whom (section 17): events on the pods that end, and on those that they end for.

Who waits is named only to readers of its own namespace; queues are named to all.
"""

from collections.abc import Sequence

from ..words import counted, listed, show


def reclaimed(
    waiting: str,
    queue: str,
    card: str,
    asked: int,
    own_queue: str,
    held: int,
    deserved: int,
    bound: str,
) -> str:
    """On a pod that ends for another queue. `waiting`: see `who_waits`. `held`, `deserved`: of its
    own queue. `bound`: when the pod was.
    """
    return (
        f"ended to give cards back: {waiting} of Queue <{show(queue)}> waits for <{asked}> of "
        f"<{show(card)}>, which that queue deserves; Queue <{show(own_queue)}> held <{held}> and "
        f"deserves <{deserved}>, so <{max(0, held - deserved)}> of them were borrowed, those of "
        f"this pod since <{bound}>; ask the queue's owner for more deserved cards, or set "
        'volcano.sh/preemptable: "false" on pods that must not end'
    )


def preempted(waiting: str, queue: str, card: str, asked: int, priority: int, own: int) -> str:
    """On a pod that ends for one of higher priority in its queue. `own`: its own priority."""
    return (
        f"ended for a higher priority: {waiting} of priority <{priority}> waits in Queue "
        f"<{show(queue)}> for <{asked}> of <{show(card)}>, and this pod has priority <{own}>; ask "
        'the queue\'s owner for a higher quota, or set volcano.sh/preemptable: "false" on pods '
        "that must not end"
    )


def who_waits(name: str, *, group: bool, named: bool) -> str:
    """For the sentences above. `name`: with its namespace. `named`: whether the reader may see it,
    who has another namespace else.
    """
    kind = "group" if group else "pod"
    return f"{kind} <{show(name)}>" if named else f"a {kind} of another namespace"


def not_gone(late: int) -> str:
    """On a pod that was ended and is still there `late` seconds after it should have been gone."""
    return (
        f"ended to give its cards to others, and should have been gone <{late}> s ago: until it is "
        "it holds them; see its finalizers, and whether its node's kubelet runs"
    )


def room_made(card: str, asked: int, number: int, queues: Sequence[str], timeout: float) -> str:
    """On who waits: all that end for it were asked to. `timeout`: seconds."""
    return (
        f"room for <{asked}> of <{show(card)}> is made by ending {counted(number, 'pod')} of "
        f"{_queues(queues)}, and nobody else gets it meanwhile; wait: if it does not start within "
        f"<{timeout:g}> s after that, nothing more is ended for it for an hour"
    )


def gave_up(card: str, timeout: float) -> str:
    """On who waits: it has not started though room was made. `timeout`: seconds."""
    return (
        f"room of <{show(card)}> was to be made for it, and it did not start within "
        f"<{timeout:g}> s: nothing more is ended for it for an hour; see what else keeps it from "
        "its nodes, in the events of the scheduler"
    )


def would_reclaim(card: str, asked: int, number: int, queues: Sequence[str]) -> str:
    """On who waits, where pods are ended only in words."""
    return (
        f"{counted(number, 'pod')} of {_queues(queues)} would be ended to make room for <{asked}> "
        f"of <{show(card)}>, if reclaim were on and not dryRun; wait until cards are free, or ask "
        "your administrator for it"
    )


def _queues(queues: Sequence[str]) -> str:
    return f"{'Queue' if len(queues) == 1 else 'Queues'} <{listed(queues)}>"
