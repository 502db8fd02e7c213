"""The users of the API server: one static token and one kubeconfig each.

Only the administrator, kwok and a kubelet are in `system:masters`. Controller manager, scheduler
and product are the same users as in any cluster, so their real roles are tested.
"""

import base64
import secrets
from dataclasses import dataclass
from pathlib import Path

from ..folder import Folder, write_private, write_private_json
from .keys import Keys

PRODUCT_NAMESPACE = "cardquota-system"
"""The product's own namespace."""

PRODUCT_ACCOUNT = "cardquota"
"""The product's service account in it."""

USAGE_USER = "usage"
"""The user of the stand-in for metrics."""


@dataclass(frozen=True)
class Identity:
    """A user with a token."""

    name: str
    user: str
    groups: tuple[str, ...]
    kubeconfig: Path
    token: str


def make_identities(folder: Folder, *, usage: bool = False, node: str = "") -> dict[str, Identity]:
    """All identities by name, each with a new token. Writes the token file.

    `usage`: whether the stand-in for metrics has one too. `node`: the name of the node whose
    kubelet has one, if there is such a node.
    """
    masters = ("system:masters",)
    accounts = "system:serviceaccounts"
    rows = [
        ("admin", "admin", masters, folder.kubeconfig),
        ("tenant", "tenant", (), folder.tenant_kubeconfig),
        (
            "product",
            f"system:serviceaccount:{PRODUCT_NAMESPACE}:{PRODUCT_ACCOUNT}",
            (accounts, f"{accounts}:{PRODUCT_NAMESPACE}", "system:authenticated"),
            folder.product_kubeconfig,
        ),
        ("kwok", "kwok", masters, folder.private / "kubeconfig-kwok"),
        *(
            (name, f"system:{name}", (), folder.private / f"kubeconfig-{name}")
            for name in ("kube-controller-manager", "kube-scheduler")
        ),
    ]
    if usage:
        rows.append(("usage", USAGE_USER, (), folder.private / "kubeconfig-usage"))
    if node:
        kubelet = folder.private / "kubeconfig-kubelet"
        rows.append(("kubelet", f"system:node:{node}", ("system:nodes", *masters), kubelet))
    identities = {row[0]: Identity(*row, token=secrets.token_urlsafe(32)) for row in rows}
    lines = [
        f'{one.token},{one.user},{one.name},"{",".join(one.groups)}"' for one in identities.values()
    ]
    write_private(token_file(folder), "\n".join(lines) + "\n")
    return identities


def token_file(folder: Folder) -> Path:
    """The file of tokens that the API server reads."""
    return folder.private / "tokens.csv"


def write_kubeconfigs(identities: dict[str, Identity], server: str, keys: Keys) -> None:
    """Write each identity's kubeconfig, complete in itself."""
    authority = base64.b64encode(keys.authority.read_bytes()).decode()
    for one in identities.values():
        cluster = {"server": server, "certificate-authority-data": authority}
        write_private_json(
            one.kubeconfig,
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "plane", "cluster": cluster}],
                "users": [{"name": one.name, "user": {"token": one.token}}],
                "contexts": [{"name": one.name, "context": {"cluster": "plane", "user": one.name}}],
                "current-context": one.name,
            },
        )
