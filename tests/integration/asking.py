"""One request to the API server or to the product, and what it answered."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from urllib3 import HTTPHeaderDict

from cardquota_dev.testing import Cluster

MERGE = "application/merge-patch+json"

Object = dict[str, Any]


@dataclass(frozen=True)
class ApiReply:
    """What the API server answered."""

    code: int
    body: Object
    warnings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return self.code < 300

    @property
    def reason(self) -> str:
        return str(self.body.get("reason", ""))

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))

    @property
    def said(self) -> str:
        """The warnings and the refusal, as kubectl shows them."""
        lines = [f"Warning: {text}" for text in self.warnings]
        if not self.ok:
            lines.append(f"Error from server ({self.reason}): {self.message}")
        return "\n".join(lines)


def ask(
    cluster: Cluster,
    method: str,
    path: str,
    body: object = None,
    *,
    content_type: str = "application/json",
    as_user: str = "",
    as_groups: Iterable[str] = (),
    as_node: str = "",
) -> ApiReply:
    """One request as the administrator, or as somebody else by impersonation. `as_node`: on which
    node the pod is whose token that is.
    """
    headers = HTTPHeaderDict({"Content-Type": content_type, **credentials(cluster)})
    if as_user:
        headers["Impersonate-User"] = as_user
    for group in as_groups:
        headers.add("Impersonate-Group", group)
    if as_node:
        headers["Impersonate-Extra-authentication.kubernetes.io%2Fnode-name"] = as_node
    answer = cluster.admin.rest_client.pool_manager.request(
        method,
        cluster.admin.configuration.host + path,
        body=None if body is None else json.dumps(body),
        headers=headers,
        timeout=30.0,
    )
    warnings = tuple(
        text.split('"', 1)[1].rstrip('"').replace('\\"', '"')
        for text in answer.headers.getlist("Warning")
    )
    try:
        found = json.loads(answer.data)
    except ValueError:  # of a kind that is not there nothing but a line of text is said
        found = {"message": answer.data.decode()}
    return ApiReply(answer.status, found, warnings)


def credentials(cluster: Cluster) -> dict[str, str]:
    """Headers of the administrator."""
    key = cluster.admin.configuration.get_api_key_with_prefix("authorization")
    key = key or cluster.admin.configuration.get_api_key_with_prefix("BearerToken")
    return {"Authorization": key}


def metric(cluster: Cluster, name: str, **labels: str) -> float:
    """The sum of a metric of the first replica over all rows with these labels."""
    return _metric(cluster, cluster.state.process("cardquota-0").address, name, labels)


def highest_metric(cluster: Cluster, name: str, **labels: str) -> float:
    """The same of the replica that has most."""
    replicas = (one for one in cluster.state.processes if one.name.startswith("cardquota-"))
    return max(_metric(cluster, one.address, name, labels) for one in replicas)


def _metric(cluster: Cluster, address: str, name: str, labels: Mapping[str, str]) -> float:
    page = cluster.admin.rest_client.pool_manager.request("GET", f"{address}/metrics")
    lines = page.data.decode().splitlines()
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    return sum(
        float(line.rpartition(" ")[2])
        for line in lines
        if line.partition("{")[0].partition(" ")[0] == name and all(w in line for w in wanted)
    )
