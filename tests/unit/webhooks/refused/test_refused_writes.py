"""V1: who is refused a Binding, or the group of a pod, is noticed, whoever he is."""

import json
from typing import Any

import pytest
from prometheus_client import generate_latest

from cardquota.cluster.events.event import ObjectReference
from cardquota.cluster.events.events import EventRecorder
from cardquota.metrics import Metrics
from cardquota.quota.reports.strangers import LASTING
from cardquota.quota.vocabulary import RefusedWrite
from cardquota_webhooks.refused import refused_writes as module
from cardquota_webhooks.refused.refused_write_reviews import RefusedWriteReviews
from cardquota_webhooks.refused.refused_writes import RefusedWrites
from cardquota_webhooks.review import decode

USER = "system:serviceaccount:batch:volcano-scheduler"


class HeardEvents(EventRecorder):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, str]] = []

    def record(self, ref: ObjectReference, **said: Any) -> None:
        self.heard.append((ref.name, said["reason"], said["message"]))


class Noticed:
    """What is told, at a time of the test's own."""

    def __init__(self) -> None:
        self.now = 0.0
        self.events, self.metrics = HeardEvents(), Metrics()
        self.writes = RefusedWrites(self.events, self.metrics, lambda: self.now)

    def note(self, pod: str, user: str = USER, what: RefusedWrite = RefusedWrite.BINDING) -> None:
        self.writes.note(what, user, ObjectReference("Pod", "v1", "team", pod, f"uid-{pod}"))

    def counted(self, what: str) -> float:
        name = f'cardquota_refused_writes_total{{what="{what}"}}'
        lines = generate_latest(self.metrics.registry).decode().splitlines()
        return next(float(one.rpartition(" ")[2]) for one in lines if one.startswith(name))


@pytest.fixture
def noticed() -> Noticed:
    return Noticed()


def test_it_is_told_once_of_each_pod_and_counted_each_time(noticed: Noticed) -> None:
    """Volcano tries again every second."""
    for _ in range(3):
        noticed.note("a")
        noticed.note("b")
    assert [(name, reason) for name, reason, _ in noticed.events.heard] == [
        ("a", "VolcanoNotKnown"),
        ("b", "VolcanoNotKnown"),
    ]
    assert noticed.events.heard[0][2].startswith(f"<{USER}> may not bind this pod: ")
    assert noticed.counted("binding") == 6
    assert noticed.counted("group") == 0
    (fault,) = noticed.writes.faults
    assert fault.startswith(f"<{USER}> may not bind at least 2 pods, so pods wait; if this account")


def test_groups_are_another_matter(noticed: Noticed) -> None:
    noticed.note("a")
    noticed.note("a", what=RefusedWrite.GROUP)
    assert "may not give this pod a group" in noticed.events.heard[1][2]
    assert "may not give a group to at least 1 pod" in noticed.writes.faults[1]


def test_it_is_over_some_minutes_after_the_last_time(noticed: Noticed) -> None:
    noticed.note("a")
    noticed.now = LASTING - 1
    noticed.note("b", "somebody")
    noticed.note("a")
    noticed.now = 2 * LASTING - 2
    assert len(noticed.writes.faults) == 2
    noticed.now = 2 * LASTING
    assert noticed.writes.faults == []


def test_many_users_and_many_pods_cost_little(
    noticed: Noticed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    monkeypatch.setattr(module, "MOST_PODS", 5)
    for number in range(9):
        noticed.note(f"p{number}")
    assert len(noticed.events.heard) == 5
    for number in range(9):
        noticed.note("q", f"user-{number}")
        noticed.note("q", USER, RefusedWrite.GROUP)
    faults = noticed.writes.faults
    assert len(faults) == 4
    assert ["user-8" in one for one in faults].count(True) == 1
    assert "user-5" not in str(faults)
    # A name of a user is as long as somebody likes.
    noticed.note("q", "x" * 100_000)
    assert max(map(len, noticed.writes.faults)) < 1_000
    assert max(len(text) for _, _, text in noticed.events.heard) < 1_000


def test_of_a_long_name_no_more_is_kept_than_a_service_account_may_have(noticed: Noticed) -> None:
    """So names that differ only behind that are one."""
    for number, pod in enumerate(("a", "b")):
        noticed.note(pod, "x" * 600 + str(number))
    (fault,) = noticed.writes.faults
    assert "may not bind at least 2 pods" in fault


def test_many_users_write_no_flood_of_lines(
    noticed: Noticed, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A tenant makes as many service accounts as he likes, and lets them take turns."""
    monkeypatch.setattr(module, "MOST", 3)
    for number in range(40):
        noticed.note("q", f"user-{number % 4}")
    assert len(caplog.records) == 3
    noticed.now = LASTING
    noticed.note("q", "user-9")
    assert len(caplog.records) == 4


def review(written: object, *, sub: str = "binding", dry_run: bool = False) -> bytes:
    request = {
        "uid": "1",
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "subResource": sub,
        "operation": "CREATE",
        "name": "web",
        "namespace": "team",
        "userInfo": {"username": USER},
        "object": written,
        "dryRun": dry_run,
    }
    found = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(found).encode()


BINDING = {"metadata": {"name": "web", "uid": "u", "annotations": {}}, "target": {"name": "n"}}


@pytest.mark.parametrize(
    ("written", "uid"),
    [
        (BINDING, "u"),
        ({"metadata": {"name": "web"}}, ""),
        (None, ""),
        ({"metadata": 7}, ""),
        ([[[]]], ""),
    ],
)
async def test_a_review_is_always_allowed(written: object, uid: str) -> None:
    """The policies decide."""
    noted: list[tuple[RefusedWrite, str, ObjectReference]] = []
    reviews = RefusedWriteReviews(lambda *note: noted.append(note))
    answer = await reviews.binding(decode(review(written)))
    assert (answer.allowed, answer.warnings, answer.patch) == (True, (), "")
    about = ObjectReference("Pod", "v1", "team", "web", uid)
    assert noted == [(RefusedWrite.BINDING, USER, about)]


async def test_a_dry_run_is_not_noticed() -> None:
    noted: list[object] = []
    reviews = RefusedWriteReviews(lambda *note: noted.append(note))
    assert (await reviews.binding(decode(review(BINDING, dry_run=True)))).allowed
    assert (await reviews.group(decode(review(BINDING, sub="", dry_run=True)))).allowed
    assert noted == []
    assert (await reviews.group(decode(review(BINDING, sub="")))).allowed
    assert len(noted) == 1
