"""The manifest by which krew, kubectl's manager of plugins, installs ours."""

from pathlib import Path
from typing import Final

import yaml

from cardquota import __version__

from ..image.part import file_hash
from ..image.target import PYTHON, architecture

PLUGIN: Final = "kubectl-cardquota"


def krew_manifest(plugin: Path, url: str) -> str:
    """Its text. `plugin`: the archive, which will be downloaded from the folder `url`."""
    platform = {
        "selector": {"matchLabels": {"os": "linux", "arch": architecture()}},
        "uri": f"{url.rstrip('/')}/{plugin.name}",
        "sha256": file_hash(plugin),
        "files": [{"from": PLUGIN, "to": "."}, {"from": "LICENSE", "to": "."}],
        "bin": PLUGIN,
    }
    found = {
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": "cardquota"},
        "spec": {
            "version": f"v{__version__}",
            "shortDescription": "Quotas per accelerator card model",
            "description": "Who holds the cards of a queue, what waits and why, and what is wrong.",
            "caveats": f"It needs python{PYTHON} on the PATH.",
            "platforms": [platform],
        },
    }
    return str(yaml.safe_dump(found, sort_keys=False, width=100))
