import json

import pytest

from cardquota.cluster.api_error import ApiError, OutcomeUnknown, read_failure


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


def test_when_to_come_back() -> None:
    assert read_failure(429, {"Retry-After": "7"}, _status("", "", 1)).retry_after == 7.0
    assert read_failure(429, {}, _status("", "", 1)).retry_after == 1.0
    assert read_failure(429, {"Retry-After": "Fri, 01 Jan"}, b"").retry_after is None
    assert read_failure(504, {"Retry-After": "2"}, b"").retry_after == 2.0
