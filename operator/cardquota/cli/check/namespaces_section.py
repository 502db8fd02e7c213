"""The section `namespaces`: labels `volcano.sh/card-quota` with a value that means nothing, queues
that take none of its pods, keys that were meant to be ours, and autoscalers of namespaces that are
not there.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from ...quota import vocabulary as v
from ...quota.messages import queue_write_messages, report_messages
from ...quota.messages.phrases import no_effect
from ...quota.words import show
from .checked_cluster import NAMESPACES, QUEUES, CheckedCluster, NamespaceKeys
from .section import CheckSection, Finding, FindingKind, section_of

_ACCOUNT: Final = "system:serviceaccount:"
"""How the user name of a service account begins."""


def namespaces_section(read: CheckedCluster, autoscalers: Iterable[str] = ()) -> CheckSection:
    """Of values in the words of the namespace's event. `autoscalers`: the users of that setting."""
    lacking = read.not_known({NAMESPACES, QUEUES})
    found = [*_of_values(read), *_of_queues(read), *_of_keys(read.namespace_keys)]
    if NAMESPACES not in lacking and not read.namespace:
        found += _of_autoscalers(read, autoscalers)
    return section_of(NAMESPACES, found, lacking, "faults of namespaces may be missed")


def _of_values(read: CheckedCluster) -> Iterator[Finding]:
    advice = "write enforced, audit or off, or remove the label"
    for name, facts in sorted(read.ledger.unknown_modes.items()):
        if read.namespace in ("", name):
            why = report_messages.namespace_mode_unknown(name, facts.unknown_mode)
            yield _finding(name, v.MODE_UNKNOWN, why, advice, "its label has an unknown value")


def _of_queues(read: CheckedCluster) -> Iterator[Finding]:
    """Namespaces whose pods, if they name no queue, are refused whatever they ask for (E5)."""
    if read.not_known({QUEUES}):
        return
    advice = (
        "name another in scheduling.volcano.sh/queue-name of the namespace, or correct the queue"
    )
    for name, facts in sorted(read.ledger.namespaces.items()):
        if not facts.queue or facts.mode == v.NAMESPACE_OFF or read.namespace not in ("", name):
            continue
        account, reason = read.ledger.account(facts.queue), v.Reason.QUEUE_NOT_OPEN
        queue = account.facts if account is not None else None
        if queue is None:
            why, reason = "which does not exist", v.Reason.QUEUE_NOT_FOUND
        elif queue.state is not v.QueueState.OPEN:
            why = f"which is {queue.state}"
        elif not queue.admits(name):
            why = f"which is not open to it ({v.NAMESPACES} of the queue)"
        else:
            continue
        why = f"its annotation names Queue <{show(facts.queue)}>, {why}"
        yield _finding(name, reason, why, advice, "its queue takes none of its pods")


def _of_keys(keys: Iterable[NamespaceKeys]) -> Iterator[Finding]:
    for one in keys:
        texts = [
            *map(_misplaced, one.misplaced),
            *(queue_write_messages.key_means_nothing(*pair) for pair in one.annotations),
            *(no_effect("label", *pair) for pair in one.labels),
        ]
        for why in texts:
            advice, what = "correct the key, or remove it", "a key on it has no effect"
            yield _finding(one.namespace, "UnknownKey", why, advice, what)


def _misplaced(key: str) -> str:
    right, written = "an annotation", "a label"
    if key == v.NAMESPACE_MODE:
        right, written = written, right
    return f"<{show(key)}> is {right}, and has no effect as {written}"


def _of_autoscalers(read: CheckedCluster, users: Iterable[str]) -> Iterator[Finding]:
    """The setting gives rights to accounts that anybody could make."""
    for user in users:
        namespace, _, account = user.removeprefix(_ACCOUNT).partition(":")
        if user.startswith(_ACCOUNT) and account and namespace not in read.ledger.namespaces:
            why = (
                f"scale.autoscalers names <{show(user)}>, and namespace <{show(namespace)}> is "
                "not there"
            )
            advice = "remove it from scale.autoscalers, or create the namespace"
            what = "anybody who creates it is an autoscaler"
            yield _finding(namespace, "AutoscalerUnknown", why, advice, what)


def _finding(name: str, reason: str, why: str, advice: str, what: str) -> Finding:
    return Finding(FindingKind.NAMESPACE, "Namespace", "", name, reason, why, advice, what)
