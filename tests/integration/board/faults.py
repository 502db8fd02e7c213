"""Faults that an administrator or a tenant can make on a plane, each for an alert."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from builders import a_node, a_pod
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import eventually
from harness.python_kubelet import StartError
from integration.asking import MERGE, ask
from integration.plugin import plugin
from integration.roomy_nodes import T1000, T2000
from integration.team import gates, of_a_job

from .scraped_plane import ScrapedPlane

_ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
_BINDINGS: Final = f"{_ADMISSION}/validatingadmissionpolicybindings"
_ROLES: Final = "/apis/rbac.authorization.k8s.io/v1"


def no_free_card_will_help(scraped: ScrapedPlane) -> None:
    """A pod waits for a card that its queue has no more."""
    team = scraped.team
    team.has_queue(team.a_queue({T2000: 1}, "moved").with_policy("Gate"), "moved")
    for name in ("has-it", "moved"):
        assert team.create(of_a_job(team.a_pod(name, 1, T2000, "moved"))).ok
        if name == "has-it":
            team.until_bound(name)
    team.set_quota({T1000: 0}, "moved")


def a_finalizer_keeps_a_pod(scraped: ScrapedPlane) -> None:
    team = scraped.team
    team.has_queue(team.a_queue({T1000: 1}, "ending"), "ending")
    pod = team.a_pod("ends", 1, T1000, "ending").put(
        ["example.com/keeps"], "metadata", "finalizers"
    )
    assert team.create(pod).ok
    team.until_bound("ends")
    assert team.delete(pod).ok


def a_label_cannot_be_read(scraped: ScrapedPlane) -> None:
    node = a_node("unreadable").sharing("NVIDIA-T3000", 4, "81559", replicas="many")
    assert (reply := ask(scraped.cluster, "POST", "/api/v1/nodes", scraped.team.wire(node))).ok, (
        reply
    )


def a_card_is_sick(scraped: ScrapedPlane) -> None:
    scraped.agent.cards[1]["problem"] = "XID 79"
    scraped.agent.write_cards()


def a_container_has_no_card(scraped: ScrapedPlane) -> None:
    """No scheduler has said which."""
    scraped.agent.pod("unplaced", {"main": 1})
    with pytest.raises(StartError):
        scraped.agent.start_container("unplaced")


@contextmanager
def somebody_objects(scraped: ScrapedPlane) -> Iterator[None]:
    """A policy of somebody else refuses to open the gate of some pods."""
    team, name = scraped.team, "objects"
    team.has_queue(team.a_queue({T1000: 1}, "refused").with_policy("Gate"), "refused")
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {
                "objectSelector": {"matchLabels": {"example.com/objects": "yes"}},
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "resources": ["pods"],
                        "operations": ["UPDATE"],
                    }
                ],
            },
            "validations": [{"expression": "false", "message": "not here"}],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }
    for one in (policy, binding):
        scraped.cluster.apply(json.dumps(one))
    marked = of_a_job(team.a_pod("objected", 1, T1000, "refused"))
    marked = marked.labelled("example.com/objects", "yes")
    seen = a_pod("seen").labelled("example.com/objects", "yes")
    try:
        assert team.create(seen).ok
        change = {"metadata": {"labels": {"example.com/seen": "yes"}}}
        eventually(lambda: team.patch(seen, change).code == 422, "it objects")
        assert team.create(marked).ok
        yield
        assert gates(team.pod("objected")) == [v.GATE]
    finally:
        for kind in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
            _delete(scraped, f"{_ADMISSION}/{kind}/{name}")


def a_pod_gets_past_admission(scraped: ScrapedPlane) -> None:
    """In the pause it gets no gate, and is charged."""
    team = scraped.team
    team.has_queue(team.a_queue({T1000: 1}, "past"), "past")
    eventually(lambda: _passed(scraped), "a pod without a gate")


def _passed(scraped: ScrapedPlane) -> bool:
    pod = scraped.team.a_pod("past", 1, T1000, "past")
    reply = scraped.team.create(pod, dry=True)
    if not reply.ok or gates(reply.body):
        return False
    return scraped.team.create(pod).ok


def a_namespace_gets_a_label_without_meaning(scraped: ScrapedPlane) -> None:
    """Nobody refuses such a label in the moment."""
    path = "/api/v1/namespaces/default"
    change = {"metadata": {"labels": {v.NAMESPACE_MODE: "strict"}}}
    binding = f"{_BINDINGS}/cardquota-namespaces"
    _delete(scraped, binding)
    eventually(
        lambda: ask(scraped.cluster, "PATCH", path, change, content_type=MERGE).ok, "label written"
    )


def take_rights(scraped: ScrapedPlane, role: str, resource: str) -> None:
    """The operator may not do that any more."""
    found = ask(scraped.cluster, "GET", f"{_ROLES}/{role}").body
    found["rules"] = [one for one in found["rules"] if resource not in one["resources"]]
    assert ask(scraped.cluster, "PUT", f"{_ROLES}/{role}", found).ok


def the_fence_is_open(scraped: ScrapedPlane) -> None:
    """The API server does not compare terms."""
    _delete(scraped, f"{_BINDINGS}/cardquota-reservation-term")


def quotas_are_paused(scraped: ScrapedPlane) -> None:
    assert plugin(scraped.cluster.kubeconfig, "pause", "--yes").returncode == 0


def _delete(scraped: ScrapedPlane, path: str) -> None:
    assert ask(scraped.cluster, "DELETE", path).ok
