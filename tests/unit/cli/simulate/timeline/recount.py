"""What the printed intervals of a timeline say: a recount that shares no code with the product.

It knows the jobs as `--output json` prints them, quotas and nodes, and nothing else.
"""

from collections import defaultdict
from itertools import groupby
from typing import Any

PrintedJob = dict[str, Any]
Key = tuple[str, str]
"""Queue and card, or node and card."""


def over(changes: list[tuple[int, Key, int]], limits: dict[Key, int]) -> list[str]:
    """Where more is held than the limit, at any moment. Changes of one moment count together."""
    held: defaultdict[Key, int] = defaultdict(int)
    found = []
    for moment, together in groupby(sorted(changes), key=lambda one: one[0]):
        keys = set()
        for _, key, amount in together:
            held[key] += amount
            keys.add(key)
        found += [f"{moment}: {key} {held[key]}" for key in keys if held[key] > limits.get(key, 0)]
        assert all(held[key] >= 0 for key in keys)
    return sorted(found)


def charged(jobs: list[PrintedJob]) -> list[tuple[int, Key, int]]:
    """From when the gates of a job are open until it ends."""
    found = []
    for job in jobs:
        for card, amount in job["charged"].items():
            found.append((job["let_through"], (job["queue"], card), amount))
            if job["ended"] is not None:
                found.append((job["ended"], (job["queue"], card), -amount))
    return found


def placed(jobs: list[PrintedJob]) -> list[tuple[int, Key, int]]:
    """From when a pod has its node until its job ends."""
    found = []
    for job in jobs:
        for place in job["placements"]:
            key = place["node"], place["card"]
            found.append((place["at"], key, place["cards"]))
            if job["ended"] is not None:
                found.append((job["ended"], key, -place["cards"]))
    return found


def disordered(jobs: list[PrintedJob]) -> list[str]:
    """Jobs whose times or amounts contradict each other."""
    return [job["name"] for job in jobs if not _in_order(job)]


def _in_order(job: PrintedJob) -> bool:
    whole = job["cards"] * job["pods"]
    placements = sum(place["cards"] for place in job["placements"])
    if job["state"] == "denied":
        return job["let_through"] is None and not job["charged"] and not placements and job["text"]
    if job["state"] == "gated":
        return job["let_through"] is None and not job["charged"] and not placements and job["text"]
    if job["state"] == "pending":
        return job["started"] is None and sum(job["charged"].values()) == whole > placements
    moments = [job["arrival"], job["let_through"], *(one["at"] for one in job["placements"])]
    return (
        moments == sorted(moments)
        and job["started"] == moments[-1]
        and job["ended"] == job["started"] + job["duration"]
        and sum(job["charged"].values()) == placements == whole
    )


def idle_while_it_waited(jobs: list[PrintedJob], quotas: dict[Key, int]) -> list[str]:
    """Jobs of one pod that stayed at the gate although their queue had enough free. Only for jobs
    that name one card, and queues in which others may pass.
    """
    changes = sorted(charged(jobs))
    found = []
    for job in jobs:
        if job["pods"] > 1 or job["state"] == "denied" or job["let_through"] == job["arrival"]:
            continue
        key = job["queue"], job["card"]
        until = float("inf") if job["let_through"] is None else job["let_through"]
        free = quotas.get(key, 0)
        for moment, together in groupby(
            (one for one in changes if one[1] == key and one[0] < until), key=lambda one: one[0]
        ):
            free -= sum(amount for _, _, amount in together)
            if moment >= job["arrival"] and free >= job["cards"]:
                found.append(f"{job['name']} at {moment}")
    return found
