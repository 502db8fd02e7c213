"""Fields of pods and pod groups that are protected from users.

What a pod is charged is read from the operator's annotations, so a forged one would spend the quota
of others. They hold in every namespace, exempt ones included: nothing else has a reason to write
them, and a pod that does not touch them costs one comparison.
"""

from typing import Final

from ...quota.vocabulary import (
    API_GROUP,
    CARD_GIVEN,
    FIXED_ONCE_OPEN,
    GROUP_NAME,
    LEASE,
    MANAGED,
    NAMESPACE_AUDIT,
    NAMESPACE_ENFORCED,
    NAMESPACE_MODE,
    OURS_ON_GROUPS,
    OURS_ON_PODS,
    PLACEMENT,
    RESERVATION,
    VERSION,
    Mode,
)
from ...settings import Settings
from ..cel import (
    CURRENT_TERM,
    all_of,
    annotation,
    any_of,
    carries,
    changed,
    changed_by_update,
    gated,
    literal,
    literals,
    user_is,
)
from ..matching import NODES, covered, in_watched
from .admission_policy import AdmissionPolicy, Check, Clause, RequestRule

GROUPS: Final = RequestRule("podgroups", ("CREATE", "UPDATE"), API_GROUP, VERSION)


def by_volcano(settings: Settings) -> str:
    """The user is Volcano's scheduler or one of its controllers. These write the group of a pod
    after its creation, and the scheduler repeats all annotations of the pod in the Binding.
    """
    accounts = settings.volcano_accounts
    return f"request.userInfo.username in {literals(accounts)}" if accounts else "false"


def volcanos_setting(settings: Settings) -> str:
    """What to set where this user is Volcano's after all."""
    if settings.scheduler == "volcano":
        return "add it to the setting volcano.accounts and apply `cardquota manifests`"
    return "set scheduler: volcano"


def group_given() -> str:
    """A pod without a group is given one when its gate is open, and nothing else of what is fixed
    then changes.
    """
    others = [key for key in FIXED_ONCE_OPEN if key != GROUP_NAME]
    return all_of(
        f"{annotation('oldObject', GROUP_NAME)} == ''",
        f"{annotation('object', GROUP_NAME)} != ''",
        f"!{gated('oldObject')}",
        f"!({changed_by_update(others)})",
    )


def written_by_us(settings: Settings) -> tuple[str, ...]:
    """The pod annotations that nobody else writes.

    Which card a pod has is among them only where the operator binds: otherwise it is written by
    another extender of the same protocol.
    """
    return (*OURS_ON_PODS, *PLACEMENT) if settings.extender.enabled else OURS_ON_PODS


def written_at_release(settings: Settings) -> tuple[str, ...]:
    """The pod annotations that no pod is created with: also those of its card, if we bind it."""
    return (*written_by_us(settings), *(CARD_GIVEN if settings.extender.enabled else ()))


def keys_at_create(settings: Settings) -> Clause:
    """No pod is created with the operator's annotations."""
    ours = written_by_us(settings)
    names = ", ".join(ours)
    leave = (
        "leave them out, of a pod from a backup too (`kubectl annotate --local -f FILE KEY- -o "
        "yaml`, or what your backup tool has for it); they are written when the pod's gate opens"
    )
    if settings.extender.enabled:
        leave += ", or when it is bound"
    return Clause(
        "keysForged",
        ("CREATE",),
        carries("object", ours),
        checks=(
            Check(
                "false",
                f"a pod may not be created with the annotations {names}: {leave}",
                "'pod <' + object.metadata.?name.orValue("
                "object.metadata.?generateName.orValue('')) + '> may not be created with the "
                "annotations ' +\n"
                f"{literals(ours)}.filter(k, "
                "object.metadata.?annotations[?k].hasValue()).join(', ')\n"
                f"+ ': ' + {literal(leave)}",
            ),
        ),
    )


def keys(settings: Settings) -> Clause:
    """Only the operator writes its annotations on pods."""
    ours = written_by_us(settings)
    names = ", ".join(ours)
    return Clause(
        "keysChanged",
        ("UPDATE",),
        changed_by_update(ours),
        checks_first=True,
        checks=(
            Check(
                user_is(settings.service_account_user),
                f"the annotations {names} are written by cardquota alone: leave them as they are",
                "'user <' + request.userInfo.username + '> may not change the annotations "
                f"{names} of pod <' + object.metadata.name\n"
                "+ '>: they are written by cardquota alone; leave them as they are'",
            ),
        ),
    )


def managed_label(settings: Settings) -> Clause:
    """Only the operator changes the label of a pod once it is created.

    A pod may be created with it: it is looked at more closely then, and has no annotation of ours.
    """
    here, before = (f"{of}.metadata.?labels[?{literal(MANAGED)}]" for of in ("object", "oldObject"))
    leave = "only cardquota writes it, to mark pods that count towards quotas; leave it as it is"
    return Clause(
        "labelChanged",
        ("UPDATE",),
        f"{here} != {before}",
        checks_first=True,
        checks=(
            Check(
                user_is(settings.service_account_user),
                f"the label {MANAGED} of a pod may not be changed: {leave}",
                "'user <' + request.userInfo.username + '> may not change the label "
                f"{MANAGED} of pod <' + object.metadata.name\n+ '>: ' + {literal(leave)}",
            ),
        ),
    )


def labelled_where_uncovered(settings: Settings) -> AdmissionPolicy:
    """No pod is created with our label where the label of the namespace does not cover it: later
    it could get annotations there that are believed beside our label.
    """
    leave = (
        f"leave it out, or label the namespace {NAMESPACE_MODE}: "
        f"{NAMESPACE_ENFORCED} or {NAMESPACE_AUDIT}"
    )
    return AdmissionPolicy(
        "pods-uncovered",
        RequestRule("pods", ("CREATE",)),
        conditions={},
        checks=(
            Check(
                "false",
                f"no quota covers this namespace, so a pod has no label {MANAGED}: {leave}",
            ),
        ),
        namespaces=covered(settings, no=True),
        labelled=MANAGED,
    )


def card_given_at_create(settings: Settings) -> Clause:
    """No pod is created as one that has got its card."""
    names = ", ".join(CARD_GIVEN)
    return Clause(
        "cardGivenForged",
        ("CREATE",),
        carries("object", CARD_GIVEN),
        checks=(
            Check(
                "false",
                f"a pod may not be created with the annotations {names}: "
                "leave them out; they are written when the pod is bound",
            ),
        ),
    )


def card_given(settings: Settings) -> Clause:
    """Whether a pod has got its card is written with its Binding, then by its node's device plugin.

    A plugin writes as its node, or as a service account of an exempt namespace such as kube-system.
    """
    names = ", ".join(CARD_GIVEN)
    accounts = (f"system:serviceaccounts:{name}" for name in settings.exempt_namespaces)
    return Clause(
        "cardGivenChanged",
        ("UPDATE",),
        changed_by_update(CARD_GIVEN),
        checks=(
            Check(
                any_of(
                    user_is(settings.service_account_user),
                    "request.userInfo.?groups.orValue([])"
                    f".exists(g, g in {literals([NODES, *accounts])})",
                ),
                f"the annotations {names} are written by cardquota and the node's device plugin "
                "alone: leave them as they are",
                "'user <' + request.userInfo.username + '> may not change the annotations "
                f"{names} of pod <' + object.metadata.name\n"
                "+ '>: they are written by cardquota and the device plugin of its node alone; "
                "leave them as they are'",
            ),
        ),
    )


def fixed(settings: Settings) -> Clause:
    """Card, queue and group of a pod do not change once its gate is open.

    Adding, changing and removing are all changes. Not in namespaces in audit mode: pods have no
    gate there.
    """
    names = ", ".join(FIXED_ONCE_OPEN)
    others = [key for key in FIXED_ONCE_OPEN if key != GROUP_NAME]
    again = (
        "they say what it is charged, so they are fixed once the pod is past its gate; "
        "create the pod again, from a changed template, with other values"
    )
    only_given = all_of(
        f"!({changed_by_update(others)})",
        f"{annotation('oldObject', GROUP_NAME)} == ''",
    )
    theirs = f"; if this user is one of Volcano's controllers, {volcanos_setting(settings)}"
    return Clause(
        "fixedChanged",
        ("UPDATE",),
        all_of(f"!{gated('oldObject')}", changed_by_update(FIXED_ONCE_OPEN)),
        where=in_watched(settings, Mode.AUDIT),
        checks=(
            Check(
                all_of(only_given, by_volcano(settings)),
                f"the annotations {names} of this pod may not be changed any more: {again}",
                "'user <' + request.userInfo.username + '> may not change the annotations ' +\n"
                f"{literals(FIXED_ONCE_OPEN)}.filter(k, object.metadata.?annotations[?k] "
                "!= oldObject.metadata.?annotations[?k]).join(', ')\n"
                f"+ ' of pod <' + object.metadata.name + '>: ' + {literal(again)}\n"
                f"+ ({only_given} ? {literal(theirs)} : '')",
            ),
        ),
    )


def reservation_owner(settings: Settings) -> Clause:
    """Only the operator writes the reservation of a pod group, and the mark of its last write."""
    names = " and ".join(OURS_ON_GROUPS)
    leave = "cardquota alone writes them; leave them out, and ask by minMember and card.request"
    return Clause(
        "reservationChanged",
        ("CREATE", "UPDATE"),
        changed(OURS_ON_GROUPS),
        checks_first=True,
        checks=(
            Check(
                user_is(settings.service_account_user),
                f"the annotations {names} of a pod group may not be changed: {leave}",
                "'user <' + request.userInfo.username + '> may not change the annotations "
                f"{names} of pod group <' + object.metadata.?name.orValue('')\n"
                f"+ '>: ' + {literal(leave)}",
            ),
        ),
    )


def reservation_term(settings: Settings) -> AdmissionPolicy:
    """A reservation is written only in the current term.

    The policy searches the JSON text for the term as `"term":"<term>"`: compact, without spaces.
    Removing a reservation needs no term. Checks only the operator's requests, as for the gate.
    """
    current = f"{settings.namespace}/{LEASE}"
    stale = (
        f'it must hold "term":"<the term in Term {current}>"; '
        "a replica that has lost the Lease must stop; the current leader will reserve"
    )
    return AdmissionPolicy(
        "reservation-term",
        GROUPS,
        conditions={
            "by-us": user_is(settings.service_account_user),
            "reservation-changed": changed([RESERVATION]),
            "reservation-kept": f"{annotation('object', RESERVATION)} != ''",
        },
        variables={"current": CURRENT_TERM},
        checks=(
            Check(
                "variables.current != ''\n"
                f"&& {annotation('object', RESERVATION)}"
                """.contains('"term":"' + variables.current + '"')""",
                f"the annotation {RESERVATION} may be written only in the current term: {stale}",
                f"'the annotation {RESERVATION} of pod group <' + object.metadata.?name.orValue('')"
                " + '> may be written only in the current term <' + variables.current\n"
                f"+ '>: ' + {literal(stale)}",
            ),
        ),
        by_term=True,
    )
