"""Every policy on a real API server: what it refuses, and what it lets by."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cardquota.install.manifests import render
from cardquota.install.policies import policies
from cardquota.quota.vocabulary import (
    ALLOCATED,
    CARD_NAME,
    CARD_NAME_ALIAS,
    CHARGED_QUEUE,
    GROUP_NAME,
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
from integration.asking import MERGE, ask

from .answer import Answer, from_reply
from .stage import (
    AUDITED,
    EXEMPT,
    GATES,
    LEASE,
    NODE,
    ROOT,
    SETTINGS,
    TENANT,
    US,
    VOLCANO,
    Stage,
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


class TestBornGated:
    @pytest.mark.parametrize("key", [QUEUE_NAME, QUEUE_NAME_VOLCANO_JOB, GROUP_NAME])
    def test_a_pod_with_a_queue_needs_the_gate(self, stage: Stage, key: str) -> None:
        refused(
            stage.create(pod("p", {key: "q"}, cards=1), TENANT, dry=True),
            "born-gated",
            "pod <p> has a card queue but was created without the scheduling gate",
            "MutatingWebhookConfiguration <cardquota>",
        )
        allowed(stage.create(pod("p", {key: "q"}, cards=1, gated=True), TENANT, dry=True))

    def test_even_without_cards(self, stage: Stage) -> None:
        refused(stage.create(pod("p", QUEUE), dry=True), "born-gated")

    def test_a_pod_that_names_its_node_is_told_why(self, stage: Stage) -> None:
        refused(
            stage.create(pod("p", QUEUE, cards=1, nodeName="n1"), dry=True),
            "born-gated",
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
    def test_pods_without_a_queue_are_let_by(self, stage: Stage, document: dict[str, Any]) -> None:
        allowed(stage.create(document, dry=True))

    def test_mirror_pods_of_nodes_are_let_by(self, stage: Stage) -> None:
        mirror = pod("p", {**QUEUE, "kubernetes.io/config.mirror": "x"}, cards=1, nodeName="n1")
        allowed(stage.create(mirror, *NODE, dry=True))
        refused(stage.create(mirror, TENANT, dry=True), "born-gated")
        refused(stage.create(pod("p", QUEUE, nodeName="n1"), *NODE, dry=True), "born-gated")

    def test_a_queue_of_the_namespace(self, stage: Stage) -> None:
        name = "with-queue"
        allowed(stage.kubectl("create", "namespace", name))
        allowed(stage.kubectl("annotate", "namespace", name, f"{QUEUE_NAME}=q"))
        eventually(lambda: stage.kubectl("get", "-n", name, "sa", "default").ok)
        eventually(lambda: not stage.create(pod("p", cards=1), namespace=name, dry=True).ok)
        for document in (
            pod("p", cards=1),
            pod("p", init_cards=1),
            pod("p", {CARD_NAME: "NVIDIA-H200"}),
        ):
            refused(stage.create(document, namespace=name, dry=True), "born-gated")
        allowed(stage.create(pod("p", cards=1, gated=True), namespace=name, dry=True))
        allowed(stage.create(pod("p"), namespace=name, dry=True))

    @pytest.mark.parametrize("namespace", [AUDITED, EXEMPT, "kube-system"])
    def test_not_where_nothing_is_gated(self, stage: Stage, namespace: str) -> None:
        def let_by() -> bool:
            made = stage.create(pod("p", QUEUE, cards=1), namespace=namespace, dry=True)
            return made.ok

        eventually(let_by)

    def test_a_very_large_pod_is_no_more_than_the_evaluation_may_cost(self, stage: Stage) -> None:
        allowed(
            stage.create(pod("p", containers=many_containers()), namespace="with-queue", dry=True)
        )


class TestGate:
    def test_nobody_removes_it_by_hand(self, stage: Stage) -> None:
        allowed(stage.create(pod("by-hand", QUEUE, gated=True)))
        for who in ([], [TENANT]):
            refused(
                stage.patch("by-hand", {"spec": {"schedulingGates": None}}, *who),
                "gate-owner",
                "may not remove the scheduling gate",
                "kubectl describe pod",
            )

    def test_a_foreign_gate_comes_and_goes_as_before(self, stage: Stage) -> None:
        both = [*GATES, {"name": "example.com/other"}]
        allowed(stage.create({**pod("two", QUEUE, schedulingGates=both)}))
        allowed(stage.patch("two", {"spec": {"schedulingGates": GATES}}, TENANT))

    def test_the_current_term_opens_it(self, stage: Stage) -> None:
        stage.hold_lease("t1")
        allowed(stage.create(pod("current", QUEUE, gated=True)))
        affinity = {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
                    ]
                }
            }
        }
        eventually(lambda: stage.patch("current", opening("t1", affinity=affinity), US).ok)

    def test_of_a_very_large_pod_too(self, stage: Stage) -> None:
        """What the operator changes is compared within what an evaluation may cost."""
        stage.hold_lease("t0")
        allowed(stage.create(pod("large", QUEUE, gated=True, containers=many_containers())))
        eventually(lambda: stage.patch("large", opening("t0"), US, dry=True).ok)
        allowed(stage.patch("large", opening("t0"), US))

    def test_a_stale_term_does_not(self, stage: Stage) -> None:
        stage.hold_lease("t2")
        allowed(stage.create(pod("stale", QUEUE, gated=True)))
        # What is asked at once after the write of the Lease may still be judged by its last state.
        stale, words = opening("t1"), "current term <t2>, not in <t1>"
        eventually(lambda: words in stage.patch("stale", stale, US, dry=True).said)
        for term in ("t1", "t22", ""):
            result = stage.patch("stale", opening(term), US)
            assert not result.ok
        assert words in stage.patch("stale", stale, US).said
        eventually(lambda: stage.patch("stale", opening("t2"), US).ok)

    def test_a_lease_that_was_given_up_opens_nothing(self, stage: Stage) -> None:
        stage.hold_lease("t3")
        allowed(stage.create(pod("given-up", QUEUE, gated=True)))
        given_up = '{"spec":{"holderIdentity":""}}'
        allowed(stage.kubectl("patch", *LEASE, US, "--type=merge", "-p", given_up))
        late, words = opening("t3"), "current term <>"
        eventually(lambda: words in stage.patch("given-up", late, US, dry=True).said)
        assert words in stage.patch("given-up", late, US).said

    @pytest.mark.parametrize("key", [TERM, CHARGED_QUEUE, ALLOCATED])
    def test_the_decision_must_be_on_the_pod(self, stage: Stage, key: str) -> None:
        name = "half-" + key.rpartition(".")[2]
        stage.hold_lease("t4")
        allowed(stage.create(pod(name, QUEUE, gated=True)))
        half = opening("t4")
        del half["metadata"]["annotations"][key]
        eventually(lambda: stage.patch(name, opening("t4"), US, dry=True).ok)
        result = stage.patch(name, half, US)
        assert not result.ok
        by = ("cardquota-pods'", "cardquota-gate-term'")
        assert any(policy in result.said for policy in by), result.said

    def test_only_in_audit_mode_a_pod_may_be_charged_to_no_queue(self, stage: Stage) -> None:
        """There it must get out of the gate all the same: audit mode holds up nobody."""
        stage.hold_lease("t5")
        nobodys = opening("t5")
        nobodys["metadata"]["annotations"][CHARGED_QUEUE] = ""
        allowed(stage.create(pod("enforced", gated=True)))
        eventually(lambda: stage.patch("enforced", opening("t5"), US, dry=True).ok)
        refused(stage.patch("enforced", nobodys, US), "gate-owner", "in audit mode alone")
        allowed(stage.create(pod("audited", gated=True), namespace=AUDITED))
        lacking = opening("t5")
        del lacking["metadata"]["annotations"][CHARGED_QUEUE]
        patch = ("patch", "pod", "audited", "-n", AUDITED, US, "--type=merge", "-p")
        refused(stage.kubectl(*patch, json.dumps(lacking)), "gate-owner")
        allowed(stage.kubectl(*patch, json.dumps(nobodys)))

    def test_refusals_are_told_apart_by_code(self, stage: Stage) -> None:
        allowed(stage.create(pod("code", QUEUE, gated=True)))
        result = stage.patch("code", {"spec": {"schedulingGates": None}})
        assert "Error from server (Forbidden)" in result.said


class TestWithoutLease:
    """Somebody deleted the Lease in spite of all: by deleting its policy first."""

    @pytest.fixture(autouse=True)
    def _no_lease(self, stage: Stage) -> Any:
        binding = ("validatingadmissionpolicybinding", "cardquota-lease")
        stage.hold_lease("gone")
        allowed(stage.create(pod("orphan", QUEUE, gated=True), TENANT))
        allowed(stage.kubectl("delete", *binding))
        eventually(lambda: stage.kubectl("delete", *LEASE).ok)
        yield
        apply_policies(stage)
        stage.hold_lease("back")
        eventually(lambda: not stage.kubectl("delete", *LEASE, "--dry-run=server").ok)
        allowed(stage.kubectl("delete", "pod", "orphan", "-n", "team"))

    def test_other_updates_go_on_and_only_the_operator_opens(self, stage: Stage) -> None:
        allowed(stage.patch("orphan", {"metadata": {"labels": {"a": "b"}}}, TENANT))
        refused(stage.patch("orphan", {"spec": {"schedulingGates": None}}), "gate-owner")
        eventually(lambda: stage.patch("orphan", opening("any"), US).ok)


class TestKeys:
    @pytest.mark.parametrize("key", OURS_ON_PODS)
    def test_no_pod_is_created_with_them(self, stage: Stage, key: str) -> None:
        forged = pod("forged", {key: "x", **QUEUE}, gated=True)
        for who in ([], [TENANT], [US, "--as-group=system:masters"]):
            refused(stage.create(forged, *who, dry=True), "keys", f"annotations {key}:")

    def test_in_exempt_namespaces_too(self, stage: Stage) -> None:
        refused(stage.create(pod("p", {TERM: ""}), namespace=EXEMPT, dry=True), "keys")

    @pytest.mark.parametrize("key", OURS_ON_PODS)
    def test_nobody_else_writes_them(self, stage: Stage, key: str) -> None:
        name = "written-" + key.rpartition(".")[2]
        allowed(stage.create(pod(name, QUEUE, gated=True)))
        refused(stage.annotate(name, {key: "x"}, TENANT), "keys", "user <tenant> may not change")
        refused(stage.annotate(name, {key: ""}, TENANT), "keys")
        allowed(stage.annotate(name, {key: "x"}, US))
        refused(stage.annotate(name, {key: None}), "keys", "written by cardquota alone")

    def test_the_settling_write_of_an_open_pod(self, stage: Stage) -> None:
        stage.open_pod("settled", QUEUE)
        allowed(stage.annotate("settled", {SETTLE: "1"}, US))
        allowed(stage.annotate("settled", {"example.com/note": "x"}, TENANT))


class TestFixed:
    ALL = (CARD_NAME, CARD_NAME_ALIAS, QUEUE_NAME, QUEUE_NAME_VOLCANO_JOB, GROUP_NAME)

    def test_free_while_gated(self, stage: Stage) -> None:
        allowed(stage.create(pod("waiting", {**QUEUE, CARD_NAME: "A"}, cards=1, gated=True)))
        for key in self.ALL:
            allowed(stage.annotate("waiting", {key: "B"}, TENANT))
            allowed(stage.annotate("waiting", {key: None}, TENANT))

    def test_fixed_once_open(self, stage: Stage) -> None:
        stage.open_pod("opened", dict.fromkeys(self.ALL, "A"))
        for key in self.ALL:
            for value in ("B", "", None):
                refused(
                    stage.annotate("opened", {key: value}, TENANT),
                    "fixed",
                    f"annotations {key} of pod <opened>",
                )
        allowed(stage.annotate("opened", {"example.com/note": "x"}, TENANT))

    def test_a_pod_that_never_was_ours_does_not_become_so(self, stage: Stage) -> None:
        allowed(stage.create(pod("unmanaged")))
        refused(stage.annotate("unmanaged", {QUEUE_NAME: "q"}, TENANT), "fixed")
        allowed(stage.patch("unmanaged", {"metadata": {"labels": {"a": "b"}}}, TENANT))

    def test_volcano_gives_a_group_to_a_pod_that_has_none(self, stage: Stage) -> None:
        stage.open_pod("grouped", QUEUE)
        refused(stage.annotate("grouped", {GROUP_NAME: "g"}, TENANT), "fixed")
        refused(stage.annotate("grouped", {GROUP_NAME: "g", QUEUE_NAME: "r"}, VOLCANO), "fixed")
        allowed(stage.annotate("grouped", {GROUP_NAME: "g"}, VOLCANO))
        refused(stage.annotate("grouped", {GROUP_NAME: "h"}, VOLCANO), "fixed")
        refused(stage.annotate("grouped", {GROUP_NAME: None}, VOLCANO), "fixed")

    def test_not_where_nothing_is_gated(self, stage: Stage) -> None:
        allowed(stage.create(pod("free", QUEUE), namespace=AUDITED))
        changed = stage.kubectl("annotate", "-n", AUDITED, "pod", "free", f"{CARD_NAME}=A")
        allowed(changed)


class TestBindings:
    """A Binding's annotations end up on the pod, in the write that binds it."""

    @pytest.mark.parametrize("key", [*OURS_ON_PODS, CARD_NAME, QUEUE_NAME, GROUP_NAME])
    def test_bring_no_annotations_that_say_what_is_charged(self, stage: Stage, key: str) -> None:
        for who in ([], [US, "--as-group=system:masters"]):
            refused(stage.bind("plain", "n", {key: "x"}, *who), "bindings", "out of the Binding")

    def test_volcanos_scheduler_repeats_what_the_pod_has(self, stage: Stage) -> None:
        stage.open_pod("by-volcano", QUEUE, schedulerName="volcano")
        may_bind = ("create", "role", "binder", "--verb=create", "--resource=pods/binding")
        allowed(stage.kubectl(*may_bind, "-n", "team"))
        to_volcano = (f"--user={VOLCANO.removeprefix('--as=')}", "--role=binder", "-n", "team")
        allowed(stage.kubectl("create", "rolebinding", "binder", *to_volcano))
        bind = ("by-volcano", "n", {TERM: "now", QUEUE_NAME: "q"}, VOLCANO)
        eventually(lambda: stage.bind(*bind).ok)

    def test_where_nothing_is_gated_a_scheduler_may_repeat_the_users_own(
        self, stage: Stage
    ) -> None:
        allowed(stage.create(pod("repeated", QUEUE, schedulerName="volcano"), namespace=AUDITED))
        notes = {QUEUE_NAME: "q"}
        for annotations, code in (({TERM: "x"}, 403), (notes, 201)):
            binding = {
                "metadata": {"name": "repeated", "annotations": annotations},
                "target": {"kind": "Node", "name": "n"},
            }
            path = f"/api/v1/namespaces/{AUDITED}/bindings"
            assert ask(stage.plane, "POST", path, binding).code == code


class TestStatusOfPods:
    """A write of the status carries annotations too."""

    def write(self, stage: Stage, name: str, annotations: dict[str, str | None]) -> Answer:
        path = f"/api/v1/namespaces/team/pods/{name}/status"
        change = {"metadata": {"annotations": annotations}}
        return from_reply(ask(stage.plane, "PATCH", path, change, content_type=MERGE))

    @pytest.mark.parametrize("key", OURS_ON_PODS)
    def test_writes_none_of_the_operators(self, stage: Stage, key: str) -> None:
        refused(self.write(stage, "gated", {key: "x"}), "keys", "may not change")

    def test_changes_nothing_that_is_fixed(self, stage: Stage) -> None:
        stage.open_pod("status", dict.fromkeys(TestFixed.ALL, "A"))
        for key in TestFixed.ALL:
            for value in ("B", "", None):
                refused(self.write(stage, "status", {key: value}), "fixed")

    def test_nodes_go_on_reporting(self, stage: Stage) -> None:
        stage.open_pod("reported", QUEUE)
        path = "/api/v1/namespaces/team/pods/reported/status"
        change = {"status": {"phase": "Running"}, "metadata": {"annotations": {"a.example/b": "c"}}}
        assert ask(stage.plane, "PATCH", path, change, content_type=MERGE).ok


class TestReservation:
    def reservation(self, term: str) -> dict[str, str | None]:
        text = json.dumps({"term": term, "cards": {"A": 2}}, separators=(",", ":"))
        return {RESERVATION: text}

    def test_nobody_else_reserves(self, stage: Stage) -> None:
        forged = pod_group("forged", {RESERVATION: "{}"})
        refused(stage.create(forged, TENANT), "reservation-owner", "pod group <forged>")
        allowed(stage.create(pod_group("own"), TENANT))
        refused(
            stage.annotate("own", self.reservation("r1"), TENANT, kind="PodGroup"),
            "reservation-owner",
        )
        allowed(stage.annotate("own", {"volcano.sh/card.request": "{}"}, TENANT, kind="PodGroup"))

    def test_the_current_term_reserves_and_a_stale_one_does_not(self, stage: Stage) -> None:
        allowed(stage.create(pod_group("gang"), TENANT))
        stage.hold_lease("r2")
        eventually(lambda: stage.annotate("gang", self.reservation("r2"), US, kind="PodGroup").ok)
        for term in ("r1", "r22", ""):
            refused(
                stage.annotate("gang", self.reservation(term), US, kind="PodGroup"),
                "reservation-term",
                "current term <r2>",
            )
        refused(
            stage.annotate("gang", {RESERVATION: None}, TENANT, kind="PodGroup"),
            "reservation-owner",
        )
        allowed(stage.annotate("gang", {RESERVATION: None}, US, kind="PodGroup"))


class TestLease:
    def test_nobody_deletes_it(self, stage: Stage) -> None:
        stage.hold_lease("now")
        refused(
            stage.kubectl("delete", *LEASE),
            "lease",
            "first delete the ValidatingAdmissionPolicyBinding <cardquota-lease>",
        )

    def test_nor_with_all_others(self, stage: Stage) -> None:
        path = f"/apis/coordination.k8s.io/v1/namespaces/{SETTINGS.namespace}/leases"
        refused(stage.kubectl("delete", "--raw", path), "lease")

    def test_nobody_else_writes_it(self, stage: Stage) -> None:
        change = '{"spec":{"holderIdentity":"me"}}'
        refused(
            stage.kubectl("patch", *LEASE, "--type=merge", "-p", change),
            "lease",
            "may not write Lease <cardquota-system/cardquota>",
        )
        allowed(stage.kubectl("patch", *LEASE, US, "--type=merge", "-p", change))

    def test_other_leases_are_free(self, stage: Stage) -> None:
        for name, namespace in (("other", SETTINGS.namespace), ("cardquota", "team")):
            other = {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": name, "namespace": namespace},
            }
            allowed(stage.create(other, namespace=namespace))
            allowed(stage.kubectl("delete", "lease", name, "-n", namespace))


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
    def test_changes_nothing_else(self, stage: Stage, change: dict[str, Any]) -> None:
        document = pod("kept", {**QUEUE, "example.com/note": "x"}, gated=True)
        document["metadata"]["labels"] = {"mine": "x"}
        if not stage.kubectl("get", "pod", "kept", "-n", "team").ok:
            allowed(stage.create(document))
        refused(stage.patch("kept", change, US), "service-account", "cardquota may change nothing")

    def test_not_even_together_with_an_opening(self, stage: Stage) -> None:
        stage.hold_lease("s1")
        allowed(stage.create(pod("hidden", QUEUE, gated=True)))
        eventually(lambda: stage.patch("hidden", opening("s1"), US, dry=True).ok)
        both = opening("s1", containers=[{"name": "c", "image": "other"}])
        refused(stage.patch("hidden", both, US), "service-account")


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
    def test_of_pod_groups(self, stage: Stage, change: dict[str, Any]) -> None:
        if not stage.kubectl("get", "podgroup", "kept", "-n", "team").ok:
            allowed(stage.create(pod_group("kept"), TENANT))
        refused(stage.patch("kept", change, US, kind="PodGroup"), "groups-account")
        allowed(stage.patch("kept", {"status": {"phase": "Pending"}}, US, kind="PodGroup"))

    @pytest.fixture
    def beside_volcano(self, stage: Stage) -> Iterator[None]:
        component = str(ROOT / "manifests" / "components" / "volcano" / "rbac.yaml")
        allowed(stage.kubectl("apply", "--server-side", "-f", component))
        yield
        allowed(stage.kubectl("delete", "-f", component))

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
    def test_of_queues_beside_volcano(self, stage: Stage, change: dict[str, Any], ok: bool) -> None:
        """There it has the right to write them: `manifests/components/volcano`."""
        queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "spec": {}}
        if not stage.kubectl("get", "queue", "watched").ok:
            allowed(stage.create({**queue, "metadata": {"name": "watched"}}))
        answer = eventually(lambda: _unless_rbac(stage.patch("watched", change, US, kind="Queue")))
        if ok:
            allowed(answer)
        else:
            refused(answer, "queues", "of a queue cardquota may change nothing")


def _unless_rbac(answer: Answer) -> Answer | None:
    """A new role takes a moment."""
    return None if "cannot patch resource" in answer.said else answer


def test_the_type_checker_of_the_api_server_has_no_warnings(stage: Stage) -> None:
    def found() -> list[Any]:
        path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
        listed = ask(stage.plane, "GET", path).body["items"]
        return [item.get("status", {}).get("typeChecking") for item in listed]

    count = len(policies(SETTINGS))
    eventually(lambda: len(found()) == count and None not in found())
    assert found() == [{}] * count


def test_everything_rendered_is_accepted(stage: Stage) -> None:
    other = Settings(default_queue="spare", webhook=Webhook(url="https://127.0.0.1:1"))
    for settings in (
        SETTINGS,
        other,
        other.model_copy(update={"mode": InstallationMode.AUDIT}),
    ):
        dry = ("apply", "--server-side", "--dry-run=server", "-f", "-")
        allowed(stage.kubectl(*dry, text=render(settings)))
