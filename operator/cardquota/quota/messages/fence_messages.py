"""What the administrator is told of the fence: the API server's check of the current term."""

from typing import Final

from ..words import show

_ANSWER: Final = 300
"""Characters of an answer of the API server that are quoted."""


def unwritten(where: str, answer: str) -> str:
    """The Term cannot be read, or cannot be made to name the current term."""
    return (
        f"Term <{show(where)}> cannot be written: {show(answer, most=_ANSWER)}; no gate opens "
        "until it can: apply crds/cardquota.volcano.sh_terms.yaml and manifests/base/rbac.yaml"
    )


def not_ours(where: str) -> str:
    """The Term names another term, and the Lease too."""
    return (
        f"Lease <{show(where)}> is held by another replica by now, so Term <{show(where)}> is not "
        "written: no gate opens here"
    )


def refused(where: str, answer: str) -> str:
    """The API server refuses decisions of the current term."""
    return (
        "the API server refuses what the current term decides: "
        f"{show(answer, most=_ANSWER)}; until it accepts it no gate opens: apply the output of "
        f"`cardquota manifests`; if that and Term <{show(where)}> are right, restart kube-apiserver"
    )


def accepts_any(where: str) -> str:
    """The API server accepts decisions of terms that are over."""
    return (
        f"the API server does not compare decisions with Term <{show(where)}>, so a former leader "
        "could still open gates: apply the CRDs and the output of `cardquota manifests`; if they "
        "are there, this ends within a minute"
    )


def untried(namespace: str, answer: str) -> str:
    """Neither: something else refuses the trial."""
    return (
        "whether the API server compares decisions with the current term is not known: creating "
        f"PodGroups in namespace <{show(namespace)}> as a dry run is refused: "
        f"{show(answer, most=_ANSWER)}; gates open meanwhile: let cardquota create them there"
    )


def in_force() -> str:
    """The inverse of all of these."""
    return "the API server accepts decisions of the current term, and of no other, again"
