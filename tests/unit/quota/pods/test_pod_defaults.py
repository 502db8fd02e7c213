"""P1: what the API server adds to a template's pods counts when their number is told."""

from typing import Any

import msgspec
import pytest

from builders import GPU
from cardquota.quota import CONTAINERS, RESOURCE_ENTRIES
from cardquota.quota.objects import LimitRange, PodSpec, RuntimeClass
from cardquota.quota.pods import PodDefaults, PodTotals, pod_totals

from ...containers import containers

Object = dict[str, Any]
MI = 2**20


def a_range(name: str, namespace: str = "team", kind: str = "Container", **item: Object) -> Object:
    limits = [{"type": kind, **item}]
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"limits": limits}}


def seen(*ranges: Object) -> PodDefaults:
    defaults = PodDefaults()
    for one in ranges:
        defaults.limit_range_seen(msgspec.convert(one, LimitRange))
    return defaults


def a_class(defaults: PodDefaults, name: str, pod_fixed: Object | None) -> None:
    body = {"metadata": {"name": name}, "overhead": pod_fixed and {"podFixed": pod_fixed}}
    defaults.runtime_class_seen(msgspec.convert(body, RuntimeClass))


def totals(
    defaults: PodDefaults, *containers: Object, namespace: str = "team", **spec: Any
) -> PodTotals:
    body = {"containers": [{"resources": one} for one in containers], **spec}
    return pod_totals(defaults.applied(msgspec.convert(body, PodSpec), namespace))


def test_without_any_a_specification_stays_as_it_is() -> None:
    spec = msgspec.convert({"containers": [{}]}, PodSpec)
    assert PodDefaults().applied(spec, "team") is spec
    assert seen(a_range("a", "other", default={"cpu": "1"})).applied(spec, "team") is spec


@pytest.mark.parametrize(
    ("resources", "cpu"),
    [
        ({}, 250),  # the default request
        ({"requests": {"cpu": "2"}}, 2000),
        ({"limits": {"cpu": "3"}}, 3000),  # the request is as the limit
        ({"limits": {"memory": "1Gi"}}, 250),
    ],
)
def test_what_a_container_does_not_say_is_taken_from_the_range(resources: Object, cpu: int) -> None:
    defaults = seen(a_range("a", default={"cpu": "1"}, defaultRequest={"cpu": "250m"}))
    assert totals(defaults, resources).cpu == cpu


@pytest.mark.parametrize(
    ("item", "cpu"),
    [
        ({"max": {"cpu": "4"}}, 4000),
        ({"min": {"cpu": "100m"}}, 100),
        ({"max": {"cpu": "4"}, "min": {"cpu": "100m"}}, 4000),
        ({"max": {"cpu": "4"}, "default": {"cpu": "2"}}, 2000),
    ],
)
def test_a_range_of_bounds_has_defaults_too(item: Object, cpu: int) -> None:
    """The API server writes them into it; in a file they are missing."""
    assert totals(seen(a_range("a", **item)), {}).cpu == cpu


def test_a_device_may_be_a_default_and_other_resources_do_not_matter() -> None:
    defaults = seen(a_range("a", default={GPU: "1", "ephemeral-storage": "1Gi"}))
    assert totals(defaults, {}).devices == ((GPU, 1),)
    assert totals(defaults, {"limits": {GPU: 2}}).devices == ((GPU, 2),)


def test_a_range_of_pods_or_claims_says_nothing_of_containers() -> None:
    assert totals(seen(a_range("a", kind="Pod", max={"cpu": "4"})), {}).cpu == 0


def test_of_several_ranges_the_first_by_name_counts_for_each_resource() -> None:
    ranges = (
        a_range("b", defaultRequest={"cpu": "2", "memory": "2Mi"}),
        a_range("a", defaultRequest={"cpu": "1"}),
    )
    found = totals(seen(*ranges), {})
    assert (found.cpu, found.memory) == (1000, 2 * MI)
    assert totals(seen(*reversed(ranges)), {}) == found


@pytest.mark.parametrize(
    ("containers", "of_one"), [(CONTAINERS.most + 1, 1), (40, RESOURCE_ENTRIES.most // 40 + 1)]
)
def test_p8_of_what_is_beyond_a_limit_nothing_is_read_nor_written(
    containers: int, of_one: int
) -> None:
    """It is refused for that in any case, and its size is anybody's choice."""
    limits = {f"x.example/d{n}": 1 for n in range(of_one)}
    body = {"containers": [{"resources": {"limits": limits}}] * containers}
    level = {"resources": {"limits": {"cpu": "8"}}}
    spec = msgspec.convert({**body, **level}, PodSpec)
    assert seen(a_range("a", default={"cpu": "1"})).applied(spec, "team") is spec


def test_a_range_that_is_changed_or_deleted_counts_as_it_is_now() -> None:
    defaults = seen(a_range("a", default={"cpu": "1"}), a_range("a", default={"cpu": "2"}))
    assert totals(defaults, {}).cpu == 2000
    defaults.limit_range_seen(msgspec.convert(a_range("a"), LimitRange))
    assert totals(defaults, {}).cpu == 0
    defaults = seen(a_range("a", default={"cpu": "1"}))
    defaults.limit_range_gone("team", "a")
    defaults.limit_range_gone("team", "a")
    assert not any(containers(defaults).values())


def test_what_stands_at_pod_level_is_completed_before() -> None:
    """From the containers as they are written: what they get by default changes it no more."""
    defaults = seen(a_range("a", default={"cpu": "1", "memory": "1Mi"}))
    written = {"requests": {"cpu": "2"}}
    of_containers = totals(defaults, written, {}, resources={"limits": {"cpu": "8"}})
    assert (of_containers.cpu, of_containers.memory) == (2000, 2 * MI)
    of_the_limit = totals(defaults, {}, {}, resources={"limits": {"cpu": "8", "memory": "8Mi"}})
    assert (of_the_limit.cpu, of_the_limit.memory) == (8000, 8 * MI)
    unreadable = {"requests": {"cpu": "much"}}
    spec = {"containers": [{"resources": unreadable}], "resources": {"limits": {"cpu": "8"}}}
    applied = defaults.applied(msgspec.convert(spec, PodSpec), "team")
    assert applied.resources is not None
    assert applied.resources.requests is None


def test_the_overhead_of_a_runtime_class_comes_on_top() -> None:
    defaults = PodDefaults()
    a_class(defaults, "kata", {"cpu": "250m", "memory": "160Mi"})
    a_class(defaults, "plain", None)
    found = totals(defaults, {"requests": {"cpu": "1"}}, runtimeClassName="kata")
    assert (found.cpu, found.memory) == (1250, 160 * MI)
    for other in ("plain", "unknown", None):
        assert totals(defaults, {}, runtimeClassName=other).cpu == 0
    own = totals(defaults, {}, runtimeClassName="kata", overhead={"cpu": "1"})
    assert own.cpu == 1000  # the API server takes it only if it is the same
    a_class(defaults, "kata", None)
    assert totals(defaults, {}, runtimeClassName="kata").cpu == 0
    a_class(defaults, "kata", {"cpu": "1"})
    defaults.runtime_class_gone("kata")
    assert not any(containers(defaults).values())


def test_what_is_kept_is_bounded() -> None:
    defaults = seen(*(a_range(f"r{n:02}", default={"cpu": str(n)}) for n in range(20, 0, -1)))
    assert totals(defaults, {}).cpu == 13_000  # the first eight that were seen
    many = {f"x.example/d{n:03}": 1 for n in range(100)}
    assert len(totals(seen(a_range("a", default=many)), {}).devices) == 64
    for n in range(1_001):
        a_class(defaults, f"c{n}", {"cpu": "1"})
    spec = msgspec.convert({"runtimeClassName": "c1000"}, PodSpec)
    assert defaults.applied(spec, "nowhere") is spec
    a_class(defaults, "c0", {"cpu": "2"})
    assert totals(defaults, namespace="nowhere", runtimeClassName="c0").cpu == 2000
