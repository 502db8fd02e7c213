"""The API server itself sets the gate, without a webhook (Kubernetes 1.36 or newer).

This replaces the mutating webhook, with the same result:

- set-gate: adds the gate to a managed pod. Not to a pod that names its node, which Kubernetes would
  refuse with a gate: `born_gated` refuses it and says why. Removes a gate that would never open,
  from a pod without a queue. And marks every pod that uses cards for its review, so that
  no other has to be looked at for it. One policy for all, since each costs every pod of the cluster
  a conversion.
- drop-gate-in-audit: removes our gate wherever nothing is gated.

Never both look at the same pod: their namespaces differ.

If a queue is added to a pod after these were evaluated, the pod is evaluated once more if it used
cards before, as with the webhook; `born_gated` refuses any other.
"""

from typing import Final

from ...quota.vocabulary import GATE, IS_MANAGED, MANAGED, NAMESPACE_AUDIT
from ...settings import GateSetter, InstallationMode, Settings
from ..cel import all_of, any_of, gated, literal
from ..matching import MIRROR_POD, labelled, managed, names_a_queue, ours, watched
from .admission_policy import PREFIX, Mutation

_SET: Final = "set-gate"
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
        f"policy`, MutatingAdmissionPolicy <{PREFIX}{_SET}> (Kubernetes 1.36 or newer); see that "
        "it is installed and works, then create the pod again"
    )


def gate_policy_is_missing() -> str:
    """What to check if a pod was created without the gate where `set-gate` is to set it."""
    return (
        f"MutatingAdmissionPolicy <{PREFIX}{_SET}> sets it; see that it and its binding are "
        "installed (Kubernetes 1.36 or newer), then create the pod again"
    )


def _set_gate(settings: Settings) -> Mutation:
    has, uses = gated("object"), ours("object", settings)
    marked = f"object.metadata.?labels[?{literal(MANAGED)}].orValue('') == {literal(IS_MANAGED)}"
    to_set = all_of(f"!({all_of(has, marked)})", uses, f"!({MIRROR_POD})")
    to_drop = all_of(has, f"!({names_a_queue('object')})")
    right = f"({managed(settings)}) == {has}"
    by_node = "object.spec.?nodeName.orValue('') != ''"
    gate = f"({right}\n? []\n: {has}\n? {_WITHOUT_GATE}\n: {by_node}\n? []\n: {_WITH_GATE})"
    return Mutation(
        _SET,
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
