"""All policies, in the order in which they are rendered."""

from dataclasses import replace

from ...quota.vocabulary import MANAGED, ReclaimMode
from ...settings import InstallationMode, Settings
from ..cel import any_of, same, user_is
from ..matching import covered, covers_by_label
from .admission_policy import AdmissionPolicy, Clause, RequestRule, joined
from .binding_policies import binding_term, bindings
from .eviction_policies import eviction_term
from .gate_policies import GATE_REQUIRED, born_gated, gate_owner, gate_term
from .identity_policies import (
    groups_account,
    lease,
    queues_account,
    service_account,
    workloads_account,
)
from .key_policies import (
    GROUPS,
    card_given,
    card_given_at_create,
    fixed,
    keys,
    keys_at_create,
    labelled_where_uncovered,
    managed_label,
    reservation_owner,
    reservation_term,
)
from .object_policies import namespace_mode, questions, resource_claims


def policies(settings: Settings) -> tuple[AdmissionPolicy, ...]:
    """The rules that the API server enforces by itself, whether or not we run."""
    return (
        pods(settings),
        gate_required(settings),
        *([labelled_where_uncovered(settings)] if covers_by_label(settings) else ()),
        status_of_pods(settings),
        gate_term(settings),
        bindings(settings),
        *([binding_term(settings)] if settings.extender.enabled else ()),
        *([eviction_term(settings)] if settings.reclaim.mode is not ReclaimMode.OFF else ()),
        pod_groups(settings),
        reservation_term(settings),
        queues_account(settings),
        workloads_account(settings),
        namespace_mode(settings),
        resource_claims(settings),
        questions(),
        lease(settings),
    )


def pods(settings: Settings) -> AdmissionPolicy:
    """What may be written on a pod, and by whom. For most updates it is the only policy. That a pod
    is created with the gate is demanded by another one, which a pause takes away alone (U1). In
    namespaces that are not covered only updates are looked at, which are rare: nobody gets our
    label there, beside which alone an annotation of ours counts.
    """
    clauses = [gate_owner(settings), *_kept_on_pods(settings), keys_at_create(settings)]
    if settings.extender.enabled:
        clauses.append(card_given_at_create(settings))
    gates = "object.spec.?schedulingGates != oldObject.spec.?schedulingGates"
    updates = any_of(_noted(settings), gates)
    return replace(
        joined("pods", RequestRule("pods", ()), clauses, updates=updates),
        namespaces=covered(settings),
        updated_elsewhere=covered(settings, no=True),
    )


def gate_required(settings: Settings) -> AdmissionPolicy:
    """How pods must be created. In audit mode it is about nothing, since nothing is gated. It is
    there all the same: whoever applies the objects of audit mode deletes none.
    """
    clauses = [born_gated(settings)]
    policy = joined(GATE_REQUIRED, RequestRule("pods", ()), clauses)
    policy = replace(policy, namespaces=covered(settings))
    if settings.mode is InstallationMode.AUDIT:
        return replace(policy, conditions=dict.fromkeys(policy.conditions, "false"))
    return policy


def status_of_pods(settings: Settings) -> AdmissionPolicy:
    """A write of the status can set annotations and labels too. The other subresources leave them
    unchanged, except the binding: see `bindings`.

    Nodes write the status of all pods of the cluster, more often than anybody writes a pod. So only
    pods with our label are looked at: on any other no annotation of ours counts.
    """
    clauses = _kept_on_pods(settings)
    policy = joined(
        "pods-status", RequestRule("pods/status", ()), clauses, updates=_noted(settings)
    )
    return replace(policy, labelled=MANAGED)


def _kept_on_pods(settings: Settings) -> list[Clause]:
    """What every update of a pod has to leave as it is."""
    clauses = [make(settings) for make in (keys, managed_label, fixed, service_account)]
    if settings.extender.enabled:
        clauses.append(card_given(settings))
    return clauses


def _noted(settings: Settings) -> str:
    """The update is the operator's own, or changes annotations or labels: hardly any other does."""
    by_us = user_is(settings.service_account_user)
    return any_of(by_us, f"!({same(('.metadata.?annotations', '.metadata.?labels'))})")


def pod_groups(settings: Settings) -> AdmissionPolicy:
    """What may be written on a pod group, and by whom."""
    return joined(
        "podgroups", GROUPS, [make(settings) for make in (reservation_owner, groups_account)]
    )
