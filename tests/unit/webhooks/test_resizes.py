"""Cpu and memory that are changed in place (P6): granted while the queue has room, or refused."""

from typing import Any

import pytest

from builders import H200, a_group, a_namespace, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import vocabulary as v

from .door import Door, Said, request_of

FOUR = a_queue().with_quota({H200: 3}).limited_to(cpu="4", memory="8Gi")


def running(name: str, cpu: str = "1", memory: str = "1Gi", **more: int) -> PodBody:
    """Bound and charged; without `cards`, for cpu and memory alone."""
    cards = more.get("cards", 1)
    pod = a_pod(name).in_queue("queue").stamped("queue", {H200: cards} if cards else {})
    pod = pod.asking_for(cards) if cards else pod
    return pod.on_node("h200-a").with_cpu(cpu).with_memory(memory)


async def resize(door: Door, before: PodBody, after: PodBody, **more: Any) -> Said:
    request = request_of(after, operation="UPDATE", subResource="resize", oldObject=before.body)
    return await door.review("/validate", {**request, **more})


async def test_growth_within_the_queues_limit_is_granted() -> None:
    """To the last milli-core, beside what others hold."""
    pod = running("a")
    async with Door(FOUR, pod, running("b")) as door:
        assert (await resize(door, pod, pod.with_cpu("3"))).allowed
        assert door.counted("pods/resize", "allow") == 1


async def test_growth_beyond_it_is_refused_with_the_sentence() -> None:
    """As for a create: the whole of the pod is requested, and everything is in the total."""
    pod = running("a")
    async with Door(FOUR, pod, running("b")) as door:
        said = await resize(door, pod, pod.with_cpu("3001m"))
        assert (said.allowed, said.reason) == (False, v.Reason.INSUFFICIENT_CPU)
        assert said.text == (
            "Queue <queue> has insufficient <cpu> quota: requested <3.001>, total would be "
            "<4.001>, but capability is <4>; ask for less, try again when some of it is free, or "
            "ask the queue's owner for a higher quota"
        )


async def test_what_can_never_fit_is_told_so() -> None:
    pod = running("a")
    async with Door(FOUR, pod) as door:
        said = await resize(door, pod, pod.with_memory("9Gi"))
        assert said.reason == v.Reason.INSUFFICIENT_MEMORY
        assert "requested <9Gi>, total would be <9Gi>, but capability is <8Gi>" in said.text
        assert "ask for at most 8Gi" in said.text


async def test_only_what_grows_is_judged() -> None:
    """E4, Q7: above its limit already, a pod may shrink, and grow in what is not short."""
    pod = running("a", cpu="6", memory="1Gi")
    async with Door(FOUR, pod) as door:
        assert (await resize(door, pod, pod.with_cpu("5"))).allowed
        assert (await resize(door, pod, pod)).allowed
        assert (await resize(door, pod, pod.with_memory("2Gi"))).allowed
        assert not (await resize(door, pod, pod.with_memory("9Gi"))).allowed


async def test_a_pod_that_was_not_seen_yet_counts_as_a_whole() -> None:
    pod = running("a")
    async with Door(FOUR, running("b", cpu="2")) as door:
        assert (await resize(door, pod, pod.with_cpu("2"))).allowed
        assert not (await resize(door, pod, pod.with_cpu("2001m"))).allowed


async def test_a_pod_at_the_gate_holds_nothing_yet() -> None:
    """It waits with the new amounts; refused is what can never fit."""
    waiting = a_pod("w").in_queue("queue").with_cpu("1").gated()
    async with Door(FOUR, running("b", cpu="4"), waiting) as door:
        assert (await resize(door, waiting, waiting.with_cpu("4"))).allowed
        assert not (await resize(door, waiting, waiting.with_cpu("5"))).allowed


async def test_what_its_own_group_has_reserved_is_not_counted_twice() -> None:
    """E2."""
    gang = a_group("gang").in_queue("queue").of(2).reserving("queue", {v.CPU: 4000})
    pod = running("a").in_group("gang")
    async with Door(FOUR, gang, pod) as door:
        assert (await resize(door, pod, pod.with_cpu("4"))).allowed
        assert not (await resize(door, pod, pod.with_cpu("4500m"))).allowed
        stranger = running("s").in_group("other")
        assert not (await resize(door, stranger, stranger.with_cpu("2"))).allowed


async def test_where_card_pods_are_free_of_these_limits() -> None:
    """P6: `cardUnlimitedCpuMemory`; pods without cards are not."""
    pod, plain = running("a"), running("p", cards=0)
    async with Door(FOUR, pod, plain, cardUnlimitedCpuMemory=True) as door:
        assert (await resize(door, pod, pod.with_cpu("100"))).allowed
        assert not (await resize(door, plain, plain.with_cpu("100"))).allowed
        gated = a_pod("w").in_queue("queue").asking_for(1).gated()
        assert (await resize(door, gated, gated.with_cpu("100"))).allowed


async def test_without_a_queue_nothing_is_limited() -> None:
    pod = a_pod("a").asking_for(1).on_node("h200-a").with_cpu("1")
    async with Door(FOUR, pod) as door:
        assert (await resize(door, pod, pod.with_cpu("100"))).allowed


async def test_a_queue_without_limits_limits_nothing() -> None:
    pod = running("a")
    async with Door(a_queue().with_quota({H200: 3}), pod) as door:
        assert (await resize(door, pod, pod.with_cpu("100"))).allowed


@pytest.mark.parametrize("config", [{"mode": "audit"}, {}])
async def test_audit_mode_warns(config: dict[str, str]) -> None:
    pod = running("a")
    audited = () if config else (a_namespace("team").in_mode("audit"),)
    async with Door(FOUR, pod, *audited, **config) as door:
        said = await resize(door, pod, pod.with_cpu("5"))
        assert said.allowed
        assert said.warnings[0].startswith("audit: would not be let through: Queue <queue> has")


@pytest.mark.parametrize("missing", ["synced", "late"])
async def test_without_a_view_growth_has_to_wait(missing: str) -> None:
    """A no might be wrong and no gate makes up for a wrong yes: clients try again by themselves."""
    pod = running("a")
    async with Door(FOUR, pod) as door:
        setattr(door, missing, missing == "late")
        said = await resize(door, pod, pod.with_cpu("2"))
        assert (said.allowed, said.code) == (False, 429)
        assert (await resize(door, pod, pod.with_cpu("500m"))).allowed


async def test_what_is_no_pod_is_a_bad_request() -> None:
    async with Door(FOUR) as door:
        said = await resize(door, running("a"), running("a"), object=[1])
        assert (said.allowed, said.code) == (False, 400)
