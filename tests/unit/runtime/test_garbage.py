"""The garbage collector goes through little at a time, whatever was read before (I5).

In processes of their own: one of ours would be blamed for what the others' tests left.
"""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

BEGIN = """
import gc
from cardquota.loop.timed_selector import TimedSelector
from cardquota.runtime.garbage import BUSY, OLD, GarbageCollector

now, looked_through = 0.0, []

def note(phase, info):
    if phase == "start":
        looked_through.append(sum(len(gc.get_objects(g)) for g in range(info["generation"] + 1)))

class Cycle:
    alive = 0
    def __init__(self):
        self.itself, Cycle.alive = self, Cycle.alive + 1
    def __del__(self):
        Cycle.alive -= 1

def work(seconds):
    global now
    now += seconds
    selector.select(0)

selector = TimedSelector(lambda: now)
records = [[number] for number in range(300_000)]
GarbageCollector(selector).start()
selector.select(0)
gc.callbacks.append(note)
looked_through.clear()
"""
ANEW = """
for begin in range(0, len(records), 5_000):
    records[begin:begin + 5_000] = [[number] for number in range(5_000)]
    work(2 * BUSY)
print(len(looked_through), max(looked_through), OLD)
"""
CYCLES = """
for number in range(1_000):
    Cycle()
    work(BUSY / 10)
print(Cycle.alive)
"""
OUTLIVED = """
cycles = [Cycle() for _ in range(1_000)]
work(2 * BUSY)  # from here on they are old
cycles = None
kept = [[number] for number in range(OLD)]
work(2 * BUSY)
before = Cycle.alive
work(0.0)
print(before, Cycle.alive)
"""


def printed(program: str) -> list[int]:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program], capture_output=True, text=True, check=True
    )
    return [int(word) for word in done.stdout.split()]


def test_to_read_everything_anew_is_gone_through_in_pieces() -> None:
    times, most, old = printed(ANEW)
    assert times >= 60
    assert most <= old + 3 * 5_000, "what is frozen and freed hid what is new"


def test_cycles_are_collected_as_the_loop_works() -> None:
    assert printed(CYCLES)[0] <= 10


def test_what_outlived_a_collection_is_gone_through_once_more() -> None:
    assert printed(OUTLIVED) == [1_000, 0]
