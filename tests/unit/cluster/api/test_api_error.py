import json

import pytest

from cardquota.cluster.api import ApiError, OutcomeUnknown, read_failure


def _status(reason: str, message: str, seconds: int | None = None) -> bytes:
    details = {} if seconds is None else {"details": {"retryAfterSeconds": seconds}}
    return json.dumps({"kind": "Status", "reason": reason, "message": message, **details}).encode()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b""),
        (403, _status("Forbidden", "no")),
        (409, _status("Conflict", "moved on")),
        (429, _status("TooManyRequests", "later", 1)),
        (500, _status("InternalError", "Internal error occurred: failed calling webhook x")),
        (501, b""),
        (302, b""),
    ],
)
def test_a_definite_answer(status: int, body: bytes) -> None:
    error = read_failure(status, {}, body)
    assert isinstance(error, ApiError)
    assert error.status == status
    assert error.body == body


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (408, b""),
        (500, b"boom"),
        (500, _status("InternalError", "etcdserver: request timed out")),
        (500, _status("ServerTimeout", "cannot complete the requested operation")),
        (502, b"<html>bad gateway</html>"),
        (503, _status("ServiceUnavailable", "admission webhook")),
        (504, _status("Timeout", "request did not complete within the allotted timeout")),
    ],
)
def test_an_answer_that_proves_nothing(status: int, body: bytes) -> None:
    assert isinstance(read_failure(status, {}, body), OutcomeUnknown)


WEBHOOK = 'admission webhook "pods.example.com" denied the request'
POLICY = "ValidatingAdmissionPolicy 'x' with binding 'y' denied request: no"


@pytest.mark.parametrize("status", [403, 404, 408, 409, 422, 429, 500, 502, 503, 504])
@pytest.mark.parametrize(
    "said",
    [
        f"{WEBHOOK}: cannot reach the inventory",
        f"{WEBHOOK} without explanation",
        f'pods "a" is forbidden: {POLICY}',
        "policy 'x' with binding 'y' denied request: it cannot be evaluated",
        'policy "x" denied request: it cannot be read',
    ],
)
def test_a_denial_is_definite_whatever_its_status(status: int, said: str) -> None:
    """The API server keeps what a webhook says, with or without a reason, and stores nothing."""
    for reason in ("", "Timeout"):
        error = read_failure(status, {}, _status(reason, said))
        assert isinstance(error, ApiError)
        assert error.denied
        assert not error.moved
        assert not error.busy


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (404, 'pods "a" not found'),
        (409, 'Operation cannot be fulfilled on pods "a": the object has been modified'),
        (429, "the server has received too many requests"),
        (422, f'Pod "a" is invalid: metadata.annotations: Invalid value: "{WEBHOOK}"'),
        (500, 'Internal error occurred: failed calling webhook "x": connection refused'),
        (403, 'pods "a" is forbidden: User "system:serviceaccount:a:b" cannot patch resource'),
    ],
)
def test_what_the_store_says_is_no_denial(status: int, said: str) -> None:
    """Nor what a webhook would have said that could not be asked."""
    error = read_failure(status, {}, _status("InternalError", said))
    assert isinstance(error, ApiError)
    assert not error.denied
    assert error.moved is (status in (404, 409))
    assert error.busy is (status == 429)


def test_who_quotes_a_denial_does_not_make_one() -> None:
    """What the API server says of a failed write may hold anybody's words, but not first."""
    said = _status("", f"etcdserver: {WEBHOOK}")
    assert isinstance(read_failure(500, {}, said), OutcomeUnknown)


def test_when_to_come_back() -> None:
    assert read_failure(429, {"Retry-After": "7"}, _status("", "", 1)).retry_after == 7.0
    assert read_failure(429, {}, _status("", "", 1)).retry_after == 1.0
    assert read_failure(429, {"Retry-After": "Fri, 01 Jan"}, b"").retry_after is None
    assert read_failure(504, {"Retry-After": "2"}, b"").retry_after == 2.0
