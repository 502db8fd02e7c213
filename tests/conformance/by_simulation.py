"""The table asked of `cardquota simulate`, by its files and its JSON."""

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from cardquota.cli.output import Output
from cardquota.cli.simulate.simulate import simulate
from cardquota.quota.messages import shortfall_messages
from cardquota.settings import Settings

from .answers_by_simulation import answers_by_simulation
from .case import Case, Thing
from .found import ObservedCase, PodFound, pod_found

_AUDITED = shortfall_messages.audited("")
_NOT_COUNTED = "not counted: "


def found_by_simulation(case: Case, folder: Path, *, pods: bool = True) -> ObservedCase:
    """What the simulation of the case's first stage finds; without pods, of what is given before
    any pod group: what a group asks for is reserved as soon as it is there.
    """
    groups = case.objects("group") if not pods else ()
    given = [thing for thing in case.given if thing not in groups]
    things = (*given, *(case.stages[0].things if pods else ()))
    file = folder / f"{case.id}.yaml"
    file.write_text("---\n".join(json.dumps(thing.body) + "\n" for thing in things))
    told = StringIO()
    with redirect_stdout(told):
        assert simulate([str(file)], Settings(**case.settings), output=Output.JSON) == 0
    answers = json.loads(told.getvalue())
    found = ObservedCase(
        pods={
            workload["name"]: sorted(_pod(pod) for pod in workload["pods"])
            for workload in answers["workloads"]
        },
        refused={one["name"].rpartition("/")[2]: one["text"] for one in answers["refused"]},
        rows={
            queue["name"]: {kind: _written(queue[kind]) for kind in ("cards", "resources")}
            for queue in answers["queues"]
        },
    )
    for note in answers["notes"]:
        what, _, text = note.partition(": ")
        if what.startswith("PodGroup "):
            name = what.rpartition("/")[2]
            found.warned[name] = tuple(sorted((*found.warned.get(name, ()), text)))
    if pods and case.stages[0].answers:
        found.answers = answers_by_simulation(case, file)
    for thing in case.objects("node"):
        texts = [_after(thing, note) for note in answers["notes"]]
        if any(texts):
            found.not_counted[thing.name] = "; ".join(text for text in texts if text)
    return found


def _written(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As they stand on a cluster, which keeps no field of nothing."""
    return [{key: value for key, value in row.items() if value is not None} for row in rows]


def _after(node: Thing, note: str) -> str:
    return note.removeprefix(f"Node {node.name}: {_NOT_COUNTED}") if node.name in note else ""


def _pod(pod: dict[str, Any]) -> PodFound:
    warnings = tuple(pod["warnings"])
    if pod["text"].startswith(_AUDITED):
        warnings += (pod["text"],)
    return pod_found(
        pod["answer"],
        reason=pod["reason"],
        text=pod["text"],
        cards=pod["cards"],
        node=pod["node"],
        warnings=warnings,
    )
