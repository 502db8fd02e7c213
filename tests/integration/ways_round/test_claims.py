"""P7: where all cards must have a queue, devices are claimed only of classes without cards."""

import pytest

from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from harness.newer_kubernetes import DEVICE_CLAIMS
from integration.asking import ApiReply, Object, ask
from integration.roomy_nodes import T1000
from integration.team import Team

from .people import TENANT

pytestmark = pytest.mark.newer_kubernetes(DEVICE_CLAIMS)

CHANNEL = "compute-domain-default-channel.nvidia.com"
CARD = "gpu.example.com"
SCHEDULER = "system:kube-scheduler"
CLAIMS, TEMPLATES = "resourceclaims", "resourceclaimtemplates"


def of_classes(*names: str) -> Object:
    first, *others = (
        {"name": f"r{number}", "exactly": {"deviceClassName": name}}
        for number, name in enumerate(names)
    )
    return {"devices": {"requests": [first, *others]}}


def path(team: Team, resource: str, version: str = "v1") -> str:
    return f"/apis/resource.k8s.io/{version}/namespaces/{team.namespace}/{resource}"


def has_template(team: Team, name: str, *classes: str) -> None:
    body = {"metadata": {"name": name}, "spec": {"spec": of_classes(*classes)}}
    assert (reply := ask(team.cluster, "POST", path(team, TEMPLATES), body)).ok, reply


def claim(team: Team, name: str, spec: Object, *, dry: bool = False, user: str = "") -> ApiReply:
    body = {"metadata": {"name": name}, "spec": spec}
    target = path(team, CLAIMS) + ("?dryRun=All" if dry else "")
    return ask(team.cluster, "POST", target, body, as_user=user)


def claiming(pod: PodBody, **claimed: str) -> PodBody:
    return pod.with_spec(resourceClaims=[{"name": "device", **claimed}])


def enforce(team: Team) -> None:
    """Returns once the webhook and the policy know."""
    team.set_mode(v.NAMESPACE_ENFORCED)
    unknown = claiming(team.a_pod("probe"), resourceClaimName="missing")
    team.until(lambda: not team.create(unknown, dry=True).ok, "the webhook has heard of it")
    team.until(lambda: not claim(team, "probe", of_classes(CARD), dry=True).ok, "the policy has")


def test_a_claim_of_no_card_is_let_by_and_the_card_counts(people: Team) -> None:
    people.has_queue({T1000: 3})
    enforce(people)
    has_template(people, "channel", CHANNEL)
    assert claim(people, "shared", of_classes(CHANNEL), user=TENANT).ok
    one = claiming(people.a_pod("one", 1, T1000), resourceClaimTemplateName="channel")
    two = claiming(people.a_pod("two", 2, T1000), resourceClaimName="shared")
    assert people.create(one, as_user=TENANT).ok
    assert people.create(two, as_user=TENANT).ok
    people.until_open("one", "two")  # no driver of such devices is there, so they get no node
    people.until_row(T1000, inqueue=3)
    more = claiming(people.a_pod("more", 1, T1000), resourceClaimName="shared")
    assert people.create(more).reason == v.Reason.INSUFFICIENT_CARD
    made = path(people, CLAIMS)
    people.until(
        lambda: len(ask(people.cluster, "GET", made).body["items"]) == 2,
        "the claim of the template is made",
    )


def test_a_claim_that_was_there_before_is_refused_with_its_class(people: Team) -> None:
    has_template(people, "mixed", CHANNEL, CARD)
    assert claim(people, "card", of_classes(CARD)).ok
    people.has_queue({T1000: 3})
    enforce(people)
    for claimed in ({"resourceClaimTemplateName": "mixed"}, {"resourceClaimName": "card"}):
        reply = people.create(claiming(people.a_pod("a", 1, T1000), **claimed))
        assert reply.reason == v.Reason.DEVICE_CLAIMED
        assert f"is of DeviceClass <{CARD}>; if that has no cards" in reply.message
    reply = people.create(claiming(people.a_pod("a"), resourceClaimName="missing"))
    assert "ResourceClaim <missing> does not exist" in reply.message


def test_a_claim_that_was_let_by_cannot_become_another(people: Team) -> None:
    """A name, deleted and made again while the pod waits; or a template, whose claim comes late."""
    people.has_queue({T1000: 3})
    enforce(people)
    assert claim(people, "mine", of_classes(CHANNEL), user=TENANT).ok
    gone = ask(people.cluster, "DELETE", f"{path(people, CLAIMS)}/mine", as_user=TENANT)
    assert gone.ok
    either = {"firstAvailable": [{"name": n[:3], "deviceClassName": n} for n in (CHANNEL, CARD)]}
    for spec in (
        of_classes(CARD),
        of_classes(CHANNEL, CARD),
        {"devices": {"requests": [{"name": "r", **either}]}},
    ):
        reply = claim(people, "mine", spec, user=TENANT)
        assert reply.code == 403, reply
        assert "only of DeviceClasses without cards" in reply.message
    # What a pod asks for as a resource is counted: of that kube-scheduler makes claims itself.
    assert claim(people, "of-a-resource", of_classes(CARD), dry=True, user=SCHEDULER).ok
    has_template(people, "late", CARD)
    reply = people.create(claiming(people.a_pod("late"), resourceClaimTemplateName="late"))
    assert reply.reason == v.Reason.DEVICE_CLAIMED


def test_elsewhere_claims_are_nobodys_business(people: Team) -> None:
    for mode in (v.NAMESPACE_AUDIT, v.NAMESPACE_OFF, None):
        people.set_mode(mode)
        assert claim(people, "card", of_classes(CARD), dry=True).ok


def test_a_template_that_comes_after_its_pod_makes_no_claim_of_a_card(people: Team) -> None:
    """The controller that makes the claim is refused like everybody: the pod gets no node."""
    people.has_queue({T1000: 1})
    pod = claiming(people.a_pod("early"), resourceClaimTemplateName="late")
    assert people.create(pod).ok
    enforce(people)
    has_template(people, "late", CARD)
    about = f"/api/v1/namespaces/{people.namespace}/events?fieldSelector=involvedObject.name=early"

    def refused() -> bool:
        events = ask(people.cluster, "GET", about).body["items"]
        return any("only of DeviceClasses without cards" in one["message"] for one in events)

    people.until(refused, "the controller is refused")
    assert ask(people.cluster, "GET", path(people, CLAIMS)).body["items"] == []
