"""The cards of a node as a file has them: for nodes without cards, and for tests. Nothing here asks
a card.
"""

from collections import Counter
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from cardquota.quota.cards import MOST_CARDS
from cardquota.section import Section

from ..yaml_file import YamlFileError, read_yaml
from .node_card import CardProcess, InventoryError, Mig, NodeCard

_LARGEST: Final = 16 * 1024 * 1024
"""MiB of one card: 16 TiB."""

# A device ID is a UUID and a number of up to five digits, and has at most 63 characters.
_Uuid = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,56}$")]
_Product = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$")]
_Mib = Annotated[int, Field(ge=0, le=_LARGEST, strict=True)]


class _Process(Section):
    pid: Annotated[int, Field(ge=1, strict=True)]
    memory: _Mib | None = None


class _Card(Section):
    uuid: _Uuid
    product: _Product
    path: Annotated[str, Field(pattern=r"^/[^[:cntrl:]]*$", max_length=200)] = "/dev/null"
    memory: Annotated[int, Field(ge=1, le=_LARGEST, strict=True)]
    used: _Mib = 0
    utilization: Annotated[int, Field(ge=0, le=100, strict=True)] | None = None
    mig: Mig = Mig.UNSUPPORTED
    slices: tuple[_Uuid, ...] = ()
    processes: tuple[_Process, ...] = ()
    problem: Annotated[str, Field(max_length=200)] = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.used > self.memory:
            raise ValueError(f"used <{self.used}> MiB is more than memory <{self.memory}>")
        if self.slices and self.mig is not Mig.ENABLED:
            raise ValueError(f"slices need mig: enabled, it is <{self.mig}>")
        return self


class _Cards(Section):
    cards: Annotated[tuple[_Card, ...], Field(max_length=MOST_CARDS)]

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        uuids = Counter(uuid for card in self.cards for uuid in (card.uuid, *card.slices))
        for uuid, number in uuids.items():
            if number > 1:
                raise ValueError(f"uuid <{uuid}> is there <{number}> times: each card has its own")
        return self


class FileInventory:
    """Reads the file at each question, so that what is written there shows at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.source = f"the file {path}, which asks no card"

    def cards(self) -> tuple[NodeCard, ...]:
        """In the order of the file. Raises InventoryError."""
        try:
            found = read_yaml(self._path, _Cards).cards
        except YamlFileError as error:
            raise InventoryError(str(error)) from None
        return tuple(
            NodeCard(
                index=index,
                uuid=card.uuid,
                product=card.product,
                path=card.path,
                memory=card.memory,
                used=card.used,
                utilization=card.utilization,
                mig=card.mig,
                slices=card.slices,
                processes=tuple(CardProcess(one.pid, one.memory) for one in card.processes),
                problem=card.problem,
            )
            for index, card in enumerate(found)
        )
