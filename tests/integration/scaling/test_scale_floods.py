"""R1 under load: many scale requests at once are all answered, and cost nobody else his answer."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from integration.roomy_nodes import T1000
from integration.team import Team
from integration.workload_bodies import create

from .autoscaler import replicas
from .test_scales import HPA, scale

CLIENTS = 32
REQUESTS = 1_000
WORKLOADS = 25
EACH = 4
ROOM = 40


@pytest.mark.slow
def test_a_thousand_scale_requests_at_once_are_all_answered(team: Team) -> None:
    """Three sorts of 25 workloads, none of which may be told anything but yes or the sentence."""
    queue = team.has_queue({T1000: ROOM})
    kinds = [("Deployment", "StatefulSet", "ReplicaSet")[n % 3] for n in range(WORKLOADS)]
    for number, kind in enumerate(kinds):
        reply = create(team, kind, team.a_pod(f"web-{number}", 1, T1000), replicas=0)
        assert reply.ok, reply
    # Somebody else's queue, in between.
    team.has_queue({T1000: REQUESTS // 10}, "other")
    sentence = f"Queue <{queue}> has insufficient <{T1000}> quota: "

    def one(number: int) -> int:
        kind, name = kinds[number % WORKLOADS], f"web-{number % WORKLOADS}"
        # An autoscaler now and then, and who only asks what would be.
        by, dry_run = (HPA if number % 7 == 0 else ""), number % 5 == 0
        reply = scale(team, kind, name, EACH, by=by, dry_run=dry_run)
        assert reply.ok or (reply.code == 403 and sentence in reply.message), reply
        if number % 10 == 0:
            pod = team.create(team.a_pod(f"pod-{number}", 1, T1000, queue="other"))
            assert pod.ok, pod
        return reply.code

    with ThreadPoolExecutor(CLIENTS) as clients:
        codes = list(clients.map(one, range(REQUESTS)))
    assert {200, 403} == set(codes)
    team.until_row(T1000, allocated=ROOM)
    wanted = [replicas(team, f"web-{number}", kind) for number, kind in enumerate(kinds)]
    assert sum(wanted) >= ROOM
    assert max(wanted) == EACH
