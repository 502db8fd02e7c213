"""The options of `up`."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from .folder import Folder

DEFAULT_NODES = Path(__file__).with_name("cluster.yaml")
"""A small cluster of mixed cards."""


@dataclass(frozen=True)
class Options:
    """One plane's options. Every path is absolute."""

    folder: Folder
    nodes: tuple[Path, ...] = (DEFAULT_NODES,)
    config: Path | None = None
    """The product's configuration. The plane's own settings override it."""
    replicas: int = 1
    """Replicas of the product. 0: none, and its CRDs are not applied."""
    quick_autoscaler: bool = False
    """Whether the autoscaler acts within seconds, and a stand-in serves its metrics."""
    bin_dir: Path | None = None
    background: bool = False
    """Once ready, close standard output and write to the log instead."""
    until_stdin_closes: bool = False
    """End the plane when standard input ends, so that it never outlives its starter."""
    product: tuple[str, ...] = ()
    """The command to run as `cardquota` in each replica. Empty: the product itself."""
    extender: bool = False
    """Whether the product is the scheduler's extender."""
    store_json: bool = False
    """Have the API server store JSON, so that a test can read etcd itself."""

    def arguments(self) -> list[str]:
        """The same options as a command line of `up`."""
        flags = [f"--dir={self.folder.path}", *(f"--nodes={file}" for file in self.nodes)]
        if self.config is not None:
            flags.append(f"--config={self.config}")
        flags.append(f"--replicas={self.replicas}" if self.replicas else "--without-product")
        if self.extender:
            flags.append("--extender")
        if self.quick_autoscaler:
            flags.append("--hpa-fast")
        if self.bin_dir is not None:
            flags.append(f"--bin-dir={self.bin_dir}")
        if self.background:
            flags.append("--background")
        if self.until_stdin_closes:
            flags.append("--until-stdin-closes")
        if self.product:
            flags.append(f"--product={shlex.join(self.product)}")
        if self.store_json:
            flags.append("--store-json")
        return flags
