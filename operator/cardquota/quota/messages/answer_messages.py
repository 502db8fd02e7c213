"""What is told to whoever asks about a queue or a workload; and why there is no answer."""

from collections.abc import Sequence
from typing import Final

from ..amounts import Amount
from ..words import counted, listed, show
from .phrases import did_you_mean, held_text


def send_as_dry_run(resource: str) -> str:
    """Somebody wants to store a question. `resource`: as roles name it."""
    return (
        f"{show(resource)} are answered and never stored: create one as a dry run "
        "(kubectl create --dry-run=server -o yaml)"
    )


def question_refused(resource: str, problem: str) -> str:
    """It is too large to be read."""
    return f"this cannot be answered: {problem}; {show(resource)} need only their spec"


def no_such_queue(queue: str, *, meant: str = "") -> str:
    """Nobody has a queue of this name. `meant`: the queue that was probably meant."""
    return f"Queue <{show(queue)}> does not exist{did_you_mean(meant)}"


def too_many_questions() -> str:
    """So many ask at the same time that this one would wait for long."""
    return "too many questions wait for their answers; try again in a second"


GATE_HELD_BACK: Final = (
    "the API server or a webhook refused to open its gate; its event GateNotOpened says which; "
    "cardquota tries again"
)
START_UNDER_WAY: Final = (
    "it is about to be released, or its group is being written; look again in a minute"
)
NOT_ENFORCED: Final = (
    "no quota is enforced in its namespace, so its gate is opened as soon as a replica leads; see "
    "that one does (metric cardquota_leader)"
)
TEMPLATE_NOT_KEPT: Final = (
    "its pod template is too large to be kept, so the reason is not known here; its events say it"
)

_NOT_TRIED: Final = (
    "its controller has not tried again, or something else refuses the pod; if it stays so, its "
    "events say what"
)


def runs_on(node: str, held: Sequence[Amount]) -> str:
    """A pod is on a node."""
    return f"it is on node <{show(node)}> and holds {held_text(held)}"


def released(held: Sequence[Amount], gates: Sequence[str] = ()) -> str:
    """Its gate is open, and it has no node yet. `gates`: scheduling gates of others."""
    if gates:
        return (
            f"it holds {held_text(held)}, and waits at scheduling gates that are not cardquota's: "
            f"{listed(gates)}; whoever set them must open them"
        )
    return (
        f"it holds {held_text(held)} and waits for a node; the scheduler's event "
        "FailedScheduling says why it has none (`kubectl describe pod`)"
    )


def being_deleted(held: Sequence[Amount] = ()) -> str:
    """It waits for nothing any more. `held`: until it is gone."""
    return f"it is being deleted{f', and holds {held_text(held)} until it is gone' if held else ''}"


def all_pods_there(running: int) -> str:
    """A workload, or a group, has all pods that it wants."""
    return f"{counted(running, 'pod')} on nodes, and none waits for quota"


def gang_lacks_members(missing: int, minimum: int) -> str:
    """Members of a gang have gone, and none has come in their place."""
    return (
        f"<{missing}> of its minimum of <{minimum}> pods are missing: whoever creates its pods has "
        "not created them"
    )


def group_is_over() -> str:
    """A group is completed, or all its pods have ended."""
    return "its pods have ended, so it waits for nothing"


def group_reserved(held: Sequence[Amount]) -> str:
    """A group of which nothing is there, and for which something is reserved (E1)."""
    return f"{held_text(held)} is reserved for it, and it waits for its pods"


def group_without_pods() -> str:
    """A group of which nothing is there, and nothing keeps it from having its pods."""
    return "none of its pods exists yet, and nothing is reserved for them"


def wants_no_pods() -> str:
    """It is scaled to zero, suspended or over."""
    return "it wants no pods, so it waits for nothing"


def pods_not_known() -> str:
    """A workload lacks no pods, and we know none of them."""
    return "it has all its pods, and none of them is known to use a card or to name a queue"


def no_such_workload(kind: str, namespace: str, name: str, *, meant: str = "") -> str:
    """Nothing of this name concerns quotas. `meant`: the name that was probably meant."""
    return (
        f"{show(kind)} <{show(namespace)}/{show(name)}> is not known to cardquota: it does not "
        "exist, has ended or is suspended, or its pods name no queue and no card and ask for none"
        f"{did_you_mean(meant)}"
    )


def room_now(queue: str) -> str:
    """The pod fits as things stand."""
    return (
        f"Queue <{show(queue)}> has room for it now, so others come before it, or no replica "
        "leads; see who else waits, and that a replica leads (metric cardquota_leader)"
    )


def next_pod_not_refused(text: str = "") -> str:
    """The next pod of a workload would be created. `text`: why it would wait at the gate."""
    if text:
        return f"its next pod would be created and wait at the gate: {text}; {_NOT_TRIED}"
    return f"no quota refuses its next pod, so {_NOT_TRIED}"
