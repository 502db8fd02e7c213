"""E7, B9: pods that keep their choice of cards until kube-scheduler binds them."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from builders import a_node
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster
from integration.asking import MERGE, Object, ask
from integration.own_node import a_node_of
from integration.team import Team, notes

pytestmark = pytest.mark.slow
_ASKED = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True)
class TwoModels:
    """Two models of the test's own, two cards of each, on one node each."""

    team: Team
    near: str
    far: str

    def node(self, card: str) -> NodeBody:
        return a_node(card.lower()).showing(card).offering(2)

    def path(self, card: str) -> str:
        return f"/api/v1/nodes/{card.lower()}"

    def ready(self, card: str) -> bool:
        node: Object = ask(self.team.cluster, "GET", self.path(card)).body
        found = [c for c in node["status"].get("conditions", ()) if c["type"] == "Ready"]
        return bool(found) and found[0]["status"] == "True" and not node["spec"].get("taints")

    def cordon(self, card: str, *, shut: bool = True) -> None:
        body = {"spec": {"unschedulable": shut}}
        reply = ask(self.team.cluster, "PATCH", self.path(card), body, content_type=MERGE)
        assert reply.ok, reply

    def either(self, name: str, cards: int = 1) -> PodBody:
        return self.team.a_pod(name, cards, f"{self.near}|{self.far}")

    def create(self, *names: str, cards: int = 1) -> None:
        for name in names:
            assert (reply := self.team.create(self.either(name, cards))).ok, reply

    def card(self, name: str) -> dict[str, int]:
        """The card of a bound pod; its node has it."""
        self.team.until_bound(name)
        pod = self.team.pod(name)
        found = dict(json.loads(notes(pod)[v.ALLOCATED]))
        assert [pod["spec"]["nodeName"]] == [card.lower() for card in found]
        return found


@pytest.fixture
def models(extender_plane: Cluster, namespace: str, unique: str) -> Iterator[TwoModels]:
    team = Team(extender_plane, namespace, unique)
    found = TwoModels(team, f"{unique}-near", f"{unique}-far")
    with ExitStack() as things:
        for card in (found.near, found.far):
            things.enter_context(a_node_of(team, found.node(card)))
        for card in (found.near, found.far):
            team.until(lambda c=card: found.ready(c), f"{card} ready")
        yield found


def test_e7_a_pod_takes_the_card_that_is_free_first(models: TwoModels) -> None:
    """No node takes it at first: so it keeps both cards. Then the one that it named last does."""
    team = models.team
    team.has_queue({models.near: 9, models.far: 9})
    for card in (models.near, models.far):
        models.cordon(card)
    models.create("p", cards=2)
    team.until_open("p")
    pod = team.pod("p")
    assert v.ALLOCATED not in notes(pod)
    ((choice, amount),) = json.loads(notes(pod)[v.CLAIM]).items()
    assert (set(choice.split("|")), amount) == ({models.near, models.far}, 2)
    (term,) = pod["spec"]["affinity"]["nodeAffinity"][_ASKED]["nodeSelectorTerms"]
    assert {*term["matchExpressions"][0]["values"]} == {models.near, models.far}
    models.cordon(models.far, shut=False)
    assert models.card("p") == {models.far: 2}
    team.until(lambda: team.row(models.far).get("allocated") == 2, "charged for its card")
    assert team.row(models.near).get("inqueue", 0) == 0


def test_e7_of_free_cards_the_one_named_first(models: TwoModels) -> None:
    models.team.has_queue({models.near: 9, models.far: 9})
    models.create("p")
    assert models.card("p") == {models.near: 1}


def test_e3_the_quota_of_each_card_is_kept(models: TwoModels) -> None:
    """One of each: four nodes' cards are free, and whoever comes second gets the other card."""
    team = models.team
    team.has_queue({models.near: 1, models.far: 1})
    models.create("a", "b")
    assert sorted([*models.card("a"), *models.card("b")]) == sorted([models.near, models.far])


def test_e3_a_raised_quota_wakes_who_was_refused_for_it(models: TwoModels) -> None:
    """Both gates are open; one card's pool is shut, and the queue has one of the other.
    kube-scheduler knows no queue: it would try again after five minutes.
    """
    team = models.team
    team.has_queue({models.near: 1, models.far: 1})
    models.cordon(models.far)
    models.create("a", "b")
    team.until_open("a", "b")

    def bound() -> list[str]:
        return [n for n in ("a", "b") if team.pod(n)["spec"].get("nodeName")]

    team.until(lambda: len(bound()) == 1, "one has the card")
    (other,) = {"a", "b"} - {*bound()}

    def why() -> str:
        conditions = team.pod(other)["status"].get("conditions", ())
        return "".join(c.get("message", "") for c in conditions if c["type"] == "PodScheduled")

    team.until(lambda: f"the queue's quota of {models.near} is taken" in why(), "it says why")
    team.set_quota({models.near: 2, models.far: 1})
    assert models.card(other) == {models.near: 1}


def test_e3_a_pod_that_ends_gives_its_card_to_the_next(models: TwoModels) -> None:
    team = models.team
    team.has_queue({models.near: 1, models.far: 1})
    models.cordon(models.far)
    models.create("a")
    assert models.card("a") == {models.near: 1}
    models.create("b")
    team.until_open("b")
    assert team.delete(models.either("a")).ok
    assert models.card("b") == {models.near: 1}


def test_e3_who_binds_past_us_is_charged_for_the_card_of_the_node(models: TwoModels) -> None:
    """And that is written on the pod, for leaders that start later."""
    team = models.team
    team.has_queue({models.near: 1, models.far: 1})
    for card in (models.near, models.far):
        models.cordon(card)
    models.create("p")
    team.until_open("p")
    path = f"{team.path(models.either('p'))}/p/binding"
    target = {"apiVersion": "v1", "kind": "Node", "name": models.far.lower()}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": target}
    assert (reply := ask(team.cluster, "POST", path, body)).ok, reply
    team.until(lambda: v.ALLOCATED in notes(team.pod("p")), "its card is written on it")
    assert models.card("p") == {models.far: 1}
    team.until(lambda: team.row(models.far).get("allocated") == 1, "charged for it")
