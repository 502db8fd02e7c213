"""Our own calls have seats of their own at the API server."""

import pytest

from cardquota.quota import LEASE, OPERATOR_NAMESPACE
from cardquota.settings import Settings
from cardquota_dev.testing import Cluster, eventually
from integration.asking import ask, credentials

from .running import install_base

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]

FLOW = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/cardquota"


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/pods?limit=1",
        "/apis/scheduling.volcano.sh/v1beta1/queues?limit=1",
        f"/apis/coordination.k8s.io/v1/namespaces/{OPERATOR_NAMESPACE}/leases/{LEASE}",
    ],
)
def test_creates_that_wait_for_us_do_not_crowd_us_out(bare: Cluster, path: str) -> None:
    install_base(bare)
    found = ask(bare, "GET", FLOW)
    assert found.ok, found
    who = {"Impersonate-User": Settings().service_account_user}

    def classified() -> bool:
        answer = bare.admin.rest_client.pool_manager.request(
            "GET",
            bare.admin.configuration.host + path,
            headers={**credentials(bare), **who},
            timeout=30.0,
        )
        uid = answer.headers["X-Kubernetes-PF-FlowSchema-UID"]
        return bool(uid == found.body["metadata"]["uid"])

    eventually(classified, "the API server, which has just heard of it, goes by it")
