"""How long things take in a run: the full one, and the short one that is among the tests."""

from dataclasses import dataclass, field, replace
from typing import Any

from .clients.lending import CAME_BACK
from .judging.answered import RENEWED
from .judging.pauses import AT_ALL

Span = tuple[float, float]
EVENTS = {"renewAfter": RENEWED}
"""A run is too short for the usual half hour."""

RECLAIM = {
    "reclaim": {"mode": "on", "after": 2, "evictionsPerMinute": 1_000, "evictionsPerQueue": 1_000},
    "preempt": {"after": 1},
}
"""Lent cards come back all the time."""
STANDS_STILL = "leader stands still before it evicts"
"""The fault that comes first, since it needs a term that lasts for some time."""
BEFORE_RELEASE = "between an eviction and the release"
"""The kill that comes first."""


@dataclass(frozen=True)
class Lengths:
    """All in seconds, but for counts."""

    seconds: float
    """How long clients work and faults happen."""
    between_kills: Span = (25, 40)
    releases_before_a_kill: int = 200
    kill_kinds: tuple[str, ...] = ()
    """Which kinds of kill happen, in turn; empty: all."""
    kills: int = 0
    """The run goes on until the leader was killed so often, but not for ever: see `overtime`."""
    overtime: float = 0.5
    """In parts of `seconds`: for so long at most it goes on."""
    pause: Span = (5, 40)
    etcd_pause: float = 12
    stall: float = 15
    hold: Span = (5, 10)
    holds: int = 2
    held_before_death: Span = (0.8, 1.8)
    """For so long what the leader sends is kept before it is killed; less than its time-out."""
    webhook: float = 12
    refusals: float = 4
    votes: float = 8
    """For so long Volcano's questions to us are lost, or our answers."""
    scheduler_pause: Span = (2, 8)
    """Of Volcano's; less than a reservation's time, so that not all of them end by it."""
    between_faults: Span = (2, 8)
    longest_pause: float = AT_ALL
    """For so long at most nothing may be released that would fit, whatever is wrong."""
    quiet: float = 30
    """After the end something may be on its way for so long without any progress."""
    faults: tuple[str, ...] = ()
    """Which happen, in this order again and again; empty: all, in an order by chance."""
    wanted: tuple[str, ...] = (f"fault: {STANDS_STILL}", f"kill: {BEFORE_RELEASE}", CAME_BACK)
    """What must have been, by its name in the tally: the run goes on for it as for kills."""
    config: dict[str, Any] = field(default_factory=dict)
    """The product's settings, over its defaults."""


def full(seconds: float) -> Lengths:
    """With the product's own terms; a kill at least every 40 s.

    Reservations alone end sooner than by default, so that some do in a run.
    """
    kills = 10 if seconds >= 480 else 0
    overtime = 0.5 if kills else 2
    config = {"reservationTimeout": 15, "events": EVENTS}
    return Lengths(seconds, kills=kills, overtime=overtime, config=config)


SHORT = Lengths(
    15,
    between_kills=(4, 5),
    releases_before_a_kill=6,
    kill_kinds=("with patches on their way", "between writes and their answers"),
    kills=2,
    overtime=12,
    pause=(7.5, 9),
    etcd_pause=4,
    stall=3,
    hold=(4, 5.5),
    holds=1,
    held_before_death=(0.6, 1.0),
    webhook=3,
    refusals=1,
    votes=3,
    scheduler_pause=(2, 3.5),
    between_faults=(1.0, 2.5),
    # One fault follows the other, and a term is short: on a full machine leaders lose it again and
    # again, and how long that goes on is up to the machine.
    longest_pause=240,
    faults=(
        STANDS_STILL,
        *("patches held", "leader paused", "connections cut", "ResourceQuota refuses"),
    ),
    wanted=(),  # whether there is a plan in so short a time is up to the machine
    config={
        # Half of the deadline is what an Eviction may take, on a busy machine too.
        "leaderElection": {"duration": 8, "renewDeadline": 7, "retryPeriod": 0.4, "settle": 1},
        "release": {"patchTimeout": 2},
        "reservationTimeout": 6,
        "events": EVENTS,
    },
)
"""A quarter of a minute, with a term that is over soon; longer where the machine is slow."""

_SHORT_BESIDE_VOLCANO = (
    "answers to Volcano lost",
    "patches held",
    "Volcano's scheduler paused",
    "leader paused",
    "Volcano's scheduler killed",
    "connections cut",
    "Volcano's controllers killed",
    "Volcano's questions lost",
    "ResourceQuota refuses",
)


def beside_volcano(lengths: Lengths) -> Lengths:
    """The same run beside Volcano. A short one has more time between faults: somebody has to lead
    for some seconds until a Job is enqueued and has its pods, and these their nodes.
    """
    config = {**lengths.config, "scheduler": "volcano"}
    lengths = replace(lengths, wanted=(), config=config)  # nobody is ended for others there
    if not lengths.faults:
        return lengths
    return replace(lengths, faults=_SHORT_BESIDE_VOLCANO, between_faults=(3, 5))
