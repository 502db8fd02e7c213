"""The sentences of the commands, beyond those of the operator.

`simulate`: why a pod is unmanaged or waits. `cards`: what could not be read.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ..quota.vocabulary import NAMESPACES
from ..quota.words import counted, first_of, lasting, listed, show

NO_ROOM: Final = "no node has room: stays Pending"
AUDITED_FITS: Final = "audit: would be admitted"
AUDITED_WAITS: Final = "audit: would wait at the gate"
JOB_REFUSED: Final = "the Job is refused, so it has no pods"
GROUP_REFUSED: Final = "its pod group is refused, so it has no pods"
NO_CARDS: Final = "No cards."
MEMORY_NOT_LIMITED: Final = "Not limited: no quota has a row <product>/gpu-mem."
NO_SHARED_CARDS: Final = "No node shares the memory of its cards."
NO_SUCH_NODE: Final = "no node of this name"
NO_QUEUES: Final = "the cluster has no definition of Queue: no quotas are shown"
NO_QUEUE: Final = "No queues."
NO_QUEUE_KIND: Final = (
    "the cluster has no definition of Queue; apply the manifests of cardquota first"
)
NAME_VOLCANO: Final = (
    "if these are Volcano's scheduler and controllers (the refusal names the user), add them to "
    "volcano.accounts, apply the output of `cardquota manifests` and restart the operator"
)
REFUSED_NOT_KNOWN: Final = "it is not known whether Bindings are refused"
NOT_INSTALLED: Final = "not installed correctly"
QUEUE_WRONG: Final = "its quota cannot be read or kept, or is probably not what was meant"
CARDS_WRONG: Final = "cards are not counted, or not recognised"
LABEL_WRONG: Final = "its label has an unknown value"
QUEUE_UNUSABLE: Final = "its queue takes none of its pods"
AUTOSCALER_WRONG: Final = "anybody who creates it is an autoscaler"
KEY_WRONG: Final = "a key on it has no effect"
CAME_PAST: Final = "pods got past the gate"
TOTALS_WRONG: Final = "its published totals differ from what its pods on nodes hold"
APPLY_DEFINITIONS: Final = "apply crds/"
APPLY_BASE: Final = "apply manifests/base"
APPLY_VOLCANO: Final = "apply the definitions of your Volcano"
APPLY_MANIFESTS: Final = "apply the output of `cardquota manifests`"
APPLY_DEFINITIONS_OR_VOLCANO: Final = "apply crds/, or write `scheduler: volcano` beside Volcano"
APPLY_RIGHTS: Final = "apply the roles and bindings of manifests/ (rbac.yaml)"
SEE_THE_OPERATOR: Final = "see whether the operator's pods run, and what their log says"
SEE_ITS_PODS: Final = "describe its pods, and read /readyz, to see why the others are not ready"
SAME_VERSION: Final = "install the command of the operator's version, or upgrade the operator"
SEE_ROTATION: Final = "see in the operator's log why it is not renewed"
SEE_PATH: Final = "the operator writes it within seconds: see in its log why it does not"
SEE_ISSUER: Final = "see why it is not renewed by whatever writes the Secret, such as cert-manager"
NO_DEPLOYMENT: Final = "there is no Deployment and no ConfigMap <cardquota> with its configuration"
RIGHTS_NOT_KNOWN: Final = "it is not known whether the operator has its rights"
CERTIFICATE_NOT_KNOWN: Final = "it is not known when its certificate ends"
CORRECT_QUOTA: Final = "correct the annotation volcano.sh/card.quota of the queue"
CORRECT_LIMIT: Final = "correct the limit"
FREE_SOME: Final = "free some of it, or raise the quota"
LOWER_QUOTAS: Final = "lower quotas, or add nodes: pods may pass the gate and find no node"
CORRECT_ROW: Final = "correct the row, or add nodes with this card"
CORRECT_KEY: Final = "correct the key, or remove it"
CORRECT_NODE: Final = "correct the node's labels or its device plugin"
ADD_VENDOR: Final = "add a row to `vendors` in the configuration"
REMOVE_AUTOSCALER: Final = "remove it from scale.autoscalers, or create the namespace"
CORRECT_LABEL: Final = "write enforced, audit or off, or remove the label"
CORRECT_ITS_QUEUE: Final = (
    "name another in scheduling.volcano.sh/queue-name of the namespace, or correct the queue"
)
DELETE_PODS: Final = "delete what should not run"
SEE_DRIFT: Final = "see whether a replica leads, and what its log says of this queue's status"
PREDICATE_CACHE: Final = (
    "Volcano does not try the other pods of a Job's task once one of them fits no node, though "
    "they may go to nodes with another card"
)
SET_PREDICATE_CACHE: Final = (
    "set predicateErrorCacheEnable: false for allocate, as in manifests/components/volcano/"
    "volcano-scheduler.conf"
)
ACCOUNTS_OF_NOBODY: Final = (
    "volcano.accounts names accounts in this namespace, and it does not exist: whoever may create "
    "it may say what pods are charged"
)
NAME_ACCOUNTS: Final = (
    "name the accounts of your Volcano alone in volcano.accounts, and apply the output of "
    "`cardquota manifests`"
)
NO_VOLCANO_MAP: Final = "the configuration of Volcano's scheduler is not there"
NAME_THE_MAP: Final = "name its ConfigMap in the setting volcano.configuration"
OLD_WHILE_CLOSING: Final = (
    "Volcano's webhook refuses every update of a queue that is Closing: its numbers are right "
    "again once it is Closed or Open"
)
QUEUES_NOT_KNOWN: Final = "faults of queues may be missed"
NODES_NOT_KNOWN: Final = "cards that are not counted may be missed"
NAMESPACES_NOT_KNOWN: Final = "faults of namespaces may be missed"
PAST_NOT_KNOWN: Final = "pods that got past the gate may be missed"
DRIFT_NOT_KNOWN: Final = "published totals are not compared"
COUNTED_WITH: Final = (
    "counted with the settings of --config, or the defaults: if the operator has another default "
    "queue or other vendors, it counts differently"
)
NOBODY_PUBLISHES: Final = "no replica leads, so no totals are published now: they are not compared"
NO_LIST: Final = "the answer is not a list of Kubernetes objects"
NOTHING_FOUND: Final = "Nothing was found."
NO_CLUSTER: Final = (
    "the files have no queues and no nodes, and no cluster is read: add them (kubectl get "
    "nodes,namespaces,queues -o json), or ask the cluster (kubectl apply --dry-run=server)"
)
_REFUSED: Final = re.compile(r"(401|403)\b[^:]{0,40}: ")
"""How ApiError begins of who is not known, or may not."""
_CALL: Final = re.compile(r"(?:GET|POST) [^ ]{1,2000}: (?:[A-Z][A-Za-z]*Error: )?")
"""How OutcomeUnknown begins: with the request, and the name of an exception."""


def left_out_queue(why: str) -> str:
    """A queue that cannot be read: its name, and why."""
    return f"left out: queue {why}"


def more_queues_left_out(number: int) -> str:
    """Beyond those that are named."""
    return f"left out: {counted(number, 'more queue')}"


def of_a_cluster(name: str) -> str:
    """A pod or pod group of the files was read from a live cluster."""
    return (
        f"{show(name, most=200)} has a uid, so it is of a live cluster; simulate begins with an "
        "empty one: leave such pods and pod groups out, or ask the cluster (kubectl apply "
        "--dry-run=server)"
    )


def more_lines(number: int) -> str:
    """The terminal has no room for these."""
    return f"and {counted(number, 'more line')}"


def nothing_published(queues: str) -> str:
    """No numbers stand on these queues."""
    return (
        f"no numbers are published for {queues}: see whether a replica leads (metric "
        "cardquota_leader), and what its log says"
    )


def numbers_old(queues: str) -> str:
    """Nobody can write the numbers of these queues."""
    return f"the numbers of {queues} may be old: {OLD_WHILE_CLOSING}"


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


def no_namespace(name: str) -> str:
    """Nothing can be created in it, or asked about it."""
    return f"namespace <{show(name)}> does not exist"


def other_gates(names: tuple[str, ...]) -> str:
    """Gates of other controllers hold up the pod."""
    return f"waits at {' and '.join(names)}: stays Pending"


def lists_forbidden(error: str) -> str:
    """ConfigMaps of broken cards that the user may not read."""
    return f"lists of broken cards in kube-system are left out: {error}"


def without_row(resource: str) -> str:
    """A card is known only by the plain rule, which the API server does not know."""
    return (
        f"{resource} is in no vendor row: the webhook does not see pods that ask for it and carry "
        "no annotation, even if their namespace has a queue, unless it is labelled `enforced`; add "
        "a row to `vendors` in the configuration, then apply the output of `cardquota manifests`"
    )


def claimed(resources: list[str]) -> str:
    """Devices of a DeviceClass are asked for as resources."""
    return (
        f"no quota counts devices asked for as {' or '.join(resources)}; pods that ask for them "
        "are refused in namespaces labelled `enforced`, and admitted elsewhere"
    )


def left_out(what: str, error: str) -> str:
    """An object exists, but does not have the form of its kind."""
    return f"the {what} cannot be read: {error}"


def others_skipped(number: int) -> str:
    """Files contain more than what is counted."""
    return f"{counted(number, 'object')} of other kinds skipped: they say nothing of cards"


def not_listed(what: str, reason: str, *, verb: str = "list") -> str:
    """The API server does not list them. `reason`: the text of ApiError or OutcomeUnknown."""
    refused = _REFUSED.match(reason)
    if refused is not None and refused[1] == "403":
        return f"you may not {verb} {what}: {reason[refused.end() :]}"
    if refused is not None:
        return f"cannot {verb} {what}: {reason} (the API server does not accept your credentials)"
    return f"cannot {verb} {what}: {without_call(reason)}"


def without_call(reason: str) -> str:
    """The text of OutcomeUnknown without what was called, and without the name of a class."""
    return _CALL.sub("", reason, count=1)


def not_watched(what: str, reason: str) -> str:
    """The API server does not tell of changes. `reason`: the text of ApiError."""
    return not_listed(what, reason, verb="watch")


def table_is_old(refused: str | None) -> str:
    """Changes are not told any more. `refused`: the API server's answer, if there is one."""
    if refused is None:
        return "the API server does not answer: this table may be old"
    return f"{not_watched('queues', refused)}: this table may be old"


def queues_forbidden(reason: str) -> str:
    """The user may only list nodes."""
    return f"{not_listed('queues', reason)}: no quotas are shown"


def installed_rightly(*, complete: bool) -> str:
    """`check` has found nothing wrong with the installation."""
    return "The installation is in order." if complete else "What could be seen of it is in order."


def not_read(what: str, reason: str) -> str:
    """One object may not be read. `reason`: the text of ApiError or OutcomeUnknown."""
    refused = _REFUSED.match(reason)
    if refused is not None and refused[1] == "403":
        return f"you may not read {what}: {reason[refused.end() :]}"
    return f"cannot read {what}: {_CALL.sub('', reason, count=1)}"


def the_same_for(why: str, others: int, kind: str) -> str:
    """Why one object of a kind is not read, and that this is so for others of the kind."""
    return f"{why} (the same for {others} more of kind {kind})" if others else why


def not_looked_at(what: str, kinds: Sequence[str]) -> str:
    """Kinds that a section of `check` needs may not be listed, or cannot be read."""
    return f"{' and '.join(kinds)} are not all known: {what}"


def settings_unread(why: str) -> str:
    """The operator's own settings are not known."""
    return (
        f"the operator's settings are not all known: {why}; for those the defaults are taken: name "
        "the operator's configuration with --config"
    )


def variables_unread(names: Sequence[str]) -> str:
    """Settings of the operator's environment that stand neither there nor in a ConfigMap."""
    return f"the values of {', '.join(map(show, names[:5]))} stand elsewhere"


def queue_missing(queue: str) -> str:
    """A namespace names no queue that exists."""
    return f"its annotation names Queue <{show(queue)}>, which does not exist"


def queue_shut(queue: str, state: str) -> str:
    """A namespace names a queue that takes nothing."""
    return f"its annotation names Queue <{show(queue)}>, which is {state}"


def queue_not_for(queue: str) -> str:
    """A namespace names a queue of others."""
    return (
        f"its annotation names Queue <{show(queue)}>, which is not open to it "
        f"({NAMESPACES} of the queue)"
    )


def outside_the_cluster(namespace: str, name: str, *, leads: bool = True) -> str:
    """No Deployment says how the operator runs. `leads`: whether it is known that it does."""
    runs = "the operator runs outside the cluster, or under another name"
    return (
        f"there is no Deployment <{show(namespace)}/{show(name)}>: {runs}"
        f"{'' if leads else ', or not at all'}; its version and number of replicas are not known"
    )


def called_by_url(url: str) -> str:
    """The API server calls the operator by a URL, which the settings do not name."""
    return (
        f"webhooks call the operator at {show(url, most=200)}, not through a Service; to compare "
        "this address, name the operator's configuration with --config"
    )


def more_findings(number: int, reason: str) -> str:
    """Beyond those that are shown."""
    return f"{counted(number, 'finding')} more of {reason}"


def definition_missing(name: str) -> str:
    """A kind of ours is not served."""
    return f"CustomResourceDefinition <{name}> is missing"


def apply_question(file: str) -> str:
    """What to do if nobody can ask the operator. `file`: in the folder of our definitions."""
    return f"apply crds/{file}: `kubectl cardquota queue` and `explain` need it"


def definition_not_served(name: str, version: str) -> str:
    """The kind is served, and not in the version that is used."""
    return f"CustomResourceDefinition <{name}> does not serve {version}"


def definition_not_ours(name: str) -> str:
    """The settings say standalone, and the definition does not keep what the operator writes."""
    return (
        f"CustomResourceDefinition <{name}> does not keep the numbers that the operator writes "
        "into status.cards: it is Volcano's, or of an old release"
    )


def lease_missing(where: str) -> str:
    """No operator has ever led."""
    return f"there is no Lease <{show(where)}>: no operator has run here, so no gate opens"


def lease_free(where: str) -> str:
    """Nobody leads."""
    return f"Lease <{show(where)}> has no holder: no replica leads, so no gate opens"


def numbers_are_old(why: str, ago: int | None) -> str:
    """Beside published numbers. `why`: nobody leads, in words. `ago`: seconds."""
    age = "of when one led" if ago is None else f"{lasting(max(0, ago))} old"
    return f"{why}; the numbers of queues are {age}"


def leader_not_known(why: str) -> str:
    """Beside numbers of queues."""
    return f"it is not known whether a replica leads; otherwise these numbers are old: {why}"


def lease_old(where: str, holder: str, ago: int | None, duration: int) -> str:
    """Its holder has ended without a word. Seconds."""
    since = "is not renewed" if ago is None else f"was renewed {lasting(max(0, ago))} ago"
    return (
        f"Lease <{show(where)}> of {show(holder)} {since}, and is valid for {duration} s: no "
        "replica leads, so no gate opens"
    )


TERM_COMES: Final = "the leader writes it within seconds: if it stays so, see what its log says"


def term_missing(where: str) -> str:
    """No decision is compared with a term."""
    return f"there is no Term <{show(where)}>: no decision is compared with the current term"


def term_differs(where: str, named: str, holder: str) -> str:
    """Whoever leads is not whose decisions are accepted."""
    return (
        f"Term <{show(where)}> names {show(named)}, and the Lease is held by {show(holder)}, which "
        "decides nothing until it is named"
    )


def deployment_missing(where: str) -> str:
    """Nobody runs the operator."""
    return f"there is no Deployment <{show(where)}>"


def replicas_not_ready(where: str, ready: int, wanted: int) -> str:
    """Some replicas do not answer."""
    return f"Deployment <{show(where)}> has {ready} of {counted(wanted, 'replica')} ready"


def version_differs(where: str, running: str, own: str) -> str:
    """The operator's version is another than the command's."""
    return f"Deployment <{show(where)}> runs {show(running)}, this command is {own}"


def rights_missing(rights: Sequence[str]) -> str:
    """The operator's account may not do what it has to. Names twelve, then a count."""
    named = first_of([show(one, most=300) for one in rights], "; ", most=12)
    return f"the operator may not {named}"


def bundle_missing(kind: str, name: str, webhook: str) -> str:
    """The API server cannot know the operator's certificate."""
    return f"{kind} <{show(name)}> has no CA for {show(webhook)}, so the API server cannot call it"


def path_missing(kind: str, name: str, webhook: str) -> str:
    """The operator cannot know that the API server calls (N1)."""
    return (
        f"the path of {show(webhook)} in {kind} <{show(name)}> has no secret of the operator, so "
        "the operator answers no call"
    )


def bundle_unreadable(kind: str, name: str, webhook: str) -> str:
    """A CA bundle holds something else."""
    return f"the CA of {show(webhook)} in {kind} <{show(name)}> cannot be read"


def bundle_over(kind: str, name: str, webhook: str, end: str) -> str:
    """All CAs of a bundle have ended."""
    return f"the CA of {show(webhook)} in {kind} <{show(name)}> ended on {end}"


def certificate_missing(where: str) -> str:
    """Nobody can serve without."""
    return f"there is no Secret <{show(where)}>, so there is no certificate to serve or to show"


def certificate_unreadable(where: str) -> str:
    """What stands there is no certificate."""
    return f"tls.crt of Secret <{show(where)}> cannot be read"


def certificate_ends(where: str, end: str, *, over: bool) -> str:
    """It should have been replaced by now."""
    ends = "ended" if over else "ends"
    return f"the certificate in Secret <{show(where)}> {ends} on {end}"


def totals_differ(card: str, published: int, counted_now: int) -> str:
    """A queue's status says something else than what its pods hold."""
    return (
        f"status says allocated {published} of <{show(card)}>, its pods on nodes hold {counted_now}"
    )


def used_outside(pods: int, cards: Mapping[str, int], first: Sequence[str]) -> str:
    """Pods hold cards and are in no queue (V5). `first`: of them, by name."""
    held = first_of([f"{show(card)} {amount}" for card, amount in cards.items()], ", ")
    more = f" and {pods - len(first)} more" if pods > len(first) else ""
    return f"used outside every queue: {held}, by {counted(pods, 'pod')} ({listed(first)}{more})"


def misplaced(key: str, *, label: bool) -> str:
    """A key of ours, on a Namespace. `label`: it is a label, and stands there as an annotation;
    otherwise the reverse.
    """
    written, right = ("an annotation", "a label") if label else ("a label", "an annotation")
    return f"<{show(key)}> is {right}, and has no effect as {written}"


def autoscaler_of_nobody(user: str, namespace: str) -> str:
    """A setting gives rights to an account that anybody could make."""
    return f"scale.autoscalers names <{show(user)}>, and namespace <{show(namespace)}> is not there"


def users_refused(writes: int) -> str:
    """Bindings, and groups of pods, that were refused to others than Volcano (V1)."""
    return (
        f"{counted(writes, 'write')} of Bindings, or of groups of pods, refused to users that are "
        "not in volcano.accounts, since the replica that answered has started"
    )
