"""Who may see what of the page: the rights that he has at the API server anyway (F7)."""

from collections.abc import Callable, Collection
from http import HTTPStatus
from typing import Final, NamedTuple

from ..cluster.api.token_access import AskedAccess, TokenAccess
from ..quota.limits import is_object_name
from ..quota.vocabulary import API_GROUP, QUEUE_REVIEWS, REVIEW_GROUP

LIST_QUEUES: Final = AskedAccess("list", API_GROUP, "queues")
ASK: Final = AskedAccess("create", REVIEW_GROUP, QUEUE_REVIEWS)
LIST_NODES: Final = AskedAccess("list", "", "nodes")
MOST_SINGLE_QUEUES: Final = 100
"""Queues in the cluster up to which it is asked of each whether he may get that one."""
_REFUSED: Final = {
    HTTPStatus.UNAUTHORIZED: "send a bearer token that the API server knows; `kubectl cardquota "
    "page` sends yours",
    HTTPStatus.TOO_MANY_REQUESTS: "too many ask at once: try again in a second",
    HTTPStatus.SERVICE_UNAVAILABLE: "the API server does not say what you may see: try again in a "
    "second",
}


class CallerSight(NamedTuple):
    """What one caller may see."""

    status: HTTPStatus
    """200, or why he sees nothing."""
    user: str = ""
    queues: Collection[str] | None = ()
    """The names of those that he sees; None: all."""
    names: bool = False
    """Whether he learns who holds cards and who waits (F4)."""
    nodes: bool = False
    why: str = ""
    """Why he sees nothing, for people."""

    @property
    def missing(self) -> tuple[str, ...]:
        """What he does not see, and which right it takes."""
        found = []
        if self.queues is not None:
            found.append(f"other queues, and the cards of the whole cluster: {LIST_QUEUES}")
        if not self.names:
            found.append(f"who holds cards and who waits: {ASK}")
        if not self.nodes:
            found.append(f"nodes: {LIST_NODES}")
        return tuple(found)


class SightOf:
    """Asks the API server, and remembers its answers for a minute."""

    def __init__(self, access: TokenAccess, queues: Callable[[], Collection[str]]) -> None:
        """`queues`: the names of all that exist."""
        self._access = access
        self._queues = queues

    async def whole(self, authorization: str) -> CallerSight:
        """Of all queues. Costs a question for each of them, if he may not list them."""
        found = await self._first(authorization)
        if found.status is not HTTPStatus.OK or found.queues is None:
            return found
        every = self._queues()
        needed = f"it needs {LIST_QUEUES}"
        if len(every) > MOST_SINGLE_QUEUES:
            many = f"among more than {MOST_SINGLE_QUEUES} queues single ones are not looked for"
            return _forbidden(found, f"{needed}: {many}")
        return await self._single(authorization, found, every, f"{needed}, or get on some of them")

    async def of_queue(self, authorization: str, queue: str) -> CallerSight:
        """Of this one."""
        found = await self._first(authorization)
        if found.status is not HTTPStatus.OK or found.queues is None:
            return found
        # Also where there is none: who may not see it does not learn which, by the time it takes.
        asked = [queue] if is_object_name(queue) else []
        why = f"you see no queue of this name: it needs {LIST_QUEUES}, or get on it"
        return await self._single(authorization, found, asked, why)

    async def _first(self, authorization: str) -> CallerSight:
        found = await self._access.caller(authorization, LIST_QUEUES, ASK, LIST_NODES)
        if found.status is not HTTPStatus.OK:
            return _failed(found.status)
        queues = None if LIST_QUEUES in found.may else ()
        return CallerSight(
            found.status, found.user, queues, ASK in found.may, LIST_NODES in found.may
        )

    async def _single(
        self, authorization: str, first: CallerSight, queues: Collection[str], why: str
    ) -> CallerSight:
        asked = {AskedAccess("get", API_GROUP, "queues", name): name for name in queues}
        found = await self._access.caller(authorization, *asked)
        if found.status is not HTTPStatus.OK:
            return _failed(found.status)
        seen = frozenset(name for one, name in asked.items() if one in found.may)
        return first._replace(queues=seen) if seen else _forbidden(first, why)


def _forbidden(found: CallerSight, why: str) -> CallerSight:
    return CallerSight(HTTPStatus.FORBIDDEN, found.user, why=f"you may not see this: {why}")


def _failed(status: HTTPStatus) -> CallerSight:
    return CallerSight(status, why=_REFUSED[status])
