"""What the API server lets a Binding carry, and who may write which card a pod has.

With the scheduler extender these hold; without it another extender of the same protocol goes on.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from cardquota.install.kubernetes_versions import LABELS_OF_BINDINGS
from cardquota.quota import (
    ALLOCATED,
    CARD_GIVEN,
    CARD_NAME,
    CHARGED_QUEUE,
    GPU_MEMORY_ASSIGNED,
    GPU_MEMORY_CARD,
    MANAGED,
    PLACEMENT,
    QUEUE_NAME,
    SETTLE,
    TERM,
)
from cardquota_dev.testing import eventually
from integration.asking import ApiReply, ask

from ..policy_api import (
    EXEMPT,
    NODE,
    ROOT,
    TEAM,
    TENANT,
    US,
    VOLCANO,
    WITH_EXTENDER,
    PolicyApi,
    allowed,
    apply_policies,
    many_containers,
    opening,
    pod,
    refused,
)

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]

MEMORY = {**dict.fromkeys(PLACEMENT, "1"), **dict.fromkeys(CARD_GIVEN, "false")}
PLUGIN = ("--as=system:serviceaccount:kube-system:plugin", "--as-group=system:masters")
PLUGIN_GROUP = "--as-group=system:serviceaccounts:kube-system"
SCHEDULER = ("--as=system:kube-scheduler", "--as-group=system:masters")
COMPONENT = ROOT / "manifests" / "components" / "extender"


@pytest.fixture(scope="module")
def binding(api: PolicyApi) -> Iterator[PolicyApi]:
    """The plane with the extender's policies and rights; both are taken away again."""
    rights = str(COMPONENT / "rbac.yaml")
    allowed(api.kubectl("apply", "--server-side", "-f", rights))
    apply_policies(api, WITH_EXTENDER)
    allowed(api.create(pod("probe-binding")))
    api.hold_term("b0")
    try:
        eventually(lambda: "binding-term'" in api.bind("probe-binding", "n", {TERM: "x"}, US).said)
        eventually(lambda: "anno" in api.create(pod("x", MEMORY), dry=True).said)
        yield api
    finally:
        allowed(api.kubectl("delete", "-f", rights))
        objects = "validatingadmissionpolicybinding,validatingadmissionpolicy"
        allowed(api.kubectl("delete", objects, "cardquota-binding-term"))
        apply_policies(api)
        eventually(lambda: api.create(pod("x", MEMORY), dry=True).ok)


def waiting(api: PolicyApi, name: str) -> str:
    """A pod that nobody binds but the test."""
    allowed(api.create(pod(name, schedulerName="none")))
    return name


def annotations(api: PolicyApi, name: str) -> dict[str, str]:
    return _metadata(api, name, "annotations")


def labels(api: PolicyApi, name: str) -> dict[str, str]:
    return _metadata(api, name, "labels")


def _metadata(api: PolicyApi, name: str, key: str) -> dict[str, str]:
    reply = ask(api.plane, "GET", f"/api/v1/namespaces/{TEAM}/pods/{name}")
    found: dict[str, str] = reply.body["metadata"].get(key, {})
    return found


def test_without_the_extender_another_of_its_protocol_goes_on(api: PolicyApi) -> None:
    """Stands first in the file: it needs the policies of the default settings."""
    allowed(api.create(pod("x", {GPU_MEMORY_CARD: "0", **MEMORY}), dry=True))


class TestOfOurs:
    def test_the_current_term_binds(self, binding: PolicyApi) -> None:
        name = waiting(binding, "bound")
        binding.hold_term("b1")
        carried = {TERM: "b1", ALLOCATED: "{}", **MEMORY}
        eventually(lambda: binding.bind(name, "n", carried, US).ok)
        assert annotations(binding, name).items() >= carried.items()

    @pytest.mark.parametrize("term", ["b1", "b22", ""])
    def test_a_stale_term_does_not(self, binding: PolicyApi, term: str) -> None:
        binding.hold_term("b2")
        name = waiting(binding, f"stale-{term or 'none'}")
        bind = partial(binding.bind, name, "n", {TERM: term, **MEMORY}, US)
        eventually(lambda: f"current term <b2>, not in <{term}>" in bind().said)
        refused(bind(), "binding-term", f"cardquota may bind pod <{name}>")

    def test_none_at_all_does_not(self, binding: PolicyApi) -> None:
        refused(binding.bind(waiting(binding, "termless"), "n", {}, US), "binding-term")

    @pytest.mark.parametrize("key", [CHARGED_QUEUE, SETTLE, QUEUE_NAME, CARD_NAME, "example.com/x"])
    def test_it_carries_nothing_else(self, binding: PolicyApi, key: str) -> None:
        binding.hold_term("b3")
        name = waiting(binding, f"carries-{key.rpartition('/')[2].replace('.', '-')}")
        answer = binding.bind(name, "n", {TERM: "b3", key: "x"}, US)
        refused(answer, "bindings", "carries no annotation but", "please report it")

    @pytest.mark.newer_kubernetes(LABELS_OF_BINDINGS)
    def test_it_carries_no_other_label(self, binding: PolicyApi) -> None:
        """The API server would put it on the pod, over the pod's own."""
        binding.hold_term("b4")
        name = waiting(binding, "labelled")

        def bind(labels: dict[str, str]) -> ApiReply:
            body: dict[str, Any] = {
                "metadata": {"name": name, "annotations": {TERM: "b4"}, "labels": labels},
                "target": {"kind": "Node", "name": "n"},
            }
            path = f"/api/v1/namespaces/{TEAM}/pods/{name}/binding"
            return ask(binding.plane, "POST", path, body, as_user=US.removeprefix("--as="))

        refused(eventually(lambda: _of(bind({"app": "x"}), "bindings")), "bindings", "no label but")
        eventually(lambda: bind({MANAGED: "true"}).ok)
        assert labels(binding, name)[MANAGED] == "true"


def test_a_very_large_pod_is_opened_within_what_an_evaluation_may_cost(binding: PolicyApi) -> None:
    """What the operator changes is compared with more keys than without the extender."""
    binding.hold_term("b5")
    notes = {QUEUE_NAME: "q", **{f"example.com/note-{n}": "x" * 50 for n in range(1000)}}
    large = pod("large-b", notes, gated=True, containers=many_containers())
    large["metadata"]["labels"] |= {f"example.com/label-{n}": "x" * 50 for n in range(1000)}
    allowed(binding.create(large))
    eventually(lambda: binding.patch("large-b", opening("b5"), US).ok)


class TestOfOthers:
    @pytest.mark.parametrize("key", [TERM, ALLOCATED, *PLACEMENT, *CARD_GIVEN])
    def test_they_carry_none_of_ours(self, binding: PolicyApi, key: str) -> None:
        for who in ((), SCHEDULER):
            answer = binding.bind("probe-binding", "n", {key: "x"}, *who)
            refused(answer, "bindings", "out of the Binding")

    def test_without_them_they_bind(self, binding: PolicyApi) -> None:
        name = waiting(binding, "by-another")
        allowed(binding.bind(name, "n", {"example.com/note": "x"}, *SCHEDULER))


class TestOnPods:
    @pytest.mark.parametrize("key", [*PLACEMENT, *CARD_GIVEN])
    @pytest.mark.parametrize("namespace", [TEAM, EXEMPT])
    def test_none_is_created_with_them(self, binding: PolicyApi, key: str, namespace: str) -> None:
        by = "keys" if key in PLACEMENT else "card-given"
        for who in ((), (US, "--as-group=system:masters"), PLUGIN):
            forged = pod("forged", {key: "0"})
            answer = binding.create(forged, *who, namespace=namespace, dry=True)
            refused(answer, by if by != "keys" else "pods", "may not be created", key)

    def test_which_card_it_has_is_written_by_us_alone(self, binding: PolicyApi) -> None:
        name = waiting(binding, "placed")
        for key in PLACEMENT:
            for who in ((TENANT,), NODE, (*PLUGIN, PLUGIN_GROUP)):
                refused(binding.annotate(name, {key: "1"}, *who), "pods", "cardquota alone")
            allowed(binding.annotate(name, {key: "1"}, US))
            refused(binding.annotate(name, {key: None}, TENANT), "pods", "cardquota alone")

    def test_that_it_has_got_it_by_its_nodes_device_plugin_too(self, binding: PolicyApi) -> None:
        name = waiting(binding, "given")
        for number, who in enumerate(((US,), NODE, (*PLUGIN, PLUGIN_GROUP))):
            allowed(binding.annotate(name, dict.fromkeys(CARD_GIVEN, str(number)), *who))
        for other in (TENANT, VOLCANO):
            answer = binding.annotate(name, {GPU_MEMORY_ASSIGNED: "x"}, other)
            refused(answer, "card-given", "may not change the annotations")
            answer = binding.annotate(name, {GPU_MEMORY_ASSIGNED: None}, other)
            refused(answer, "card-given")
        allowed(binding.annotate(name, {"example.com/note": "x"}, TENANT))


def _of(answer: ApiReply, policy: str) -> ApiReply | None:
    """The answer, if it is this policy's: another user's right may be a moment late."""
    return answer if f"cardquota-{policy}'" in answer.said else None
