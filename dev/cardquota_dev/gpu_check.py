"""`python -m cardquota_dev.gpu_check`: the node agent's view of a real card, against `nvidia-smi`.

For a machine with an NVIDIA card; needs no cluster, and nothing of CUDA but the driver. A process
of its own holds 2 GiB, and another one makes the fault of an application (XID 31): the card must
show the first, and stay healthy after the second. Exit code 0: all is as it should be.
"""

import ctypes
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from cardquota_node.inventory import NodeCard
from cardquota_node.inventory.nvml_inventory import NvmlInventory
from cardquota_node.inventory.xid_watch import XidWatch

_HELD_MIB: Final = 2_048
_PTX: Final = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry fault()
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    mov.u64 %rd1, 16;
    mov.u32 %r1, 1;
    st.volatile.global.u32 [%rd1], %r1;
    ret;
}
"""
_WAIT: Final = 20.0
"""Seconds for something to show."""


class _Driver:
    """The few calls of the driver's own interface."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self._call("cuCtxSetCurrent", context)

    def _call(self, name: str, *arguments: object) -> None:
        code = getattr(self._library, name)(*arguments)
        if code:
            raise OSError(f"{name}: CUDA error {code}")

    def hold(self, mib: int) -> None:
        """Until the process ends."""
        pointer = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(mib * 1024 * 1024))

    def fault(self) -> None:
        """Write where nothing may be written. Raises OSError."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(module), _PTX)
        self._call("cuModuleGetFunction", ctypes.byref(function), module, b"fault")
        self._call("cuLaunchKernel", function, *[1] * 6, 0, None, None, None)
        self._call("cuCtxSynchronize")


def _first_card(watch: XidWatch) -> NodeCard:
    return NvmlInventory(watch).cards()[0]


def _by_nvidia_smi() -> list[str]:
    fields = "uuid,memory.total,mig.mode.current"
    command = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@contextmanager
def _held() -> Iterator[int]:
    command = [sys.executable, "-m", "cardquota_dev.gpu_check", "hold"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        yield process.pid
    finally:
        process.communicate()


def _is_so(what: str, *, found: bool) -> bool:
    print(f"{'ok    ' if found else 'FAILED'}  {what}")
    return found


def check() -> int:
    """Returns the exit code."""
    watch = XidWatch((31,), 60.0)
    watch.start()
    time.sleep(2.0)
    cards = NvmlInventory(watch).cards()
    for card in cards:
        print(f"        {card.index} {card.uuid} {card.product} {card.memory} MiB, mig {card.mig}")
    mine = [
        f"{card.uuid}, {card.memory}, {'[N/A]' if card.mig == 'unsupported' else card.mig.title()}"
        for card in cards
    ]
    good = [_is_so("nvidia-smi lists the same cards", found=mine == _by_nvidia_smi())]
    before = cards[0].used
    with _held():
        end = time.monotonic() + _WAIT
        while (now := _first_card(watch)).used < before + _HELD_MIB and time.monotonic() < end:
            time.sleep(0.2)
        good.append(
            _is_so(
                f"2 GiB that a process holds show: used {before}, then {now.used} MiB",
                found=now.used >= before + _HELD_MIB and bool(now.processes),
            )
        )
    fault = [sys.executable, "-m", "cardquota_dev.gpu_check", "fault"]
    done = subprocess.run(fault, capture_output=True, text=True, check=False)
    said = done.stderr.strip().rpartition("\n")[2]
    end = time.monotonic() + _WAIT
    while 31 not in watch.heard and time.monotonic() < end:
        time.sleep(0.2)
    good.append(_is_so(f"XID 31 was heard ({said})", found=31 in watch.heard))
    good.append(_is_so("and the card stays healthy", found=_first_card(watch).healthy))
    return 0 if all(good) else 1


def main(arguments: list[str]) -> int:
    """`hold` and `fault` are for the processes of its own."""
    if arguments == ["hold"]:
        _Driver().hold(_HELD_MIB)
        sys.stdin.read()
    elif arguments == ["fault"]:
        _Driver().fault()
    else:
        return check()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
