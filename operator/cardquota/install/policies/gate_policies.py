"""The policies of the gate: who sets it, which pods are created with it, and who may remove it.

The API server itself can set the gate, without a webhook, with the same result as the
mutating webhook. The two policies that set and drop it never look at the same pod:
their namespaces differ. If a queue is added to a pod after these were evaluated, the pod is
evaluated once more if it used cards before, as with the webhook; `born_gated` refuses any other.
"""

from typing import Final

from ...quota.messages import request_messages
from ...quota.vocabulary import (
    ALLOCATED,
    CHARGED_QUEUE,
    GATE,
    IS_MANAGED,
    MANAGED,
    NAMESPACE_AUDIT,
    NAMESPACE_MODE,
    TERM,
    Mode,
)
from ...settings import GateSetter, InstallationMode, Settings
from ..cel import CURRENT_TERM, all_of, annotation, any_of, gated, literal, of_term, user_is
from ..kubernetes_versions import FEATURES, GATE_BY_POLICY
from ..matching import (
    IN_ENFORCED,
    MARKED,
    MIRROR_POD,
    claims_devices,
    in_watched,
    labelled,
    managed,
    may_be_managed,
    may_not_pass,
    names_a_queue,
    ours,
    watched,
)
from .admission_policy import (
    PREFIX,
    TERM_VARIABLES,
    AdmissionPolicy,
    Check,
    Clause,
    Mutation,
    RequestRule,
    term_check,
)

GATE_REQUIRED: Final = "gate-required"
"""What the policy is about that demands the gate of new pods."""
SET_GATE: Final = "set-gate"
BORN_UNGATED: Final = "bornUngated"
"""The clause about pods that are created without the gate."""
GATE_DROPPED: Final = "gateDropped"
"""The clause about whoever opens a gate."""
_NEEDS: Final = f"Kubernetes {FEATURES[GATE_BY_POLICY].since} or newer"
_DROPPED: Final = f"{gated('oldObject')}\n&& !{gated('object')}"


def born_gated(settings: Settings) -> Clause:
    """Managed pods have the gate from their creation, after all mutation; and where a queue is
    required no pod asks for cards without one.

    Not in namespaces in audit mode: nothing is gated there. Whether card memory is limited is not
    known here; but who sets the gate labels each pod that it admits and that uses cards or claims
    devices, so one without the label has become one of these since.
    """
    gate_is_set_by = who_sets_the_gate(settings)
    no_gate_possible = (
        "it names its node in spec.nodeName, where Kubernetes allows no gate; "
        "select the node by affinity instead"
    )
    unseen = all_of(f"!{MARKED}", may_not_pass(settings))
    begins = f"has or needs a card queue but was created without the scheduling gate {GATE}: "
    surely = any_of(f"!({may_be_managed(settings)})", MIRROR_POD)
    return Clause(
        BORN_UNGATED,
        ("CREATE",),
        f"!{gated('object')}",
        where=in_watched(settings, Mode.AUDIT),
        checks=(
            # What decides most often comes first: few pods are managed, and fewer mirror pods.
            Check(
                any_of(f"!({any_of(managed(settings), unseen)})", MIRROR_POD),
                f"the pod {begins}{gate_is_set_by}",
                "'pod <' + object.metadata.?name.orValue("
                "object.metadata.?generateName.orValue('')) + '> '\n"
                f"+ {literal(begins)}\n"
                f"+ (object.spec.?nodeName.orValue('') != '' ? {literal(no_gate_possible)}\n"
                f": {literal(gate_is_set_by)})",
                surely=surely,
            ),
            Check(
                any_of(
                    f"!({all_of(f'!{MARKED}', IN_ENFORCED, claims_devices('object'))})",
                    MIRROR_POD,
                ),
                request_messages.device_claimed(),
                surely=surely,
            ),
        ),
    )


def gate_owner(settings: Settings) -> Clause:
    """Only the operator opens a gate, and its decision is written on the pod: what it is charged,
    and to which queue. In a namespace in audit mode nothing is decided: the term will do.
    """
    wait = (
        "it opens by itself when the queue has quota; `kubectl describe pod` says what it waits for"
    )
    # Where quotas are enforced, no gate opens for a pod that is charged to no queue. In audit mode
    # it must open: such a pod would wait for ever, in a mode that holds up no pod.
    mode = f"namespaceObject.metadata.?labels[?{literal(NAMESPACE_MODE)}].orValue('')"
    audited = (
        "true"
        if settings.mode is InstallationMode.AUDIT
        else f"{mode} == {literal(NAMESPACE_AUDIT)}"
    )
    by_term = [MARKED, f"{annotation('object', TERM)} != ''"]
    charged = all_of(*(f"{annotation('object', key)} != ''" for key in (ALLOCATED, CHARGED_QUEUE)))
    written = all_of(*by_term, any_of(charged, audited))
    return Clause(
        GATE_DROPPED,
        ("UPDATE",),
        _DROPPED,
        where=in_watched(settings),
        checks_first=True,
        checks=(
            Check(
                user_is(settings.service_account_user),
                f"the scheduling gate {GATE} may not be removed by hand: {wait}",
                "'user <' + request.userInfo.username + '> may not remove the scheduling gate "
                f"{GATE} of pod <' + object.metadata.name + '>: ' + {literal(wait)}",
            ),
            Check(
                written,
                f"the scheduling gate {GATE} is removed only together with the label {MANAGED} and "
                f"the annotations {TERM}, {CHARGED_QUEUE} and {ALLOCATED}, which say whose "
                "decision it was and what the pod is charged; write all of them in the same patch "
                "(in audit mode the term alone)",
                surely=all_of(*by_term, charged),
            ),
        ),
    )


def gate_term(settings: Settings) -> AdmissionPolicy:
    """A gate is opened only in the current term.

    Checks only the operator's requests: `gate_owner` refuses all others, with a text for them. And
    only those of pods with our label, without which `gate_owner` lets no gate be opened: no other
    update of a pod costs anything here.
    """
    return AdmissionPolicy(
        "gate-term",
        RequestRule("pods", ("UPDATE",)),
        # One condition, since the API server evaluates all that there are. It contains the check,
        # so that a valid patch costs no more than this: see `joined`.
        conditions={
            "opened-out-of-term": all_of(
                f"!({of_term(annotation('object', TERM), CURRENT_TERM)})",
                user_is(settings.service_account_user),
                _DROPPED,
            ),
        },
        variables=TERM_VARIABLES,
        checks=(
            term_check(
                settings,
                f"the scheduling gate {GATE} may be removed",
                f"'the scheduling gate {GATE} of pod <' + object.metadata.name + '> may be removed",
                "open this gate",
            ),
        ),
        namespaces=watched(settings),
        labelled=MANAGED,
        by_term=True,
    )


_GATE: Final = f'{{"name": {literal(GATE)}}}'
_WITH_GATE: Final = (
    "(object.spec.?schedulingGates.orValue([]).size() > 0\n"
    f'? [JSONPatch{{op: "add", path: "/spec/schedulingGates/-", value: {_GATE}}}]\n'
    f': [JSONPatch{{op: "add", path: "/spec/schedulingGates", value: [{_GATE}]}}])'
)
"""A patch that keeps the other gates."""
_WITHOUT_GATE: Final = (
    '[JSONPatch{op: "replace", path: "/spec/schedulingGates", value: '
    f'object.spec.schedulingGates.filter(g, g.name != {literal(GATE)}).map(g, {{"name": g.name}})'
    "}]"
)
"""A patch that keeps the other gates."""
_MARK: Final = literal(f"/metadata/labels/{MANAGED.replace('/', '~1')}"), literal(IS_MANAGED)
_WITH_MARK: Final = (
    "(has(object.metadata.labels)\n"
    f'? [JSONPatch{{op: "add", path: {_MARK[0]}, value: {_MARK[1]}}}]\n'
    f': [JSONPatch{{op: "add", path: "/metadata/labels", '
    f"value: {{{literal(MANAGED)}: {_MARK[1]}}}}}])"
)
"""A patch that marks the pod for its review, and keeps the other labels."""


def gate_is_set_by_policy(settings: Settings) -> bool:
    """Whether the API server sets the gate, and no webhook does."""
    return settings.webhook.gate is GateSetter.POLICY


def gate_mutations(settings: Settings) -> tuple[Mutation, ...]:
    """The policies that set and drop the gate; none if the webhook does it."""
    if not gate_is_set_by_policy(settings):
        return ()
    if settings.mode is InstallationMode.AUDIT:
        return (_drop_in_audit(settings),)
    return (_set_gate(settings), _drop_in_audit(settings))


def who_sets_the_gate(settings: Settings) -> str:
    """What to check if a pod was created without the gate: both ways to set it, for the policies.
    Two components of the installation that change the text of one policy would undo each other.
    """
    return (
        f"MutatingWebhookConfiguration <{settings.webhook.name}> sets it, or, with `webhook.gate: "
        f"policy`, MutatingAdmissionPolicy <{PREFIX}{SET_GATE}> ({_NEEDS}); see "
        "that it is installed and works, then create the pod again"
    )


def gate_policy_is_missing() -> str:
    """What to check if a pod was created without the gate where `set-gate` is to set it."""
    return (
        f"MutatingAdmissionPolicy <{PREFIX}{SET_GATE}> sets it; see that it and its binding are "
        f"installed ({_NEEDS}), then create the pod again"
    )


def _set_gate(settings: Settings) -> Mutation:
    """Not on a pod that names its node, which Kubernetes would refuse with a gate: `born_gated`
    refuses it and says why. It removes a gate that would never open, from a pod without a queue,
    and marks every pod that uses cards for its review, so that no other has to be looked at for it.
    One policy for all, since each costs every pod of the cluster a conversion.
    """
    has, uses = gated("object"), ours("object", settings)
    marked = f"object.metadata.?labels[?{literal(MANAGED)}].orValue('') == {literal(IS_MANAGED)}"
    to_set = all_of(f"!({all_of(has, marked)})", uses, f"!({MIRROR_POD})")
    to_drop = all_of(has, f"!({names_a_queue('object')})")
    right = f"({managed(settings)}) == {has}"
    by_node = "object.spec.?nodeName.orValue('') != ''"
    gate = f"({right}\n? []\n: {has}\n? {_WITHOUT_GATE}\n: {by_node}\n? []\n: {_WITH_GATE})"
    return Mutation(
        SET_GATE,
        # One condition, since the API server evaluates all that there are.
        conditions={"gate-may-be-wrong": any_of(to_set, to_drop)},
        patch=f"{gate}\n+ ({uses}\n? {_WITH_MARK}\n: [])",
        namespaces=watched(settings, NAMESPACE_AUDIT),
        fail=True,
    )


def _drop_in_audit(settings: Settings) -> Mutation:
    everywhere = settings.mode is InstallationMode.AUDIT
    return Mutation(
        "drop-gate-in-audit",
        conditions={"gate": gated("object")},
        patch=_WITHOUT_GATE,
        namespaces=watched(settings) if everywhere else labelled(settings, NAMESPACE_AUDIT),
        fail=False,  # the leader opens it
    )
