"""What the operator may write on the status of a workload: the condition that wakes its controller.

Its right to patch the status does not allow anything else, such as a Job that counts as complete.
"""

from typing import Final

from ...quota.vocabulary import WOKEN_CONDITION
from ...settings import Settings
from ..cel import all_of, literal, user_is
from .admission_policy import AdmissionPolicy, Check, Clause, Rule, joined

_COUNTS: Final = (
    *("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    *("terminatingReplicas", "currentReplicas", "updatedReplicas", "unavailableReplicas"),
    *("currentRevision", "updateRevision", "collisionCount", "observedGeneration"),
    *("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"),
    *("updatedNumberScheduled", "numberAvailable", "numberUnavailable"),
    *("active", "succeeded", "failed", "ready", "terminating", "startTime", "completionTime"),
    *("completedIndexes", "failedIndexes", "uncountedTerminatedPods"),
)
"""Every field of the status of the four kinds but the conditions. An API server may know more."""
_METADATA: Final = ("annotations", "labels", "ownerReferences", "finalizers", "generateName")


def workloads_account(settings: Settings) -> AdmissionPolicy:
    """Of a workload the operator changes only its own condition."""
    foreign = f".status.?conditions.orValue([]).filter(c, c.type != {literal(WOKEN_CONDITION)})"
    status = (f".status.?{name}" for name in _COUNTS)
    metadata = (f".metadata.?{name}" for name in _METADATA)
    kept = [".?spec", *metadata, *status, foreign]
    clause = Clause(
        "byUs",
        ("UPDATE",),
        user_is(settings.service_account_user),
        checks=(
            Check(
                all_of(*(f"dyn(object){path} == dyn(oldObject){path}" for path in kept)),
                f"cardquota may change only the condition {WOKEN_CONDITION} of a workload; "
                "this is a fault in cardquota or a misuse of its service account: "
                "please report it",
            ),
        ),
    )
    batch = Rule("jobs/status", (), "batch")
    rule = Rule(
        "replicasets/status",
        (),
        "apps",
        beside=("statefulsets/status", "daemonsets/status"),
        elsewhere=(batch,),
    )
    return joined("workloads-status", rule, [clause])
