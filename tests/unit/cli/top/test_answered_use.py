"""V5, F1: `top` asks the operator for what is used outside every queue, and counts no pods then."""

import asyncio
import json
from pathlib import Path

import msgspec
import pytest
import yaml
from typer.testing import CliRunner, Result

from builders import H200, H800, a_node, a_pod
from cardquota.cli.plugin import plugin
from cardquota.cli.top import answered_use, ask_use
from cardquota.cluster.api import Client
from cardquota.cluster.api.find_access import find_access
from cardquota.quota.answers import CardAmount, CardRoom, Holder, QueueAnswer

from ..answering_api import NOT_SERVED, Answer, answering, posting

QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
REVIEWS = "/apis/cardquota.volcano.sh/v1alpha1/queuereviews"
FORBIDDEN: Answer = (403, '{"reason": "Forbidden", "message": "cannot create"}')


def card(name: str, allocated: int, inqueue: int, allocatable: int, free: int) -> CardRoom:
    return CardRoom(
        name=name,
        quota=0,
        allocated=allocated,
        inqueue=inqueue,
        elastic=0,
        requested=allocated + inqueue,
        left=0,
        allocatable=allocatable,
        free=free,
        most_on_node=0,
        fits=0,
    )


def answer(more_cards: int = 0) -> Answer:
    holder = Holder(
        kind="Deployment",
        namespace="team",
        name="chat",
        pods=4,
        cards=(CardAmount(name=H200, amount=4),),
        since="2026-01-02T09:00:00Z",
    )
    found = QueueAnswer(
        queue="",
        state="Open",
        fifo=False,
        time="2026-01-02T12:00:00Z",
        cards=(card(H200, 4, 1, 8, 3), card(H800, 0, 0, 8, 8), card("gone", 9, 0, 0, 0)),
        more_cards=more_cards,
        resources=(),
        held_pods=6,
        holders=(holder,),
        more_holders=2,
        waiting_pods=0,
        waiters=(),
        more_waiters=0,
    )
    return 201, json.dumps({"status": msgspec.to_builtins(found)})


def listing(*items: object) -> Answer:
    return 200, json.dumps({"metadata": {"resourceVersion": "1"}, "items": items})


ROW = {"name": H200, "quota": 3, "allocated": 2, "offline": 0}
QUEUE = {
    "metadata": {"name": "q", "uid": "q"},
    "status": {"cards": [ROW], "columns": {"cards": "2/3"}},
}


async def top(answered: Answer, folder: Path, *options: str) -> tuple[Result, set[str]]:
    """And which paths were asked for."""
    asked: set[str] = set()
    pod = a_pod("free").managed().asking_for(2).on_node("n").body
    answers = {
        QUEUES: listing(QUEUE),
        "/api/v1/pods": listing(pod),
        "/api/v1/nodes": listing(a_node("n").with_cards(H200, 8).body),
        "/api/v1/namespaces": listing(),
        "/apis/scheduling.volcano.sh/v1beta1/podgroups": listing(),
    }
    hear = lambda path, _: asked.add(path)  # noqa: E731
    async with answering(answers, folder, hear, {REVIEWS: answered}) as kubeconfig:
        arguments = ["top", "--kubeconfig", str(kubeconfig), *options]
        return await asyncio.to_thread(CliRunner().invoke, plugin, arguments), asked


USED = f"used outside every queue: gone 9, {H200} 5, by 6 pods (team/chat and 2 more)"


async def test_the_answer_is_shown_and_no_pod_is_read(tmp_path: Path) -> None:
    for options in ((), ("-o", "wide")):
        found, asked = await top(answer(), tmp_path, *options)
        assert (found.exit_code, found.stdout.splitlines()[-1]) == (0, USED)
        assert asked == {QUEUES, REVIEWS}
    assert found.stdout.splitlines()[1].split() == [
        *("q", "Open", H200, "3", "2", "2", "0", *"-----", "3"),
    ]
    found, asked = await top(answer(), tmp_path, "-o", "yaml")
    data = yaml.safe_load(found.stdout)
    assert data["outside"] == {"pods": 6, "cards": {"gone": 9, H200: 5}}
    assert (data["free"], asked) == ({H200: 3, H800: 8}, {QUEUES, REVIEWS})


@pytest.mark.parametrize("answered", [FORBIDDEN, NOT_SERVED, (500, "x"), (201, "{}"), (422, "{}")])
async def test_where_there_is_no_answer_pods_are_counted(tmp_path: Path, answered: Answer) -> None:
    found, _ = await top(answered, tmp_path)
    assert found.stdout.splitlines()[-1] == (
        f"used outside every queue: {H200} 2, by 1 pod (team/free)"
    )


async def test_so_they_are_for_a_table_of_all_cards_where_the_answer_has_not_all(
    tmp_path: Path,
) -> None:
    found, asked = await top(answer(more_cards=1), tmp_path)
    assert (found.stdout.splitlines()[-1], "/api/v1/pods" in asked) == (USED, False)
    found, asked = await top(answer(more_cards=1), tmp_path, "-o", "wide")
    assert (found.exit_code, "/api/v1/pods" in asked) == (0, True)


async def test_an_operator_that_is_slow_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answered_use, "_PATIENCE", 0.05)
    silent = asyncio.Event()

    async def never(_: object) -> None:
        await silent.wait()

    async with posting(never, tmp_path) as config:  # type: ignore[arg-type]
        client = Client(await find_access(config, ""))
        try:
            assert await ask_use(client, all_cards=False) is None
        finally:
            silent.set()
            await client.close()
