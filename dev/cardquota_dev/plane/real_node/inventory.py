"""The cards of the node: a file stands for them, and devices that each machine has."""

from pathlib import Path
from typing import Any, Final

import yaml

from ..folder import Folder

PRODUCT: Final = "NVIDIA-T400"

CARDS: Final[tuple[dict[str, Any], ...]] = (
    {"uuid": "GPU-one", "product": PRODUCT, "memory": 4_096, "path": "/dev/zero"},
    {"uuid": "GPU-two", "product": PRODUCT, "memory": 2_048, "path": "/dev/full"},
)
"""Two of unequal size, in MiB. Small ones: upon each change of health a kubelet compares each
device that changed with each that a container has.
"""

LABELS: Final = {"aliyun.accelerator/nvidia_name": PRODUCT, "cardquota.volcano.sh/share": "memory"}
"""Labels of a node that shares its cards by memory."""


def inventory_file(folder: Folder) -> Path:
    """The file that the agent reads, again and again."""
    return folder.node / "cards.yaml"


def write_inventory(folder: Folder, cards: tuple[dict[str, Any], ...] = CARDS) -> Path:
    """Write the file, whole or not at all. Returns its path."""
    file = inventory_file(folder)
    draft = file.with_suffix(".new")
    draft.write_text(yaml.safe_dump({"cards": list(cards)}, sort_keys=False))
    return draft.replace(file)
