"""One bad thing hurts nobody else: an object of each kind that nobody should ever write, while
others create and delete pods. Refused with a reason or taken in and told; never an error of ours,
and everybody else's numbers stay exact (D9, Q4).
"""

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from builders import GPU
from cardquota.quota import vocabulary as v
from integration.asking import ApiReply, ask, metric
from integration.poison import LARGEST, NOTHING, POISON, Poison, sidecars
from integration.roomy_nodes import T1000, T2000
from integration.team import Team

QUOTA = 6
PATHS = {
    "pods": "/api/v1/namespaces/{}/pods",
    "nodes": "/api/v1/nodes",
    "namespaces": "/api/v1/namespaces",
    "priorityclasses": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "limitranges": "/api/v1/namespaces/{}/limitranges",
    "runtimeclasses": "/apis/node.k8s.io/v1/runtimeclasses",
    "queues": f"/apis/{v.API_GROUP}/{v.VERSION}/queues",
    "podgroups": f"/apis/{v.API_GROUP}/{v.VERSION}/namespaces/{{}}/podgroups",
}
KINDS = {"queues": "Queue", "podgroups": "PodGroup"}


class ForeignPods:
    """Somebody else's pods, which come and go in a queue of their own."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.wrong: list[ApiReply] = []
        self.count = 0

    def __enter__(self) -> "ForeignPods":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(30)

    def _run(self) -> None:
        while not self._over.is_set():
            names = [f"load-{self.count}-{n}" for n in range(3)]
            for name in names:
                self._note(self._team.create(self._team.a_pod(name, 1, T1000, "others")))
            for name in names:
                self._note(self._team.delete(self._team.a_pod(name)))
            self.count += 1

    def _note(self, reply: ApiReply) -> None:
        if not reply.ok:
            self.wrong.append(reply)


@contextmanager
def written(team: Team, poison: Poison, number: int) -> Iterator[ApiReply]:
    """The object, for the block, if it is taken."""
    name = f"{team.prefix}-poison-{number}"
    path = PATHS[poison.kind].format(team.namespace)
    text = json.dumps(poison.body).replace('"?"', json.dumps(team.queue_name()))
    body = json.loads(text.replace('"itself"', json.dumps(name)))
    body.setdefault("metadata", {})["name"] = name
    if poison.kind in KINDS:
        body.update(apiVersion=f"{v.API_GROUP}/{v.VERSION}", kind=KINDS[poison.kind])
    reply = ask(team.cluster, "POST", path, body)
    try:
        yield reply
    finally:
        if reply.ok:
            one = f"{path}/{name}?gracePeriodSeconds=0"
            assert ask(team.cluster, "DELETE", one).ok


@pytest.mark.slow
def test_one_bad_thing_hurts_nobody_else(team: Team) -> None:
    team.has_queue({T1000: QUOTA})
    team.has_queue({T1000: QUOTA}, "others")
    undecodable = metric(team.cluster, "cardquota_undecodable_objects")
    answers: dict[str, ApiReply] = {}
    with ForeignPods(team) as load, ExitStack() as stay:
        assert team.create(team.a_pod("mine", 2, T1000)).ok
        for number, poison in enumerate(POISON):
            # It stays until the end, so that the operator has met it by then.
            answers[str(poison)] = stay.enter_context(written(team, poison, number))
            if number % 3 and number + 1 < len(POISON):
                continue  # each third one is enough to see who is hurt, and three times as quick
            probe = team.a_pod(f"probe-{number}", 1, T1000)
            assert team.create(probe).ok, poison
            team.until_open(probe.name)
            assert team.delete(probe).ok
        before = load.count
        team.until(lambda: load.count > before, "the load goes on")
        assert metric(team.cluster, "cardquota_undecodable_objects") == undecodable
    assert load.wrong == []
    assert load.count > len(POISON) / 12, "hardly a load"
    wrong = {
        what: (reply.code, reply.message[:200])
        for what, reply in answers.items()
        if reply.code >= 500 or reply.ok != next(p.taken for p in POISON if str(p) == what)
    }
    assert wrong == {}
    unexplained = [what for what, reply in answers.items() if not reply.ok and not reply.message]
    assert unexplained == []
    team.until_row(T1000, allocated=2, inqueue=0, requested=2)
    team.until_row(T1000, "others", allocated=0, inqueue=0, requested=0)


def test_a_total_beyond_64_bits_hides_no_other_number(team: Team) -> None:
    """In audit mode everything is admitted: the API server takes no larger number, in no row."""
    team.set_mode(v.NAMESPACE_AUDIT)
    team.has_queue({T1000: 3, T2000: 2})
    huge, small = (
        team.a_pod(name, cards, card).on_nodes_labelled({f"{GPU}.product": card})
        for name, cards, card in (("huge", 0, T1000), ("small", 1, T2000))
    )
    huge = huge.with_spec(initContainers=sidecars({GPU: LARGEST}), containers=[NOTHING])
    reply = team.until(lambda: _admitted(team.create(huge, dry=True)), "audited")
    assert f"requested <{2 * LARGEST}>" in reply.warnings[0]
    assert team.create(huge).ok
    assert team.create(small).ok
    team.until_row(T1000, quota=3, requested=LARGEST)
    team.until_row(T2000, quota=2, allocated=1, requested=1)
    assert team.delete(huge).ok
    team.until_row(T1000, quota=3, requested=0)


def _admitted(reply: ApiReply) -> ApiReply | None:
    return reply if reply.ok else None
