"""What others may write on objects that are no pods."""

from typing import Final

from ...quota.messages import answer_messages
from ...quota.vocabulary import (
    NAMESPACE_ENFORCED,
    NAMESPACE_MODE,
    NAMESPACE_MODES,
    QUEUE_REVIEWS,
    REVIEW_GROUP,
    REVIEW_VERSION,
    WORKLOAD_REVIEWS,
)
from ...settings import Settings
from ..cel import literal, literals, user_is
from ..matching import labelled
from .admission_policy import AdmissionPolicy, Check, RequestRule

_LABEL: Final = f"object.metadata.?labels[?{literal(NAMESPACE_MODE)}]"
_WRITE: Final = f"write {', '.join(NAMESPACE_MODES[:-1])} or {NAMESPACE_MODES[-1]}"

_BESIDE: Final = ("namespaces/status", "namespaces/finalize")
"""Writes of these can set labels too."""


def namespace_mode(settings: Settings) -> AdmissionPolicy:
    """The label has a known value, or none, as an empty one counts. An unknown one would enforce
    nothing, while its administrator would believe that it does. Only a write that gives the label
    its value is checked: other changes of a namespace with a wrong one are admitted.
    """
    old = _LABEL.replace("object.", "oldObject.", 1)
    advice = f"which is unknown; {_WRITE}, or leave it out"
    return AdmissionPolicy(
        "namespaces",
        RequestRule("namespaces", ("CREATE", "UPDATE"), more=_BESIDE),
        conditions={
            "label-written": f"{_LABEL}.orValue('') != ''\n"
            f"&& (request.operation == 'CREATE' || {_LABEL} != {old})",
            "not-exempt": f"!(object.metadata.?name.orValue('') in "
            f"{literals(settings.unwatched_namespaces)})",
        },
        checks=(
            Check(
                f"{_LABEL}.orValue('') in {literals(NAMESPACE_MODES)}",
                f"the label {NAMESPACE_MODE} of this namespace has a value {advice}",
                "'namespace <' + object.metadata.?name.orValue('') + "
                f"'>: the label {NAMESPACE_MODE} is <' + {_LABEL}.orValue('')\n"
                f"+ '>, ' + {literal(advice)}",
            ),
        ),
    )


_SCHEDULER: Final = "system:kube-scheduler"
"""It makes claims for what pods ask for as a resource, which is counted or refused as such."""


RESOURCE_CLAIMS: Final = "resource-claims"


def resource_claims(settings: Settings) -> AdmissionPolicy:
    """In namespaces labelled `enforced`, only claims of DeviceClasses without cards (P7).

    A review reads the claims of a pod once. Claims and templates can be deleted and made again
    under the same name, until the pod has a node. Also the claims made from templates pass here.
    """
    listed = settings.device_classes_without_cards
    return AdmissionPolicy(
        RESOURCE_CLAIMS,
        RequestRule("resourceclaims", ("CREATE",), "resource.k8s.io", "*"),
        conditions={"not-for-a-resource": f"!({user_is(_SCHEDULER)})"},
        checks=(
            Check(
                "object.spec.?devices.?requests.orValue([]).all(r,\n"
                "  r.?firstAvailable.orValue([r.?exactly.orValue(r)]).all(d,\n"
                f"    d.?deviceClassName.orValue('') in {literals(listed)}))",
                f"no quota counts claimed devices: in a namespace labelled {NAMESPACE_MODE}: "
                f"{NAMESPACE_ENFORCED} claims may be only of DeviceClasses without cards "
                f"({', '.join(listed) or 'none'}); ask for cards in the container's limits",
            ),
        ),
        namespaces=labelled(settings, NAMESPACE_ENFORCED),
    )


_DRY: Final = "request.?dryRun.orValue(false)"


def questions() -> AdmissionPolicy:
    """Only a dry run may create one, or change it. In audit mode too: no pod depends on it.

    Who sends an answer of his own would else have it stored while no webhook is asked: shown to
    others as ours.
    """
    plain = answer_messages.send_as_dry_run(f"{QUEUE_REVIEWS} and {WORKLOAD_REVIEWS}")
    return AdmissionPolicy(
        "questions",
        RequestRule(
            QUEUE_REVIEWS,
            ("CREATE", "UPDATE"),
            REVIEW_GROUP,
            REVIEW_VERSION,
            more=(WORKLOAD_REVIEWS,),
        ),
        conditions={"to-be-stored": f"!{_DRY}"},
        checks=(Check(_DRY, plain),),
        denies_in_audit=True,
    )
