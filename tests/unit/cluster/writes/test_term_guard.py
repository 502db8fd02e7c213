"""What a writer of decisions does when the API server refuses one for its term."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from cardquota.cluster.api import ApiError
from cardquota.cluster.writes import FencedWriter, TooLateError, refused_for_term

BY = (
    "pods \"a\" is forbidden: ValidatingAdmissionPolicy 'cardquota-{0}' with binding "
    "'cardquota-{0}' denied request: "
)


class RefusingServer:
    """Refuses everything, in the words of one policy."""

    def __init__(self, policy: str) -> None:
        self.error = ApiError(403, "Forbidden", BY.format(policy))
        self.params: list[dict[str, str]] = []

    async def patch(self, _: str, __: object, *, params: dict[str, str], **___: Any) -> bytes:
        self.params.append(params)
        raise self.error

    async def post(self, path: str, body: object, *, params: dict[str, str], **_: Any) -> bytes:
        return await self.patch(path, body, params=params)


class NotingGuard:
    closed = False

    def __init__(self) -> None:
        self.repeats: list[Callable[[], Awaitable[object]]] = []

    def refused(self, repeat: Callable[[], Awaitable[object]]) -> None:
        self.repeats.append(repeat)


def a_writer(server: RefusingServer, guard: NotingGuard | None) -> FencedWriter:
    return FencedWriter(
        server,  # type: ignore[arg-type]
        lambda: 60.0,
        timeout=1.0,
        at_a_time=1,
        guard=guard,
    )


@pytest.mark.parametrize("policy", ["gate-term", "reservation-term", "binding-term"])
async def test_the_guard_is_told_and_can_send_it_again_as_a_dry_run(policy: str) -> None:
    server, guard = RefusingServer(policy), NotingGuard()
    writer = a_writer(server, guard)
    for send in (writer.patch, writer.post):
        with pytest.raises(TooLateError):
            await send("/", {})
        with pytest.raises(ApiError):
            await guard.repeats.pop()()
        assert ["dryRun" in params for params in server.params] == [False, True]
        server.params.clear()
    guard.closed = True
    assert writer.closed
    for send in (writer.patch, writer.post):
        with pytest.raises(TooLateError, match="refused"):
            await send("/", {})
    assert server.params == []


@pytest.mark.parametrize("policy", ["pods", "gate-terms", "somebody-gate-term"])
async def test_no_other_refusal_is_its_business(policy: str) -> None:
    server, guard = RefusingServer(policy), NotingGuard()
    with pytest.raises(ApiError):
        await a_writer(server, guard).patch("/", {})
    assert guard.repeats == []


async def test_who_only_quotes_such_a_refusal_refuses_nothing_for_the_term() -> None:
    """A webhook may say what it likes."""
    text = f'admission webhook "x" denied the request: {BY.format("gate-term")}'
    assert not refused_for_term(ApiError(403, "Forbidden", text))


async def test_without_a_guard_nothing_is_closed() -> None:
    writer = a_writer(RefusingServer("gate-term"), None)
    with pytest.raises(ApiError):
        await writer.patch("/", {})
    assert not writer.closed
