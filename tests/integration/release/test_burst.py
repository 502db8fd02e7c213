"""At no moment more is released than the quota allows (I1), however many ask at once."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.pod_watch import SeenChange
from integration.roomy_nodes import T1000
from integration.team import Team, of_a_job, released

QUOTA = 20


def most_at_once(seen: list[SeenChange]) -> int:
    """The most pods that were released at the same time, by the order of the API server."""
    through: set[str] = set()
    most = 0
    for event in seen:
        if event.type == "DELETED" or event.object["status"].get("phase") in (
            "Succeeded",
            "Failed",
        ):
            through.discard(event.name)
        elif released(event.object):
            through.add(event.name)
        most = max(most, len(through))
    return most


def answers(team: Team, pods: list[PodBody]) -> Counter[str]:
    """Create all of them from eight threads; how many heard what."""
    with ThreadPoolExecutor(8) as pool:
        return Counter(r.reason if not r.ok else "created" for r in pool.map(team.create, pods))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["service", "job", "mixed"])
def test_sixty_pods_into_twenty_cards(team: Team, kind: str) -> None:
    """I1: exactly the quota runs in the end, never more in between, and nothing is left over."""
    team.has_queue({T1000: QUOTA})
    pods = [team.a_pod(f"p{number}", 1, T1000) for number in range(60)]
    if kind != "service":
        pods = [of_a_job(p) if kind == "job" or n % 2 else p for n, p in enumerate(pods)]
    with team.watching() as watch:
        heard = answers(team, pods)
        team.until_row(T1000, allocated=QUOTA, inqueue=0)
        through = sum(released(pod) for pod in team.pods())
        seen = watch.caught_up()
    assert set(heard) <= {"created", v.Reason.INSUFFICIENT_CARD}
    assert heard["created"] >= QUOTA
    if kind == "job":
        assert heard["created"] == 60
    assert through == QUOTA
    assert most_at_once(seen) == QUOTA

    for pod in team.pods():
        assert team.delete(team.a_pod(pod["metadata"]["name"])).ok
    team.until_row(T1000, allocated=0, inqueue=0, requested=0, elastic=0)


@pytest.mark.slow
def test_pods_that_come_and_go(team: Team) -> None:
    """I1 while cards are freed and taken all the time."""
    team.has_queue(team.a_queue({T1000: 5}).with_policy("Gate"))
    with team.watching() as watch:
        assert answers(team, [team.a_pod(f"p{n}", 1, T1000) for n in range(30)])["created"] == 30
        for gone in range(5, 30, 5):
            team.until_row(T1000, allocated=5, requested=35 - gone)
            running = [p for p in team.pods() if released(p)]
            assert len(running) == 5
            for pod in running:
                assert team.delete(team.a_pod(pod["metadata"]["name"])).ok
        team.until_row(T1000, allocated=5, requested=5)
        assert most_at_once(watch.caught_up()) == 5
