"""What was read is not traversed by the garbage collector again (I5).

In a process of its own: one of ours would be blamed for what the others' tests left.
"""

import subprocess
import sys

import pytest

PROGRAM = """
import gc
from cardquota.runtime import spare_what_stays

collected = []

class Cycle:
    alive = 0
    def __init__(self):
        self.itself, Cycle.alive = self, Cycle.alive + 1
    def __del__(self):
        Cycle.alive -= 1

records = [[number] for number in range(300_000)]
spare_what_stays()
gc.callbacks.append(lambda phase, info: collected.append(info["generation"]))
traversed = sum(gc.get_count()[:1]) + sum(len(gc.get_objects(g)) for g in range(3))
for number in range(100_000):
    Cycle()
print(traversed, max(collected), Cycle.alive, len(records))
"""


def test_what_was_read_is_frozen_and_later_cycles_are_freed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    traversed, oldest, alive, kept = (int(word) for word in done.stdout.split())
    assert traversed < 1_000
    assert oldest < 2, "all that stays was traversed"
    assert alive < 20_000
    assert kept == 300_000


REPLACED = """
import asyncio, gc
from time import thread_time
from cardquota.runtime import collect_young, spare_what_stays

records = [[[number]] for number in range(400_000)]
spare_what_stays()
collected, largest = [], 0

def look(phase, info):
    global largest
    if phase == "start":
        collected.append(info["generation"])
        largest = max(largest, len(gc.get_objects(0)))

async def main():
    gc.callbacks.append(look)
    young = asyncio.create_task(collect_young())
    for number in range(400_000):
        records[number] = [[number]]
        if number % 20_000 == 0:
            until = thread_time() + 0.01  # other work, on a machine however fast
            while thread_time() < until:
                pass
            await asyncio.sleep(0.11)
    young.cancel()

asyncio.run(main())
print(largest, max(collected, default=0))
"""


@pytest.mark.slow
def test_what_replaces_frozen_records_is_collected_step_by_step() -> None:
    """Python alone would see no new object, and collect all of them at once some day."""
    done = subprocess.run(
        [sys.executable, "-c", REPLACED], capture_output=True, text=True, check=True
    )
    largest, oldest = (int(word) for word in done.stdout.split())
    assert largest < 600_000, "all records were collected at once"
    assert oldest == 1
