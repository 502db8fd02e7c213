"""What a Binding may carry: the API server puts its annotations and labels on the pod, in the write
that binds, which no rule about pods covers.
"""

from typing import Final

from ...quota.vocabulary import (
    ALLOCATED,
    CARD_GIVEN,
    FIXED_ONCE_OPEN,
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
from .admission_policy import TERM_VARIABLES, AdmissionPolicy, Check, RequestRule, term_check
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
    """A Binding has none of these annotations, except for the operator's own where it binds: that
    carries its term, what was allocated, and the pod's card.

    One without them, as kube-scheduler's, costs two conversions of a small object. A Binding does
    not show what the pod already has, so Volcano's scheduler, which repeats that, is trusted.
    """
    condition = any_of(all_of(repeats_notes(settings), f"!({by_volcano(settings)})"), _LABELLED)
    if not settings.extender.enabled:
        checks = _of_others(settings)
        return AdmissionPolicy("bindings", BINDINGS, {"may-be-unlawful": condition}, checks)
    # It contains the checks of ours, so that a valid Binding costs no more: see `joined`.
    by_us = user_is(settings.service_account_user)
    unlawful = f"!({all_of(_KEYS_OF_OURS, _LABELS_OF_OURS)})"
    condition = any_of(all_of(f"!({by_us})", condition), all_of(by_us, unlawful))
    return AdmissionPolicy(
        "bindings",
        BINDINGS,
        conditions={"may-be-unlawful": condition},
        checks=(*_of_others(settings, "variables.byUs"), *_of_ours()),
        variables={"byUs": by_us},
    )


def binding_term(settings: Settings) -> AdmissionPolicy:
    """The operator binds only in the current term. Checks only its own requests."""
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
        variables=TERM_VARIABLES,
        checks=(
            term_check(
                settings,
                "cardquota may bind a pod",
                "'cardquota may bind pod <' + object.metadata.?name.orValue('') + '>",
                "bind this pod",
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


def _of_others(settings: Settings, *but: str) -> tuple[Check, ...]:
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
    return (
        Check(
            any_of(*but, f"!{_LABELLED}"),
            f"the label {MANAGED} is written by cardquota alone: leave it out of the Binding",
        ),
        Check(any_of(*but, f"!{ours}"), kept, said + literal(kept)),
        Check(
            any_of(*but, f"!{others}", f"!({in_watched(settings, Mode.AUDIT)})"),
            fixed,
            said + literal(fixed),
        ),
    )


def _of_ours() -> tuple[Check, ...]:
    """What it carries ends up on the pod, of which the operator may change nothing else."""
    fault = "this is a fault in cardquota or a misuse of its service account: please report it"
    return (
        Check(
            any_of("!variables.byUs", _KEYS_OF_OURS),
            f"a Binding of cardquota carries no annotation but {', '.join(BOUND_WITH)}; {fault}",
        ),
        Check(
            any_of("!variables.byUs", _LABELS_OF_OURS),
            f"a Binding of cardquota carries no label but {MANAGED}; {fault}",
        ),
    )
