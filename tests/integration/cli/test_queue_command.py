"""`kubectl cardquota queue`, and QueueReviews sent by kubectl, on the plane with the product."""

import json
import re
import subprocess

import pytest
import yaml

from builders import H200, H800
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import eventually
from integration.asking import Object, ask
from integration.plugin import plugin
from integration.team import Team, of_a_job

REVIEWS = f"/apis/{v.REVIEW_GROUP}/{v.REVIEW_VERSION}/{v.QUEUE_REVIEWS}"
Done = subprocess.CompletedProcess[str]
_ASK = ("create", "--dry-run=server", "-o", "yaml", "-f", "-")


def shown(team: Team, queue: str, *options: str) -> Done:
    return plugin(team.cluster.kubeconfig, "queue", queue, *options)


def question(queue: str) -> Object:
    return {
        "apiVersion": f"{v.REVIEW_GROUP}/{v.REVIEW_VERSION}",
        "kind": "QueueReview",
        "metadata": {"generateName": "ask-"},
        "spec": {"queue": queue},
    }


@pytest.mark.slow
def test_f1_who_holds_who_waits_and_what_fits(team: Team) -> None:
    queue = team.has_queue({H200: 2, H800: 1})
    holder, waiter = of_a_job(team.a_pod("holder", 2, H200)), of_a_job(team.a_pod("next", 1, H200))
    assert team.create(holder).ok
    team.until_row(H200, allocated=2)
    assert team.create(waiter).ok
    team.until_row(H200, requested=3)
    done = shown(team, queue, "-o", "json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    rows = {one["name"]: one for one in found["cards"]}
    assert (rows[H200]["allocated"], rows[H200]["left"], rows[H200]["fits"]) == (2, 0, 0)
    # Others may use the nodes, too.
    assert rows[H800]["left"] == 1
    assert rows[H800]["fits"] == min(1, rows[H800]["free"])
    (held,) = found["holders"]
    assert (held["kind"], held["namespace"], held["name"]) == ("Job", team.namespace, "train")
    (waits,) = found["waiters"]
    assert (waits["place"], waits["name"], waits["reason"]) == (1, "next", "InsufficientCardQuota")
    event = team.until_told("next", v.Reason.INSUFFICIENT_CARD)
    # The holders are told beside it.
    assert re.sub("; held by [^;]*", "", event["message"]) == waits["message"]
    text = shown(team, queue)
    assert text.returncode == 0
    assert f"Queue {queue}: Open" in text.stdout
    assert f"place 1: {waits['message']}" in text.stdout


@pytest.mark.slow
def test_f1_plain_kubectl_asks_too_and_nothing_is_ever_stored(team: Team) -> None:
    queue = team.has_queue({H200: 2})
    text = json.dumps(question(queue))
    team.until_row(H200, quota=2)
    asked = team.cluster.kubectl(*_ASK, input=text)
    assert asked.returncode == 0, asked.stderr
    assert yaml.safe_load(asked.stdout)["status"]["queue"] == queue
    stored = team.cluster.kubectl("create", "-f", "-", input=text)
    assert stored.returncode == 1
    assert "create one as a dry run" in stored.stderr
    assert ask(team.cluster, "GET", REVIEWS).body["items"] == []


@pytest.mark.slow
def test_f4_who_may_not_ask_is_told_which_right_it_takes(team: Team) -> None:
    folder = team.cluster.folder
    assert folder is not None
    done = plugin(folder.tenant_kubeconfig, "queue", "any")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the right to create queuereviews.cardquota.volcano.sh" in done.stderr
    missing = shown(team, f"{team.prefix}-none")
    assert missing.returncode == 1
    assert missing.stderr == f"cardquota: Queue <{team.prefix}-none> does not exist\n"


@pytest.mark.slow
def test_f1_without_a_name_it_is_about_what_is_used_outside_every_queue(team: Team) -> None:
    """V5. The plane is shared: others may use cards outside every queue too."""
    text = json.dumps(question(""))

    def held() -> list[str]:
        asked = team.cluster.kubectl(*_ASK, input=text)
        assert asked.returncode == 0, asked.stderr
        found = yaml.safe_load(asked.stdout)["status"]
        assert (found["queue"], found["waiters"]) == ("", [])
        assert {H200, H800} <= {one["name"] for one in found["cards"]}
        return [one["name"] for one in found["holders"] if one["namespace"] == team.namespace]

    assert team.create(team.a_pod("outside", 1, H200).in_queue(None)).ok
    eventually(lambda: held() == ["outside"], "the pod in no queue")
