"""The server that Volcano's scheduler asks: one verb of its plugin `extender`, and nothing else.

A call that can be read gets HTTP 200 and a number. Any other gets a code and a sentence; Volcano
then enqueues nothing, as long as its configuration says `extender.ignorable: false`.
"""

import hmac
import logging
from http import HTTPStatus
from time import perf_counter
from typing import Final

from ..cluster.serving.bounds import (
    BUG,
    BodyBudget,
    BodyLimits,
    BodyTooLargeError,
    BusyError,
    HttpAnswer,
    HttpCall,
    text_answer,
)
from ..cluster.serving.http_server import HttpServer
from ..metrics import Metrics
from .enqueue_votes import EnqueueVotes
from .enqueue_wire import ENQUEUE_PATH, read_enqueue_ask, vote_answer
from .leader_client import PASSED_ON
from .wire import WireError

_LOG = logging.getLogger(__name__)
_MIB: Final = 2**20
LARGEST_ASK: Final = 10 * _MIB
"""Bytes that are read: what Volcano sends of a job at most."""
_IN_WORK: Final = 16 * _MIB
"""Bytes of all bodies in work on this port."""
_DRAINED: Final = 64 * _MIB
"""Bytes that are taken in and dropped, so that the caller reads our answer."""
_VERB: Final = "jobEnqueueable"


class EnqueueServer:
    """Routes calls to the votes. Memory is bounded, however many call."""

    def __init__(
        self,
        votes: EnqueueVotes,
        metrics: Metrics,
        *,
        secret: str = "",
    ) -> None:
        """`secret`: the last but one segment of the path of whoever is answered; empty: of nobody
        (N3).
        """
        self._votes = votes
        self._secret = secret.encode()
        self._seconds = metrics.extender_seconds
        self._counter = metrics.enqueue_votes
        self._refused = metrics.refused_request

    def http(self) -> HttpServer:
        """A server that does not listen yet."""
        limits = BodyLimits(LARGEST_ASK, _DRAINED)
        # A budget of its own: where callers are not known, they keep nobody else waiting.
        return HttpServer(self.answer, limits, budget=BodyBudget(_IN_WORK), refused=self._refused)

    async def answer(self, call: HttpCall) -> HttpAnswer:
        """Answer one HTTP request, whatever it is; raises only what reading the body raises."""
        path = self._without_secret(call.path)
        if path is None:
            return text_answer(HTTPStatus.NOT_FOUND, "nothing is here")
        if path != ENQUEUE_PATH:
            return text_answer(HTTPStatus.NOT_FOUND, f"nothing is here; there is {ENQUEUE_PATH}")
        if call.method != "POST":
            return text_answer(HTTPStatus.METHOD_NOT_ALLOWED, f"a call of {_VERB} is to be posted")
        began = perf_counter()
        try:
            ask = read_enqueue_ask(await call.body())
            vote = await self._votes.vote(ask, passed_on=PASSED_ON.lower() in call.headers)
        except BodyTooLargeError:
            most = f"at most {LARGEST_ASK // _MIB} MiB are read"
            return text_answer(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is too large: {most}"
            )
        except (BusyError, ConnectionError):
            raise  # the call has not come
        except WireError as error:
            return text_answer(HTTPStatus.BAD_REQUEST, f"the call cannot be read: {error}")
        except Exception:  # noqa: BLE001
            _LOG.exception("a call of %s could not be answered", _VERB)
            return text_answer(HTTPStatus.SERVICE_UNAVAILABLE, BUG)
        self._seconds.labels(_VERB).observe(perf_counter() - began)
        self._counter.labels(vote.name.lower()).inc()
        return HttpAnswer(HTTPStatus.OK, vote_answer(vote))

    def _without_secret(self, path: str) -> str | None:
        """The path, if the caller knows the secret in it."""
        if not self._secret:
            return path
        before, _, verb = path.rpartition("/")
        there, _, said = before.rpartition("/")
        known = hmac.compare_digest(said.encode(errors="replace"), self._secret)
        return f"{there}/{verb}" if known else None
