"""All settings of the node agent: one model, each with its unit and default. Keys are camelCase,
unknown keys are refused.
"""

from pathlib import Path

from cardquota.section import Section

from .yaml_file import read_yaml


class InventorySource(Section):
    """Where the cards of the node are listed."""

    file: Path | None = None
    """A YAML file that stands for the driver: for nodes without cards, and for tests. Relative to
    the folder of the configuration. None: the driver is asked (NVML)."""


class NodeSettings(Section):
    """The whole configuration."""

    inventory: InventorySource = InventorySource()


def load(path: Path | None) -> NodeSettings:
    """The settings of a file over the defaults. Raises YamlFileError."""
    if path is None:
        return NodeSettings()
    settings = read_yaml(path, NodeSettings)
    file = settings.inventory.file
    if file is None:
        return settings
    source = InventorySource(file=path.parent / file)
    return settings.model_copy(update={"inventory": source})
