"""Who reaches the webhooks, seen on a real API server.

They point to where nobody listens, and all of them fail closed here: a request that is asked
about fails, every other one goes through.
"""

import json
from typing import Any

import pytest

from cardquota.install import ENFORCED, render
from cardquota.quota import CARD_NAME, GROUP_NAME, QUEUE_NAME, STATUS
from cardquota.settings import InstallationMode, Settings, Webhook
from cardquota_dev.testing import eventually
from integration.asking import ApiReply

from .policy_api import AUDITED, EXEMPT, NODE, TENANT, PolicyApi, allowed, many_containers, pod

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]

NOBODY_LISTENS = Settings(webhook=Webhook(url="https://127.0.0.1:1"))


def asked(result: ApiReply, webhook: str) -> None:
    assert not result.ok, f"not asked: {result.said}"
    assert f'failed calling webhook "{webhook}.cardquota.volcano.sh"' in result.said


def queue(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {"weight": 1},
    }


def workload(group: str, kind: str, annotations: dict[str, str], cards: int = 0) -> dict[str, Any]:
    inner = pod("unused", annotations, cards=cards)
    template = {
        "metadata": {"labels": {"app": "a"}, "annotations": annotations},
        "spec": {"containers": inner["spec"]["containers"]},
    }
    spec: dict[str, Any] = {"template": template}
    if group == "apps":
        spec["selector"] = {"matchLabels": {"app": "a"}}
    else:
        template["spec"]["restartPolicy"] = "Never"
    if kind == "CronJob":
        spec = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": spec}}
    return {
        "apiVersion": f"{group}/v1",
        "kind": kind,
        "metadata": {"name": kind.lower()},
        "spec": spec,
    }


@pytest.fixture(scope="module")
def asking(api: PolicyApi) -> PolicyApi:
    """The plane with webhooks that nobody answers."""
    allowed(api.create(queue("before")))
    allowed(api.create(workload("apps", "Deployment", {CARD_NAME: "A"})))
    text = render(NOBODY_LISTENS).replace("failurePolicy: Ignore", "failurePolicy: Fail")
    allowed(api.kubectl("apply", "--server-side", "-f", "-", text=text))
    eventually(lambda: "failed calling" in api.create(pod("x", cards=1), dry=True).said)
    eventually(lambda: "failed calling" in api.create(queue("x"), dry=True).said)
    return api


class TestPods:
    @pytest.mark.parametrize(
        "document",
        [
            pod("p", {QUEUE_NAME: "q"}, gated=True),
            pod("p", {GROUP_NAME: "g"}, gated=True),
            pod("p", {CARD_NAME: ""}),
            pod("p", cards=1),
            pod("p", init_cards=1),
        ],
    )
    def test_ours_reach_us(self, asking: PolicyApi, document: dict[str, Any]) -> None:
        asked(asking.create(document, dry=True), "pods")
        allowed(asking.create(document, namespace=EXEMPT, dry=True))

    def test_others_do_not(self, asking: PolicyApi) -> None:
        allowed(asking.create(pod("p", {"example.com/x": "y"}), dry=True))
        bare = pod("p")
        del bare["metadata"]["annotations"]
        del bare["spec"]["containers"][0]["resources"]
        allowed(asking.create(bare, dry=True))

    def test_mirror_pods_do_not(self, asking: PolicyApi) -> None:
        mirror = pod("p", {"kubernetes.io/config.mirror": "x"}, cards=1, nodeName="n1")
        allowed(asking.create(mirror, *NODE, dry=True))
        asked(asking.create(mirror, TENANT, dry=True), "pods")

    def test_updates_do_not(self, asking: PolicyApi) -> None:
        allowed(asking.patch("gated", {"metadata": {"labels": {"a": "b"}}}))

    def test_a_very_large_pod_is_no_more_than_the_evaluation_may_cost(
        self, asking: PolicyApi
    ) -> None:
        allowed(asking.create(pod("p", containers=many_containers()), dry=True))

    def test_claims_reach_us_only_where_all_rules_are_wanted(self, asking: PolicyApi) -> None:
        claims = [{"name": "device", "resourceClaimName": "mine"}]
        allowed(asking.create(pod("p", resourceClaims=claims), dry=True))
        strict = "strict"
        allowed(asking.kubectl("create", "namespace", strict))
        allowed(asking.kubectl("label", "namespace", strict, "volcano.sh/card-quota=enforced"))
        eventually(lambda: asking.kubectl("get", "-n", strict, "serviceaccount", "default").ok)
        allowed(asking.create(pod("p"), namespace=strict, dry=True))
        document = pod("p", resourceClaims=claims)
        eventually(
            lambda: (
                f"{ENFORCED}.cardquota" in asking.create(document, namespace=strict, dry=True).said
            )
        )
        for resource, audited in (
            ("deviceclass.resource.kubernetes.io/any", "pods-audited"),
            ("other.example/device", ""),
        ):
            asks = {"resources": {"limits": {resource: "1"}, "requests": {resource: "1"}}}
            document = pod("p", containers=[{"name": "c", "image": "i", **asks}])
            allowed(asking.create(document, dry=True))
            asked(asking.create(document, namespace=strict, dry=True), ENFORCED)
            answer = asking.create(document, namespace=AUDITED, dry=True)
            if audited:
                asked(answer, audited)
            else:
                allowed(answer)
        large = many_containers()
        for container in large:
            container["resources"]["limits"].pop("example.com/nic", None)
        allowed(asking.create(pod("p", containers=large), namespace=strict, dry=True))


class TestQueues:
    def test_creates_changes_and_deletions_reach_us(self, asking: PolicyApi) -> None:
        asked(asking.create(queue("q"), dry=True), "queues")
        asked(asking.patch("before", {"spec": {"weight": 2}}, kind="Queue"), "queues")
        noted = {"metadata": {"annotations": {"volcano.sh/card.quota": "{}"}}}
        asked(asking.patch("before", noted, kind="Queue"), "queues")
        asked(asking.kubectl("delete", "queue", "before"), "queues")

    def test_status_labels_and_our_numbers_do_not(self, asking: PolicyApi) -> None:
        status = json.dumps({"status": {"state": "Open"}})
        allowed(
            asking.kubectl(
                "patch", "queue", "before", "--subresource=status", "--type=merge", "-p", status
            )
        )
        allowed(asking.patch("before", {"metadata": {"labels": {"a": "b"}}}, kind="Queue"))
        ours = {"metadata": {"annotations": {STATUS: "{}"}}}
        allowed(asking.patch("before", ours, kind="Queue"))


class TestWorkloads:
    @pytest.mark.parametrize(
        ("group", "kind"),
        [
            ("apps", "Deployment"),
            ("apps", "StatefulSet"),
            ("apps", "DaemonSet"),
            ("apps", "ReplicaSet"),
            ("batch", "Job"),
            ("batch", "CronJob"),
        ],
    )
    def test_templates_of_ours_reach_us(self, asking: PolicyApi, group: str, kind: str) -> None:
        document = workload(group, kind, {QUEUE_NAME: "q"})
        document["metadata"]["name"] = "w"
        asked(asking.create(document, dry=True), f"{kind.lower()}s")
        document = workload(group, kind, {}, cards=1)
        document["metadata"]["name"] = "w"
        asked(asking.create(document, dry=True), f"{kind.lower()}s")
        document = workload(group, kind, {})
        document["metadata"]["name"] = "w"
        allowed(asking.create(document, dry=True))

    @pytest.mark.parametrize(("group", "kind"), [("apps", "ReplicaSet"), ("batch", "Job")])
    def test_not_those_of_a_controller(self, asking: PolicyApi, group: str, kind: str) -> None:
        owner = {"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u", "controller": True}
        document = workload(group, kind, {QUEUE_NAME: "q"})
        document["metadata"].update(name="owned", ownerReferences=[owner])
        allowed(asking.create(document, dry=True))

    def test_changes_of_the_spec_alone(self, asking: PolicyApi) -> None:
        labels = {"metadata": {"labels": {"a": "b"}}}
        allowed(asking.patch("deployment", labels, kind="Deployment"))
        asked(
            asking.patch("deployment", {"spec": {"replicas": 3}}, kind="Deployment"), "deployments"
        )


def test_audit_mode_lets_by_with_a_warning(asking: PolicyApi) -> None:
    """Applied over what enforced until now, and still nobody listens."""
    settings = NOBODY_LISTENS.model_copy(update={"mode": InstallationMode.AUDIT})
    text = render(settings)
    allowed(asking.kubectl("apply", "--server-side", "-f", "-", text=text))
    ungated = pod("x", {QUEUE_NAME: "q"}, cards=1)
    eventually(lambda: asking.create(ungated, dry=True).ok)
    eventually(lambda: asking.create(queue("x"), dry=True).ok)
    drop = {"spec": {"schedulingGates": None}}
    eventually(lambda: asking.patch("gated", drop, dry=True).ok)
    warning = "Warning: Validation failed for ValidatingAdmissionPolicy 'cardquota-pods'"
    assert warning in asking.patch("gated", drop, dry=True).said
    allowed(asking.kubectl("delete", "queue", "before"))
