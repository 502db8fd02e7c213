"""Who is there in a run."""

from collections import Counter

from ..api import Api
from .announced import AnnouncedGang, ElasticService
from .changes import Administrator, Forger, Incomplete, Mover, Stranger
from .clients import GangClient, Scaler, ServingClient, Trainer, WorkloadClient
from .lending import Borrower, CardOwner, Superior
from .memory_clients import MemoryClient, MemoryScaler, NodeChanger, WholeCardClient
from .updates import SleepingSets, Updater, Visitor
from .volcano_clients import VolcanoJobClient, VolcanoService

_KINDS: list[type[WorkloadClient]] = [
    *[Trainer] * 5,
    *[ServingClient] * 2,
    *[GangClient] * 3,
    Scaler,
    *[Mover] * 3,
    Incomplete,
    Stranger,
    Administrator,
    *[AnnouncedGang] * 3,
    ElasticService,
    *[MemoryClient] * 2,
    MemoryScaler,
    WholeCardClient,
    NodeChanger,
    *[Updater] * 2,
    Visitor,
    SleepingSets,
    Forger,
    Borrower,
    CardOwner,
    Superior,
]

_BESIDE_VOLCANO: list[type[WorkloadClient]] = [
    *[Trainer] * 3,
    *[ServingClient] * 2,
    *[GangClient] * 2,
    Scaler,
    *[Mover] * 2,
    Incomplete,
    Stranger,
    Administrator,
    ElasticService,
    Updater,
    Visitor,
    SleepingSets,
    *[VolcanoJobClient] * 6,
    VolcanoService,
]
"""Without those who ask for card memory, which only our extender gives out, and without groups of
kube-scheduler's pods that wait to be enqueued: phases are Volcano's there, and it asks us about
groups of its own alone.
"""


def all_clients(
    api: Api, seed: int, tally: Counter[str], *, volcano: bool = False
) -> list[WorkloadClient]:
    """Everybody, each with dice of its own."""
    return [
        kind(f"{kind.__name__.lower()}-{number}", api, f"{seed}/{number}", tally)
        for number, kind in enumerate(_BESIDE_VOLCANO if volcano else _KINDS)
    ]
