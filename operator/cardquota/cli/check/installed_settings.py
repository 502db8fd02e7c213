"""The settings that the installed operator runs with: its ConfigMap, environment and arguments.

Who looks at an installation with other settings than its own is told to undo what was meant.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

import yaml

from ...cluster.api.client import Client
from ...quota import vocabulary as v
from ...quota.words import show
from ...settings import ENVIRONMENT_PREFIX, Settings, SettingsError, settings_from
from ..reading import Answer, NotRead, inner, read_object

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
    """Read from the operator's Deployment and from what it names; without a Deployment, as where
    the operator runs outside the cluster, from the ConfigMap `cardquota`.

    `own`: of this command, used where the operator's cannot be read; `own.namespace` says where it
    is installed. Variables of this command's own environment override the operator's.
    Not read: values from Secrets and from fields of the pod. Of these only the secret of Volcano's
    path has no effect on anything that is compared.
    Errors: ClusterError.
    """
    where = f"/apis/apps/v1/namespaces/{own.namespace}/deployments/{v.DEPLOYMENT}"
    deployment = await read_object(client, where, "the operator's Deployment")
    if isinstance(deployment, NotRead):
        return InstalledSettings(own, (_unread(deployment.why),))
    container = _container(deployment)
    source = _BY_CONVENTION if deployment is None else _source(deployment, container)
    environment, maps, unread = _environment(container)
    names = {name for name, _ in maps} | ({source[0]} if source is not None else set())
    read = {name: await _config_map(client, own.namespace, name) for name in sorted(names)}
    notes = [one.why for one in read.values() if isinstance(one, NotRead)]
    if unread:
        some = ", ".join(map(show, unread[:5]))
        notes.append(f"the values of {some} stand elsewhere")
    for name, key in maps:
        data = inner(read[name], "data") or {}
        found = data if key is None else {key[0]: data.get(key[1])}
        environment = {**{str(k): one for k, one in found.items() if one}, **environment}
    text, origin = "", own.namespace
    if source is not None:
        text = inner(read[source[0]], "data", source[1]) or ""
        origin = f"ConfigMap {own.namespace}/{source[0]}, {source[1]}"
        if deployment is None and not text:
            return InstalledSettings(own, (_unread(_NO_DEPLOYMENT),))
    try:
        values = yaml.safe_load(text) or {}
        found_settings = settings_from(values, origin, environment)
    except (SettingsError, yaml.YAMLError, RecursionError) as error:
        return InstalledSettings(own, (_unread(" ".join(str(error).split())),))
    return InstalledSettings(found_settings, tuple(map(_unread, notes)))


def _unread(why: str) -> str:
    return (
        f"the operator's settings are not all known: {why}; for those the defaults are taken: name "
        "the operator's configuration with --config"
    )


async def _config_map(client: Client, namespace: str, name: str) -> Answer:
    path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
    return await read_object(client, path, f"ConfigMap <{namespace}/{name}>")


def _container(deployment: Answer) -> Mapping[str, Any]:
    """The operator's, by its name; else the first."""
    found = list(_each(deployment, "spec", "template", "spec", "containers"))
    named = (one for one in found if one.get("name") == v.DEPLOYMENT)
    return next(named, found[0] if found else {})


def _source(deployment: Answer, container: Mapping[str, Any]) -> tuple[str, str] | None:
    """ConfigMap and key behind the path of `--config`; None if there is no such option, or the file
    comes from elsewhere.
    """
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    path = _option([str(one) for one in words])
    if not path:
        return None
    template = inner(deployment, "spec", "template", "spec")
    volumes = {one.get("name"): one for one in _each(template, "volumes")}
    mounts = _each(container, "volumeMounts")
    for mount in sorted(mounts, key=lambda one: len(str(one.get("mountPath"))), reverse=True):
        at = PurePosixPath(str(mount.get("mountPath")))
        if not PurePosixPath(path).is_relative_to(at):
            continue
        inside = PurePosixPath(mount.get("subPath") or "") / PurePosixPath(path).relative_to(at)
        volume = volumes.get(mount.get("name"))
        for config in (inner(volume, "configMap"), *_projected(volume)):
            name = inner(config, "name")
            items = {one.get("path"): one.get("key") for one in _each(config, "items")}
            if isinstance(name, str):
                return name, str(items.get(str(inside), inside))
        return None
    return None


def _projected(volume: object) -> Iterator[Any]:
    return (inner(one, "configMap") for one in _each(volume, "projected", "sources"))


def _option(words: list[str]) -> str:
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == _CONFIG:
            return following
        if word.startswith(f"{_CONFIG}="):
            return word.partition("=")[2]
    return ""


def _environment(
    container: Mapping[str, Any],
) -> tuple[dict[str, str], list[tuple[str, tuple[str, str] | None]], list[str]]:
    """The variables with their values; ConfigMaps that hold others, each with the variable and key,
    or None for all of it; and the names of settings that stand elsewhere.
    """
    values: dict[str, str] = {}
    maps: list[tuple[str, tuple[str, str] | None]] = []
    unread: list[str] = []
    for one in _each(container, "env"):
        name, key = str(one.get("name")), inner(one, "valueFrom", "configMapKeyRef")
        if key is not None:
            maps.append((str(inner(key, "name")), (name, str(inner(key, "key")))))
        elif "valueFrom" not in one:
            values[name] = str(one.get("value", ""))
        elif name.startswith(ENVIRONMENT_PREFIX) and name != _PATH_SECRET:
            unread.append(name)
    for one in _each(container, "envFrom"):
        name = inner(one, "configMapRef", "name")
        if isinstance(name, str) and not one.get("prefix"):
            maps.append((name, None))
        else:
            unread.append("envFrom")
    return values, maps, unread


def _each(parent: object, *keys: str) -> Iterator[Mapping[str, Any]]:
    found = inner(parent, *keys)
    return (one for one in found if isinstance(one, dict)) if isinstance(found, list) else iter(())
