"""Workloads by name and by owner."""

from dataclasses import replace

import pytest

from cardquota.quota import KeptObjects, limits
from cardquota.quota.pods import WorkloadCache, WorkloadFacts


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
        owner_kind="Custom" if owner else "",
        replicas=replicas,
        desired=0,
        present=0,
        refused=False,
        certain=True,
        template=b"{}",
    )


def a_cache() -> WorkloadCache:
    return WorkloadCache(KeptObjects(limits.WORKLOADS, limits.WORKLOADS_OF_ONE))


def test_what_an_object_owns_by_way_of_others() -> None:
    cache = a_cache()
    cache.see(workload("d", owner="custom"))
    cache.see(workload("r1", "ReplicaSet", "web-1", owner="d"))
    cache.see(workload("r2", "ReplicaSet", "web-2", owner="d"))
    cache.see(workload("deep", "ReplicaSet", "web-3", owner="r2"))
    assert [one.uid for one in cache.owned_by("custom", "team")] == ["d", "r2", "r1"]
    assert cache.owned_by("nobody", "team") == []


def test_who_owns_what_in_another_namespace() -> None:
    cache = a_cache()
    cache.see(replace(workload("r", "ReplicaSet", owner="custom"), namespace="evil"))
    assert cache.owned_by("custom", "team") == []


def test_of_very_many_those_that_were_seen_last() -> None:
    cache = a_cache()
    for number in range(100):
        cache.see(workload(f"r{number}", "ReplicaSet", f"r{number}", owner="custom"))
    found = [one.uid for one in cache.owned_by("custom", "team")]
    assert (found[0], len(found)) == ("r99", 64)


def test_p8_what_is_kept_of_all_workloads_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    most = limits.WORKLOADS_OF_ONE._replace(most=2_000)
    monkeypatch.setattr(limits, "WORKLOADS_OF_ONE", most)
    monkeypatch.setattr(limits, "WORKLOADS", most._replace(most=2_800))
    cache = a_cache()

    def kept(uid: str, namespace: str = "team") -> bool:
        cache.see(replace(workload(uid, name=uid), namespace=namespace, template=b"x" * 100))
        return cache.get(uid) is not None

    assert [kept("a"), kept("b"), kept("c")] == [True, True, False]
    assert [kept("d", "other"), kept("e", "other")] == [True, False]
    cache.gone("a")
    assert [kept("b"), kept("c"), kept("e", "other")] == [True, True, False]


def test_who_was_refused_and_lacks_pods() -> None:
    cache = a_cache()
    cache.ask(asked=True)
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
    cache = a_cache()
    for uid in ("a", "b"):
        cache.see(replace(workload(uid), refused=True))
    cache.gone("b")
    assert cache.take_refused_news() == []
    cache.ask(asked=True)
    assert cache.take_refused_news() == ["a"]
    cache.see(replace(workload("c"), refused=True))
    cache.ask(asked=False)
    assert cache.take_refused_news() == []


def test_nothing_is_left_of_what_is_gone() -> None:
    cache = a_cache()
    cache.see(replace(workload("a", owner="o"), refused=True))
    cache.gone("a")
    cache.gone("a")
    assert cache.kept.total == 0
    kept = [one for one in vars(cache).values() if isinstance(one, dict | list)]
    assert [len(one) for one in kept] == [0] * 5


def test_r6_a_refused_replica_set_is_news_when_its_deployment_wants_another_number() -> None:
    cache = a_cache()
    cache.see(workload("d"))
    cache.see(replace(workload("r", "ReplicaSet", "web-1", owner="d"), refused=True))
    cache.ask(asked=True)
    cache.take_refused_news()
    cache.see(workload("d"))
    assert cache.take_refused_news() == []
    cache.see(workload("d", replicas=2))
    assert cache.take_refused_news() == ["r"]
    cache.gone("d")
    assert cache.take_refused_news() == ["r"]
