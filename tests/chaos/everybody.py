"""Who is there in a run."""

from collections import Counter

from .api import Api
from .changes import Administrator, Incomplete, Mover, Stranger
from .clients import Client, Gang, Scaler, Server, Trainer

_KINDS: list[type[Client]] = [
    *[Trainer] * 5,
    *[Server] * 2,
    *[Gang] * 3,
    Scaler,
    *[Mover] * 3,
    Incomplete,
    Stranger,
    Administrator,
]


def all_clients(api: Api, seed: int, tally: Counter[str]) -> list[Client]:
    """Everybody, each with dice of its own."""
    return [
        kind(f"{kind.__name__.lower()}-{number}", api, f"{seed}/{number}", tally)
        for number, kind in enumerate(_KINDS)
    ]
