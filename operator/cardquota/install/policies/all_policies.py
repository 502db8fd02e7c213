"""All policies, in the order in which they are rendered."""

from ...settings import InstallationMode, Settings
from .admission_policy import AdmissionPolicy, Rule, joined
from .binding_policies import binding_term, bindings
from .gate_policies import born_gated, gate_owner, gate_term
from .identity_policies import groups_account, lease, queues_account, service_account
from .key_policies import GROUPS, card_given, fixed, keys, reservation_owner, reservation_term
from .namespace_policies import namespace_mode


def policies(settings: Settings) -> tuple[AdmissionPolicy, ...]:
    """The rules that the API server enforces by itself, whether or not we run."""
    return (
        pods(settings),
        gate_term(settings),
        bindings(settings),
        *([binding_term(settings)] if settings.extender.enabled else ()),
        pod_groups(settings),
        reservation_term(settings),
        queues_account(settings),
        namespace_mode(settings),
        lease(settings),
    )


def pods(settings: Settings) -> AdmissionPolicy:
    """What may be written on a pod, and by whom. For most creates and updates it is the only
    policy. In audit mode it demands no gate: nothing is gated.

    A write of the status can set annotations too. The other subresources leave them unchanged,
    except the binding: see `bindings`.
    """
    clauses = [make(settings) for make in (gate_owner, keys, fixed, service_account)]
    if settings.mode is InstallationMode.ENFORCE:
        clauses.append(born_gated(settings))
    if settings.extender.enabled:
        clauses.append(card_given(settings))
    return joined("pods", Rule("pods", (), beside=("pods/status",)), clauses)


def pod_groups(settings: Settings) -> AdmissionPolicy:
    """What may be written on a pod group, and by whom."""
    return joined(
        "podgroups", GROUPS, [make(settings) for make in (reservation_owner, groups_account)]
    )
