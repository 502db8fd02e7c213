"""An API server that knows some users, each by a token of his own name, and what each may do; and
the page as one of them reads it.
"""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import msgspec

from builders import Body, a_ledger
from cardquota.cluster.api import OutcomeUnknown, TokenAccess
from cardquota.cluster.serving import HttpAnswer, HttpCall
from cardquota.page import PageServer
from cardquota.quota.ledger import LedgerReader

LIST = ("list", "queues", "")
ASK = ("create", "queuereviews", "")
NODES = ("list", "nodes", "")
Right = tuple[str, str, str]


def getting(queue: str) -> Right:
    return ("get", "queues", queue)


@dataclass
class RightsServer:
    rights: dict[str, set[Right]]
    """By user: verb, resource and name."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    down: bool = False

    async def post(self, path: str, body: dict[str, Any], *, timeout: float) -> bytes:
        spec = body["spec"]
        self.asked.append(spec)
        if self.down:
            raise OutcomeUnknown("no answer")
        if path.endswith("/tokenreviews"):
            known = spec["token"] in self.rights
            status: object = {"authenticated": known, "user": {"username": spec["token"]}}
        else:
            what = spec["resourceAttributes"]
            right = what["verb"], what["resource"], what.get("name", "")
            status = {"allowed": right in self.rights[spec["user"]]}
        return msgspec.json.encode({"status": status})


class PageReader:
    """Reads the page as users do, without a socket."""

    def __init__(
        self, *things: Body, ledger: LedgerReader | None = None, **rights: set[Right]
    ) -> None:
        """`ledger`: instead of one with these things. `rights`: by user."""
        self.server = RightsServer(rights)
        self.now, self.known = 0.0, True
        self.ledger = ledger or a_ledger(*things)
        server: Any = self.server
        access = TokenAccess(server, lambda: self.now)
        self.page = PageServer(
            self.ledger, access, lambda: self.known, lambda: "replica-1", lambda: self.now
        )

    async def get(
        self, path: str, user: str = "", query: str = "", method: str = "GET"
    ) -> HttpAnswer:
        async def nothing() -> bytes:
            return b""

        headers = {"authorization": f"Bearer {user}"} if user else {}
        return await self.page.answer(HttpCall(method, f"/page/{path}", nothing, headers, query))

    async def data(self, path: str, user: str, query: str = "") -> Any:
        answer = await self.get(path, user, query)
        assert answer.status == 200, answer
        return msgspec.json.decode(answer.body)

    async def queue(self, name: str, user: str) -> Any:
        return await self.data("queue", user, f"name={quote(name)}")
