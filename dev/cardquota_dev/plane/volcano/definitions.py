"""Whose definitions of queues, pod groups, jobs and commands a plane has."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ...paths import CHECKOUT
from ..children import Children
from ..kubectl import apply
from ..options import Options
from ..probe import Probe

_PATIENCE: Final = 120.0

_HERE: Final = Path(__file__).with_name("crds")
_SHARED: Final = ("queues", "podgroups")
"""What both Volcano and the product define."""
_OWN: Final = ("jobs", "commands")
"""What Volcano alone defines."""

CHOICES: Final = ("none", "volcano", "ours")
"""`volcano`: as Volcano's, without the fields of the product. `ours`: the product's, a superset."""


def definition_files(choice: str, *, volcano: bool) -> list[Path]:
    """The files to apply. `volcano`: whether the stand-in runs, which needs jobs and commands."""
    if choice == "none":
        return []
    if choice == "volcano":
        return [_HERE / f"{one}.yaml" for one in (*_SHARED, *_OWN)]
    product = sorted((CHECKOUT / "crds").glob("*.volcano.sh_*.yaml"))
    return [*product, *(_HERE / f"{one}.yaml" for one in _OWN if volcano)]


def product_files() -> list[Path]:
    """The kinds of the product alone: by which it is asked, and in which its leader writes."""
    return sorted((CHECKOUT / "crds").glob("cardquota.volcano.sh_*.yaml"))


async def install_definitions(
    options: Options, children: Children, probe: Probe, kubectl: Path
) -> None:
    """Return once what the options ask for can be used. Raises PlaneError."""
    files = definition_files(options.definitions, volcano=bool(options.volcano))
    if options.definitions == "volcano" and options.replicas:
        files += product_files()  # whosever the queues are
    if files:
        await apply(kubectl, options.folder.kubeconfig, files)
        await children.until(lambda: _established(probe), "CRDs established", _PATIENCE)


async def _established(probe: Probe) -> bool:
    crds = await probe.read("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
    return crds is not None and all(map(_is_established, crds["items"]))


def _is_established(crd: Mapping[str, Any]) -> bool:
    # In the first moments of a CRD both are null, not absent.
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)
