"""The shipped roles: who may edit workloads sets no quota, and opts out of none."""

from itertools import product

from builders import a_namespace
from cardquota.quota import vocabulary as v
from integration.asking import MERGE, Object, ask, metric
from integration.roomy_nodes import T1000
from integration.team import Team, released

from .people import MIGHTY, QUEUE_ADMIN, TENANT


def test_a_tenant_sees_the_queues_and_sets_no_quota(people: Team) -> None:
    """Neither raises one, nor makes a queue, opens one, or writes its status."""
    queue = people.a_queue({T1000: 1})
    people.has_queue(queue)
    path = f"{people.path(queue)}/{queue.name}"
    assert ask(people.cluster, "GET", path, as_user=TENANT).ok
    for user in (TENANT, MIGHTY):
        assert people.create(people.a_queue({T1000: 9}, "mine"), as_user=user).code == 403
        for key, value in (
            (v.QUOTA, '{"NVIDIA-T1000": 9}'),
            (v.NAMESPACES, "[]"),
            (v.QUEUE_STATE, "Closed"),
            (v.POLICY, "Gate"),
        ):
            assert people.annotate(queue, key, value, as_user=user).code == 403
        status: Object = {"status": {"state": "Closed", "cards": []}}
        assert people.patch(queue, status, sub="/status", as_user=user).code == 403
        limit: Object = {"spec": {"capability": {"cpu": "1"}}}
        assert people.patch(queue, limit, as_user=user).code == 403
        assert ask(people.cluster, "DELETE", path, as_user=user).code == 403


def test_a_queue_admin_sets_quotas_and_nothing_else(people: Team) -> None:
    """No pods, no status; and what it writes must be a quota that can be read."""
    queue = people.a_queue({T1000: 1})
    assert people.create(queue, as_user=QUEUE_ADMIN).ok
    assert people.annotate(queue, v.QUOTA, '{"NVIDIA-T1000": 2}', as_user=QUEUE_ADMIN).ok
    assert not people.annotate(queue, v.QUOTA, '{"NVIDIA-T1000": -2}', as_user=QUEUE_ADMIN).ok
    status: Object = {"status": {"cards": []}}
    assert people.patch(queue, status, sub="/status", as_user=QUEUE_ADMIN).code == 403
    assert people.create(people.a_pod("a", 1, T1000), as_user=QUEUE_ADMIN).code == 403


def test_a_status_written_by_hand_frees_nothing_and_does_not_last(people: Team) -> None:
    """The numbers follow the pods; what is shown is put right."""
    people.has_queue({T1000: 1})
    assert people.create(people.a_pod("a", 1, T1000)).ok
    people.until_row(T1000, allocated=1)
    forged = {"name": T1000, "quota": 9, "allocated": 0, "inqueue": 0, "requested": 0, "elastic": 0}
    change = {"status": {"cards": [forged]}}
    assert people.patch(people.a_queue({}), change, sub="/status").ok
    assert people.create(people.a_pod("b", 1, T1000)).reason == v.Reason.INSUFFICIENT_CARD
    people.until_row(T1000, allocated=1, quota=1)


def test_a_tenant_does_not_take_its_namespace_out(people: Team) -> None:
    """It needs the right to change the namespace itself, which no role for tenants gives."""
    off = a_namespace(people.namespace).in_mode("off").body["metadata"]["labels"]
    path = f"/api/v1/namespaces/{people.namespace}"
    other = {"metadata": {"name": f"{people.namespace}-mine", "labels": off}}
    change = {"metadata": {"labels": off}}
    for user in (TENANT, MIGHTY):
        for where in (path, f"{path}/status"):
            reply = ask(people.cluster, "PATCH", where, change, content_type=MERGE, as_user=user)
            assert reply.code == 403
        assert ask(people.cluster, "POST", "/api/v1/namespaces", other, as_user=user).code == 403


def test_what_runs_in_a_namespace_that_was_taken_out_is_still_counted(people: Team) -> None:
    """I3: outside every queue, whatever it names."""
    people.has_queue({T1000: 1})

    def outside() -> float:
        name = "cardquota_queue_card_allocated"
        return metric(people.cluster, name, queue="", card=T1000)

    before = outside()
    people.set_mode("off")
    two = people.a_pod("x", 2, T1000)
    people.until(
        lambda: (reply := people.create(two, dry=True)).ok and released(reply.body), "it is off"
    )
    there = {"nvidia.com/gpu.product": T1000}  # nobody gives it an affinity
    mine = people.a_pod("mine", 2, T1000).on_nodes_labelled(there)
    nobodys = people.a_pod("nobodys", 3, T1000).in_queue(None).on_nodes_labelled(there)
    assert people.create(mine).ok
    assert people.create(nobodys).ok
    people.until_bound("mine", "nobodys")
    people.until(lambda: outside() == before + 5, "counted outside")


def test_a_pod_does_not_take_itself_out(people: Team) -> None:
    """The label counts on namespaces alone."""
    people.has_queue({T1000: 1})
    two, one = people.a_pod("a", 2, T1000), people.a_pod("b", 1, T1000)
    for where, value in product(("labels", "annotations"), ("off", "audit")):
        place = ("metadata", where, v.NAMESPACE_MODE)
        assert people.create(two.put(value, *place), as_user=TENANT).code == 403
        reply = people.create(one.put(value, *place), dry=True, as_user=TENANT)
        assert reply.ok
        assert not released(reply.body)


def test_a_false_mirror_pod_is_no_way_round_for_a_node_either(people: Team) -> None:
    """A kubelet speaks for its own node alone; nobody else's mirror pod is admitted."""
    people.has_queue({T1000: 1})
    pod = people.a_pod("a", 2, T1000).annotated("kubernetes.io/config.mirror", "x")
    reply = people.create(pod.with_spec(nodeName="roomy-0"), as_user=TENANT)
    assert reply.code == 403
