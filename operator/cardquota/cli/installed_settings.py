"""The settings that the installed operator runs with: its ConfigMap, environment and arguments.

Who looks at an installation with other settings than its own is told to undo what was meant.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

import yaml

from ..cluster.api.client import Client
from ..quota import vocabulary as v
from ..quota.words import show
from ..settings import ENVIRONMENT_PREFIX, Settings, SettingsError, settings_from
from .reading import Answer, NotRead, inner, read_object

_CONFIG: Final = "--config"
_BY_CONVENTION: Final = ("cardquota", "config.yaml")
"""ConfigMap and key of manifests/base. Read where no Deployment says which."""
_NO_DEPLOYMENT: Final = "there is no Deployment and no ConfigMap <cardquota> with its configuration"
_PATH_SECRET: Final = f"{ENVIRONMENT_PREFIX}VOLCANO__ENQUEUE__PATH_SECRET"


class InstalledSettings(NamedTuple):
    """Settings, and what of them is not known."""

    settings: Settings
    notes: tuple[str, ...] = ()
    """Why some of them may be others than the operator's. Empty: they are its own."""


async def read_installed_settings(client: Client, own: Settings) -> InstalledSettings:
    """Read from the operator's Deployment, with its arguments and environment, and from the
    ConfigMap with its file; without a Deployment, as where the operator runs outside the cluster,
    from the ConfigMap `cardquota`.

    `own`: of this command, used where the operator's cannot be read; `own.namespace` says where it
    is installed. Variables of this command's own environment override the operator's.
    Not read: files that are no key of a ConfigMap, and variables whose values stand elsewhere. Of
    these only the secret of Volcano's path has no effect on anything that is compared.
    Errors: ClusterError.
    """
    where = f"/apis/apps/v1/namespaces/{own.namespace}/deployments/{v.DEPLOYMENT}"
    deployment = await read_object(client, where, "the operator's Deployment")
    if isinstance(deployment, NotRead):
        return InstalledSettings(own, (_unread(deployment.why),))
    container = operators_container(deployment)
    environment, elsewhere = _environment(container)
    path = _option(container)
    source = _BY_CONVENTION if deployment is None else _source(deployment, container, path)
    if path and source is None:
        elsewhere.append(path)
    notes = []
    text, origin = "", own.namespace
    if source is not None:
        name, key = source
        origin = f"ConfigMap {own.namespace}/{name}, {key}"
        where = f"/api/v1/namespaces/{own.namespace}/configmaps/{name}"
        found = await read_object(client, where, f"ConfigMap <{own.namespace}/{name}>")
        if isinstance(found, NotRead):
            notes.append(found.why)
        stored = inner(found, "data", key)
        if deployment is None and not stored:
            return InstalledSettings(own, (_unread(_NO_DEPLOYMENT),))
        text = stored or ""
        if stored is None and not notes:
            notes.append(f"there is no {origin}")
    if elsewhere:
        notes.append(f"the values of {', '.join(map(show, elsewhere[:5]))} stand elsewhere")
    try:
        settings = settings_from(yaml.safe_load(text) or {}, origin, environment)
    except (SettingsError, yaml.YAMLError, RecursionError) as error:
        return InstalledSettings(own, (_unread(" ".join(str(error).split())),))
    return InstalledSettings(settings, tuple(map(_unread, notes)))


def _unread(why: str) -> str:
    return (
        f"the operator's settings are not all known: {why}; for those the defaults are taken: name "
        "the operator's configuration with --config"
    )


def operators_container(deployment: Answer) -> Mapping[str, Any]:
    """The operator's, by its name; else the first."""
    found = list(_each(deployment, "spec", "template", "spec", "containers"))
    named = (one for one in found if one.get("name") == v.DEPLOYMENT)
    return next(named, found[0] if found else {})


def _source(deployment: Answer, container: Mapping[str, Any], path: str) -> tuple[str, str] | None:
    """ConfigMap and key of the file at a path of the container; None: it comes from elsewhere."""
    template = inner(deployment, "spec", "template", "spec")
    volumes = {one.get("name"): one for one in _each(template, "volumes")}
    mounts = [
        mount
        for mount in _each(container, "volumeMounts")
        if PurePosixPath(path).is_relative_to(str(mount.get("mountPath")))
    ]
    mount = max(mounts, key=lambda one: len(str(one.get("mountPath"))), default={})
    config = inner(volumes.get(mount.get("name")), "configMap")
    name = inner(config, "name")
    if not isinstance(name, str):
        return None
    below = PurePosixPath(path).relative_to(str(mount.get("mountPath")))
    inside = str(PurePosixPath(mount.get("subPath") or "") / below)
    renamed = {one.get("path"): str(one.get("key")) for one in _each(config, "items")}
    return name, renamed.get(inside, inside)


def _option(container: Mapping[str, Any]) -> str:
    """The value of `--config`."""
    given = (*(container.get("command") or ()), *(container.get("args") or ()))
    words = [*map(str, given), ""]
    for word, following in pairwise(words):
        if word == _CONFIG:
            return following
        if word.startswith(f"{_CONFIG}="):
            return word.partition("=")[2]
    return ""


def _environment(container: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """The variables with their values, and the names of settings whose values stand elsewhere."""
    values: dict[str, str] = {}
    elsewhere = ["envFrom" for _ in _each(container, "envFrom")]
    for one in _each(container, "env"):
        name = str(one.get("name"))
        if "valueFrom" not in one:
            values[name] = str(one.get("value", ""))
        elif name.startswith(ENVIRONMENT_PREFIX) and name != _PATH_SECRET:
            elsewhere.append(name)
    return values, elsewhere


def _each(parent: object, *keys: str) -> Iterator[Mapping[str, Any]]:
    found = inner(parent, *keys)
    return (one for one in found if isinstance(one, dict)) if isinstance(found, list) else iter(())
