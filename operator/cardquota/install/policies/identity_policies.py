"""Who decides, and how little the operator's own identity may do: its right to patch pods does not
allow running another image, nor that of groups and queues another minimum or quota.
"""

from collections.abc import Iterable
from typing import Final

from ...quota.vocabulary import (
    API_GROUP,
    CARD_GIVEN,
    LEASE,
    MANAGED,
    OURS_ON_GROUPS,
    REVIEW_GROUP,
    REVIEW_VERSION,
    STATUS,
    TERMS,
    VERSION,
    WOKEN_CONDITION,
)
from ...settings import Settings
from ..cel import all_of, literal, same, same_but, user_is
from ..matching import own
from .admission_policy import PREFIX, AdmissionPolicy, Check, Clause, RequestRule, joined
from .key_policies import written_by_us

_LEASE: Final = "lease"
_ANNOTATIONS: Final = "metadata.?annotations.orValue({})"
_LABELS: Final = "metadata.?labels.orValue({})"

_METADATA: Final = ("ownerReferences", "finalizers", "generateName")
"""The metadata of an object that can be changed, besides annotations and labels. The API server
keeps or sets all other metadata itself, for every kind."""


def lease(settings: Settings) -> AdmissionPolicy:
    """Only the operator writes the Lease and the Term, and no user deletes them: without the Term
    terms are not checked.

    By the object's name, not the request's: the deletion of a collection has no name.
    """
    where = f"{settings.namespace}/{LEASE}"
    uninstall = (
        "to uninstall cardquota, first delete the ValidatingAdmissionPolicyBinding "
        f"<{PREFIX}{_LEASE}>, then the namespace"
    )
    return AdmissionPolicy(
        _LEASE,
        RequestRule(
            "leases",
            ("CREATE", "UPDATE", "DELETE"),
            "coordination.k8s.io",
            elsewhere=(RequestRule(TERMS, (), REVIEW_GROUP, REVIEW_VERSION),),
        ),
        conditions={
            "ours": "(request.operation == 'DELETE' ? oldObject : object)"
            f".metadata.?name.orValue('') == '{LEASE}'",
        },
        checks=(
            Check(
                "request.operation != 'DELETE'",
                f"Lease and Term <{where}> may not be deleted: they say who decides about quota, "
                f"and without them a former leader could decide too; {uninstall}",
            ),
            Check(
                f"request.operation == 'DELETE' || {user_is(settings.service_account_user)}",
                f"Lease and Term <{where}> are written by cardquota alone: to have another replica "
                "lead, delete the pod of the one that leads",
                "'user <' + request.userInfo.username + '> may not write Lease and Term "
                f"<{where}>: to have another replica lead, delete the pod of the one that leads'",
            ),
        ),
        namespaces=own(settings),
    )


def service_account(settings: Settings) -> Clause:
    """Of a pod the operator changes only gates, affinity, its label and its own annotations."""
    fields = ("schedulingGates", "affinity")
    notes = written_by_us(settings)
    if settings.extender.enabled:
        notes += CARD_GIVEN
    return _nothing_but("pod", settings, fields, notes, spec="{}.spec", labels=(MANAGED,))


def groups_account(settings: Settings) -> Clause:
    """Of a pod group the operator changes only the reservation, and the mark of that write."""
    return _nothing_but("pod group", settings, (), OURS_ON_GROUPS)


def queues_account(settings: Settings) -> AdmissionPolicy:
    """Of a queue the operator changes only the numbers that it publishes."""
    clause = _nothing_but("queue", settings, (), (STATUS,))
    return joined("queues", RequestRule("queues", (), API_GROUP, VERSION), [clause])


def _nothing_but(
    kind: str,
    settings: Settings,
    fields: Iterable[str],
    annotations: Iterable[str],
    *,
    spec: str = "dyn({}).?spec.orValue({{}})",
    labels: Iterable[str] = (),
) -> Clause:
    """Of an object of this kind the operator changes only these spec fields, annotations and
    labels.

    `spec`: the path from an object to its spec, which custom resources may lack.
    """
    own = [*(f"spec.{name}" for name in fields), ", ".join((*annotations, *labels))]
    what = f"cardquota may change only {' and '.join(own)} of a {kind}"
    kept = same_but(f"object.{_LABELS}", f"oldObject.{_LABELS}", labels)
    metadata = all_of(kept, same(f".metadata.?{field}" for field in _METADATA))
    fault = "; this is a fault in cardquota or a misuse of its service account: please report it"
    return Clause(
        "byUs",
        ("UPDATE",),
        user_is(settings.service_account_user),
        checks=(
            Check(
                same_but(spec.format("object"), spec.format("oldObject"), fields),
                f"{what}: another field of spec would change{fault}",
            ),
            Check(
                same_but(f"object.{_ANNOTATIONS}", f"oldObject.{_ANNOTATIONS}", annotations),
                f"{what}: another annotation would change{fault}",
            ),
            Check(
                metadata,
                f"{what}: labels, owners, finalizers or other metadata would change{fault}",
            ),
        ),
    )


def workloads_account(settings: Settings) -> AdmissionPolicy:
    """Of a workload the operator changes only its own condition."""
    status = "dyn({}).?status.orValue({{}})"
    others = f".?conditions.orValue([]).filter(c, c.type != {literal(WOKEN_CONDITION)})"
    kept = all_of(
        same_but(status.format("object"), status.format("oldObject"), ["conditions"]),
        f"{status.format('object')}{others} == {status.format('oldObject')}{others}",
        *(
            f"dyn(object){field} == dyn(oldObject){field}"
            for field in (
                ".?spec",
                *(f".metadata.?{one}" for one in ("annotations", "labels", *_METADATA)),
            )
        ),
    )
    clause = Clause(
        "byUs",
        ("UPDATE",),
        user_is(settings.service_account_user),
        checks=(
            Check(
                kept,
                f"cardquota may change only the condition {WOKEN_CONDITION} of a workload; "
                "this is a fault in cardquota or a misuse of its service account: "
                "please report it",
            ),
        ),
    )
    batch = RequestRule("jobs/status", (), "batch")
    rule = RequestRule(
        "replicasets/status",
        (),
        "apps",
        more=("statefulsets/status", "daemonsets/status"),
        elsewhere=(batch,),
    )
    return joined("workloads-status", rule, [clause])
