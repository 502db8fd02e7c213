"""Questions on a real API server while nobody answers them: none can be stored with an answer that
its sender has written, in audit mode neither.
"""

from typing import Any

import pytest

from cardquota.quota import QUEUE_REVIEWS, REVIEW_GROUP, REVIEW_VERSION, WORKLOAD_REVIEWS
from cardquota.settings import InstallationMode, Settings
from cardquota_dev.testing import eventually
from integration.asking import ApiReply, ask

from ..policy_api import TEAM, PolicyApi, allowed, apply_policies, refused

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]

API = f"/apis/{REVIEW_GROUP}/{REVIEW_VERSION}"
PODS = {"running": 0, "released": 0, "waiting": 0, "lacking": 0}
QUEUE_REVIEW = {
    "apiVersion": f"{REVIEW_GROUP}/{REVIEW_VERSION}",
    "kind": "QueueReview",
    "metadata": {"name": "false-answer"},
    "spec": {"queue": "research"},
    "status": {
        "queue": "research",
        "state": "Open",
        "fifo": False,
        "time": "2026-01-02T12:00:00Z",
        "cards": [],
        "moreCards": 0,
        "resources": [],
        "heldPods": 0,
        "holders": [],
        "moreHolders": 0,
        "waitingPods": 0,
        "waiters": [],
        "moreWaiters": 0,
    },
}
WORKLOAD_REVIEW = {
    "apiVersion": f"{REVIEW_GROUP}/{REVIEW_VERSION}",
    "kind": "WorkloadReview",
    "metadata": {"name": "false-answer", "namespace": TEAM},
    "spec": {"kind": "Pod", "name": "chat"},
    "status": {
        "kind": "Pod",
        "namespace": TEAM,
        "name": "chat",
        "time": "2026-01-02T12:00:00Z",
        "queue": "",
        "asks": [],
        "pods": PODS,
        "state": "Fits",
        "reason": "",
        "message": "all is well",
    },
}
QUESTIONS = [
    (f"{API}/{QUEUE_REVIEWS}", QUEUE_REVIEW),
    (f"{API}/namespaces/{TEAM}/{WORKLOAD_REVIEWS}", WORKLOAD_REVIEW),
]


def create(api: PolicyApi, path: str, body: dict[str, Any], *, dry: bool) -> ApiReply:
    return ask(api.plane, "POST", path + ("?dryRun=All" if dry else ""), body)


@pytest.mark.parametrize("mode", [InstallationMode.ENFORCE, InstallationMode.AUDIT])
def test_an_answer_of_ones_own_is_not_stored(api: PolicyApi, mode: InstallationMode) -> None:
    apply_policies(api, Settings.model_construct(mode=mode))
    try:
        for path, body in QUESTIONS:
            eventually(lambda path=path, body=body: not create(api, path, body, dry=False).ok)
            refused(create(api, path, body, dry=False), "questions", "never stored", "as a dry run")
            allowed(create(api, path, body, dry=True))
    finally:
        apply_policies(api)
