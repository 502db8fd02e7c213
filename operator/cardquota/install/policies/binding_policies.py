"""What a Binding may carry: the API server puts its annotations and labels on the pod.

It does so in the write that binds, which no rule about pods covers.

- bindings: a Binding has no annotation that says what the pod is charged. With the scheduler
  extender, the operator's own carries its term, what was allocated, and the pod's card.
- binding-term: and only in the current term. The API server itself refuses a leader that was paused
  and comes back.
"""

from typing import Final

from ...quota.vocabulary import (
    ALLOCATED,
    CARD_GIVEN,
    FIXED_ONCE_OPEN,
    LEASE,
    PLACEMENT,
    TERM,
    Mode,
)
from ...settings import Settings
from ..cel import all_of, annotation, any_of, carries, literal, literals, user_is
from ..namespaces import in_watched
from .admission_policy import AdmissionPolicy, Check, Rule
from .key_policies import GROUP_CONTROLLERS, written_by_us

BINDINGS: Final = Rule("pods/binding", ("CREATE",), beside=("bindings",))
BOUND_WITH: Final = (TERM, ALLOCATED, *PLACEMENT, *CARD_GIVEN)
"""All that the operator's own Binding may carry."""
TOPOLOGY: Final = "topology.kubernetes.io/"
"""The API server itself adds labels with this prefix to a Binding: the node's zone and region."""


def bindings(settings: Settings) -> AdmissionPolicy:
    """A Binding has none of these annotations, except for the operator's own where it binds.

    One without them, as kube-scheduler's, costs two conversions of a small object. A Binding does
    not show what the pod already has, so Volcano's scheduler, which repeats that, is trusted.
    """
    by_volcano = f"request.userInfo.username.startsWith({literal(GROUP_CONTROLLERS)})"
    guarded = (*_kept_from_others(settings), *FIXED_ONCE_OPEN)
    condition = all_of(carries("object", guarded), f"!{by_volcano}")
    if settings.extender.enabled:
        condition = any_of(condition, user_is(settings.service_account_user))
    return AdmissionPolicy(
        "bindings",
        BINDINGS,
        conditions={"brings-annotations": condition},
        checks=(*_of_others(settings), *(_of_ours() if settings.extender.enabled else ())),
        variables=(
            {"byUs": user_is(settings.service_account_user)} if settings.extender.enabled else {}
        ),
    )


def binding_term(settings: Settings) -> AdmissionPolicy:
    """The operator binds only in the current term. Checks only its own requests."""
    lease = f"{settings.namespace}/{LEASE}"
    stale = (
        f"the annotation {TERM} is not the current holder of Lease <{lease}>; "
        "who has lost the Lease must stop deciding, the current leader will bind this pod"
    )
    return AdmissionPolicy(
        "binding-term",
        BINDINGS,
        conditions={"by-us": user_is(settings.service_account_user)},
        variables={
            "term": annotation("object", TERM),
            "holder": "params.?spec.?holderIdentity.orValue('')",
        },
        checks=(
            Check(
                "variables.term != '' && variables.term == variables.holder",
                f"cardquota may bind a pod only in the current term: {stale}",
                "'cardquota may bind pod <' + object.metadata.?name.orValue('') + '> only in the "
                "current term <' + variables.holder + '>, not in <' + variables.term\n"
                f"+ '>: ' + {literal(stale)}",
            ),
        ),
        by_term=True,
    )


def _kept_from_others(settings: Settings) -> tuple[str, ...]:
    given = CARD_GIVEN if settings.extender.enabled else ()
    return (*written_by_us(settings), *given)


def _of_others(settings: Settings) -> tuple[Check, ...]:
    leave = "leave them out of the Binding"
    names = _kept_from_others(settings)
    ours, others = carries("object", names), carries("object", FIXED_ONCE_OPEN)
    by_us = ["variables.byUs"] if settings.extender.enabled else []
    return (
        Check(
            any_of(*by_us, f"!{ours}"),
            f"the annotations {', '.join(names)} are written by cardquota alone: {leave}",
        ),
        Check(
            any_of(*by_us, f"!{others}", f"!({in_watched(settings, Mode.AUDIT)})"),
            f"the annotations {', '.join(FIXED_ONCE_OPEN)} of a pod say what it is charged and "
            f"do not change when it is bound: {leave}",
        ),
    )


def _of_ours() -> tuple[Check, ...]:
    """What it carries ends up on the pod, of which the operator may change nothing else."""
    fault = "this is a fault of cardquota or a misuse of its service account: please report it"
    return (
        Check(
            any_of(
                "!variables.byUs",
                f"object.?metadata.?annotations.orValue({{}}).all(k, k in {literals(BOUND_WITH)})",
            ),
            f"a Binding of cardquota carries no annotation but {', '.join(BOUND_WITH)}; {fault}",
        ),
        Check(
            any_of(
                "!variables.byUs",
                f"object.?metadata.?labels.orValue({{}}).all(k, k.startsWith({literal(TOPOLOGY)}))",
            ),
            f"a Binding of cardquota carries no label of its own; {fault}",
        ),
    )
