"""Section 2: with `namespaces: labelled`, quotas are where the namespace's label says so."""

import json
from collections.abc import Iterator

import pytest

from builders import a_pod
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, fresh_namespace, running_plane
from conftest import decides
from integration.asking import Object, ask, metric
from integration.plugin import plugin
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import Team, bugs_logged, notes, released

from .test_reach import reviews

pytestmark = [pytest.mark.plane, pytest.mark.slow]

STAMP = {v.ALLOCATED: f'{{"{T1000}":3}}', v.TERM: "t", v.CHARGED_QUEUE: "x"}
LABEL = {v.MANAGED: v.IS_MANAGED}


@pytest.fixture(scope="module")
def labelled_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("labelled")
    config = folder / "config.yaml"
    config.write_text("namespaces: labelled\nrequireNamespaces: true\n")
    with running_plane(folder / "plane", config=config) as cluster:
        add_roomy_nodes(cluster)
        cluster.warm()
        Team(cluster, "default", "none").until(lambda: decides(cluster), "a leader that decides")
        yield cluster
        assert bugs_logged(cluster) == []


@pytest.fixture
def team(labelled_plane: Cluster, unique: str) -> Iterator[Team]:
    with fresh_namespace(labelled_plane, unique) as name:
        yield Team(labelled_plane, name, unique)


def on_t1000(pod: PodBody) -> PodBody:
    """No affinity to its card is added where no quota is."""
    return pod.put({"nvidia.com/gpu.product": T1000}, "spec", "nodeSelector")


def test_without_the_label_nobody_is_asked_and_no_quota_counts(team: Team) -> None:
    team.has_queue(team.a_queue({T1000: 1}).open_to(team.namespace))
    before = reviews(team)
    assert team.create(team.a_pod("a", 3, T1000)).ok
    assert reviews(team) == before
    assert released(team.pod("a"))
    team.until_bound("a")
    assert v.MANAGED not in team.pod("a")["metadata"].get("labels", {})


def test_with_the_label_what_runs_is_counted_and_new_pods_are_judged(team: Team) -> None:
    team.has_queue(team.a_queue({T1000: 1}).open_to(team.namespace))
    assert team.create(on_t1000(team.a_pod("a", 3, T1000))).ok
    team.until_bound("a")
    team.set_mode(v.NAMESPACE_ENFORCED)
    team.until_row(T1000, allocated=3)
    team.until(lambda: notes(team.pod("a")).get(v.CHARGED_QUEUE), "charged on the pod")
    team.until(lambda: not team.create(team.a_pod("b", 1, T1000), dry=True).ok, "reviewed")
    reply = team.create(team.a_pod("b", 1, T1000))
    assert "requested <1>, total would be <4>, but capability is <1>" in reply.message


def test_nobody_prepares_there_what_would_count_later(team: Team) -> None:
    """Annotations as ours are believed beside our label alone, and nobody gets that."""
    marked = a_pod("marked").labelled(v.MANAGED, v.IS_MANAGED)
    reply = team.create(marked)
    assert not reply.ok
    assert "no quota covers this namespace" in reply.message
    forged = team.a_pod("forged", 1, T1000)
    for key, value in STAMP.items():
        forged = forged.annotated(key, value)
    assert team.create(forged).ok  # means nothing
    reply = team.patch(forged, {"metadata": {"labels": LABEL}})
    assert not reply.ok
    assert f"may not change the label {v.MANAGED}" in reply.message


def test_the_leader_opens_a_gate_there_and_believes_nothing(team: Team) -> None:
    pod = team.a_pod("gated", 1, T1000).put([{"name": v.GATE}], "spec", "schedulingGates")
    for key, value in STAMP.items():
        pod = pod.annotated(key, value)
    assert team.create(pod).ok
    team.until_open("gated")
    assert notes(team.pod("gated")).keys() & {v.ALLOCATED, v.CHARGED_QUEUE} == set()
    assert not team.annotate(pod, v.ALLOCATED, STAMP[v.ALLOCATED]).ok


def test_nor_by_a_binding(team: Team) -> None:
    assert team.create(team.a_pod("free").put("nobody", "spec", "schedulerName")).ok
    reply = ask(
        team.cluster,
        "POST",
        f"/api/v1/namespaces/{team.namespace}/pods/free/binding",
        {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": "free", "labels": LABEL, "annotations": STAMP},
            "target": {"apiVersion": "v1", "kind": "Node", "name": "roomy-0"},
        },
    )
    assert not reply.ok
    assert "written by cardquota alone" in reply.message


def test_a_queue_that_names_no_namespaces_is_open_to_none_and_says_so(team: Team) -> None:
    team.set_mode(v.NAMESPACE_ENFORCED)
    reply = team.create(team.a_queue({T1000: 1}))
    assert any("no namespace may use it (requireNamespaces)" in one for one in reply.warnings)
    team.until(lambda: not team.create(team.a_pod("a", 1, T1000), dry=True).ok, "reviewed")
    assert "is not open to namespace" in team.create(team.a_pod("a", 1, T1000)).message
    queue = team.a_queue({T1000: 1})
    assert team.annotate(queue, v.NAMESPACES, f'["{team.namespace}"]').warnings == ()
    team.until(lambda: team.create(team.a_pod("a", 1, T1000)).ok, "open to it")


def test_a_day_of_audit_says_what_would_have_been_refused(team: Team) -> None:
    """Section 2: by namespace and queue, whoever asks, and none of a dry run."""
    team.has_queue(team.a_queue({T1000: 1}).open_to(team.namespace).with_policy("Deny"))
    team.has_queue(team.a_queue({T1000: 1}, "b").open_to(team.namespace).with_policy("Gate"), "b")
    team.set_mode(v.NAMESPACE_AUDIT)
    probe = team.a_pod("probe", 2, T1000)
    team.until(lambda: team.create(probe, dry=True).warnings, "audited")
    # One that is bound counts: so the one that fits comes before those that never do.
    for name, queue in (("fits", "b"), ("a", "q"), ("b", "q"), ("c", "b")):
        cards = 1 if name == "fits" else 2
        assert team.create(team.a_pod(name, cards, T1000, queue=queue)).ok
    told = metric(
        team.cluster,
        "cardquota_audited_pods_total",
        namespace=team.namespace,
        queue=team.queue_name(),
        effect="deny",
    )
    assert told == 2
    wanted = [
        {"namespace": team.namespace, "queue": team.queue_name(), "refused": 2, "waiting": 0},
        {"namespace": team.namespace, "queue": team.queue_name("b"), "refused": 1, "waiting": 0},
    ]
    kubeconfig = team.cluster.kubeconfig

    def reported() -> bool:
        done = plugin(kubeconfig, "check", "--audit", "-n", team.namespace, "-o", "json")
        assert done.returncode in (0, 3)
        found: list[Object] = json.loads(done.stdout)["rows"]
        return found == wanted

    team.until(reported, f"{wanted} reported", 90)
    text = plugin(kubeconfig, "check", "--audit", "-n", team.namespace).stdout
    assert f"{team.namespace}   {team.queue_name()}" in text
