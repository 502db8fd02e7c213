"""The cards of a node as the driver's library NVML tells them.

Each question about one card stands alone: a virtual machine, an old driver or a divided card may
not answer all of them, and one card that has fallen off the bus is no news about the others.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import Final, TypeVar

import pynvml

from .node_card import CardProcess, InventoryError, Mig, NodeCard, NoDriverError
from .xid_watch import XidWatch

_MIB: Final = 1024 * 1024
_NO_DRIVER: Final = (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED)
_T = TypeVar("_T")


class NvmlInventory:
    """The driver's own words. Opens the library at each question and closes it again, so that a
    driver may come, or be replaced, while the program runs.
    """

    source = "the driver (NVML)"

    def __init__(self, faults: XidWatch | None = None) -> None:
        """`faults`: what the driver has reported meanwhile; None: nobody listens."""
        self._faults = faults
        self._turn = threading.Lock()
        """The library counts who has opened it, but its handles are void once it is closed."""

    def cards(self) -> tuple[NodeCard, ...]:
        """Raises NoDriverError, InventoryError."""
        with self._turn:
            try:
                pynvml.nvmlInit()
            except pynvml.NVMLError as error:
                if error.value in _NO_DRIVER:
                    raise NoDriverError(
                        f"this node has no NVIDIA driver, or it is not loaded yet: {_text(error)}"
                    ) from None
                raise InventoryError(f"the NVIDIA driver does not answer: {_text(error)}") from None
            try:
                found = [_card(index) for index in range(pynvml.nvmlDeviceGetCount())]
            except pynvml.NVMLError as error:
                raise InventoryError(f"the NVIDIA driver lists no cards: {_text(error)}") from None
            finally:
                pynvml.nvmlShutdown()
        if self._faults is None:
            return tuple(found)
        return tuple(
            replace(card, problem=card.problem or self._faults.problem(card.uuid)) for card in found
        )


def _card(index: int) -> NodeCard:
    """One that cannot even be named has a problem, and no UUID."""
    try:
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        uuid, name = pynvml.nvmlDeviceGetUUID(handle), pynvml.nvmlDeviceGetName(handle)
        minor = pynvml.nvmlDeviceGetMinorNumber(handle)
        memory = _memory(handle)
    except pynvml.NVMLError as error:
        return NodeCard(
            index=index, uuid="", product="", path="", memory=0, problem=f"lost: {_text(error)}"
        )
    mig = _mig(handle)
    return NodeCard(
        index=index,
        uuid=uuid,
        product="-".join(name.split()),
        path=f"/dev/nvidia{minor}",
        memory=memory.total // _MIB,
        used=memory.used // _MIB,
        utilization=_answer(lambda: int(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu)),
        mig=mig,
        slices=_slices(handle) if mig is Mig.ENABLED else (),
        processes=_processes(handle),
    )


def _memory(handle: object) -> pynvml.c_nvmlMemory_v2_t:
    """Of the second version where the driver has it: the first counts as used what it reserves."""
    try:
        return pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
    except (pynvml.NVMLError_NotSupported, pynvml.NVMLError_FunctionNotFound):
        return pynvml.nvmlDeviceGetMemoryInfo(handle)


def _mig(handle: object) -> Mig:
    mode = _answer(lambda: int(pynvml.nvmlDeviceGetMigMode(handle)[0]))
    if mode is None:
        return Mig.UNSUPPORTED
    return Mig.ENABLED if mode == pynvml.NVML_DEVICE_MIG_ENABLE else Mig.DISABLED


def _slices(handle: object) -> tuple[str, ...]:
    found = []
    for index in range(_answer(lambda: int(pynvml.nvmlDeviceGetMaxMigDeviceCount(handle))) or 0):
        try:
            part = pynvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)
            found.append(str(pynvml.nvmlDeviceGetUUID(part)))
        except pynvml.NVMLError:  # the place is empty
            continue
    return tuple(found)


def _processes(handle: object) -> tuple[CardProcess, ...]:
    """Of computations and of graphics; one that does both is in both lists."""
    found: dict[int, CardProcess] = {}
    lists = (
        _answer(lambda: pynvml.nvmlDeviceGetComputeRunningProcesses(handle)),
        _answer(lambda: pynvml.nvmlDeviceGetGraphicsRunningProcesses(handle)),
    )
    for one in chain.from_iterable(some or () for some in lists):
        held = one.usedGpuMemory
        found[one.pid] = CardProcess(one.pid, None if held is None else held // _MIB)
    return tuple(found[pid] for pid in sorted(found))


def _answer(ask: Callable[[], _T]) -> _T | None:
    """None where the card does not answer this question."""
    try:
        return ask()
    except pynvml.NVMLError:
        return None


def _text(error: pynvml.NVMLError) -> str:
    return str(error).rstrip(".")
