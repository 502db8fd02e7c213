"""Whatever the webhook objects send us, somebody answers: a request that nobody knows is refused,
whatever the failure policy says.
"""

from typing import Any

import pytest

from cardquota.install import documents, webhook_paths
from cardquota.quota.messages import answer_messages
from cardquota.settings import Settings

from .endpoint import Endpoint

REFUSED_WRITES = "cardquota_refused_writes_total"


def sent_to_us() -> list[tuple[str, str, str]]:
    """Path, API group and resource of every rule that an administrator applies."""
    found = []
    settings = Settings(scheduler="volcano")
    paths = webhook_paths(settings)
    for configuration in documents(settings):
        if "webhooks" not in configuration:
            continue
        webhook: dict[str, Any]
        path = paths[f"{configuration['kind'].lower()}s/{configuration['metadata']['name']}"]
        for webhook in configuration["webhooks"]:
            rules = webhook["rules"]
            found += [(path, rule["apiGroups"][0], rule["resources"][0]) for rule in rules]
    return found


@pytest.mark.parametrize(("path", "group", "resource"), sent_to_us())
async def test_what_we_ask_for_is_answered(path: str, group: str, resource: str) -> None:
    kind, _, sub = resource.partition("/")
    request = {
        "uid": "u",
        "resource": {"group": group, "version": "v1", "resource": kind},
        "subResource": sub,
        "oldObject": {"metadata": {"name": "web"}},
        "operation": "CREATE",
        "name": "web",
        "namespace": "team",
        "object": {"metadata": {"name": "web"}},
    }
    async with Endpoint() as endpoint:
        said = await endpoint.review(path, request)
    # What is no dry run is refused there, by whoever answers questions.
    assert said.allowed or said.text == answer_messages.send_as_dry_run(kind)


@pytest.mark.parametrize(
    ("resource", "sub", "dry_run", "counted"),
    [
        ("pods", "binding", False, {"binding": 1}),
        ("bindings", "", False, {"binding": 1}),
        ("pods", "", False, {"group": 1}),
        ("pods", "", True, {}),
        *((resource, sub, False, {}) for resource, sub in (("pods", "resize"), ("queues", ""))),
        ("deployments", "scale", False, {}),
    ],
)
async def test_v1_where_others_decide_nothing_is_refused_and_what_they_refuse_is_counted(
    resource: str, sub: str, dry_run: bool, counted: dict[str, int]
) -> None:
    """Not even what does not belong there."""
    about = {"group": "", "version": "v1", "resource": resource}
    request: dict[str, Any] = {"uid": "u", "resource": about, "operation": "UPDATE", "name": "web"}
    request |= {"subResource": sub, "namespace": "team", "object": [], "dryRun": dry_run}
    async with Endpoint() as endpoint:
        said = await endpoint.review("/observe", request)
    assert said.allowed
    for what in ("binding", "group"):
        value = endpoint.metrics.registry.get_sample_value(REFUSED_WRITES, {"what": what})
        assert value == counted.get(what, 0)
