"""Who is there in a run."""

from collections import Counter

from ..api import Api
from .announced import AnnouncedGang, ElasticService
from .changes import Administrator, Incomplete, Mover, Stranger
from .clients import GangClient, Scaler, ServingClient, Trainer, WorkloadClient
from .memory_clients import MemoryClient, MemoryScaler, WholeCardClient
from .node_changer import NodeChanger
from .updates import SleepingSets, Updater, Visitor

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
]


def all_clients(api: Api, seed: int, tally: Counter[str]) -> list[WorkloadClient]:
    """Everybody, each with dice of its own."""
    return [
        kind(f"{kind.__name__.lower()}-{number}", api, f"{seed}/{number}", tally)
        for number, kind in enumerate(_KINDS)
    ]
