"""Names and kinds of objects on the command line, checked before anybody is asked about them."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import typer

from ..quota.limits import is_object_name
from ..quota.words import show

_LONGEST: Final = 60
"""Characters of what was written that are shown."""


class MissingNameError(typer.BadParameter):
    """No name was written. Says how to write the command."""

    def __init__(self, usage: str) -> None:
        """`usage`: the arguments of the command, as `KIND NAME`."""
        super().__init__("", param_hint="NAME")
        self._usage = usage

    def format_message(self) -> str:
        """In one line."""
        command = self.ctx.command_path if self.ctx is not None else ""
        return f"Missing argument 'NAME'; usage: {command} {self._usage}"


def checked_name(name: str, *, of: str = "object", hint: str = "NAME") -> None:
    """Raises BadParameter if no object can have this name. `of`: the kind of object.
    `hint`: the argument, or the option.
    """
    if not is_object_name(name):
        article = "an" if of[0] in "aeiou" else "a"
        raise typer.BadParameter(f"{quoted(name)} is not {article} {of} name", param_hint=hint)


def checked_namespace(namespace: str) -> None:
    """The same of the option -n, which may be left out."""
    if namespace:
        checked_name(namespace, of="namespace", hint="-n")


def quoted(text: str) -> str:
    """What was written, safe to show and not too long."""
    return f"'{show(text, most=_LONGEST)}'"


_VOLCANO: Final = "batch.volcano.sh/v1alpha1"
_KUBERNETES: Final = "batch/v1"


class NamedKind(NamedTuple):
    """A kind, and its API version where the kind alone does not tell it."""

    kind: str
    api_version: str = ""


_KNOWN: Final[Mapping[str, NamedKind]] = {
    name: kind
    for kind, names in {
        NamedKind("Pod"): ("pod", "pods", "po"),
        NamedKind("PodGroup"): ("podgroup", "podgroups", "pg"),
        NamedKind("Deployment"): ("deployment", "deployments", "deploy", "deployments.apps"),
        NamedKind("StatefulSet"): ("statefulset", "statefulsets", "sts", "statefulsets.apps"),
        NamedKind("DaemonSet"): ("daemonset", "daemonsets", "ds", "daemonsets.apps"),
        NamedKind("ReplicaSet"): ("replicaset", "replicasets", "rs", "replicasets.apps"),
        NamedKind("Job"): ("job", "jobs"),
        NamedKind("Job", _KUBERNETES): ("job.batch", "jobs.batch"),
        NamedKind("Job", _VOLCANO): (
            "vcjob",
            "vj",
            "job.batch.volcano.sh",
            "jobs.batch.volcano.sh",
        ),
    }.items()
    for name in names
}
KNOWN: Final = (
    "pod, deployment (deploy), statefulset (sts), daemonset (ds), replicaset (rs), job, "
    "podgroup (pg), vcjob"
)
_KIND: Final = re.compile(r"[A-Z][A-Za-z0-9]{0,62}", re.ASCII)


def named_kind(text: str) -> NamedKind | None:
    """None: no kind has this name. One that begins with a capital is taken as it is: any kind may
    be the controller of pods.
    """
    known = _KNOWN.get(text.lower())
    if known is not None:
        return known
    return NamedKind(text) if _KIND.fullmatch(text) else None
