"""The table asked of `cardquota simulate`, by its files and its JSON."""

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec

from cardquota.cli.output import Output
from cardquota.cli.simulate import Simulation
from cardquota.cli.simulate.inventory import sort_documents
from cardquota.cli.simulate.simulate import simulate
from cardquota.cli.simulate.yaml_files import read_files
from cardquota.quota import to_its_end
from cardquota.quota.answers import AskedWorkload, explain, queue_answer
from cardquota.quota.messages import shortfall_messages
from cardquota.settings import Settings

from .case import Case, Thing
from .found import ObservedCase, PodFound, pod_found
from .questions import ASKED_KINDS

_AUDITED = shortfall_messages.audited("")
_NOT_COUNTED = "not counted: "
_TIME = "2000-01-01T00:00:00Z"
_LIMIT = 20


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
        found.answers = _answers(case, file)
    for thing in case.objects("node"):
        texts = [_after(thing, note) for note in answers["notes"]]
        if any(texts):
            found.not_counted[thing.name] = "; ".join(text for text in texts if text)
    return found


def _answers(case: Case, file: Path) -> dict[str, dict[str, Any]]:
    """What the operator would say to whoever asks, once all of the file is there: by kind, then by
    name, the status of the review.
    """
    settings = Settings(**case.settings)
    simulation = Simulation(settings, sort_documents(read_files([str(file)])))
    simulation.run()
    ledger = simulation.ledger
    require_queue = settings.require_queue

    def answer(kind: str, name: str) -> Any:
        if kind == "queue":
            return to_its_end(queue_answer(ledger, name, limit=_LIMIT, time=_TIME))
        asked = AskedWorkload(ASKED_KINDS[kind], case.namespace, name)
        return to_its_end(explain(ledger, asked, _TIME, require_queue=require_queue))

    return {
        kind: {name: msgspec.to_builtins(answer(kind, name)) or {} for name in expected}
        for kind, expected in case.stages[0].answers.items()
    }


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
