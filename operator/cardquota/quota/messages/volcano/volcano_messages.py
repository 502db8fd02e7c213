"""Messages about Volcano beside us: that it is there, what it is refused since it is not known, and
what becomes of pods without a queue.
"""

from collections.abc import Sequence
from typing import Final

from ... import vocabulary as v
from ...words import counted, first_of, show

_APPLY: Final = "apply the output of `cardquota manifests` and restart the operator"
_DO: Final = f"if this account is Volcano's, add it to the setting volcano.accounts, {_APPLY}"
_DO_OF_SEVERAL: Final = (
    f"add those of these accounts that are Volcano's to the setting volcano.accounts, {_APPLY}"
)

LONGEST_STRANGER: Final = 200
"""Characters of a user in the condition of a queue: it is to be copied into the setting."""


def binding_refused(user: str) -> str:
    """Event on a pod that somebody binds with its annotations."""
    return (
        f"<{show(user)}> may not bind this pod: its Binding repeats annotations that say what the "
        f"pod is charged, and only Volcano's scheduler may send those; {_DO}"
    )


def group_refused(user: str) -> str:
    """Event on a pod to which somebody gives a group after its gate was opened."""
    return (
        f"<{show(user)}> may not give this pod a group: the pod is past its gate, and then only "
        f"Volcano's controllers may do so; {_DO}"
    )


def strangers_bind(user: str, pods: int) -> str:
    """What is to be put right: pods that this user could not bind, at least so many."""
    return f"<{show(user)}> may not bind at least {counted(pods, 'pod')}, so pods wait; {_DO}"


def strangers_group(user: str, pods: int) -> str:
    """The same of pods that could not get a group."""
    return (
        f"<{show(user)}> may not give a group to at least {counted(pods, 'pod')}, so pods wait; "
        f"{_DO}"
    )


MOST_STRANGERS: Final = 3
"""Users that the condition of a queue names. An event has room for its sentence, too."""
_MAY_NOT: Final = {
    v.RefusedWrite.BINDING: "bind",
    v.RefusedWrite.GROUP: "give a group to",
}


def stranger_of_queue(what: v.RefusedWrite, user: str, pods: int, *, more: bool) -> str:
    """What one user was refused, of how many pods of a queue. `more`: there may be others."""
    number = f"{'at least ' if more else ''}{counted(pods, 'pod')}"
    return f"<{show(user, most=LONGEST_STRANGER)}> may not {_MAY_NOT[what]} {number}"


def strangers_of_queue(strangers: Sequence[str]) -> str:
    """Condition of a queue whose pods somebody may not bind, or give a group: who, and of how many
    in the last minutes.
    """
    advice = _DO if len(strangers) == 1 else _DO_OF_SEVERAL
    return f"{first_of(strangers, '; ', most=MOST_STRANGERS)}, so pods wait; {advice}"


def runs_without_quota() -> str:
    """Warning: a pod with cards names no queue, and Volcano schedules it (V5). Short."""
    return (
        f"no queue: Volcano runs it in <{v.DEFAULT_QUEUE}>, and no quota counts it; "
        f"add {v.QUEUE_NAME}"
    )


_BOTH: Final = (
    "writes the phases of PodGroups, as Volcano's scheduler does, and with scheduler: standalone "
    "so does cardquota"
)
_SET: Final = (
    "set scheduler: volcano and add manifests/components/volcano, or stop the other scheduler"
)


def other_scheduler_at_start(writer: str) -> str:
    """Why the operator does not start. `writer`: the program, as the API server names it."""
    return f"<{show(writer)}> {_BOTH}: {_SET}, then start cardquota again"


def other_scheduler(writer: str) -> str:
    """What is to be put right, where it came later."""
    return (
        f"<{show(writer)}> {_BOTH}: cardquota leaves phases alone meanwhile; {_SET}; until then "
        "no replica can start again"
    )


def other_scheduler_gone(writer: str) -> str:
    """It does so no longer."""
    return f"<{show(writer)}> writes no phases of PodGroups any more: cardquota does again"
