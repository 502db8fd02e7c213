"""The messages between node agent and kubelet, generated from the `.proto` files beside them."""

import tempfile
from pathlib import Path

from grpc_tools import protoc

from .failure import PlaneError
from .paths import CHECKOUT

_ROOT = CHECKOUT / "node"
_FOLDER = _ROOT / "cardquota_node" / "kubelet"


def kubelet_messages() -> dict[Path, str]:
    """Every generated file, and what it must contain. Raises PlaneError."""
    sources = sorted(str(path.relative_to(_ROOT)) for path in _FOLDER.glob("*.proto"))
    with tempfile.TemporaryDirectory() as scratch:
        flags = (f"-I{_ROOT}", f"--python_out={scratch}", f"--pyi_out={scratch}")
        if protoc.main(["protoc", *flags, *sources]) != 0:
            raise PlaneError(f"protoc refuses {', '.join(sources)}")
        made = Path(scratch) / "cardquota_node" / "kubelet"
        return {_FOLDER / path.name: path.read_text() for path in sorted(made.iterdir())}
