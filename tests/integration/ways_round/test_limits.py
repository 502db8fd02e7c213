"""More than anybody reads (P8): refused at create; stored all the same it waits, and is told."""

import pytest

from builders.pod import PodBody
from cardquota.quota import Limit, limits
from cardquota.quota import vocabulary as v
from cardquota.quota.messages import beyond_limit
from cardquota_dev.testing import Cluster
from integration.roomy_nodes import T1000
from integration.team import Team, of_a_job, released

TERM: list[tuple[str, str, list[str]]] = [("zone", "Exists", [])]
KEPT = [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 1}}}]


def many_containers(pod: PodBody) -> PodBody:
    others = [{"name": f"c{n}"} for n in range(limits.CONTAINERS.most)]
    return pod.with_spec(containers=[*KEPT, *others])


def many_tolerations(pod: PodBody) -> PodBody:
    found = [{"key": f"k{n}", "operator": "Exists"} for n in range(limits.TOLERATIONS.most + 1)]
    return pod.with_spec(tolerations=found)


@pytest.mark.slow
def test_a_pod_beyond_a_limit_is_refused_with_the_number_and_the_limit(team: Team) -> None:
    team.has_queue({T1000: 4})
    pod = team.a_pod("p", 1)
    long, texts = pod.naming("A" * 250_000), limits.CARD_TEXT
    cases: list[tuple[Limit, int, PodBody]] = [
        (limits.TERMS, 1_000, pod.requiring(*[TERM] * 1_000)),
        (limits.CONTAINERS, limits.CONTAINERS.most + 1, many_containers(pod)),
        (texts, 250_000, long),
        (limits.ALTERNATIVES, 300, pod.naming("|".join(f"A{n}" for n in range(300)))),
        (limits.QUEUE_TEXT, 254, pod.in_queue("q" * 254)),
        (limits.GROUP_TEXT, 254, pod.in_group("g" * 254)),
    ]
    for limit, found, body in cases:
        for dry in (False, True):
            reply = team.create(body, dry=dry)
            assert (reply.code, reply.reason) == (403, v.Reason.INVALID_CARD), limit
            assert beyond_limit(limit, found) in reply.message
    # The API server adds tolerations of its own: how many there are in all is its affair.
    reply = team.create(many_tolerations(pod))
    assert (reply.code, reply.reason) == (403, v.Reason.INVALID_CARD)
    assert f"tolerations, at most <{limits.TOLERATIONS.most}> are read" in reply.message
    assert team.create(pod.naming(T1000).requiring(*[TERM] * limits.TERMS.most), dry=True).ok


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "text", "limit"),
    [
        (v.CARD_NAME, "A" * 250_000, limits.CARD_TEXT),
        (v.QUEUE_NAME, "q" * 250_000, limits.QUEUE_TEXT),
    ],
    ids=["card", "queue"],
)
def test_edited_beyond_one_at_its_gate_it_waits_until_it_is_edited_back(
    team: Team, key: str, text: str, limit: Limit
) -> None:
    queue = team.has_queue(team.a_queue({T1000: 1}).with_policy("Gate"))
    first, second = (of_a_job(team.a_pod(name, 1, T1000)) for name in ("first", "second"))
    assert team.create(first).ok
    team.until_open("first")
    assert team.create(second).ok
    team.until_told("second", v.Reason.INSUFFICIENT_CARD)
    assert team.annotate(second, key, text).ok
    event = team.until_told("second", v.Reason.INVALID_CARD)
    assert beyond_limit(limit, len(text)) in event["message"]
    assert team.delete(first).ok
    third = of_a_job(team.a_pod("third", 1, T1000))
    assert team.create(third).ok
    team.until_open("third")  # so there was room for the second, which did not take it
    assert not released(team.pod("second"))
    assert text[:100] not in metrics(team.cluster)
    assert team.delete(third).ok
    assert team.annotate(second, key, T1000 if key == v.CARD_NAME else queue).ok
    team.until_open("second")


def metrics(cluster: Cluster) -> str:
    """Of all replicas."""
    client = cluster.admin.rest_client.pool_manager
    replicas = [one for one in cluster.state.processes if one.name.startswith("cardquota-")]
    assert replicas
    found = (client.request("GET", f"{replica.address}/metrics") for replica in replicas)
    return "".join(page.data.decode() for page in found)
