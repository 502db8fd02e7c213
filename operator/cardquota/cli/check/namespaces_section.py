"""The section `namespaces`: labels `volcano.sh/card-quota` with a value that means nothing, queues
that take none of its pods, keys that were meant to be ours, and autoscalers of namespaces that are
not there.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from ...quota.messages import queue_write_messages, report_messages
from ...quota.messages.phrases import no_effect
from ...quota.vocabulary import (
    MODE_UNKNOWN,
    NAMESPACE_MODE,
    NAMESPACE_OFF,
    QueueState,
    Reason,
)
from .. import sentences
from .bounded_section import bounded_section
from .checked_cluster import QUEUES, CheckedCluster
from .finding import Finding, FindingKind
from .known_kinds import not_known
from .namespace_keys import NamespaceKeys
from .section import CheckSection
from .timeless_finding import timeless

_ACCOUNT: Final = "system:serviceaccount:"
"""How the user name of a service account begins."""
NAMESPACES: Final = "namespaces"
"""The name of the section, and of the kind."""


def namespaces_section(
    read: CheckedCluster, keys: Iterable[NamespaceKeys] = (), autoscalers: Iterable[str] = ()
) -> CheckSection:
    """Of values in the words of the namespace's event. `keys`: what is wrong with keys.
    `autoscalers`: the users of that setting.
    """
    lacking = not_known(read, {NAMESPACES, QUEUES})
    notes = [sentences.not_looked_at(sentences.NAMESPACES_NOT_KNOWN, lacking)] if lacking else []
    found = [*_of_values(read), *_of_queues(read), *_of_keys(keys)]
    if NAMESPACES not in lacking and not read.namespace:
        found += _of_autoscalers(read, autoscalers)
    return bounded_section(NAMESPACES, found, notes, complete=not lacking)


def _of_values(read: CheckedCluster) -> Iterator[Finding]:
    for name, facts in sorted(read.ledger.unknown_modes.items()):
        if read.namespace not in ("", name):
            continue
        why = report_messages.namespace_mode_unknown(name, facts.unknown_mode)
        yield _finding(name, MODE_UNKNOWN, why, sentences.CORRECT_LABEL, sentences.LABEL_WRONG)


def _of_queues(read: CheckedCluster) -> Iterator[Finding]:
    """Namespaces whose pods, if they name no queue, are refused whatever they ask for (E5)."""
    if not_known(read, {QUEUES}):
        return
    for name, facts in sorted(read.ledger.namespaces.items()):
        if not facts.queue or facts.mode == NAMESPACE_OFF or read.namespace not in ("", name):
            continue
        account = read.ledger.account(facts.queue)
        queue = account.facts if account is not None else None
        if queue is None:
            why, reason = sentences.queue_missing(facts.queue), Reason.QUEUE_NOT_FOUND
        elif queue.state is not QueueState.OPEN:
            why, reason = sentences.queue_shut(facts.queue, queue.state), Reason.QUEUE_NOT_OPEN
        elif not queue.admits(name):
            why, reason = sentences.queue_not_for(facts.queue), Reason.QUEUE_NOT_OPEN
        else:
            continue
        yield _finding(name, reason, why, sentences.CORRECT_ITS_QUEUE, sentences.QUEUE_UNUSABLE)


def _of_keys(keys: Iterable[NamespaceKeys]) -> Iterator[Finding]:
    for one in keys:
        told = [
            *(sentences.misplaced(key, label=key == NAMESPACE_MODE) for key in one.misplaced),
            *(queue_write_messages.key_means_nothing(*pair) for pair in one.annotations),
            *(no_effect("label", *pair) for pair in one.labels),
        ]
        for why in told:
            yield _finding(
                one.namespace, "UnknownKey", why, sentences.CORRECT_KEY, sentences.KEY_WRONG
            )


def _of_autoscalers(read: CheckedCluster, users: Iterable[str]) -> Iterator[Finding]:
    for user in users:
        namespace, _, account = user.removeprefix(_ACCOUNT).partition(":")
        if user.startswith(_ACCOUNT) and account and namespace not in read.ledger.namespaces:
            why = sentences.autoscaler_of_nobody(user, namespace)
            advice, what = sentences.REMOVE_AUTOSCALER, sentences.AUTOSCALER_WRONG
            yield _finding(namespace, "AutoscalerUnknown", why, advice, what)


def _finding(name: str, reason: str, why: str, advice: str, what: str) -> Finding:
    return timeless(FindingKind.NAMESPACE, ("Namespace", "", name), reason, why, advice, what=what)
