"""With which settings an installation is compared: its own, wherever they stand."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from cardquota.cli.installed_settings import InstalledSettings, read_installed_settings
from cardquota.cluster.api import Client
from cardquota.settings import InstallationMode, Settings

from ..answering_api import FORBIDDEN
from .test_installed import DEPLOYMENT, ApiServer, client, server

__all__ = ["client", "server"]  # fixtures

BASE = Path(__file__).parents[4] / "manifests" / "base"
MAPS = "/api/v1/namespaces/cardquota-system/configmaps/"


def deployment(**container: Any) -> dict[str, Any]:
    """That of the base, with something else in its container."""
    found: dict[str, Any] = yaml.safe_load((BASE / "deployment.yaml").read_text())
    found["spec"]["template"]["spec"]["containers"][0].update(container)
    return found


def config_map(text: str, key: str = "config.yaml") -> tuple[int, str]:
    return 200, json.dumps({"data": {key: text}})


async def read(client: Client) -> InstalledSettings:
    return await read_installed_settings(client, Settings())


def install(server: ApiServer, deployment: dict[str, Any], **maps: tuple[int, str]) -> None:
    server.answers = {DEPLOYMENT: [(200, json.dumps(deployment))]}
    server.answers |= {MAPS + name.replace("_", "-"): [found] for name, found in maps.items()}


async def test_the_file_that_the_arguments_name(client: Client, server: ApiServer) -> None:
    install(server, deployment(), cardquota=config_map("{mode: audit, reservationTimeout: 7}"))
    settings, notes = await read(client)
    assert (settings.mode, settings.reservation_timeout, notes) == (InstallationMode.AUDIT, 7, ())


@pytest.mark.parametrize(
    ("arguments", "mount", "volume"),
    [
        (["run", "--config=/c/d/k"], {"mountPath": "/c/d"}, {}),
        (["run", "--config", "/c/a.yaml"], {"mountPath": "/c/a.yaml", "subPath": "k"}, {}),
        (
            ["run", "--config", "/c/d/a.yaml"],
            {"mountPath": "/c/d"},
            {"items": [{"key": "k", "path": "a.yaml"}]},
        ),
    ],
)
async def test_wherever_the_file_is_mounted(
    client: Client,
    server: ApiServer,
    arguments: list[str],
    mount: dict[str, Any],
    volume: dict[str, Any],
) -> None:
    mounts = [{"name": "outer", "mountPath": "/c"}, {"name": "config", **mount}]
    found = deployment(args=arguments, volumeMounts=mounts)
    found["spec"]["template"]["spec"]["volumes"] = [
        {"name": "outer", "configMap": {"name": "outer"}},
        {"name": "config", "configMap": {"name": "other", **volume}},
    ]
    install(server, found, other=config_map("mode: audit", "k"), outer=config_map("mode: odd"))
    settings, notes = await read(client)
    assert (settings.mode, notes) == (InstallationMode.AUDIT, ())


async def test_the_environment_overrides_the_file(client: Client, server: ApiServer) -> None:
    env = [
        {"name": "CARDQUOTA_MODE", "value": "audit"},
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    ]
    file = config_map("{mode: enforce, requireQueue: true}")
    install(server, deployment(env=env), cardquota=file)
    settings, notes = await read(client)
    assert (settings.mode, settings.require_queue) == (InstallationMode.AUDIT, True)
    assert notes == ()


SECRET = {"secretKeyRef": {"name": "s", "key": "k"}}


@pytest.mark.parametrize(
    ("container", "note"),
    [
        ({"env": [{"name": "CARDQUOTA_VOLCANO__ENQUEUE__PATH_SECRET", "valueFrom": SECRET}]}, ""),
        ({"env": [{"name": "CARDQUOTA_MODE", "valueFrom": SECRET}]}, "CARDQUOTA_MODE"),
        ({"env": [{"name": "CARDQUOTA_VENDORS", "value": "oops"}]}, "vendors"),
        ({"envFrom": [{"secretRef": {"name": "all"}}]}, "envFrom"),
        ({"args": ["run", "--config", "/elsewhere/config.yaml"]}, "/elsewhere/config.yaml"),
    ],
)
async def test_what_cannot_be_read_is_said_unless_nothing_depends_on_it(
    client: Client, server: ApiServer, container: dict[str, Any], note: str
) -> None:
    install(server, deployment(**container), cardquota=config_map("mode: audit"))
    settings, notes = await read(client)
    assert len(notes) == bool(note)
    assert all(note in one for one in notes)
    assert settings.mode is not InstallationMode.AUDIT or "oops" not in str(container)


async def test_ones_own_environment_comes_first(
    client: Client, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(server, deployment(), cardquota=config_map("mode: audit"))
    monkeypatch.setenv("CARDQUOTA_MODE", "enforce")
    assert (await read(client)).settings.mode is InstallationMode.ENFORCE


async def test_without_a_deployment_that_of_the_base(client: Client, server: ApiServer) -> None:
    server.answers = {MAPS + "cardquota": [config_map("mode: audit")]}
    settings, notes = await read(client)
    assert (settings.mode, notes) == (InstallationMode.AUDIT, ())


THERE = {DEPLOYMENT: [(200, json.dumps(deployment()))]}
OURS = MAPS + "cardquota"
THE_FILE = "ConfigMap cardquota-system/cardquota, config.yaml"


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({}, "there is no Deployment and no ConfigMap <cardquota>"),
        ({DEPLOYMENT: [FORBIDDEN]}, "you may not read the operator's Deployment"),
        (THERE | {OURS: [FORBIDDEN]}, "you may not read ConfigMap <cardquota-system/cardquota>"),
        (THERE | {OURS: [config_map("mode: odd")]}, f"{THE_FILE}: mode"),
        (THERE | {OURS: [config_map("", "x")]}, f"there is no {THE_FILE}"),
        (THERE | {OURS: [config_map("[1")]}, "while parsing"),
        (THERE | {OURS: [config_map("- 1")]}, "must hold a mapping"),
    ],
)
async def test_what_is_not_known_is_said(
    client: Client, server: ApiServer, answers: dict[str, Any], why: str
) -> None:
    server.answers = answers
    settings, (note,) = await read(client)
    assert why in note
    assert "--config" in note
    assert settings.mode is InstallationMode.ENFORCE
