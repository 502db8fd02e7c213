"""Whatever is sent gets an AdmissionReview or a 4xx, never a 500."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import GPU, H200, a_pod, a_queue
from cardquota.install import WORKLOADS
from cardquota_webhooks import LARGEST_BODY

from .endpoint import SECRET, UID, Endpoint, request_of, review_of

POD = a_pod().in_queue("queue").naming(H200).asking_for(1)
PATHS = ("/mutate", "/validate")
NO_REVIEWS = {
    "empty": b"",
    "a space": b" ",
    "not JSON": b"hello",
    "cut off": review_of(request_of(POD))[:-10],
    "not UTF-8": b'{"kind": "\xff\xfe"}',
    "null": b"null",
    "a list": b"[]",
    "a number": b"1e999",
    "another kind": b'{"apiVersion": "v1", "kind": "Pod"}',
    "an old version": review_of(request_of(POD)).replace(b"admission.k8s.io/v1", b"a/v1beta1"),
    "no request": review_of(None),
    "a request of nothing": review_of({}),
    "no uid": review_of({**request_of(POD), "uid": ""}),
    "an endless uid": review_of({**request_of(POD), "uid": "u" * 10_000}),
    "a uid of the wrong type": review_of({**request_of(POD), "uid": 7}),
    "too deep": b"[" * 200_000,
    "too deep inside": review_of(request_of(POD)).replace(
        b'"containers": [', b'"containers": ' + b"[" * 100_000
    ),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("body", NO_REVIEWS.values(), ids=NO_REVIEWS)
async def test_what_is_none_is_a_bad_request(endpoint: Endpoint, path: str, body: bytes) -> None:
    status, text = await endpoint.post(path, body)
    assert status == 400
    assert text.decode().strip()
    assert b"Traceback" not in text
    assert endpoint.counted("unknown", "malformed") == 1


@pytest.mark.parametrize("path", PATHS)
async def test_a_body_that_is_too_large(endpoint: Endpoint, path: str) -> None:
    status, text = await endpoint.post(path, b" " * (LARGEST_BODY + 1_000_000))
    assert (status, text) == (413, b"the body is larger than 8 MiB\n")


async def test_a_large_body_that_is_not_too_large(endpoint: Endpoint) -> None:
    pod = POD.annotated("note", "x" * 500_000)
    assert (await endpoint.mutate(pod)).allowed


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "thing",
    [
        None,
        [],
        "pod",
        7,
        {},
        {"metadata": None},
        {"metadata": {"name": 7}},
        {"metadata": {"annotations": {"volcano.sh/card.name": 7}}},
        {"metadata": {}, "spec": []},
        {"metadata": {}, "spec": {"containers": [{"resources": {"limits": {GPU: [1]}}}]}},
        {"metadata": {"resourceVersion": "x"}, "spec": {}},
    ],
)
async def test_a_wrong_shape_is_refused(endpoint: Endpoint, path: str, thing: object) -> None:
    said = await endpoint.review(path, {**request_of(POD), "object": thing})
    assert not said.allowed
    assert (said.code, said.reason) == (400, "BadRequest")
    assert "is not a pod" in said.text


@pytest.mark.parametrize("path", PATHS)
async def test_a_resource_that_nobody_reviews(endpoint: Endpoint, path: str) -> None:
    """A webhook configuration of somebody's own making; it names the way out."""
    request = {**request_of(POD), "resource": {"group": "", "resource": "secrets"}}
    said = await endpoint.review(path, request)
    assert (said.allowed, said.code) == (False, 400)
    assert "`cardquota manifests`" in said.text
    assert endpoint.counted("other", "deny") == 1


async def test_other_paths_and_methods(endpoint: Endpoint) -> None:
    assert (await endpoint.post("/elsewhere", b"{}"))[0] == 404
    assert (await endpoint.client.get(f"/mutate/{SECRET}")).status == 405


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
_KEYS = st.sampled_from(
    """
    metadata spec annotations labels containers resources limits requests schedulingGates name
    replicas template jobTemplate parallelism nvidia.com/gpu affinity nodeAffinity nodeSelector
    volcano.sh/card.name initContainers volcano.sh/card.quota scheduling.volcano.sh/queue-name
    capability overhead
    """.split()  # noqa: SIM905
)
_OBJECTS = st.recursive(
    _JSON,
    lambda inner: st.dictionaries(_KEYS, inner, max_size=5) | st.lists(inner, max_size=3),
    max_leaves=20,
)
_RESOURCES = st.sampled_from(
    [("", "pods"), ("scheduling.volcano.sh", "queues"), *(one[:2] for one in WORKLOADS), ("", "x")]
)


async def _answered(path: str, body: bytes, uid: str | None = None) -> None:
    async with Endpoint(a_queue().with_quota({H200: 3})) as endpoint:
        status, text = await endpoint.post(path, body)
        assert status == 200 or 400 <= status < 500, text
        if uid is not None:
            assert status == 200
            response = json.loads(text)["response"]
            assert response["uid"] == uid
            assert "this is a bug" not in json.dumps(response)


@given(path=st.sampled_from(PATHS), body=_JSON)
async def test_any_json_is_answered(path: str, body: Any) -> None:
    await _answered(path, json.dumps(body).encode())


@given(
    path=st.sampled_from(PATHS),
    resource=_RESOURCES,
    thing=_OBJECTS,
    old=_OBJECTS,
    operation=st.sampled_from(["CREATE", "UPDATE", "DELETE", "CONNECT", ""]),
)
async def test_any_object_is_answered(
    path: str, resource: tuple[str, str], thing: Any, old: Any, operation: str
) -> None:
    group, name = resource
    about = {"group": group, "version": "v1", "resource": name}
    more = {"operation": operation, "object": thing, "oldObject": old}
    request = {"uid": UID, "resource": about, "namespace": "team", **more}
    await _answered(path, review_of(request), UID)


@given(body=st.binary(max_size=200))
async def test_any_bytes_are_answered(body: bytes) -> None:
    await _answered("/mutate", body)


async def test_labels_of_metrics_stay_few() -> None:
    """Whatever is sent: no name, namespace or resource of a user becomes a label."""
    async with Endpoint(a_queue().with_quota({H200: 3}), unseen_wait=0) as endpoint:
        for number in range(50):
            resource = {"group": f"g{number}", "version": "v1", "resource": f"r{number}"}
            await endpoint.review("/validate", {**request_of(POD), "resource": resource})
            await endpoint.mutate(a_pod(f"p{number}").in_queue(f"q{number}"))
            await endpoint.post("/mutate", b"x")
        metrics = endpoint.metrics.registry.collect()
        (reviews,) = (one for one in metrics if one.name == "cardquota_admission_reviews")
        samples = (one for one in reviews.samples if one.name.endswith("_total"))
        rows = [tuple(one.labels.values()) for one in samples]
        assert {kind for kind, _ in rows} == {"other", "pods", "unknown"}
        assert {decision for _, decision in rows} <= {"deny", "gate", "malformed"}
