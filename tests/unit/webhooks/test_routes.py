"""Whatever the webhook objects send us, somebody answers: a request that nobody knows is refused,
whatever the failure policy says.
"""

from typing import Any

import pytest

from cardquota.install.manifests import documents, webhook_paths
from cardquota.quota.messages import answer_messages
from cardquota.settings import Settings

from .endpoint import Endpoint


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
    ("resource", "sub", "broken"),
    [
        *(("pods", "binding", ""), ("bindings", "", ""), ("pods", "", ""), ("pods", "", "no room")),
        *(("pods", "resize", ""), ("deployments", "scale", ""), ("queues", "", "")),
    ],
)
async def test_where_others_decide_nothing_is_refused(resource: str, sub: str, broken: str) -> None:
    """Not even what does not belong there, nor when we have made a mistake."""
    request = {
        "uid": "u",
        "resource": {"group": "", "version": "v1", "resource": resource},
        "subResource": sub,
        "operation": "UPDATE",
        "name": "web",
        "namespace": "team",
        "object": [],
    }
    async with Endpoint() as endpoint:
        endpoint.broken = broken
        said = await endpoint.review("/observe", request)
    noticed = resource == "bindings" or (resource == "pods" and sub != "resize")
    assert said.allowed
    assert len(endpoint.refused) == (noticed and not broken)
