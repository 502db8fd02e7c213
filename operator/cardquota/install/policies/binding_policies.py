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
    MANAGED,
    PLACEMENT,
    TERM,
    Mode,
)
from ...settings import Settings
from ..cel import (
    CURRENT_TERM,
    all_of,
    annotation,
    any_of,
    carries,
    literal,
    literals,
    of_term,
    user_is,
)
from ..matching import in_watched
from .admission_policy import AdmissionPolicy, Check, RequestRule
from .key_policies import by_volcano, volcanos_setting, written_by_us

BINDINGS: Final = RequestRule("pods/binding", ("CREATE",), more=("bindings",))
BOUND_WITH: Final = (TERM, ALLOCATED, *PLACEMENT, *CARD_GIVEN)
"""All that the operator's own Binding may carry."""
TOPOLOGY: Final = "topology.kubernetes.io/"
"""The API server itself adds labels with this prefix to a Binding: the node's zone and region."""

_KEYS_OF_OURS: Final = (
    f"object.?metadata.?annotations.orValue({{}}).all(k, k in {literals(BOUND_WITH)})"
)
_LABELS_OF_OURS: Final = (
    "object.?metadata.?labels.orValue({}).all(k,\n"
    f"  k == {literal(MANAGED)} || k.startsWith({literal(TOPOLOGY)}))"
)
_LABELLED: Final = f"object.?metadata.?labels[?{literal(MANAGED)}].hasValue()"


def bindings(settings: Settings) -> AdmissionPolicy:
    """A Binding has none of these annotations, except for the operator's own where it binds.

    One without them, as kube-scheduler's, costs two conversions of a small object. A Binding does
    not show what the pod already has, so Volcano's scheduler, which repeats that, is trusted.
    """
    noted = all_of(repeats_notes(settings), f"!({by_volcano(settings)})")
    condition = any_of(noted, _LABELLED)
    ours = _of_ours() if settings.extender.enabled else ()
    if settings.extender.enabled:
        # It contains the checks of ours, so that a valid Binding costs no more: see `joined`.
        by_us = user_is(settings.service_account_user)
        unlawful = f"!({all_of(_KEYS_OF_OURS, _LABELS_OF_OURS)})"
        condition = any_of(all_of(f"!({by_us})", condition), all_of(by_us, unlawful))
    return AdmissionPolicy(
        "bindings",
        BINDINGS,
        conditions={"may-be-unlawful": condition},
        checks=(*_of_others(settings), *ours),
        variables=(
            {"byUs": user_is(settings.service_account_user)} if settings.extender.enabled else {}
        ),
    )


def binding_term(settings: Settings) -> AdmissionPolicy:
    """The operator binds only in the current term. Checks only its own requests."""
    current = f"{settings.namespace}/{LEASE}"
    stale = (
        f"the annotation {TERM} is not the term in Term <{current}>; "
        "a replica that has lost the Lease must stop; the current leader will bind this pod"
    )
    return AdmissionPolicy(
        "binding-term",
        BINDINGS,
        # It contains the check, so that a valid Binding costs no more than this: see `joined`.
        conditions={
            "bound-out-of-term": all_of(
                user_is(settings.service_account_user),
                f"!({of_term(annotation('object', TERM), CURRENT_TERM)})",
            ),
        },
        variables={"term": annotation("object", TERM), "current": CURRENT_TERM},
        checks=(
            Check(
                of_term("variables.term", "variables.current"),
                f"cardquota may bind a pod only in the current term: {stale}",
                "'cardquota may bind pod <' + object.metadata.?name.orValue('') + '> only in the "
                "current term <' + variables.current + '>, not in <' + variables.term\n"
                f"+ '>: ' + {literal(stale)}",
            ),
        ),
        by_term=True,
    )


def repeats_notes(settings: Settings) -> str:
    """Whether a Binding has annotations that are refused to all but Volcano's scheduler and us."""
    return carries("object", (*_kept_from_others(settings), *FIXED_ONCE_OPEN))


def _kept_from_others(settings: Settings) -> tuple[str, ...]:
    given = CARD_GIVEN if settings.extender.enabled else ()
    return (*written_by_us(settings), *given)


def _of_others(settings: Settings) -> tuple[Check, ...]:
    leave = (
        "leave them out of the Binding; if this user is Volcano's scheduler, "
        f"{volcanos_setting(settings)}"
    )
    said = "'user <' + request.userInfo.username + '>: ' + "
    names = _kept_from_others(settings)
    kept = f"the annotations {', '.join(names)} are written by cardquota alone: {leave}"
    fixed = (
        f"the annotations {', '.join(FIXED_ONCE_OPEN)} of a pod say what it is charged and do not "
        f"change when it is bound: {leave}"
    )
    ours, others = carries("object", names), carries("object", FIXED_ONCE_OPEN)
    by_us = ["variables.byUs"] if settings.extender.enabled else []
    return (
        Check(
            any_of(*by_us, f"!{_LABELLED}"),
            f"the label {MANAGED} is written by cardquota alone: leave it out of the Binding",
        ),
        Check(any_of(*by_us, f"!{ours}"), kept, said + literal(kept)),
        Check(
            any_of(*by_us, f"!{others}", f"!({in_watched(settings, Mode.AUDIT)})"),
            fixed,
            said + literal(fixed),
        ),
    )


def _of_ours() -> tuple[Check, ...]:
    """What it carries ends up on the pod, of which the operator may change nothing else."""
    fault = "this is a fault in cardquota or a misuse of its service account: please report it"
    return (
        Check(
            any_of(
                "!variables.byUs",
                _KEYS_OF_OURS,
            ),
            f"a Binding of cardquota carries no annotation but {', '.join(BOUND_WITH)}; {fault}",
        ),
        Check(
            any_of(
                "!variables.byUs",
                _LABELS_OF_OURS,
            ),
            f"a Binding of cardquota carries no label but {MANAGED}; {fault}",
        ),
    )
