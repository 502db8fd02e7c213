"""The history of a run, event by event, through the recount and everything that judges it.

`python -m chaos.replay FOLDER` judges a kept run again, with the exit code of the run.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .clients.objects import CARD_OF_NODE, CARDS, NAMESPACE, D
from .history import Change, changes
from .judging.denials import Denial, Rooms, wrong
from .judging.ended import EndedForOthers
from .judging.leeway import Calm, Span, Trouble, without_a_leader
from .judging.memory_judge import MemoryJudge
from .judging.pauses import AT_ALL, Pauses
from .judging.recount import Recount
from .judging.stored import Group, StoredPod
from .judging.verdicts import RESERVATION_TIMEOUT, Judge, Violation
from .judging.volcano_judge import RefusedJobs

ENDED = "pods ended for somebody"


@dataclass
class Replay:
    """What a history shows."""

    recount: Recount
    """As of its end."""
    violations: list[Violation]
    counts: Counter[str]
    pause: float
    """The longest in which nothing was released although something would have fit, seconds."""
    pause_at: float
    too_long: list[str]
    """Such pauses that nothing excuses."""
    wrong: list[Denial]
    unjudged: int
    """Denials while a fault had made views old."""


def replay(
    file: Path,
    denials: Sequence[Denial] = (),
    troubles: Sequence[Trouble] = (),
    wrong_times: Sequence[Span] = (),
    reservation_timeout: float = RESERVATION_TIMEOUT,
    longest_pause: float = AT_ALL,
    *,
    volcano: bool = False,
) -> Replay:
    """Judge a whole history. Raises HistoryError if it has a gap.

    `troubles`: when views were old, or answers late; `wrong_times`: when anything at all was wrong.
    `reservation_timeout`: the product's setting, seconds. `longest_pause`: seconds for which
    nothing may be released that would fit, whatever is wrong. `volcano`: whether that scheduled
    too.
    """
    recount = Recount(NAMESPACE, CARD_OF_NODE, volcano=volcano)
    behind = [(trouble.begin, trouble.over) for trouble in troubles]
    calm = Calm((*wrong_times, *behind, *without_a_leader(file)))
    judge = Judge(recount, troubles, calm, reservation_timeout=reservation_timeout)
    pauses, rooms = Pauses(recount), Rooms(recount)
    memory, jobs, elsewhere = MemoryJudge(troubles), RefusedJobs(), list[Violation]()
    ended = EndedForOthers(recount, {D: CARDS})
    counts: Counter[str] = Counter()
    terms: set[str] = set()
    at = 0.0
    for change in changes(file):
        counts["changes"] += 1
        at = change.at
        said = [*memory.after(change), *filter(None, (jobs.after(change),))]
        elsewhere += [Violation(change.revision, what, at) for what in said]
        before = recount.pods.get(change.key) if change.kind == "pod" else None
        group = recount.groups.get(f"{NAMESPACE}/{change.key}") if change.kind == "group" else None
        touched = recount.apply(change.kind, change.key, change.object)
        judge.after(change, before, touched, group)
        pod = recount.pods.get(change.key) if change.kind == "pod" else None
        elsewhere += [Violation(change.revision, what, at) for what in ended.after(before, pod)]
        opened = _count(counts, terms, change, before, recount) or _enqueued(counts, group, recount)
        if touched:
            pauses.after(change.at, {queue for queue, _ in touched}, opened)
            rooms.after(change.at, touched)
    pauses.ended(at)
    counts["terms that let something through"] = len(terms)
    counts.update(memory.seen)
    counts[ENDED], counts["pods that others were to end for"] = ended.seen, ended.served
    if volcano:
        counts["groups enqueued by Volcano, and judged"] = judge.enqueued_by_volcano
    found, unsaid = wrong(denials, rooms, troubles)
    return Replay(
        recount,
        judge.violations + elsewhere,
        counts,
        pauses.worst,
        pauses.worst_at,
        pauses.too_long(calm, longest_pause),
        found,
        unsaid,
    )


def _count(
    counts: Counter[str],
    terms: set[str],
    change: Change,
    before: StoredPod | None,
    recount: Recount,
) -> str:
    """Note what happened; the queue in which a gate was opened."""
    pod = recount.pods.get(change.key) if change.kind == "pod" else None
    if pod is None:
        return ""
    if change.version == 1:
        counts["pods created"] += 1
        counts["pods created gated"] += pod.gated
    elif before is not None and before.gated and not pod.gated:
        counts["releases"] += 1
        terms.add(pod.term)
        return pod.charged_queue
    return ""


def _enqueued(counts: Counter[str], before: Group | None, recount: Recount) -> str:
    """The same of a group that was enqueued; `before`: until then."""
    group = recount.groups.get(before.key) if before is not None else None
    if before is None or group is None or not group.enqueued or before.enqueued:
        return ""
    counts["groups enqueued"] += 1
    over = (recount.room((group.queue, card)) < 0 for card in recount.quota.get(group.queue, ()))
    counts["groups enqueued over what is elastic"] += any(over)
    return group.reserved_in


def main(folder: Path) -> int:
    """Print the report of what is kept there."""
    from .report import judged  # it needs this module

    report = judged(folder)
    print(report.text())
    return report.code


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="chaos.replay", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of a kept run (DIR of `make chaos`)")
    sys.exit(main(parser.parse_args().folder))
