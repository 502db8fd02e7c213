"""Pods of one class are judged as one: they must be alike in all that is looked at.

Compared with `with_nothing_noted`, where each pod has a class of its own. That this finds a class
whose key says too little is tried with every part of the key left out in turn.
"""

import random
from collections.abc import Callable, Hashable
from itertools import count

import pytest

from builders import CARDS, H200, H800, R4090, a_group, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import KeptRoom, LedgerState, charges, class_key_of
from cardquota.quota.pending import Gang, PendingQueue
from cardquota.quota.pods import PodRecord

from ..plain_totals import next_opening, with_nothing_noted
from ..releasing import release

STEPS = 40
SEEDS = range(120)
QUEUES = ("red", "blue")

Change = Callable[[PodBody, random.Random], PodBody]

UNLIKE: tuple[Change, ...] = (
    lambda pod, dice: pod.asking_for(dice.choice((2, 4))),
    lambda pod, dice: pod.naming(dice.choice((H800, f"{H800}|{H200}", f"{H200}|{R4090}"))),
    lambda pod, _: pod.with_cpu("3"),
    lambda pod, _: pod.in_namespace("other"),
    lambda pod, _: pod.in_group("gang"),
    lambda pod, dice: pod.in_group("gang").in_queue(dice.choice(QUEUES)),
    lambda pod, dice: pod.in_group("gang").of_task(dice.choice(("head", "worker"))),
    lambda pod, dice: pod.naming(dice.choice(("Never-Seen", f"{H200}||{H800}"))),
    lambda pod, _: pod.annotated(v.CARD_NAME_ALIAS, H800),
    lambda pod, _: pod.naming(None).on_nodes_labelled({"nvidia.com/gpu.product": "Unheard"}),
    lambda pod, _: pod.asking_for(0),
    lambda pod, _: pod.naming(None).asking_for(0),
    lambda pod, dice: (
        pod.in_queue(None).naming(f"{H200}||").in_namespace(dice.choice(("team", "other")))
    ),
    lambda pod, dice: (  # where nothing is enforced it goes, elsewhere it waits for a queue
        pod.in_queue(None).in_namespace(dice.choice(("team", "other")))
    ),
    lambda pod, _: pod.owned_by("ReplicaSet").put(v.VOLCANO_SCHEDULER, "spec", "schedulerName"),
)

"""What may be different about a pod."""


class ClassCluster:
    """A small cluster, by dice, whose pods differ in two or three things, and in most in none."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.ledger = a_ledger(*CARDS, makes_groups=True)
        self.revision = count(1)
        self.pods: dict[str, PodBody] = {}
        self.unlike = self.dice.sample(UNLIKE, self.dice.choice((2, 3)))
        self.happenings = (
            *6 * (self.a_pod_waits,),
            *2 * (self.a_pod_runs,),
            self.a_pod_goes,
            self.a_queue_is_written,
            self.a_namespace_is_written,
            *3 * (self.a_group_is_written,),
            self.a_group_is_deleted,
            *(seed % 2) * (self.a_room_is_kept,),
        )
        for name in QUEUES:
            self.a_queue_is_written(name)

    def step(self) -> None:
        self.dice.choice(self.happenings)()

    def new_pod(self) -> PodBody:
        name = f"p{next(self.revision):03}"
        pod = a_pod(name).in_queue("red").naming(H200).asking_for(1).gated()
        for change in self.dice.sample(self.unlike, self.dice.choice((0, 1, 1, 1, 2))):
            pod = change(pod, self.dice)
        return pod

    def a_pod_waits(self) -> None:
        pod = self.new_pod()
        self.pods[pod.uid] = pod
        see(self.ledger, pod)

    def a_pod_runs(self) -> None:
        pod = self.new_pod().stamped("red", {H200: self.dice.choice((1, 2))}).on_node("h200-a")
        self.pods[pod.uid] = pod
        see(self.ledger, pod)

    def a_pod_goes(self) -> None:
        if self.pods:
            uid = self.dice.choice(sorted(self.pods))
            del self.pods[uid]
            self.ledger.pod_gone(uid)

    def a_queue_is_written(self, name: str = "") -> None:
        name = name or self.dice.choice(QUEUES)
        quota = {H200: self.dice.choice((1, 2, 4)), H800: 2, R4090: self.dice.choice((0, 1))}
        queue = a_queue(name).with_quota(quota).at_revision(next(self.revision))
        queue = queue.with_policy(self.dice.choice(("Gate", "Deny")))
        queue = queue.open_to(*self.dice.choice((("*",), ("*",), ("team",), ("other",))))
        see(self.ledger, queue.limited_to(cpu=self.dice.choice((None, "4"))))

    def a_namespace_is_written(self) -> None:
        namespace = a_namespace(self.dice.choice(("team", "other")))
        see(self.ledger, namespace.in_mode(self.dice.choice((None, "enforced", "audit"))))

    def a_group_is_written(self) -> None:
        group = a_group("gang").in_queue("red").of(self.dice.choice((1, 2, 2)))
        if self.dice.random() < 0.4:
            group = group.of_tasks({"head": 1})
        if self.dice.random() < 0.5:
            group = group.reserving("red", {H200: self.dice.choice((1, 3))})
        see(self.ledger, group.at_revision(next(self.revision)))

    def a_group_is_deleted(self) -> None:
        self.ledger.group_gone("team/gang")

    def a_room_is_kept(self) -> None:
        """Or all are open again (L5)."""
        keys = [*sorted(self.pods), "team/gang"]
        rooms = {
            self.dice.choice(keys): KeptRoom("team", "name", group=False, cards=frozenset((card,)))
            for card in (H200, H800)
            if self.dice.random() < 0.5
        }
        self.ledger.decisions.keep_rooms(rooms)


@pytest.fixture(autouse=True)
def classes_of_one_gang(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pod never joins a class whose pods have another gang than it has, or none."""
    join = PendingQueue.join

    def checked(
        pending: PendingQueue,
        record: PodRecord,
        key: Hashable,
        gang: Gang | None = None,
        task: str = "",
    ) -> None:
        if key in pending.classes and pending.classes[key].gang is not gang:
            raise LookupError(f"{record.facts.name} joins a class of another gang")
        join(pending, record, key, gang, task)

    monkeypatch.setattr(PendingQueue, "join", checked)


def first_difference(seed: int) -> str:
    """Where somebody waits who would go if nothing were shared; empty: nowhere."""
    cluster = ClassCluster(seed)
    for step in range(STEPS):
        cluster.step()
        for queue in ("", *QUEUES):
            account = cluster.ledger.account(queue)
            if account is None:
                continue
            found, expected = next_opening(cluster.ledger, queue), with_nothing_noted(
                cluster.ledger, account
            )  # fmt: skip
            if found != expected:
                return f"seed {seed}, step {step}: {queue} opens {found}, alone {expected}"
        if cluster.dice.random() < 0.4:
            release(cluster.ledger, cluster.dice.choice(QUEUES))
    return what_is_left(cluster)


def what_is_left(cluster: ClassCluster) -> str:
    """What a queue still remembers of those who waited once all are gone; empty: nothing."""
    for uid in list(cluster.ledger.pods):
        cluster.ledger.pod_gone(uid)
    for queue in QUEUES:
        account = cluster.ledger.account(queue)
        assert account is not None
        pending = account.pending
        if pending.classes or pending.deny_classes or pending.groups or list(pending.inadmissible):
            return f"{queue} remembers who is gone"
    return ""


@pytest.mark.parametrize("seed", SEEDS)
def test_who_shares_a_class_goes_when_it_would_alone(seed: int) -> None:
    assert first_difference(seed) == ""


# --- and it is found where they share too much ------------------------------------------------


def parts() -> int:
    ledger = a_ledger(*CARDS, a_queue("red"), a_pod("a").in_queue("red").asking_for(1).gated())
    key, _ = class_key_of(ledger, ledger.pods["uid-a"])
    return len(key)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(parts()))
def test_a_class_that_forgets_a_part_of_its_key_is_found(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgetful(state: LedgerState, record: PodRecord) -> tuple[Hashable, Gang | None]:
        key, gang = class_key_of(state, record)
        return (*key[:part], *key[part + 1 :]), gang

    monkeypatch.setattr(charges, "class_key_of", forgetful)
    assert any(is_found(seed) for seed in SEEDS)


def is_found(seed: int) -> bool:
    """By another answer, or by an error of the pending queue."""
    try:
        return bool(first_difference(seed))
    except (LookupError, AttributeError):
        return True
