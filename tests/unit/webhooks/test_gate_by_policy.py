"""The review where a policy sets the gate: it comes last, and adds none."""

import pytest

from builders import H200, a_namespace, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import vocabulary as v

from .endpoint import Endpoint
from .workload_review import pod

THREE = a_queue().with_quota({H200: 3}).with_policy("Deny")


async def test_it_gives_the_warnings() -> None:
    async with Endpoint(THREE, mode="audit") as endpoint:
        said = await endpoint.validate(pod(5))
        assert (said.allowed, len(said.warnings)) == (True, 2)
    async with Endpoint(THREE) as endpoint:
        said = await endpoint.validate(a_pod().naming(H200).asking_for(1))
        assert len(said.warnings) == 1


async def test_a_pod_that_should_have_a_gate_is_refused_without() -> None:
    """The policy or its binding is missing: the refusal names it."""
    async with Endpoint(THREE, unseen_wait=0) as endpoint:
        said = await endpoint.validate(pod())
        assert not said.allowed
        assert "MutatingAdmissionPolicy <cardquota-set-gate> sets it" in said.text


@pytest.mark.parametrize("thing", [pod(), pod().gated(), a_pod().asking_for(1)])
async def test_before_the_first_sync_everybody_is_admitted(thing: PodBody) -> None:
    async with Endpoint(unseen_wait=0) as endpoint:
        endpoint.synced = False
        assert (await endpoint.validate(thing)).allowed


async def test_in_a_namespace_of_a_moment_ago_a_gate_is_answer_enough() -> None:
    """The policy has seen the namespace: it has a queue of which we know nothing yet."""
    async with Endpoint(THREE, unseen_wait=0) as endpoint:
        stock = a_pod().in_namespace("new").asking_for(1)
        assert (await endpoint.validate(stock.gated())).allowed
        assert (await endpoint.validate(stock)).code == 429
        endpoint.see(a_namespace("new"))
        assert (await endpoint.validate(stock)).allowed


async def test_with_an_old_view_nothing_is_refused() -> None:
    """A pod without a queue has no gate to get, whatever its namespace demands."""
    strict = a_namespace().in_mode("enforced")
    async with Endpoint(THREE, strict, unseen_wait=0) as endpoint:
        stock = a_pod().asking_for(1)
        assert not (await endpoint.validate(stock)).allowed
        endpoint.late = True
        assert (await endpoint.validate(stock)).allowed
        assert (await endpoint.validate(pod(9).gated())).allowed
        assert not (await endpoint.validate(pod(9))).allowed


@pytest.mark.parametrize("config", [{}, {"defaultQueue": "queue"}])
async def test_a_card_of_no_row_is_refused_until_it_names_a_queue(config: dict[str, str]) -> None:
    """The policy knows it by its own annotations alone: nothing of it is missing or was removed."""
    xpu = "new.example/xpu"
    strict = a_namespace("team").in_mode("enforced")
    strict = strict if config else strict.with_default_queue("queue")
    node, queue = a_node("x").with_cards("X1", 8, xpu), a_queue().with_quota({"X1": 3})
    async with Endpoint(node, queue, strict, unseen_wait=0, **config) as endpoint:
        stock = a_pod().asking_for(2, xpu)
        said = await endpoint.validate(stock)
        assert (said.allowed, said.reason) == (False, v.Reason.QUEUE_NOT_FOUND)
        assert said.text == (
            f"Queue <queue>, requested <2> of <{xpu}>: no vendor row has this resource, so the "
            "policy that sets the gate recognises such a pod only by its own annotations: name the "
            "queue in the annotation scheduling.volcano.sh/queue-name of the pod, or ask an "
            "administrator for a row in `vendors`"
        )
        for named in (stock.in_queue("queue"), stock.naming("X1")):
            assert (await endpoint.validate(named.gated())).allowed
            assert "<cardquota-set-gate> sets it" in (await endpoint.validate(named)).text
        assert "requested <4>" in (await endpoint.validate(stock.asking_for(4, xpu))).text


async def test_b10_card_memory_is_refused_until_its_pod_names_the_queue() -> None:
    """Only while a quota limits it: the policy does not know whether one does."""
    row = "NVIDIA-A10/gpu-mem"
    team = a_namespace("team").with_default_queue("queue")
    node = a_node("a10").labelled(v.GPU_PRODUCT, "NVIDIA-A10").sharing_memory(32_552, 2)
    stock = a_pod().asking_for_memory(8_138)
    async with Endpoint(node, team, THREE, unseen_wait=0) as endpoint:
        assert (await endpoint.validate(stock)).allowed
        endpoint.see(a_queue().with_quota({row: 8_138}).with_policy("Deny"))
        said = await endpoint.validate(stock)
        assert not said.allowed
        assert v.QUEUE_NAME in said.text, said
        assert (await endpoint.validate(stock.in_queue("queue").gated())).allowed
        large = stock.in_queue("queue").asking_for_memory(9_000).gated()
        assert "requested <9000>" in (await endpoint.validate(large)).text
        # The policy gates who names a card, so here a gate is missing.
        said = await endpoint.validate(stock.naming(row))
        assert "MutatingAdmissionPolicy <cardquota-set-gate> sets it" in said.text
