"""The gate set by the API server itself, with nobody of ours there (Kubernetes 1.36 or newer).

Instead of the mutating webhook, and with the same outcome:

- set-gate: a managed pod gets the gate beside those it has. Not one that names its node, which
  Kubernetes would refuse with a gate: `born_gated` refuses it and says why.
- drop-gate: a gate that nobody would ever open, on a pod without a queue, is taken away.
- drop-gate-in-audit: and so is every gate of ours where nothing is gated.

Which of them comes first does not matter: each looks at the pod as the others left it, and none
changes what another has done. The API server evaluates them in no fixed order.

A pod to which somebody adds a queue after these were evaluated is looked at once more if it had to
do with cards before, as with the webhook; any other is refused by `born_gated`.
"""

from typing import Any, Final

from ...quota.vocabulary import GATE, NAMESPACE_AUDIT, NAMESPACE_MODE, Mode
from ...settings import GateSetter, InstallationMode, Settings
from ..cel import gated, literal
from ..matching import managed, names_a_queue, no_mirror_pod, ours
from ..namespaces import watched
from .admission_policy import PREFIX
from .mutation import Mutation

_SET: Final = "set-gate"
_GATES: Final = "object.spec.schedulingGates"


def gate_is_set_by_policy(settings: Settings) -> bool:
    """Whether the API server sets the gate, and no webhook does."""
    return settings.webhook.gate is GateSetter.POLICY


def gate_mutations(settings: Settings) -> tuple[Mutation, ...]:
    """The policies that set and drop the gate; none where the webhook does it."""
    if not gate_is_set_by_policy(settings):
        return ()
    if settings.mode is InstallationMode.AUDIT:
        return (_drop_in_audit(settings),)
    return (_set_gate(settings), _drop_gate(settings), _drop_in_audit(settings))


def who_sets_the_gate(settings: Settings) -> str:
    """What to look at when a pod has come without the gate."""
    if gate_is_set_by_policy(settings):
        return (
            f"MutatingAdmissionPolicy <{PREFIX}{_SET}> sets it; see that it and its binding are "
            "installed (Kubernetes 1.36 or newer), then create the pod again"
        )
    return (
        f"the webhook of MutatingWebhookConfiguration <{settings.webhook.name}> sets it; "
        "see that it is installed and answers, then create the pod again"
    )


def _set_gate(settings: Settings) -> Mutation:
    gate = f"Object.spec.schedulingGates{{name: {literal(GATE)}}}"
    return Mutation(
        _SET,
        conditions={
            "no-gate": f"!{gated('object')}",
            "no-node-named": "object.spec.?nodeName.orValue('') == ''",
            "not-a-mirror-pod": no_mirror_pod(),
            "ours": ours("object", settings),
        },
        how="applyConfiguration",
        expression=f"({managed(settings)})\n"
        f"? Object{{spec: Object.spec{{schedulingGates: [{gate}]}}}}\n"
        ": Object{}",
        namespaces=watched(settings, Mode.AUDIT),
        fail=True,
    )


def _drop_gate(settings: Settings) -> Mutation:
    return Mutation(
        "drop-gate",
        conditions={
            "gate": gated("object"),
            "names-no-queue": f"!({names_a_queue('object')})",
        },
        how="jsonPatch",
        expression=f"({managed(settings)})\n? []\n: {_without_gate()}",
        namespaces=watched(settings, Mode.AUDIT),
        fail=False,  # the leader says of such a pod what is wrong with it
    )


def _drop_in_audit(settings: Settings) -> Mutation:
    everywhere = settings.mode is InstallationMode.AUDIT
    return Mutation(
        "drop-gate-in-audit",
        conditions={"gate": gated("object")},
        how="jsonPatch",
        expression=_without_gate(),
        namespaces=watched(settings) if everywhere else _audited(settings),
        fail=False,  # the leader opens it
    )


def _audited(settings: Settings) -> dict[str, Any]:
    """Selects the namespaces in audit mode."""
    exempt, _ = watched(settings)["matchExpressions"]
    audit = {"key": NAMESPACE_MODE, "operator": "In", "values": [NAMESPACE_AUDIT]}
    return {"matchExpressions": [exempt, audit]}


def _without_gate() -> str:
    """A patch that leaves the gates of others."""
    others = f'{_GATES}.filter(g, g.name != {literal(GATE)}).map(g, {{"name": g.name}})'
    return f'[JSONPatch{{op: "replace", path: "/spec/schedulingGates", value: {others}}}]'
