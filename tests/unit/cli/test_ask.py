"""How the operator is asked, and what is said when there is no answer."""

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from cardquota.cli import ask as asking
from cardquota.cli.ask import NoAnswerError, ask
from cardquota.cli.output import ClusterChoice
from cardquota.cli.reading import client_of
from cardquota.quota import QUEUE_REVIEWS
from cardquota.quota.objects import Wire

from .answering_api import kubeconfig, posting

NOT_INSTALLED = "cardquota is not installed here, or is older than this plugin"
NOBODY_ANSWERS = (
    "no operator answers: see whether it runs, and whether its webhook configuration "
    "cardquota-reviews exists (`cardquota manifests` prints it)"
)
NOT_UNDERSTOOD = (
    "the operator's answer cannot be read: the operator and this plugin are probably of different "
    "versions"
)
PATH = "/apis/cardquota.volcano.sh/v1alpha1/queuereviews"
TERMINATED = "unable to create new content in namespace t because it is being terminated"
HOOK = 'admission webhook "queue-reviews.cardquota.volcano.sh" denied the request: '


class AnAnswer(Wire):
    queue: str


def status(code: int, reason: str, message: str, **more: Any) -> tuple[int, str]:
    return code, json.dumps({"reason": reason, "message": message, "code": code, **more})


async def asked(config: Path) -> AnAnswer | str:
    async with client_of(ClusterChoice(config)) as client:
        try:
            return await ask(client, AnAnswer, "QueueReview", QUEUE_REVIEWS, {"queue": "q"})
        except NoAnswerError as error:
            return str(error)


async def answer_to(folder: Path, *answers: tuple[int, str]) -> tuple[AnAnswer | str, list[Any]]:
    """What is answered, or the error; and what was sent."""
    sent: list[Any] = []
    left = list(answers)

    async def answer(request: web.Request) -> web.Response:
        sent.append((request.path, dict(request.query), await request.json()))
        code, text = left.pop(0) if len(left) > 1 else left[0]
        return web.Response(status=code, text=text)

    async with posting(answer, folder) as config:
        return await asked(config), sent


async def test_a_question_is_a_dry_run(tmp_path: Path) -> None:
    done = (201, json.dumps({"status": {"queue": "q", "new": "of a later release"}}))
    found, sent = await answer_to(tmp_path, done)
    assert found == AnAnswer(queue="q")
    ((path, query, body),) = sent
    assert (path, query, body["spec"]) == (PATH, {"dryRun": "All"}, {"queue": "q"})


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (status(404, "NotFound", "the server could not find it"), NOT_INSTALLED),
        ((404, "404 page not found"), NOT_INSTALLED),
        (
            status(403, "Forbidden", 'queuereviews is forbidden: User "x" cannot create'),
            "you may not ask this: it needs the right to create queuereviews.cardquota.volcano.sh",
        ),
        (status(404, "NotFound", 'namespaces "taem" not found'), "namespace <taem> does not exist"),
        (
            status(403, "Forbidden", f'queuereviews.x "k" is forbidden: {TERMINATED}'),
            f'queuereviews.x "k" is forbidden: {TERMINATED}',
        ),
        (status(404, "NotFound", HOOK + "Queue <q> does not exist"), "Queue <q> does not exist"),
        (
            status(500, "InternalError", 'failed calling webhook "queue-reviews": refused'),
            'the operator does not answer: failed calling webhook "queue-reviews": refused',
        ),
        (
            status(422, "Invalid", 'QueueReview "x" is invalid: status: Required value'),
            NOBODY_ANSWERS,
        ),
        (
            status(503, "ServiceUnavailable", "later"),
            "the API server does not answer: 503 ServiceUnavailable: later",
        ),
        (status(401, "Unauthorized", "Unauthorized"), "401 Unauthorized: Unauthorized"),
        ((201, "{}"), NOT_UNDERSTOOD),
        ((201, "<html>"), NOT_UNDERSTOOD),
    ],
)
async def test_why_there_is_no_answer(tmp_path: Path, answer: tuple[int, str], told: str) -> None:
    found, _ = await answer_to(tmp_path, answer)
    assert found == told


async def test_an_api_server_that_is_not_there(tmp_path: Path) -> None:
    told = "the API server does not answer: Cannot connect to host 127.0.0.1:1 [Connection refused]"
    assert await asked(kubeconfig(tmp_path, "http://127.0.0.1:1")) == told


async def test_while_many_ask_it_repeats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(asking, "sleep", sleep)
    busy = status(429, "TooManyRequests", HOOK + "busy", details={"retryAfterSeconds": 1})
    found, sent = await answer_to(tmp_path, busy, (201, '{"status": {"queue": "q"}}'))
    assert (found, pauses, len(sent)) == (AnAnswer(queue="q"), [1.0], 2)
    found, sent = await answer_to(tmp_path, busy)
    assert (found, len(sent)) == ("busy", 4)
