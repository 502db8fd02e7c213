"""E6: whatever dies, ends, comes and waits, none but incomplete gangs get a place that is kept.

The oracle knows places: each member of the minimum of a gang that started has one, and leaves it
behind when it dies. It shares nothing with the ledger but the names of pods.
"""

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import CARDS, H200, a_group, a_ledger, a_queue, see
from builders.pod import PodBody
from cardquota.quota.release import Starvation

from ..releasing import release, waiting

QUOTA = 8
LEAST = {"one": 2, "two": 3}
EVENTS = 60


@dataclass
class _Gang:
    least: int
    members: dict[str, int] = field(default_factory=dict)
    """Those that hold something, with their cards."""
    done: set[str] = field(default_factory=set)
    empty: list[int] = field(default_factory=list)
    """The places that were left behind: cards of each."""
    given_up: bool = False

    @property
    def started(self) -> int:
        return len(self.members) + len(self.done)

    @property
    def kept(self) -> int:
        lacks = self.started < self.least and bool(self.members)
        return sum(self.empty) if lacks and not self.given_up else 0


class PlacesHistory:
    """A queue of one card, two gangs, and pods of their own."""

    def __init__(self, seed: int, *, fifo: bool) -> None:
        self.dice = random.Random(seed)
        self.starvation = self.dice.choice((None, Starvation(0.0, 1e9)))
        queue = a_queue("red").with_quota({H200: QUOTA})
        groups = [a_group(name).in_queue("red").of(least) for name, least in LEAST.items()]
        self.ledger = a_ledger(*CARDS, queue.fifo() if fifo else queue, *groups)
        self.groups = dict(zip(LEAST, groups, strict=True))
        self.gangs = {name: _Gang(least) for name, least in LEAST.items()}
        self.bodies: dict[str, PodBody] = {}
        self.alone: dict[str, int] = {}
        self.waits: dict[str, tuple[str, int]] = {}
        """By name of the pod: its gang, or none, and its cards."""
        self.revision = 1

    def held(self) -> int:
        return sum(self.alone.values()) + sum(
            sum(gang.members.values()) for gang in self.gangs.values()
        )

    def kept(self) -> int:
        return sum(gang.kept for gang in self.gangs.values())

    def next(self) -> int:
        self.revision += 1
        return self.revision

    def a_pod_waits(self, gang: str) -> None:
        name, cards = f"p{self.next():04}", self.dice.choice((1, 1, 2))
        pod = waiting(name, cards)
        self.bodies[name] = pod.in_group(gang) if gang else pod
        self.waits[name] = gang, cards
        see(self.ledger, self.bodies[name])

    def one_ends(self, phase: str) -> None:
        """It is deleted, where there is no phase."""
        everyone = [*self.alone, *(one for gang in self.gangs.values() for one in gang.members)]
        if not everyone:
            return
        name = self.dice.choice(everyone)
        if phase:
            see(self.ledger, self.bodies[name].in_phase(phase).at_revision(self.next()))
        else:
            self.ledger.pod_gone(f"uid-{name}")
        self.alone.pop(name, None)
        for gang in self.gangs.values():
            cards = gang.members.pop(name, 0)
            if cards and phase == "Succeeded":
                gang.done.add(name)
            elif cards and gang.started < gang.least:
                gang.empty.append(cards)
                gang.given_up = False

    def a_time_is_over(self, name: str) -> None:
        vacancy = self.ledger.groups[f"team/{name}"].vacancy
        if vacancy is not None:
            self.ledger.decisions.give_up_vacancy(f"team/{name}", vacancy)
            self.gangs[name].given_up, self.gangs[name].empty = True, []

    def all_is_decided(self) -> None:
        before, kept = self.held(), self.kept()
        complete = {
            name: [pod for pod, (of, _) in self.waits.items() if of == name] for name in self.gangs
        }
        opened, _ = release(self.ledger, "red", self.starvation)
        taken = beyond = 0
        for pods in opened:
            of = self.waits[pods[0]][0]
            gang = self.gangs.get(of)
            if gang is not None and 0 < gang.started < gang.least:
                # It lacks members, too: it may have what others left behind.
                asked = sum(self.waits[pod][1] for pod in pods)
                beyond += max(0, asked - gang.kept)
            for pod in pods:
                _, cards = self.waits.pop(pod)
                taken += cards
                self.binds(pod, of, cards)
        for gang in self.gangs.values():
            if gang.started >= gang.least:
                gang.empty, gang.given_up = [], False
        assert self.held() == before + taken
        assert self.held() + self.kept() <= max(QUOTA, before + kept) + beyond
        self.the_place_is_for_who_comes(complete)
        for name, gang in self.gangs.items():
            found = dict(self.ledger.groups[f"team/{name}"].vacant)
            assert found.get(H200, 0) == gang.kept

    def the_place_is_for_who_comes(self, there: dict[str, list[str]]) -> None:
        """Who asks for no more than is kept for his gang, with all that it lacks, has gone: unless
        two gangs wait for theirs, and one that does not fit holds up the other.
        """
        waiting_gangs = [
            (gang, sorted(pods)[: gang.least - gang.started])
            for name, gang in self.gangs.items()
            if 0
            < gang.least - gang.started
            <= len(pods := [pod for pod in there[name] if pod in self.waits])
        ]
        if len(waiting_gangs) == 1:
            ((gang, first),) = waiting_gangs
            asked = sum(self.waits[pod][1] for pod in first)
            assert asked > min(gang.kept, QUOTA - self.held())

    def binds(self, pod: str, gang: str, cards: int) -> None:
        (self.gangs[gang].members if gang else self.alone)[pod] = cards
        body = self.bodies[pod].ungated().stamped("red", {H200: cards}).on_node("h200-a")
        self.bodies[pod] = body
        see(self.ledger, body.at_revision(self.next()))

    def reservations_end(self) -> None:
        """As the leader writes it once the minimum is bound."""
        for name, group in self.groups.items():
            see(self.ledger, group.at_revision(self.next()))
            assert self.ledger.groups[f"team/{name}"].reservation is None

    def go_on(self) -> None:
        dice = self.dice
        for _ in range(dice.randint(1, 3)):
            self.a_pod_waits(dice.choice(("", "", *LEAST)))
        if dice.random() < 0.6:
            self.one_ends(dice.choice(("", "", "Failed", "Succeeded")))
        if dice.random() < 0.15:
            self.a_time_is_over(dice.choice(tuple(LEAST)))
        self.all_is_decided()
        self.reservations_end()


@given(seed=st.integers(0, 2**32), fifo=st.booleans())
def test_nobody_else_gets_a_place_that_is_kept(seed: int, fifo: bool) -> None:
    history = PlacesHistory(seed, fifo=fifo)
    for _ in range(EVENTS):
        history.go_on()


def some_histories() -> None:
    for seed in range(50):
        history = PlacesHistory(seed, fifo=False)
        for _ in range(EVENTS):
            history.go_on()


def test_the_oracle_sees_who_takes_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cardquota.quota.release.set_aside.MOST_VACANCIES", 0)
    with pytest.raises(AssertionError):
        some_histories()
