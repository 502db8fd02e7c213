"""What opens a gate, what is written with it, and who is told if it cannot open (E2, E7, E10)."""

import json

from cardquota.quota import vocabulary as v
from integration.asking import Object, ask
from integration.roomy_nodes import T1000, T2000
from integration.team import Team, gates, notes, of_a_job, released


def holder(team: Team) -> str:
    """Who leads, by the Lease."""
    path = f"/apis/coordination.k8s.io/v1/namespaces/{v.OPERATOR_NAMESPACE}/leases/{v.LEASE}"
    return str(ask(team.cluster, "GET", path).body["spec"]["holderIdentity"])


def node_terms(pod: Object) -> list[Object]:
    required = pod["spec"]["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    return list(required["nodeSelectorTerms"])


def test_what_is_written_when_the_gate_opens(team: Team) -> None:
    """The charge, the queue and the decision's term, in one write with the gate (E10, P5)."""
    queue = team.has_queue({T1000: 3})
    assert team.create(team.a_pod("a", 2, T1000)).ok
    team.until_bound("a")
    pod = team.pod("a")
    assert gates(pod) == []
    assert json.loads(notes(pod)[v.ALLOCATED]) == {T1000: 2}
    assert notes(pod)[v.CHARGED_QUEUE] == queue
    assert notes(pod)[v.TERM] == holder(team)
    assert node_terms(pod) == [
        {
            "matchExpressions": [
                {"key": "nvidia.com/gpu.product", "operator": "In", "values": [T1000]}
            ]
        }
    ]


def test_a_pod_waits_until_the_quota_is_raised(team: Team) -> None:
    """E2, section 9: one event with the sentence while it waits, `QuotaReleased` when it goes."""
    queue = team.has_queue(team.a_queue({T1000: 1}).with_policy("Gate"))
    assert team.create(team.a_pod("first", 1, T1000)).ok
    team.until_open("first")
    assert team.create(team.a_pod("second", 1, T1000)).ok
    told = team.until_told("second", v.Reason.INSUFFICIENT_CARD)
    assert told["message"].startswith(
        f"Queue <{queue}> has insufficient <{T1000}> quota: "
        "requested <1>, total would be <2>, but capability is <1>; wait until"
    )
    assert not released(team.pod("second"))

    team.set_quota({T1000: 2})

    team.until_open("second")
    event = team.until_told("second", v.RELEASED)
    assert event["message"] == (f'Queue <{queue}> has room: gate opened, charged {{"{T1000}": 1}}')
    assert event["type"] == "Normal"
    assert [event["reason"] for event in team.events("second")].count(
        v.Reason.INSUFFICIENT_CARD
    ) == 1
    assert team.events("first") == []


# --- a pod that waits ---------------------------------------------------------------------


def waiting(team: Team) -> None:
    """Pod `b` waits for the quota that `a` holds."""
    team.has_queue(team.a_queue({T1000: 1, T2000: 0}).with_policy("Gate"))
    assert team.create(team.a_pod("a", 1, T1000)).ok
    team.until_open("a")
    assert team.create(team.a_pod("b", 1, T1000)).ok


def test_the_card_of_a_waiting_pod_may_be_changed_and_is_honoured(team: Team) -> None:
    """Until its gate opens; then it is fixed (E10)."""
    waiting(team)
    assert team.annotate(team.a_pod("b"), v.CARD_NAME, T2000).ok
    team.set_quota({T1000: 1, T2000: 1})
    team.until_open("b")
    assert json.loads(notes(team.pod("b"))[v.ALLOCATED]) == {T2000: 1}
    refused = team.annotate(team.a_pod("b"), v.CARD_NAME, T1000)
    assert refused.code in (403, 422)
    assert f"may not change the annotations {v.CARD_NAME}" in refused.message


def test_a_gate_that_the_api_server_does_not_let_be_opened_is_told(team: Team) -> None:
    """The annotations have no room left for ours: the pod waits, and hears why."""
    team.has_queue({T1000: 1})
    full = team.a_pod("full", 1, T1000).annotated("example.com/long", "x" * 262_000)
    assert team.create(full).ok
    told = team.until_told("full", v.GATE_REFUSED)
    assert "Too long" in told["message"]
    assert not released(team.pod("full"))
    assert team.create(of_a_job(team.a_pod("next", 1, T1000))).ok
    team.until_open("next")
