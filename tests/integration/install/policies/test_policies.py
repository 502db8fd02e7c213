"""Every policy on a real API server: what it refuses, and what it admits."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from cardquota.install import render
from cardquota.install.policies import policies
from cardquota.quota import (
    ALLOCATED,
    CARD_NAME,
    CARD_NAME_ALIAS,
    CHARGED_QUEUE,
    GROUP_NAME,
    MANAGED,
    OURS_ON_PODS,
    QUEUE_NAME,
    QUEUE_NAME_VOLCANO_JOB,
    QUOTA,
    RESERVATION,
    SETTLE,
    STATUS,
    TERM,
)
from cardquota.settings import InstallationMode, Settings, Webhook
from cardquota_dev.testing import eventually
from integration.asking import MERGE, ApiReply, ask

from ..policy_api import (
    AUDITED,
    BESIDE_VOLCANO,
    EXEMPT,
    GATES,
    LEASE,
    NODE,
    OWN,
    ROOT,
    SETTINGS,
    TENANT,
    THE_TERM,
    US,
    VOLCANO,
    PolicyApi,
    allowed,
    apply_policies,
    many_containers,
    opening,
    pod,
    pod_group,
    refused,
)

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]

QUEUE = {QUEUE_NAME: "q"}
BY_TERM = ("cardquota-gate-term", "cardquota-reservation-term")


class TestBornGated:
    @pytest.mark.parametrize("key", [QUEUE_NAME, QUEUE_NAME_VOLCANO_JOB, GROUP_NAME])
    def test_a_pod_with_a_queue_needs_the_gate(self, api: PolicyApi, key: str) -> None:
        refused(
            api.create(pod("p", {key: "q"}, cards=1), TENANT, dry=True),
            "gate-required",
            "pod <p> has or needs a card queue but was created without the scheduling gate",
            "MutatingWebhookConfiguration <cardquota>",
        )
        allowed(api.create(pod("p", {key: "q"}, cards=1, gated=True), TENANT, dry=True))

    def test_even_without_cards(self, api: PolicyApi) -> None:
        refused(api.create(pod("p", QUEUE), dry=True), "gate-required")

    def test_a_pod_that_names_its_node_is_told_why(self, api: PolicyApi) -> None:
        refused(
            api.create(pod("p", QUEUE, cards=1, nodeName="n1"), dry=True),
            "gate-required",
            "it names its node in spec.nodeName",
        )

    @pytest.mark.parametrize(
        "document",
        [
            pod("p"),
            pod("p", cards=8),
            pod("p", {CARD_NAME: "NVIDIA-H200"}, cards=1),
            pod("p", {QUEUE_NAME: ""}, cards=1),
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "bare"},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        ],
    )
    def test_pods_without_a_queue_are_admitted(
        self, api: PolicyApi, document: dict[str, Any]
    ) -> None:
        allowed(api.create(document, dry=True))

    def test_mirror_pods_of_nodes_are_admitted(self, api: PolicyApi) -> None:
        mirror = pod("p", {**QUEUE, "kubernetes.io/config.mirror": "x"}, cards=1, nodeName="n1")
        allowed(api.create(mirror, *NODE, dry=True))
        refused(api.create(mirror, TENANT, dry=True), "gate-required")
        refused(api.create(pod("p", QUEUE, nodeName="n1"), *NODE, dry=True), "gate-required")

    def test_a_queue_of_the_namespace(self, api: PolicyApi) -> None:
        name = "with-queue"
        allowed(api.kubectl("create", "namespace", name))
        allowed(api.kubectl("annotate", "namespace", name, f"{QUEUE_NAME}=q"))
        eventually(lambda: api.kubectl("get", "-n", name, "sa", "default").ok)
        eventually(lambda: not api.create(pod("p", cards=1), namespace=name, dry=True).ok)
        for document in (
            pod("p", cards=1),
            pod("p", init_cards=1),
            pod("p", {CARD_NAME: "NVIDIA-H200"}),
        ):
            refused(api.create(document, namespace=name, dry=True), "gate-required")
        allowed(api.create(pod("p", cards=1, gated=True), namespace=name, dry=True))
        allowed(api.create(pod("p"), namespace=name, dry=True))

    @pytest.mark.parametrize("namespace", [AUDITED, EXEMPT, "kube-system"])
    def test_not_where_nothing_is_gated(self, api: PolicyApi, namespace: str) -> None:
        def admitted() -> bool:
            made = api.create(pod("p", QUEUE, cards=1), namespace=namespace, dry=True)
            return made.ok

        eventually(admitted)

    def test_a_very_large_pod_is_no_more_than_the_evaluation_may_cost(self, api: PolicyApi) -> None:
        allowed(
            api.create(pod("p", containers=many_containers()), namespace="with-queue", dry=True)
        )


class TestGate:
    def test_nobody_removes_it_by_hand(self, api: PolicyApi) -> None:
        allowed(api.create(pod("by-hand", QUEUE, gated=True)))
        for who in ([], [TENANT]):
            refused(
                api.patch("by-hand", {"spec": {"schedulingGates": None}}, *who),
                "gate-owner",
                "may not remove the scheduling gate",
                "kubectl describe pod",
            )

    def test_a_foreign_gate_comes_and_goes_as_before(self, api: PolicyApi) -> None:
        both = [*GATES, {"name": "example.com/other"}]
        allowed(api.create({**pod("two", QUEUE, schedulingGates=both)}))
        allowed(api.patch("two", {"spec": {"schedulingGates": GATES}}, TENANT))

    def test_the_current_term_opens_it(self, api: PolicyApi) -> None:
        api.hold_term("t1")
        allowed(api.create(pod("current", QUEUE, gated=True)))
        affinity = {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
                    ]
                }
            }
        }
        eventually(lambda: api.patch("current", opening("t1", affinity=affinity), US).ok)

    def test_of_a_very_large_pod_too(self, api: PolicyApi) -> None:
        """What the operator changes is compared within what an evaluation may cost."""
        api.hold_term("t0")
        allowed(api.create(pod("large", QUEUE, gated=True, containers=many_containers())))
        eventually(lambda: api.patch("large", opening("t0"), US, dry=True).ok)
        allowed(api.patch("large", opening("t0"), US))

    def test_a_stale_term_does_not(self, api: PolicyApi) -> None:
        api.hold_term("t2")
        allowed(api.create(pod("stale", QUEUE, gated=True)))
        # What is asked at once after the write of the Term may still be judged by its last state.
        stale, words = opening("t1"), "current term <t2>, not in <t1>"
        eventually(lambda: words in api.patch("stale", stale, US, dry=True).said)
        for term in ("t1", "t22", ""):
            result = api.patch("stale", opening(term), US)
            assert not result.ok
        assert words in api.patch("stale", stale, US).said
        eventually(lambda: api.patch("stale", opening("t2"), US).ok)

    def test_no_term_opens_nothing(self, api: PolicyApi) -> None:
        api.hold_term("t3")
        allowed(api.create(pod("given-up", QUEUE, gated=True)))
        api.hold_term("")
        late, words = opening("t3"), "current term <>"
        eventually(lambda: words in api.patch("given-up", late, US, dry=True).said)
        assert words in api.patch("given-up", late, US).said

    @pytest.mark.parametrize("key", [TERM, CHARGED_QUEUE, ALLOCATED])
    def test_the_decision_must_be_on_the_pod(self, api: PolicyApi, key: str) -> None:
        name = "half-" + key.rpartition(".")[2]
        api.hold_term("t4")
        allowed(api.create(pod(name, QUEUE, gated=True)))
        half = opening("t4")
        del half["metadata"]["annotations"][key]
        eventually(lambda: api.patch(name, opening("t4"), US, dry=True).ok)
        result = api.patch(name, half, US)
        assert not result.ok
        by = ("cardquota-pods'", "cardquota-gate-term'")
        assert any(policy in result.said for policy in by), result.said

    def test_only_in_audit_mode_a_pod_may_be_charged_to_no_queue(self, api: PolicyApi) -> None:
        """There it must get out of the gate all the same: audit mode holds up nobody."""
        api.hold_term("t5")
        nobodys = opening("t5")
        nobodys["metadata"]["annotations"][CHARGED_QUEUE] = ""
        allowed(api.create(pod("enforced", gated=True)))
        eventually(lambda: api.patch("enforced", opening("t5"), US, dry=True).ok)
        refused(api.patch("enforced", nobodys, US), "gate-owner", "in audit mode the term alone")
        allowed(api.create(pod("audited", gated=True), namespace=AUDITED))
        term_alone = opening("t5")
        for key in (CHARGED_QUEUE, ALLOCATED):
            del term_alone["metadata"]["annotations"][key]
        patch = ("patch", "pod", "audited", "-n", AUDITED, US, "--type=merge", "-p")
        allowed(api.kubectl(*patch, json.dumps(term_alone)))

    def test_refusals_are_told_apart_by_code(self, api: PolicyApi) -> None:
        allowed(api.create(pod("code", QUEUE, gated=True)))
        result = api.patch("code", {"spec": {"schedulingGates": None}})
        assert "Error from server (Forbidden)" in result.said


TERMS = ("customresourcedefinition", "terms.cardquota.volcano.sh")


def holds(api: PolicyApi) -> bool:
    """Whether decisions of a former term are refused."""
    group = pod_group("late", {RESERVATION: '{"term":"gone"}'})
    late = api.create(group, US, namespace=OWN, dry=True)
    return "cardquota-reservation-term'" in late.said


@pytest.mark.parametrize("what", [THE_TERM, TERMS], ids=["object", "kind"])
class TestWithoutTerm:
    """Somebody deleted the Term in spite of all, by deleting its policy first; or its definition.
    No update of a pod is refused for that.
    """

    @pytest.fixture(autouse=True)
    def _no_term(self, api: PolicyApi, what: tuple[str, ...]) -> Any:
        binding = ("validatingadmissionpolicybinding", "cardquota-lease")
        api.hold_term("gone")
        allowed(api.create(pod("orphan", QUEUE, gated=True), TENANT))
        allowed(api.kubectl("delete", *binding))
        eventually(lambda: api.kubectl("delete", *what).ok)
        if what is TERMS:  # a policy that is new while the kind is missing has no parameter at all
            allowed(api.kubectl("delete", "validatingadmissionpolicybinding", *BY_TERM))
            time.sleep(1.5)
            apply_policies(api)
        yield
        allowed(api.kubectl("apply", "--server-side", "-k", str(ROOT / "crds")))
        allowed(api.kubectl("wait", "--for=condition=Established", "crd", TERMS[1]))
        apply_policies(api)
        eventually(lambda: api.kubectl("get", "terms", "-A").ok)
        api.hold_term("back")
        eventually(lambda: holds(api), seconds=120)  # after a pause the API server looks seldom
        eventually(lambda: not api.kubectl("delete", *THE_TERM, "--dry-run=server").ok)
        allowed(api.kubectl("delete", "pod", "orphan", "-n", "team"))

    def test_other_updates_go_on_and_only_the_operator_opens(self, api: PolicyApi) -> None:
        allowed(api.patch("orphan", {"metadata": {"labels": {"a": "b"}}}, TENANT))
        refused(api.patch("orphan", {"spec": {"schedulingGates": None}}), "gate-owner")
        eventually(lambda: api.patch("orphan", opening("any"), US).ok)


class TestKeys:
    @pytest.mark.parametrize("key", OURS_ON_PODS)
    def test_no_pod_is_created_with_them(self, api: PolicyApi, key: str) -> None:
        forged = pod("forged", {key: "x", **QUEUE}, gated=True)
        for who in ([], [TENANT], [US, "--as-group=system:masters"]):
            refused(api.create(forged, *who, dry=True), "keys", f"annotations {key}:")

    def test_in_exempt_namespaces_too(self, api: PolicyApi) -> None:
        refused(api.create(pod("p", {TERM: ""}), namespace=EXEMPT, dry=True), "keys")

    @pytest.mark.parametrize("key", OURS_ON_PODS)
    def test_nobody_else_writes_them(self, api: PolicyApi, key: str) -> None:
        name = "written-" + key.rpartition(".")[2]
        allowed(api.create(pod(name, QUEUE, gated=True)))
        refused(api.annotate(name, {key: "x"}, TENANT), "keys", "user <tenant> may not change")
        refused(api.annotate(name, {key: ""}, TENANT), "keys")
        allowed(api.annotate(name, {key: "x"}, US))
        refused(api.annotate(name, {key: None}), "keys", "written by cardquota alone")

    def test_the_settling_write_of_an_open_pod(self, api: PolicyApi) -> None:
        api.open_pod("settled", QUEUE)
        allowed(api.annotate("settled", {SETTLE: "1"}, US))
        allowed(api.annotate("settled", {"example.com/note": "x"}, TENANT))


class TestFixed:
    ALL = (CARD_NAME, CARD_NAME_ALIAS, QUEUE_NAME, QUEUE_NAME_VOLCANO_JOB, GROUP_NAME)

    def test_free_while_gated(self, api: PolicyApi) -> None:
        allowed(api.create(pod("waiting", {**QUEUE, CARD_NAME: "A"}, cards=1, gated=True)))
        for key in self.ALL:
            allowed(api.annotate("waiting", {key: "B"}, TENANT))
            allowed(api.annotate("waiting", {key: None}, TENANT))

    def test_a_pod_that_never_was_ours_does_not_become_so(self, api: PolicyApi) -> None:
        allowed(api.create(pod("unmanaged")))
        refused(api.annotate("unmanaged", {QUEUE_NAME: "q"}, TENANT), "fixed")
        allowed(api.patch("unmanaged", {"metadata": {"labels": {"a": "b"}}}, TENANT))

    def test_volcano_gives_a_group_to_a_pod_that_has_none(self, api: PolicyApi) -> None:
        api.open_pod("grouped", QUEUE)
        for other in (TENANT, BESIDE_VOLCANO):
            refused(api.annotate("grouped", {GROUP_NAME: "g"}, other), "fixed")
        refused(api.annotate("grouped", {GROUP_NAME: "g", QUEUE_NAME: "r"}, VOLCANO), "fixed")
        allowed(api.annotate("grouped", {GROUP_NAME: "g"}, VOLCANO))
        refused(api.annotate("grouped", {GROUP_NAME: "h"}, VOLCANO), "fixed")
        refused(api.annotate("grouped", {GROUP_NAME: None}, VOLCANO), "fixed")

    def test_not_where_nothing_is_gated(self, api: PolicyApi) -> None:
        allowed(api.create(pod("free", QUEUE), namespace=AUDITED))
        changed = api.kubectl("annotate", "-n", AUDITED, "pod", "free", f"{CARD_NAME}=A")
        allowed(changed)


class TestBindings:
    """A Binding's annotations end up on the pod, in the write that binds it."""

    @pytest.mark.parametrize("key", [*OURS_ON_PODS, CARD_NAME, QUEUE_NAME, GROUP_NAME])
    def test_bring_no_annotations_that_say_what_is_charged(self, api: PolicyApi, key: str) -> None:
        for who in ([], [US, "--as-group=system:masters"]):
            refused(api.bind("plain", "n", {key: "x"}, *who), "bindings", "out of the Binding")

    def test_volcanos_scheduler_repeats_what_the_pod_has(self, api: PolicyApi) -> None:
        api.open_pod("by-volcano", QUEUE, schedulerName="volcano")
        may_bind = ("create", "role", "binder", "--verb=create", "--resource=pods/binding")
        allowed(api.kubectl(*may_bind, "-n", "team"))
        to_volcano = (f"--user={VOLCANO.removeprefix('--as=')}", "--role=binder", "-n", "team")
        allowed(api.kubectl("create", "rolebinding", "binder", *to_volcano))
        bind = ("by-volcano", "n", {TERM: "now", QUEUE_NAME: "q"}, VOLCANO)
        eventually(lambda: api.bind(*bind).ok)

    def test_where_nothing_is_gated_a_scheduler_may_repeat_the_users_own(
        self, api: PolicyApi
    ) -> None:
        allowed(api.create(pod("repeated", QUEUE, schedulerName="volcano"), namespace=AUDITED))
        notes = {QUEUE_NAME: "q"}
        for annotations, code in (({TERM: "x"}, 403), (notes, 201)):
            binding = {
                "metadata": {"name": "repeated", "annotations": annotations},
                "target": {"kind": "Node", "name": "n"},
            }
            path = f"/api/v1/namespaces/{AUDITED}/bindings"
            assert ask(api.plane, "POST", path, binding).code == code


class TestStatusOfPods:
    """A write of the status carries annotations too: `ways_round/test_subresources.py` tries it."""

    def write(self, api: PolicyApi, name: str, annotations: dict[str, str | None]) -> ApiReply:
        path = f"/api/v1/namespaces/team/pods/{name}/status"
        change = {"metadata": {"annotations": annotations}}
        return ask(api.plane, "PATCH", path, change, content_type=MERGE)

    def test_nodes_go_on_reporting(self, api: PolicyApi) -> None:
        api.open_pod("reported", QUEUE)
        path = "/api/v1/namespaces/team/pods/reported/status"
        change = {"status": {"phase": "Running"}, "metadata": {"annotations": {"a.example/b": "c"}}}
        assert ask(api.plane, "PATCH", path, change, content_type=MERGE).ok

    def test_of_a_pod_without_the_label_nothing_is_looked_at(self, api: PolicyApi) -> None:
        """On it none of them counts: see `ways_round/test_label.py`."""
        allowed(api.create(pod("nobodys")))
        for key in OURS_ON_PODS:
            allowed(self.write(api, "nobodys", {key: "x"}))


class TestLabel:
    """That nobody else gives, changes or takes it: see `ways_round/test_subresources.py`."""

    def label(self, api: PolicyApi, name: str, value: str | None, *who: str) -> ApiReply:
        return api.patch(name, {"metadata": {"labels": {MANAGED: value}}}, *who)

    def test_the_operator_gives_it(self, api: PolicyApi) -> None:
        """Nothing else of the labels: see `TestServiceAccount`."""
        allowed(api.create(pod("past-us")))
        allowed(self.label(api, "past-us", "true", US))

    def test_other_labels_come_and_go_as_before(self, api: PolicyApi) -> None:
        for value in ("x", "y", None):
            allowed(api.patch("gated", {"metadata": {"labels": {"app": value}}}))

    def test_a_pod_may_be_created_with_it_and_still_not_with_a_charge(self, api: PolicyApi) -> None:
        document = pod("born-labelled")
        document["metadata"]["labels"] = {MANAGED: "true"}
        allowed(api.create(document, dry=True))
        document["metadata"]["annotations"] = {ALLOCATED: "{}"}
        refused(api.create(document, dry=True), "keys")

    def test_no_gate_opens_without_it(self, api: PolicyApi) -> None:
        """A charge would count for nothing."""
        api.hold_term("l1")
        bare = pod("bare", QUEUE, gated=True)
        del bare["metadata"]["labels"]
        allowed(api.create(bare))
        whole, lacking = opening("l1"), opening("l1")
        del lacking["metadata"]["labels"]
        eventually(lambda: api.patch("bare", whole, US, dry=True).ok)
        refused(api.patch("bare", lacking, US), "gate-owner", MANAGED)
        allowed(api.patch("bare", whole, US))

    def test_no_binding_brings_it(self, api: PolicyApi) -> None:
        """The API server would put it on the pod."""
        allowed(api.create(pod("to-bind")))
        path = "/api/v1/namespaces/team/pods/to-bind/binding"
        body = {
            "metadata": {"name": "to-bind", "labels": {MANAGED: "true"}},
            "target": {"kind": "Node", "name": "n"},
        }
        refused(ask(api.plane, "POST", path, body), "bindings", MANAGED)


class TestReservation:
    def reservation(self, term: str) -> dict[str, str | None]:
        text = json.dumps({"term": term, "cards": {"A": 2}}, separators=(",", ":"))
        return {RESERVATION: text}

    def test_nobody_else_reserves(self, api: PolicyApi) -> None:
        forged = pod_group("forged", {RESERVATION: "{}"})
        refused(api.create(forged, TENANT), "reservation-owner", "pod group <forged>")
        allowed(api.create(pod_group("own"), TENANT))
        refused(
            api.annotate("own", self.reservation("r1"), TENANT, kind="PodGroup"),
            "reservation-owner",
        )
        allowed(api.annotate("own", {"volcano.sh/card.request": "{}"}, TENANT, kind="PodGroup"))

    def test_the_current_term_reserves_and_a_stale_one_does_not(self, api: PolicyApi) -> None:
        allowed(api.create(pod_group("gang"), TENANT))
        api.hold_term("r2")
        eventually(lambda: api.annotate("gang", self.reservation("r2"), US, kind="PodGroup").ok)
        for term in ("r1", "r22", ""):
            refused(
                api.annotate("gang", self.reservation(term), US, kind="PodGroup"),
                "reservation-term",
                "current term <r2>",
            )
        refused(
            api.annotate("gang", {RESERVATION: None}, TENANT, kind="PodGroup"),
            "reservation-owner",
        )
        allowed(api.annotate("gang", {RESERVATION: None}, US, kind="PodGroup"))


class TestParameter:
    """The kind that policies have as their parameter may go and come: the API server follows. One
    of a built-in kind it would follow no more (kubernetes/kubernetes#130887).
    """

    def test_without_bindings_for_a_while_the_next_term_holds(self, api: PolicyApi) -> None:
        api.hold_term("before")
        allowed(api.create(pod("later", QUEUE, gated=True)))
        eventually(lambda: api.patch("later", opening("before"), US, dry=True).ok)
        allowed(api.kubectl("delete", "validatingadmissionpolicybinding", *BY_TERM))
        time.sleep(3)
        apply_policies(api)
        api.hold_term("after")
        refusal = "current term <after>, not in <before>"
        eventually(lambda: refusal in api.patch("later", opening("before"), US, dry=True).said)
        allowed(api.patch("later", opening("after"), US))


class TestLeaseAndTerm:
    @pytest.fixture(autouse=True)
    def _both(self, api: PolicyApi) -> None:
        api.hold_term("now")
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
        metadata = {"name": "cardquota", "namespace": OWN}
        allowed(api.apply({**lease, "metadata": metadata, "spec": {}}, US))

    @pytest.mark.parametrize("what", [LEASE, THE_TERM])
    def test_nobody_deletes_it(self, api: PolicyApi, what: tuple[str, ...]) -> None:
        refused(
            api.kubectl("delete", *what),
            "lease",
            "first delete the ValidatingAdmissionPolicyBinding <cardquota-lease>",
        )

    @pytest.mark.parametrize(
        "kind", ["coordination.k8s.io/v1 leases", "cardquota.volcano.sh/v1alpha1 terms"]
    )
    def test_nor_with_all_others(self, api: PolicyApi, kind: str) -> None:
        group, plural = kind.split()
        path = f"/apis/{group}/namespaces/{SETTINGS.namespace}/{plural}"
        refused(api.kubectl("delete", "--raw", path), "lease")

    @pytest.mark.parametrize(
        ("what", "change"),
        [(LEASE, '{"spec":{"holderIdentity":"me"}}'), (THE_TERM, '{"spec":{"term":"me"}}')],
    )
    def test_nobody_else_writes_it(
        self, api: PolicyApi, what: tuple[str, ...], change: str
    ) -> None:
        refused(
            api.kubectl("patch", *what, "--type=merge", "-p", change),
            "lease",
            "may not write Lease and Term <cardquota-system/cardquota>",
        )
        allowed(api.kubectl("patch", *what, US, "--type=merge", "-p", change))

    def test_other_leases_are_free(self, api: PolicyApi) -> None:
        for name, namespace in (("other", SETTINGS.namespace), ("cardquota", "team")):
            other = {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": name, "namespace": namespace},
            }
            allowed(api.create(other, namespace=namespace))
            allowed(api.kubectl("delete", "lease", name, "-n", namespace))


class TestServiceAccount:
    @pytest.mark.parametrize(
        "change",
        [
            {"spec": {"containers": [{"name": "c", "image": "other"}]}},
            {"spec": {"tolerations": [{"key": "a", "operator": "Exists"}]}},
            {"spec": {"nodeSelector": {"a": "b"}}},
            {"spec": {"activeDeadlineSeconds": 1}},
            {"metadata": {"labels": {"a": "b"}}},
            {"metadata": {"labels": None}},
            {"metadata": {"annotations": {CARD_NAME: "B"}}},
            {"metadata": {"annotations": {"example.com/note": None}}},
            {"metadata": {"annotations": {"example.com/new": "x"}}},
            {"metadata": {"finalizers": ["example.com/hold"]}},
            {
                "metadata": {
                    "ownerReferences": [
                        {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}
                    ]
                }
            },
        ],
        ids=lambda change: json.dumps(change),
    )
    def test_changes_nothing_else(self, api: PolicyApi, change: dict[str, Any]) -> None:
        document = pod("kept", {**QUEUE, "example.com/note": "x"}, gated=True)
        document["metadata"]["labels"] = {"mine": "x"}
        if not api.kubectl("get", "pod", "kept", "-n", "team").ok:
            allowed(api.create(document))
        refused(api.patch("kept", change, US), "service-account", "cardquota may change only")

    def test_not_even_together_with_an_opening(self, api: PolicyApi) -> None:
        api.hold_term("s1")
        allowed(api.create(pod("hidden", QUEUE, gated=True)))
        eventually(lambda: api.patch("hidden", opening("s1"), US, dry=True).ok)
        both = opening("s1", containers=[{"name": "c", "image": "other"}])
        refused(api.patch("hidden", both, US), "service-account")


class TestServiceAccountElsewhere:
    """Of pod groups only reservation and phase, of queues only the numbers it publishes."""

    @pytest.mark.parametrize(
        "change",
        [
            {"spec": {"queue": "other"}},
            {"spec": {"minMember": 1}},
            {"metadata": {"annotations": {"volcano.sh/card.request": '{"A":1}'}}},
            {"metadata": {"labels": {"a": "b"}}},
        ],
        ids=lambda change: json.dumps(change),
    )
    def test_of_pod_groups(self, api: PolicyApi, change: dict[str, Any]) -> None:
        if not api.kubectl("get", "podgroup", "kept", "-n", "team").ok:
            allowed(api.create(pod_group("kept"), TENANT))
        refused(api.patch("kept", change, US, kind="PodGroup"), "groups-account")
        allowed(api.patch("kept", {"status": {"phase": "Pending"}}, US, kind="PodGroup"))

    @pytest.fixture
    def beside_volcano(self, api: PolicyApi) -> Iterator[None]:
        component = str(ROOT / "manifests" / "components" / "volcano" / "rbac.yaml")
        allowed(api.kubectl("apply", "--server-side", "-f", component))
        yield
        allowed(api.kubectl("delete", "-f", component))

    @pytest.mark.usefixtures("beside_volcano")
    @pytest.mark.parametrize(
        ("change", "ok"),
        [
            ({"spec": {"weight": 3}}, False),
            ({"metadata": {"annotations": {QUOTA: '{"A":9}'}}}, False),
            ({"metadata": {"labels": {"a": "b"}}}, False),
            ({"metadata": {"annotations": {STATUS: "{}"}}}, True),
        ],
        ids=lambda change: json.dumps(change),
    )
    def test_of_queues_beside_volcano(
        self, api: PolicyApi, change: dict[str, Any], ok: bool
    ) -> None:
        """There it has the right to write them: `manifests/components/volcano`."""
        queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "spec": {}}
        if not api.kubectl("get", "queue", "watched").ok:
            allowed(api.create({**queue, "metadata": {"name": "watched"}}))
        answer = eventually(lambda: _unless_rbac(api.patch("watched", change, US, kind="Queue")))
        if ok:
            allowed(answer)
        else:
            refused(answer, "queues", "cardquota may change only")


def _unless_rbac(answer: ApiReply) -> ApiReply | None:
    """A new role takes a moment."""
    return None if "cannot patch resource" in answer.said else answer


def test_the_type_checker_of_the_api_server_has_no_warnings(api: PolicyApi) -> None:
    def found() -> list[Any]:
        path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
        listed = ask(api.plane, "GET", path).body["items"]
        return [item.get("status", {}).get("typeChecking") for item in listed]

    count = len(policies(SETTINGS))
    eventually(lambda: len(found()) == count and None not in found())
    assert found() == [{}] * count


def test_everything_rendered_is_accepted(api: PolicyApi) -> None:
    other = Settings(default_queue="spare", webhook=Webhook(url="https://127.0.0.1:1"))
    for settings in (
        SETTINGS,
        other,
        other.model_copy(update={"mode": InstallationMode.AUDIT}),
    ):
        dry = ("apply", "--server-side", "--dry-run=server", "-f", "-")
        allowed(api.kubectl(*dry, text=render(settings)))
