"""What clients are answered is told apart: yes, no, and nothing at all."""

from collections import Counter
from typing import Any

import pytest

from chaos.api import UNTRUSTED, Object, Reply
from chaos.clients.clients import ServingClient
from chaos.clients.objects import A

NO = "admission webhook denied the request: "


class OneReplyApi:
    def __init__(self, code: int, message: str) -> None:
        self._reply = Reply(code, {"message": message})

    async def create(self, path: str, body: Object) -> Reply:
        return self._reply


async def asked(code: int, message: str) -> ServingClient:
    api: Any = OneReplyApi(code, message)
    server = ServingClient("s", api, "1", Counter())
    await server.create({}, "serve", A, 1)
    return server


@pytest.mark.parametrize(
    "message",
    [
        f"{NO}Queue <serve> has insufficient <{A}> quota",
        f"{NO}card <{A}> is not known: no node offers it",
        "ValidatingAdmissionPolicy 'cardquota' with binding 'cardquota' denied request: no",
    ],
)
async def test_every_no_of_ours_is_judged(message: str) -> None:
    (denial,) = (await asked(403, message)).denials
    assert (denial.place, denial.amount, denial.text) == (("serve", A), 1, message)


@pytest.mark.parametrize(
    ("code", "message", "what"),
    [
        (201, "", "created"),
        (429, f"{NO}namespace <chaos> is not read yet", "asked to try again"),
        (403, "exceeded quota: chaos", "refused by a ResourceQuota after us"),
        (500, "failed calling webhook: x509: unknown authority", UNTRUSTED),
        (500, "etcdserver: request timed out", "creates not answered with yes or no (500)"),
    ],
)
async def test_what_is_no_denial_is_counted(code: int, message: str, what: str) -> None:
    server = await asked(code, message)
    assert (server.denials, +server.tally) == ([], {what: 1})
