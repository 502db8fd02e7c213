"""The HTTPS server of the admission webhooks: `/mutate` and `/validate`, and `/observe` for what
is refused by others than us.

Every body gets an AdmissionReview or a 4xx. An internal error is logged, and the answer is "try
again".
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from http import HTTPStatus
from time import perf_counter
from typing import Final

from cardquota.cluster.serving.bounds import (
    BodyLimits,
    BodyTooLargeError,
    HttpAnswer,
    HttpCall,
    text_answer,
)
from cardquota.cluster.serving.http_server import HttpServer
from cardquota.install.webhook_objects import OBSERVE
from cardquota.metrics import Metrics
from cardquota.quota.messages import shortfall_messages
from cardquota.quota.vocabulary import QUEUE_REVIEWS, REVIEW_GROUP, WORKLOAD_REVIEWS

from .review import (
    ANY,
    SCALE,
    AdmissionResponse,
    Request,
    Review,
    Reviewer,
    ReviewError,
    Routes,
    decode,
    deny,
    encode,
    try_again,
)

LARGEST_BODY: Final = 8 * 1024 * 1024
"""Bytes. The API server accepts objects of 3 MiB, and a review may contain two. What is larger than
we read of an object (P8) is still to be let by where it is none of ours."""
CONNECTIONS: Final = 512
"""That may be open at one time: an API server keeps 25, and opens one for each review beyond that
which it has under way."""

_LOG = logging.getLogger(__name__)
QUESTIONS: Final = (QUEUE_REVIEWS, WORKLOAD_REVIEWS)
"""The resources of which nothing is stored: their review is the answer."""
_LONGEST_NAME: Final = 253
"""Characters of a resource's name that answers repeat."""


class AdmissionServer:
    """Routes reviews to their handlers. Has no state of its own.

    With `audit` nothing is refused, not even an unreadable object: a refusal that we send counts
    whatever the failure policy says. Questions are, which nobody else could answer.
    """

    def __init__(self, reviewers: Iterable[Reviewer], metrics: Metrics, *, audit: bool) -> None:
        self._reviews, self._seconds = metrics.reviews, metrics.review_seconds
        self._audit = audit
        self._asked_at = perf_counter()
        self._refused = metrics.refused_request
        self._http: HttpServer | None = None
        self._routes: Routes = {key: one for each in reviewers for key, one in each.routes.items()}
        self._paths = tuple(dict.fromkeys(path for path, _, _ in self._routes))
        self._known = frozenset(resource for _, _, resource in self._routes)
        """Resources by whose names reviews are counted."""

    def http_for(self, knows: Callable[[str], bool]) -> HttpServer:
        """A server that does not listen yet.

        `knows`: whether a caller is the API server, by the last segment of its path (N1). Nobody
        else's body is read.
        """

        async def answer(call: HttpCall) -> HttpAnswer:
            path, _, secret = call.path.rpartition("/")
            if not knows(secret):
                return text_answer(HTTPStatus.NOT_FOUND, "nothing is here")
            return await self.answer(replace(call, path=path))

        self._http = HttpServer(
            answer,
            BodyLimits(LARGEST_BODY, 2 * LARGEST_BODY),
            connections=CONNECTIONS,
            refused=self._refused,
        )
        return self._http

    def leave(self) -> None:
        """From now on every connection is closed after the next answer on it."""
        if self._http is not None:
            self._http.leave()
        self._asked_at = perf_counter()

    async def quiet(self, seconds: float, *, at_most: float) -> None:
        """Return once no review came for so many seconds, but at latest after `at_most`."""
        end = perf_counter() + at_most
        # Waiting with an asyncio.Event would cost every review something.
        while (left := min(self._asked_at + seconds, end) - perf_counter()) > 0:  # noqa: ASYNC110
            await asyncio.sleep(left)

    async def answer(self, call: HttpCall) -> HttpAnswer:
        """Answer one HTTP request of the API server, whatever it is; raises only what reading the
        body raises. Its path is without the secret.
        """
        began = self._asked_at = perf_counter()
        path = call.path
        if path not in self._paths:
            there = " and ".join(self._paths)
            return text_answer(HTTPStatus.NOT_FOUND, f"nothing is here; reviews are at {there}")
        if call.method != "POST":
            return text_answer(HTTPStatus.METHOD_NOT_ALLOWED, "an AdmissionReview is to be posted")
        try:
            # Only the review refers to the body: it is gone once nobody needs its objects.
            request = decode(await call.body())
        except BodyTooLargeError:
            return text_answer(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the body is larger than {LARGEST_BODY // 2**20} MiB",
            )
        except ReviewError as error:
            self._count("unknown", "malformed", perf_counter() - began)
            return text_answer(HTTPStatus.BAD_REQUEST, str(error))
        review = self._routes.get((path, request.resource.group, request.what))
        scaled = request.sub_resource == SCALE and (path, ANY, SCALE) in self._routes
        if scaled:
            review = self._routes[path, ANY, SCALE]
        kind = SCALE if scaled else request.what
        answer = await self._answer(review, request)
        if path == OBSERVE and not answer.allowed:
            answer = AdmissionResponse()  # whatever came, or went wrong: others decide there
        if self._audit and not answer.allowed and request.resource.group != REVIEW_GROUP:
            answer = AdmissionResponse(warnings=(shortfall_messages.audited(answer.text),))
        seconds = perf_counter() - began
        changed = "cut" if scaled else "answer" if kind in QUESTIONS else ""
        decision = _decision(answer, "gate" if answer.gated else changed)
        self._count(kind if kind in self._known else "other", decision, seconds)
        return HttpAnswer(HTTPStatus.OK, encode(request.uid, answer))

    def _count(self, kind: str, decision: str, seconds: float) -> None:
        """`kind` and `decision` have few different values."""
        self._reviews.labels(kind, decision).inc()
        self._seconds.observe(seconds)

    async def _answer(self, review: Review | None, request: Request) -> AdmissionResponse:
        if review is None:
            return deny(
                f"{request.what[:_LONGEST_NAME]} are not reviewed here; "
                "compare the webhook configuration with `cardquota manifests`",
                code=HTTPStatus.BAD_REQUEST,
                reason="BadRequest",
            )
        try:
            return await review(request)
        except ReviewError as error:
            return deny(str(error), code=HTTPStatus.BAD_REQUEST, reason="BadRequest")
        except Exception:  # noqa: BLE001
            _LOG.exception("a review of %s could not be answered", request.what)
            return try_again("cardquota could not answer; this is a bug, see its log")


def _decision(answer: AdmissionResponse, changed: str) -> str:
    if not answer.allowed:
        return "retry" if answer.retry_after else "deny"
    if answer.patch and changed:
        return changed
    return "warn" if answer.warnings else "allow"
