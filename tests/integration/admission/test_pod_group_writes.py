"""Pod groups on a real API server: what could never start is refused, at create as at update."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from builders import GPU
from builders.group import GroupBody
from cardquota.quota import vocabulary as v
from cardquota.quota.messages import group_messages
from integration.asking import MERGE, ApiReply, ask
from integration.roomy_nodes import T1000, T2000
from integration.team import Team, notes

APPLY = "application/apply-patch+yaml"
BAD_REQUESTS = {
    "not JSON": "{T1000: 2}",
    "empty": "",
    "a list": '["T1000"]',
    "a fraction": '{"T1000": 1.5}',
    "zero": '{"T1000": 0}',
    "the same choice twice": '{"T1000|T2000": 1, "T1000 | T2000": 2}',
    "uncountable": '{"T1000": 1' + "0" * 30 + "}",
    "too many cards": json.dumps({f"C{n}": 1 for n in range(65)}),
    "too long": json.dumps({"T1000": 1}).ljust(6_000),
}


def apply(team: Team, group: GroupBody, *, dry: bool = False) -> ApiReply:
    """A server-side apply."""
    path = f"{team.path(group)}/{group.name}?fieldManager=me&force=true"
    whole = team.wire(group)
    return ask(
        team.cluster, "PATCH", path + ("&dryRun=All" if dry else ""), whole, content_type=APPLY
    )


def test_a_dry_run_gets_the_same_answer_and_leaves_nothing(team: Team) -> None:
    team.has_queue({T1000: 3})
    bad, good = (team.a_gang(name, 2) for name in ("bad", "good"))
    bad, good = bad.requesting({T1000: 5}), good.requesting({T1000: 3})
    team.until(lambda: team.create(good, dry=True).ok, "the queue is seen")
    for _ in range(3):
        assert team.create(bad, dry=True).message == team.create(bad).message
        assert apply(team, bad, dry=True).message == apply(team, bad).message
        assert team.create(good, dry=True).ok
        assert apply(team, good, dry=True).ok
    done = team.cluster.kubectl(
        *("create", "--dry-run=server", "-f", "-"), input=json.dumps(team.wire(bad))
    )
    assert (done.returncode, "has insufficient" in done.stderr) == (1, True)
    assert ask(team.cluster, "GET", team.path(good)).body["items"] == []


def test_what_is_stored_wrong_is_in_nobodys_way(team: Team) -> None:
    """As if the webhook had been away: it was written under a larger quota. All but its request can
    still be written, by us too, its pods start if they fit, and it can be deleted.
    """
    team.has_queue({T1000: 9})
    gang = team.a_gang("gang", 2).requesting({T1000: 9})
    team.until(lambda: team.create(gang).ok, "it fits")
    team.set_quota({T1000: 3})
    anew = gang.put("anew", "metadata", "name")
    team.until(lambda: not any(team.create(anew, dry=True).ok for _ in range(9)), "lowered")

    for change in (
        {"status": {"phase": "Running"}},
        {"metadata": {"finalizers": ["example.com/keep"]}},
        {"metadata": {"labels": {"a": "b"}}},
        {"spec": {"minMember": 1}},
    ):
        assert team.patch(gang, change).ok, change
    assert not team.annotate(gang, v.REQUEST, json.dumps({T1000: 4})).ok
    for name in ("a", "b"):
        assert team.create(team.a_pod(name, 1, T1000).in_group("gang")).ok
    team.until_open("a", "b")

    assert team.delete(gang).ok
    assert team.patch(gang, {"metadata": {"finalizers": None}}).ok
    team.until(lambda: team.get(gang).get("code") == 404, "gone")


def test_p8_what_was_stored_unread_can_be_put_right(team: Team) -> None:
    """As while the webhook was away. Meanwhile it is in nobody's way."""
    team.has_queue({T1000: 3})
    mark(team, v.NAMESPACE_OFF)
    gang = team.a_gang("gang", 2).requesting("[")
    team.until(lambda: team.create(gang).ok, "nobody looks at it")
    mark(team, None)
    anew = gang.put("anew", "metadata", "name")
    team.until(lambda: not any(team.create(anew, dry=True).ok for _ in range(9)), "reviewed again")

    for name in ("a", "b"):
        assert team.create(team.a_pod(name, 1, T1000).in_group("gang")).ok
    assert team.create(team.a_pod("other", 1, T1000)).ok
    team.until_bound("other")
    assert team.annotate(gang, "example.com/any", "thing").ok
    assert not team.annotate(gang, v.REQUEST, "{").ok
    assert team.annotate(gang, v.REQUEST, json.dumps({T1000: 2})).ok
    team.until_bound("a", "b")
    team.until_row(T1000, allocated=3, inqueue=0)


def mark(team: Team, mode: str | None) -> None:
    """Label the team's namespace."""
    path = f"/api/v1/namespaces/{team.namespace}"
    marked = {"metadata": {"labels": {v.NAMESPACE_MODE: mode}}}
    assert ask(team.cluster, "PATCH", path, marked, content_type=MERGE).ok


def test_e10_who_moves_a_group_that_runs_is_told_what_that_means(team: Team) -> None:
    team.has_queue({T1000: 3})
    other = team.has_queue({T1000: 3}, "other")
    gang = team.a_gang("gang", 2)
    assert team.create(gang).ok
    for name in ("a", "b"):
        assert team.create(team.a_pod(name, 1, T1000).in_group("gang")).ok
    team.until_bound("a", "b")
    team.until_row(T1000, allocated=2, inqueue=0)
    move = {"spec": {"queue": other, "minMember": 4}}

    reply = team.patch(gang, move)

    assert reply.ok
    assert reply.warnings[0].startswith("its pods that were released stay charged where they ar")
    assert "<2> of its pods were released and stay" in reply.warnings[-1]
    assert reply.warnings[-1].endswith("start only when <2> can together")
    team.until_row(T1000, allocated=2)
    team.until_row(T1000, "other", allocated=0, inqueue=0)


def test_a_group_of_another_controller_is_told_at_once_what_is_wrong(team: Team) -> None:
    queue = team.has_queue({T1000: 3})
    team.until_row(T1000, quota=3, resource=GPU)
    lost = team.a_gang("lost", 2, "nowhere").made_by_another_controller()
    reply = team.create(lost)
    assert reply.ok
    assert "does not exist" in reply.warnings[0]
    large = team.a_gang("large", 2).made_by_another_controller().needing({GPU: 4})
    reply = team.create(large)
    assert reply.ok
    assert reply.warnings == (group_messages.minimum_never_fits(queue, GPU, 4, 3),)
    made = team.a_gang("podgroup-x", 2, "nowhere").made_by_another_controller()
    assert team.create(made).warnings == ()  # as Volcano names them


@pytest.mark.long
def test_thousands_of_groups_at_once_are_all_answered(team: Team) -> None:
    """By 32 clients; every tenth can never start. Each is answered by itself: nothing adds up."""
    team.has_queue({T1000: 3})
    first = team.a_gang("first", 2).requesting({T1000: 3})
    team.until(lambda: team.create(first, dry=True).ok, "the queue is seen")

    def create(number: int) -> bool:
        cards = 4 if number % 10 == 0 else 3
        reply = team.create(team.a_gang(f"g{number}", 2).requesting({T1000: cards}))
        assert reply.code in (201, 403), reply
        return reply.ok

    with ThreadPoolExecutor(32) as clients:
        taken = list(clients.map(create, range(2_000)))
    assert [number for number, ok in enumerate(taken) if not ok] == list(range(0, 2_000, 10))


def test_e5_a_request_that_cannot_be_read_is_refused(team: Team) -> None:
    """With a sentence, at create as at update; what was there stays."""
    team.has_queue({T1000: 3})
    good = team.a_gang("good", 2).requesting({T1000: 2})
    team.until(lambda: team.create(good).ok, "a good group is admitted")
    says = f"Queue <{team.queue_name()}>: the annotation {v.REQUEST} cannot be"
    for what, template in BAD_REQUESTS.items():
        text = template.replace("T1000", T1000).replace("T2000", T2000)
        for reply in (
            team.create(team.a_gang("bad", 2).requesting(text)),
            team.annotate(good, v.REQUEST, text),
            apply(team, team.a_gang("bad", 2).requesting(text)),
        ):
            assert (reply.code, reply.reason) == (403, v.Reason.INVALID_CARD), what
            assert says in reply.message
            assert reply.message.endswith("; correct it, or leave it out")
            assert reply.message.isprintable()
            assert len(reply.message) < 600
    assert notes(team.get(good))[v.REQUEST] == json.dumps({T1000: 2})
    assert team.get(team.a_gang("bad", 2))["code"] == 404
