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
    """Replicas of the product. 0: none."""
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
    real_node: bool = False
    """Whether there is a real node: containerd, a kubelet and the node agent."""
    deployed: Path | None = None
    """The archive of the image by which the operator is deployed on the real node. None: it is
    processes of the plane.
    """
    store_json: bool = False
    """Have the API server store JSON, so that a test can read etcd itself."""
    crds: str = ""
    """Whose definitions of queues and pod groups there are: `none`, `volcano` or `ours`. Empty: the
    product's where it runs, else Volcano's where the stand-in for it runs, else none.
    """
    volcano: str = ""
    """The namespace of the stand-in for Volcano. Empty: there is none."""
    volcano_config: Path | None = None
    """The configuration of its scheduler, read again whenever it changes. It need not exist yet."""
    volcano_ca: Path | None = None
    """The CAs that its scheduler trusts when it asks an extender. The file need not exist yet."""
    volcano_asks: bool = False
    """Whether its scheduler asks the product which groups to enqueue, by the component's block."""
    volcano_period: float = 1.0
    """Seconds between two sessions of its scheduler."""
    volcano_longest_pause: float | None = None
    """Seconds that its controllers pause at most before a refused pod is tried again. None: as
    Volcano, whose 15 pauses add up to 2 min 44 s.
    """

    @property
    def definitions(self) -> str:
        """Whose definitions there are: `none`, `volcano` or `ours`."""
        if self.crds:
            return self.crds
        return "ours" if self.replicas else "volcano" if self.volcano else "none"

    def arguments(self) -> list[str]:
        """The same options as a command line of `up`."""
        flags = [f"--dir={self.folder.path}", *(f"--nodes={file}" for file in self.nodes)]
        if self.config is not None:
            flags.append(f"--config={self.config}")
        flags.append(f"--replicas={self.replicas}" if self.replicas else "--without-product")
        if self.extender:
            flags.append("--extender")
        if self.real_node:
            flags.append("--node")
        if self.deployed is not None:
            flags.append(f"--deployed={self.deployed}")
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
        if self.crds:
            flags.append(f"--crds={self.crds}")
        return [*flags, *self._of_volcano()]

    def _of_volcano(self) -> list[str]:
        if not self.volcano:
            return []
        flags = ["--volcano", f"--volcano-namespace={self.volcano}"]
        if self.volcano_config is not None:
            flags.append(f"--volcano-config={self.volcano_config}")
        if self.volcano_ca is not None:
            flags.append(f"--volcano-ca={self.volcano_ca}")
        if self.volcano_asks:
            flags.append("--volcano-asks")
        if self.volcano_longest_pause is not None:
            flags.append(f"--volcano-longest-pause={self.volcano_longest_pause}")
        return [*flags, f"--volcano-period={self.volcano_period}"]
