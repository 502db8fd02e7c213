"""What the operator would say to whoever asks, once all of a file is there: the questions of the
table asked of the ledger of a simulation.
"""

from pathlib import Path
from typing import Any

import msgspec

from cardquota.cli.simulate import Simulation
from cardquota.cli.simulate.inventory import sort_documents
from cardquota.cli.simulate.yaml_files import read_files
from cardquota.quota import to_its_end
from cardquota.quota.answers import AskedWorkload, explain, queue_answer
from cardquota.settings import Settings

from .case import Case
from .questions import ASKED_KINDS

_TIME = "2000-01-01T00:00:00Z"
_LIMIT = 20


def answers_by_simulation(case: Case, file: Path) -> dict[str, dict[str, Any]]:
    """By kind, then by name: the status of the review."""
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
