"""The gate set by the API server itself, on a real one, with nobody of ours there.

The policies are applied to the shared plane for these tests and taken away again.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from builders.rendered import render_policies
from cardquota.install.kubernetes_versions import GATE_BY_POLICY
from cardquota.quota import CARD_NAME, GATE, IS_MANAGED, MANAGED, QUEUE_NAME
from cardquota.settings import GateSetter, Settings, Webhook
from cardquota_dev.testing import eventually
from integration.asking import ApiReply, ask
from integration.gate_table import TABLE, GateCase, GateNamespace, born, namespaces
from integration.other_webhook import other_webhook
from integration.team import Team, gates

from ..policy_api import AUDITED, TEAM, PolicyApi, allowed, apply_policies, pod, refused

pytestmark = [
    pytest.mark.disruptive,
    pytest.mark.newer_kubernetes(GATE_BY_POLICY),
    pytest.mark.slow,
]

BY_POLICY = Settings.model_construct(webhook=Webhook(gate=GateSetter.POLICY))
QUEUE = {QUEUE_NAME: "q"}
PODS = f"/api/v1/namespaces/{TEAM}/pods"


def dry(api: PolicyApi, document: dict[str, Any], namespace: str = TEAM) -> ApiReply:
    path = f"/api/v1/namespaces/{namespace}/pods?dryRun=All"
    return ask(api.plane, "POST", path, document)


def gate_of(api: PolicyApi, document: dict[str, Any], namespace: str = TEAM) -> bool:
    reply = dry(api, document, namespace)
    return reply.ok and GATE in gates(reply.body)


@pytest.fixture(scope="module")
def gating(api: PolicyApi) -> Iterator[PolicyApi]:
    """The plane with the policies of a gate that is set by policy."""
    text = render_policies(BY_POLICY)
    allowed(api.kubectl("apply", "--server-side", "-f", "-", text=text))
    managed, by_hand = pod("x", QUEUE), pod("x", gated=True)
    try:
        eventually(lambda: gate_of(api, managed))
        eventually(lambda: not gate_of(api, by_hand))
        eventually(lambda: not gate_of(api, pod("x", QUEUE, gated=True), AUDITED))
        yield api
    finally:
        mutating = "mutatingadmissionpolicies,mutatingadmissionpolicybindings"
        allowed(api.kubectl("delete", mutating, "-l", "app.kubernetes.io/name=cardquota"))
        apply_policies(api)
        eventually(lambda: "MutatingWebhookConfiguration" in dry(api, managed).message)
        eventually(lambda: gate_of(api, by_hand))


@pytest.fixture(scope="module")
def places(gating: PolicyApi) -> Iterator[dict[GateNamespace, str]]:
    with namespaces(gating.plane, "gate-table", "q") as found:
        # The API server's policies see a new namespace as late as we do.
        for case in {case.where: case for case in reversed(TABLE)}.values():
            eventually(lambda c=case: born(gating.plane, c, "q", found) == c.gates, case.where)
        yield found


@pytest.mark.parametrize("case", TABLE, ids=[case.what for case in TABLE])
def test_who_is_born_with_the_gate(
    gating: PolicyApi, places: dict[GateNamespace, str], case: GateCase
) -> None:
    """As with the webhook (see admission/test_gate_table), and here nobody of ours runs."""
    assert born(gating.plane, case, "q", places) == case.gates


def test_a_pod_that_is_stored_has_its_gate(gating: PolicyApi) -> None:
    """What a dry run shows is what is done."""
    reply = ask(gating.plane, "POST", PODS, pod("stored", QUEUE, cards=1))
    assert gates(reply.body) == [GATE]
    assert gates(ask(gating.plane, "GET", f"{PODS}/stored").body) == [GATE]


def test_what_has_no_gate_for_its_node_is_told_why(gating: PolicyApi) -> None:
    answer = gating.create(pod("p", QUEUE, cards=1, nodeName="n1"), dry=True)
    refused(answer, "gate-required", "it names its node in spec.nodeName")


class TestWhenOthersChangeThePod:
    """A webhook of somebody else runs after the policies, which are then asked once more."""

    def test_a_card_pod_that_gets_its_queue_from_a_webhook(
        self, gating: PolicyApi, tmp_path: Path
    ) -> None:
        step = {"op": "add", "path": "/metadata/annotations", "value": QUEUE}
        with other_webhook(Team(gating.plane, TEAM, "x"), tmp_path, again=False) as patch:
            patch.append(step)
            assert gate_of(gating, pod("p", cards=1))
            # One that had nothing to do with cards is not looked at again, nor admitted.
            refused(gating.create(pod("p"), dry=True), "gate-required")

    def test_a_webhook_that_takes_the_gate_away(self, gating: PolicyApi, tmp_path: Path) -> None:
        with other_webhook(Team(gating.plane, TEAM, "x"), tmp_path, again=False) as patch:
            patch += [
                {"op": "replace", "path": "/spec/schedulingGates", "value": []},
                {"op": "add", "path": "/metadata/labels", "value": {"asked": "yes"}},
            ]
            found = dry(gating, pod("p", QUEUE, cards=1)).body
            assert gates(found) == [GATE]
            assert found["metadata"]["labels"] == {"asked": "yes", MANAGED: IS_MANAGED}


class TestMark:
    """Who is marked for the review, which is found by that alone."""

    @pytest.mark.parametrize(
        ("document", "mark"),
        [
            (pod("p", QUEUE), IS_MANAGED),
            (pod("p", cards=1), IS_MANAGED),
            (pod("p", {CARD_NAME: ""}), IS_MANAGED),
            (pod("p"), None),
            (pod("p", gated=True), "true"),
        ],
    )
    def test_what_uses_cards(
        self, gating: PolicyApi, document: dict[str, Any], mark: str | None
    ) -> None:
        """Also where it gets no gate. What somebody wrote on others is left as it is."""
        labels = dry(gating, document).body["metadata"].get("labels", {})
        assert labels.get(MANAGED) == mark

    @pytest.mark.parametrize("labels", [{"app": "a"}, {MANAGED: "true"}, {MANAGED: "x", "b": "c"}])
    def test_whatever_labels_it_has(self, gating: PolicyApi, labels: dict[str, str]) -> None:
        document = pod("p", QUEUE)
        document["metadata"]["labels"] = labels
        found = dry(gating, document).body
        assert found["metadata"]["labels"] == {**labels, MANAGED: IS_MANAGED}
        assert gates(found) == [GATE]

    def test_what_names_its_node(self, gating: PolicyApi) -> None:
        """It has no queue: so it is admitted, and gets the warnings of the review."""
        found = dry(gating, pod("p", cards=1, nodeName="n1"))
        assert found.body["metadata"]["labels"] == {MANAGED: IS_MANAGED}

    def test_nobody_where_nothing_is_gated(self, gating: PolicyApi) -> None:
        found = dry(gating, pod("p", QUEUE, cards=1), AUDITED)
        assert "labels" not in found.body["metadata"]


def test_without_the_policy_that_sets_it_nothing_is_created_ungated(gating: PolicyApi) -> None:
    """And the refusal names the policy, not a webhook."""
    allowed(gating.kubectl("delete", "mutatingadmissionpolicybinding", "cardquota-set-gate"))
    managed = pod("x", QUEUE)
    try:
        eventually(lambda: not gate_of(gating, managed))
        refused(
            gating.create(managed, dry=True),
            "gate-required",
            "MutatingAdmissionPolicy <cardquota-set-gate> (Kubernetes 1.36 or newer); see that it",
        )
    finally:
        text = render_policies(BY_POLICY)
        allowed(gating.kubectl("apply", "--server-side", "-f", "-", text=text))
        eventually(lambda: gate_of(gating, managed))
