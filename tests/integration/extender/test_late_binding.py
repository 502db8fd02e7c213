"""E7, B9: pods that keep their choice of cards until kube-scheduler binds them."""

import json
from collections.abc import Iterator

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster
from integration.asking import ask
from integration.team import Team, notes
from integration.two_models import TwoModels, two_models

pytestmark = pytest.mark.slow
_ASKED = "requiredDuringSchedulingIgnoredDuringExecution"


@pytest.fixture
def models(extender_plane: Cluster, namespace: str, unique: str) -> Iterator[TwoModels]:
    with two_models(Team(extender_plane, namespace, unique)) as found:
        yield found


def create(models: TwoModels, *names: str, cards: int = 1) -> None:
    for name in names:
        assert (reply := models.team.create(models.a_pod(name, cards))).ok, reply


def card_of(models: TwoModels, name: str) -> dict[str, int]:
    """The card of a bound pod; its node has it."""
    models.team.until_bound(name)
    pod = models.team.pod(name)
    found = dict(json.loads(notes(pod)[v.ALLOCATED]))
    assert [pod["spec"]["nodeName"]] == [card.lower() for card in found]
    return found


def test_e7_a_pod_takes_the_card_that_is_free_first(models: TwoModels) -> None:
    """No node takes it at first: so it keeps both cards. Then the one that it named last does."""
    team = models.team
    team.has_queue({models.near: 9, models.far: 9})
    for card in (models.near, models.far):
        models.cordon(card)
    create(models, "p", cards=2)
    team.until_open("p")
    pod = team.pod("p")
    assert v.ALLOCATED not in notes(pod)
    ((choice, amount),) = json.loads(notes(pod)[v.CLAIM]).items()
    assert (set(choice.split("|")), amount) == ({models.near, models.far}, 2)
    (term,) = pod["spec"]["affinity"]["nodeAffinity"][_ASKED]["nodeSelectorTerms"]
    assert {*term["matchExpressions"][0]["values"]} == {models.near, models.far}
    models.cordon(models.far, shut=False)
    assert card_of(models, "p") == {models.far: 2}
    team.until(lambda: team.row(models.far).get("allocated") == 2, "charged for its card")
    assert team.row(models.near).get("inqueue", 0) == 0


def test_e7_of_free_cards_the_one_named_first(models: TwoModels) -> None:
    models.team.has_queue({models.near: 9, models.far: 9})
    create(models, "p")
    assert card_of(models, "p") == {models.near: 1}


def test_e3_the_quota_of_each_card_is_kept(models: TwoModels) -> None:
    """One of each: four nodes' cards are free, and whoever comes second gets the other card."""
    team = models.team
    team.has_queue({models.near: 1, models.far: 1})
    create(models, "a", "b")
    assert sorted([*card_of(models, "a"), *card_of(models, "b")]) == sorted(
        [models.near, models.far]
    )


def test_e3_a_raised_quota_wakes_who_was_refused_for_it(models: TwoModels) -> None:
    """Both gates are open; one card's pool is shut, and the queue has one of the other.
    kube-scheduler knows no queue: it would try again after five minutes.
    """
    team = models.team
    team.has_queue({models.near: 1, models.far: 1})
    models.cordon(models.far)
    create(models, "a", "b")
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
    assert card_of(models, other) == {models.near: 1}


def test_e3_a_pod_that_ends_gives_its_card_to_the_next(models: TwoModels) -> None:
    team = models.team
    team.has_queue({models.near: 1, models.far: 1})
    models.cordon(models.far)
    create(models, "a")
    assert card_of(models, "a") == {models.near: 1}
    create(models, "b")
    team.until_open("b")
    assert team.delete(models.a_pod("a")).ok
    assert card_of(models, "b") == {models.near: 1}


def test_e3_who_binds_past_us_is_charged_for_the_card_of_the_node(models: TwoModels) -> None:
    """And that is written on the pod, for leaders that start later."""
    team = models.team
    team.has_queue({models.near: 1, models.far: 1})
    for card in (models.near, models.far):
        models.cordon(card)
    create(models, "p")
    team.until_open("p")
    path = f"{team.path(models.a_pod('p'))}/p/binding"
    target = {"apiVersion": "v1", "kind": "Node", "name": models.far.lower()}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": target}
    assert (reply := ask(team.cluster, "POST", path, body)).ok, reply
    team.until(lambda: v.ALLOCATED in notes(team.pod("p")), "its card is written on it")
    assert card_of(models, "p") == {models.far: 1}
    team.until(lambda: team.row(models.far).get("allocated") == 1, "charged for it")
