"""What is answered to a resize: yes, or no with the sentence; there is no gate to wait at."""

from typing import Any

import pytest

from builders import H200, a_namespace, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import vocabulary as v

from .endpoint import Endpoint, ReviewAnswer, request_of

FOUR = a_queue().with_quota({H200: 3}).limited_to(cpu="4", memory="8Gi")
POD = a_pod("a").in_queue("queue").asking_for(1).with_cpu("1").with_memory("1Gi")
POD = POD.stamped("queue", {H200: 1}).on_node("h200-a")


async def resize(endpoint: Endpoint, after: PodBody, **more: Any) -> ReviewAnswer:
    request = request_of(after, operation="UPDATE", subResource="resize", oldObject=POD.body)
    return await endpoint.review("/validate", {**request, **more})


async def test_what_fits_is_admitted() -> None:
    async with Endpoint(FOUR, POD) as endpoint:
        assert (await resize(endpoint, POD.with_cpu("4"))).allowed
        assert endpoint.counted("pods/resize", "allow") == 1


async def test_what_does_not_is_refused_with_the_sentence() -> None:
    async with Endpoint(FOUR, POD, POD.with_uid("other")) as endpoint:
        said = await resize(endpoint, POD.with_cpu("3500m"))
        assert (said.allowed, said.code, said.reason) == (False, 403, v.Reason.INSUFFICIENT_CPU)
        assert "requested <3.5>, total would be <4.5>, but capability is <4>" in said.text
        assert endpoint.counted("pods/resize", "deny") == 1


@pytest.mark.parametrize("amount", [str(2**63), "1e400", "many"])
async def test_what_cannot_be_counted_is_no_shrinking(amount: str) -> None:
    async with Endpoint(FOUR, POD) as endpoint:
        for after in (POD.with_cpu(amount), POD.with_memory(amount)):
            said = await resize(endpoint, after)
            assert (said.allowed, said.reason) == (False, v.Reason.INVALID_CARD)
            assert f"<{amount}>" in said.text


@pytest.mark.parametrize("config", [{"mode": "audit"}, {}])
async def test_audit_mode_warns(config: dict[str, str]) -> None:
    audited = () if config else (a_namespace("team").in_mode("audit"),)
    async with Endpoint(FOUR, POD, *audited, **config) as endpoint:
        said = await resize(endpoint, POD.with_cpu("5"))
        assert said.allowed
        assert said.warnings[0].startswith("audit: would be refused or wait: Queue <queue> has")


@pytest.mark.parametrize("missing", ["synced", "late"])
async def test_without_a_view_growth_has_to_wait(missing: str) -> None:
    """A no might be wrong and no gate makes up for a wrong yes: clients try again by themselves."""
    async with Endpoint(FOUR, POD) as endpoint:
        setattr(endpoint, missing, missing == "late")
        said = await resize(endpoint, POD.with_cpu("2"))
        assert (said.allowed, said.code) == (False, 429)
        assert (await resize(endpoint, POD.with_cpu("500m"))).allowed


async def test_what_is_no_pod_is_a_bad_request() -> None:
    async with Endpoint(FOUR) as endpoint:
        said = await resize(endpoint, POD, object=[1])
        assert (said.allowed, said.code) == (False, 400)
