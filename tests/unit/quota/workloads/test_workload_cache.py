"""Workloads by name and by owner."""

from dataclasses import replace

from cardquota.quota.workloads.workload_cache import WorkloadCache
from cardquota.quota.workloads.workload_facts import WorkloadFacts


def workload(
    uid: str, kind: str = "Deployment", name: str = "web", owner: str = "", replicas: int = 1
) -> WorkloadFacts:
    return WorkloadFacts(
        kind=kind,
        namespace="team",
        name=name,
        uid=uid,
        created="",
        owner=owner,
        replicas=replicas,
        present=0,
        refused=False,
        certain=True,
        template=b"{}",
    )


def test_by_kind_and_name() -> None:
    cache = WorkloadCache()
    cache.see(workload("a"))
    cache.see(workload("b", kind="StatefulSet"))
    found = cache.named("Deployment", "team", "web")
    assert found is not None
    assert found.uid == "a"
    assert cache.get("a") is found
    assert cache.get("c") is None
    assert cache.named("Deployment", "other", "web") is None
    assert cache.named("ReplicaSet", "team", "web") is None


def test_the_next_of_a_name_takes_it() -> None:
    cache = WorkloadCache()
    cache.see(workload("a"))
    cache.see(workload("b"))
    cache.gone("a")
    found = cache.named("Deployment", "team", "web")
    assert found is not None
    assert found.uid == "b"


def test_what_an_object_owns_by_way_of_others() -> None:
    cache = WorkloadCache()
    cache.see(workload("d", owner="custom"))
    cache.see(workload("r1", "ReplicaSet", "web-1", owner="d"))
    cache.see(workload("r2", "ReplicaSet", "web-2", owner="d"))
    cache.see(workload("deep", "ReplicaSet", "web-3", owner="r2"))
    assert [one.uid for one in cache.owned_by("custom")] == ["d", "r1", "r2"]
    assert cache.owned_by("nobody") == []


def test_who_owns_itself_is_no_trap() -> None:
    cache = WorkloadCache()
    cache.see(workload("a", owner="a"))
    assert {one.uid for one in cache.owned_by("a")} == {"a"}


def test_another_owner() -> None:
    cache = WorkloadCache()
    cache.see(workload("r", owner="one"))
    cache.see(workload("r", owner="two"))
    assert cache.owned_by("one") == []
    assert [one.uid for one in cache.owned_by("two")] == ["r"]


def test_what_grows_is_announced() -> None:
    cache, grown = WorkloadCache(), list[int]()
    cache.listen(lambda facts: grown.append(facts.replicas))
    cache.see(workload("a", replicas=3))
    cache.see(workload("a", replicas=3))
    cache.see(workload("a", replicas=1))
    assert grown == []
    cache.see(workload("a", replicas=2))
    assert grown == [2]


def test_who_was_refused_and_lacks_pods() -> None:
    cache = WorkloadCache()
    refused = replace(workload("a"), refused=True)
    cache.see(refused)
    assert [*cache.refused] == cache.take_refused_news() == ["a"]
    cache.see(replace(refused, present=1))
    assert not cache.refused
    assert cache.take_refused_news() == ["a"]
    assert cache.take_refused_news() == []
    cache.see(refused)
    cache.gone("a")
    assert not cache.refused


def test_who_asks_for_the_first_time_hears_of_all_that_were_refused() -> None:
    cache = WorkloadCache()
    for uid in ("a", "b"):
        cache.see(replace(workload(uid), refused=True))
    cache.gone("b")
    cache.rest()
    assert cache.take_refused_news() == ["a"]


def test_nothing_is_left_of_what_is_gone() -> None:
    cache = WorkloadCache()
    cache.see(replace(workload("a", owner="o"), refused=True))
    cache.gone("a")
    cache.gone("a")
    cache.rest()
    assert [len(one) for one in vars(cache).values()] == [0] * 6
