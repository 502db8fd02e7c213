"""The sentences of the commands, beyond those of the operator.

`simulate`: why a pod is let by or waits. `cards`: what could not be read.
"""

from typing import Final

from ..quota.words import counted

NO_ROOM: Final = "no node has room: stays Pending"
AUDITED_FITS: Final = "audit: would be admitted"
AUDITED_WAITS: Final = "audit: would wait at the gate"
GROUP_REFUSED: Final = "its pod group is refused, so it has no pods"
NO_CARDS: Final = "No cards."
MEMORY_NOT_LIMITED: Final = "Not limited: no quota has a row <product>/gpu-mem."
NO_SHARED_CARDS: Final = "No node shares the memory of its cards."
NO_SUCH_NODE: Final = "no node of this name"
NO_QUEUES: Final = "the cluster has no definition of Queue: no quotas are shown"
NO_LIST: Final = "the answer is no list of Kubernetes objects"


def exempt(namespace: str) -> str:
    """Admission never sees the pods of this namespace."""
    return f"namespace {namespace} is exempt"


def switched_off(namespace: str) -> str:
    """The namespace's label switches quotas off."""
    return f"card quotas are off in namespace {namespace}"


def without_queue(*, cards: bool) -> str:
    """The pod belongs to no queue."""
    return (
        "no queue: counted outside every quota"
        if cards
        else "no queue and no card: no quota applies"
    )


def other_gates(names: tuple[str, ...]) -> str:
    """Gates of other controllers hold up the pod."""
    return f"waits at {' and '.join(names)}: stays Pending"


def never_placed(without: int, pods: int) -> str:
    """A job of a timeline was let through, and so many of its pods never got a node."""
    advice = "keep the quotas within what the nodes have"
    if without == pods:
        its = "its pod" if pods == 1 else f"any of its {pods} pods"
        return (
            f"let through, but no node ever had room for {its}: none is large enough, or jobs hold "
            f"them that wait for nodes themselves; {advice}"
        )
    return (
        f"let through, but no node ever had room for {without} of its {pods} pods, and meanwhile "
        f"nobody else can use what the others hold; {advice}, or let a scheduler bind gangs whole"
    )


def lists_forbidden(error: str) -> str:
    """ConfigMaps of broken cards that the user may not read."""
    return f"lists of broken cards in kube-system are left out: {error}"


def without_row(resource: str) -> str:
    """A card is known only by the plain rule, which the API server does not know."""
    return (
        f"{resource} is in no vendor row: pods that ask for it and carry no annotation pass by the "
        "webhook, also where their namespace has a queue, unless it is labelled `enforced`; add a "
        "row to `vendors` in the configuration, then apply the output of `cardquota manifests`"
    )


def claimed(resources: list[str]) -> str:
    """Devices of a DeviceClass are asked for as resources."""
    return (
        f"devices asked for as {' or '.join(resources)} are counted by no quota; pods that ask for "
        "them are refused in namespaces labelled `enforced`, and let by elsewhere"
    )


def left_out(what: str, error: str) -> str:
    """An object exists, but does not have the form of its kind."""
    return f"the {what} cannot be read: {error}"


def others_skipped(number: int) -> str:
    """Files contain more than what is counted."""
    return f"{counted(number, 'object')} of other kinds skipped: they say nothing of cards"


def not_listed(what: str, reason: str) -> str:
    """The API server does not list them."""
    return f"cannot list {what}: {reason}"


def queues_forbidden(reason: str) -> str:
    """The user may only list nodes."""
    return f"{not_listed('queues', reason)}: no quotas are shown"
