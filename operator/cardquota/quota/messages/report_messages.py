"""What the administrator is told of queues, nodes, namespaces and the installation."""

from collections.abc import Sequence
from typing import Final

from .. import vocabulary as v
from ..amounts import Amount, is_card
from ..limits import Limit
from ..words import MOST_LISTED, amount_text, amount_texts, counted, listed, show


def node_beyond_limit(limit: Limit, found: int) -> str:
    """There is more of a node than is read: none of its cards is counted (P8, D9)."""
    return f"it has <{found}> {limit.what}, at most <{limit.most}> are read"


def too_much_of_queues(limit: Limit, found: int) -> str:
    """Too much is kept of all queues together (P8)."""
    return (
        f"with it, {limit.what} would take <{found}> bytes of the operator's memory, at most "
        f"<{limit.most}> are kept: write fewer rows, here or in other queues"
    )


def over_quota(
    queue: str, over: Sequence[tuple[str, int, int]], state: str = v.QueueState.OPEN
) -> str:
    """More is charged than the quota allows (Q7). `over`: each dimension, what is charged of it,
    and its limit. Names five, then a count. Only what asks for one of these waits (E4); if the
    queue's `state` is not open, all that is new does (Q6).
    """
    texts = []
    for dimension, charged, limit in over[:MOST_LISTED]:
        held, allowed = amount_texts(dimension, charged, limit)
        texts.append(f"{held} of <{show(dimension)}>, its quota is {allowed}")
    more = len(over) - MOST_LISTED
    if more > 0:
        texts.append(f"and {more} more")
    holds = f"Queue <{show(queue)}> holds {'; '.join(texts)}"
    if state != v.QueueState.OPEN:
        return (
            f"{holds}: nothing new is released, the queue is {state}; free some of it, or raise "
            "the quota"
        )
    which = "it" if len(over) == 1 else "one of these"
    cards = all(is_card(dimension) for dimension, _, _ in over)
    others = "other cards" if cards else "all others"
    return (
        f"{holds}: nothing new that asks for {which} is released until it fits; {others} are "
        "not affected; free some of it, or raise the quota"
    )


def borrowed(queue: str, card: str, amount: int, lent: int) -> str:
    """More is held than the quota, of what rolling updates may borrow (R6)."""
    return (
        f"Queue <{show(queue)}> holds {amount} <{show(card)}> beyond its quota: rolling updates "
        f"may borrow {lent} until their old pods are gone; if that takes long, look at them with "
        "`kubectl rollout status`"
    )


def unadmitted(queue: str, pods: int, held: Sequence[Amount]) -> str:
    """Pods are charged that we never released (I3). `held`: what they hold.

    Names no pod: all users of a queue can read its events.
    """
    amounts = listed([f"{name} {amount_text(name, amount)}" for name, amount in held])
    return (
        f"Queue <{show(queue)}> is charged for {counted(pods, 'pod')} that never passed its gate; "
        f"together they hold {amounts}. They count like all others: "
        "delete what should not run. Pods get past the gate if they are older than the "
        "installation, or if webhooks or policies are missing; and, if they carry no annotation "
        "and their namespace is not labelled `enforced`, when their resource is in no vendor row "
        "(`kubectl cardquota cards` lists such cards: add a row)"
    )


def oversold(card: str, quotas: int, total: int) -> str:
    """All quotas together exceed the cluster (Q3)."""
    return f"quotas for <{show(card)}> add up to {quotas}; the cluster has {total}"


def condition_over(condition: str) -> str:
    """A condition of a queue that told of something holds no longer, or does so again."""
    if condition == v.Condition.QUOTA_VALID:
        return "quota and limits can be read again"
    if condition == v.Condition.OVER_QUOTA:
        return "the queue holds no more than it is allowed to"
    return "the cluster has at least as many cards as all quotas add up to"


def quota_unreadable(problem: str, *, kept: bool = True) -> str:
    """The stored quota cannot be read (Q4). `kept`: whether there is an earlier one."""
    force = (
        "the last good quota stays in force" if kept else "there is no earlier one: all cards are 0"
    )
    return f"annotation {v.QUOTA} cannot be read: {problem}; {force} until it is corrected"


def limit_unreadable(problem: str) -> str:
    """A limit of cpu or memory that is stored cannot be read."""
    return f"{problem}; it counts as 0 until it is corrected"


def not_counted(node: str, problems: Sequence[str], *, others: bool) -> str:
    """Cards of a node that are not counted, and why (D7, D9). `others`: whether some are (D5)."""
    whose = f"{'some ' if others else ''}cards of node <{show(node)}>"
    return (
        f"{whose} are not counted: {'; '.join(problems)}; "
        "correct the node's labels or its device plugin"
    )


def card_memory_unreadable(
    node: str, problems: Sequence[str], pods: Sequence[str], *, mixed: bool
) -> str:
    """Card memory of a node that cannot be read. `pods`: those whose card is not known."""
    found = list(problems)
    if pods:
        found.append(
            f"the card of {counted(len(pods), 'pod')} is not known ({listed(pods)}), so their "
            "memory is taken from every card"
        )
    if mixed:
        found.append(
            "it has pods that ask for whole cards and pods that ask for card memory, so it takes "
            "no others"
        )
    return (
        f"card memory of node <{show(node)}>: {'; '.join(found)}; "
        "`kubectl cardquota inspect` shows its cards and pods"
    )


def namespace_mode_unknown(namespace: str, value: str) -> str:
    """The label of a namespace has a value that means nothing."""
    return (
        f"Namespace <{show(namespace)}>: the label {v.NAMESPACE_MODE} is <{show(value)}>, an "
        "unknown value: its pods are treated as if there were no such label; write "
        f"{', '.join(v.NAMESPACE_MODES[:-1])} or {v.NAMESPACE_MODES[-1]}, or remove the label"
    )


def installation_fault(kind: str, name: str, differences: Sequence[str]) -> str:
    """An object that an administrator applies is not what the configuration asks for."""
    found = "; ".join(differences)
    return f"{show(kind)} <{show(name)}> {found}: apply the output of `cardquota manifests`"


def installation_paused(kind: str, name: str, said: str) -> str:
    """What refuses or gates for quota is passed by (U1). `said`: since when and by whom."""
    since = f"is paused since {show(said)}, so it refuses and gates nothing"
    return f"{show(kind)} <{show(name)}> {since}: `cardquota resume --yes` ends that"


def installation_restored(kind: str, name: str) -> str:
    """The inverse of `installation_fault`."""
    return f"{show(kind)} <{show(name)}> is what the configuration asks for again"


# --- the fence: the API server's check of the current term ----------------------------------------

_ANSWER: Final = 300
"""Characters of an answer of the API server that are quoted."""


def fence_unwritten(where: str, answer: str) -> str:
    """The Term cannot be read, or cannot be made to name the current term."""
    return (
        f"Term <{show(where)}> cannot be written: {show(answer, most=_ANSWER)}; no gate opens "
        "until it can: apply crds/cardquota.volcano.sh_terms.yaml and manifests/base/rbac.yaml"
    )


def fence_not_ours(where: str) -> str:
    """The Term names another term, and the Lease too."""
    return (
        f"Lease <{show(where)}> is held by another replica by now, so Term <{show(where)}> is not "
        "written: no gate opens here"
    )


def fence_refused(where: str, answer: str) -> str:
    """The API server refuses decisions of the current term."""
    return (
        "the API server refuses what the current term decides: "
        f"{show(answer, most=_ANSWER)}; until it accepts it no gate opens: apply the output of "
        f"`cardquota manifests`; if that and Term <{show(where)}> are right, restart kube-apiserver"
    )


def fence_accepts_any(where: str) -> str:
    """The API server accepts decisions of terms that are over."""
    return (
        f"the API server does not compare decisions with Term <{show(where)}>, so a former leader "
        "could still open gates: apply the CRDs and the output of `cardquota manifests`; if they "
        "are there, this ends within a minute"
    )


def fence_untried(namespace: str, answer: str) -> str:
    """Neither: something else refuses the trial."""
    return (
        "whether the API server compares decisions with the current term is not known: creating "
        f"PodGroups in namespace <{show(namespace)}> as a dry run is refused: "
        f"{show(answer, most=_ANSWER)}; gates open meanwhile: let cardquota create them there"
    )


def fence_in_force() -> str:
    """The inverse of all of these."""
    return "the API server accepts decisions of the current term, and of no other, again"
