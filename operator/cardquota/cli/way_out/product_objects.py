"""The product's objects at the API server, for the commands that change them with the rights of an
administrator. The operator need not run.

An object is the product's if it has the label of one of its parts *and* a name that begins as all
of its names do. Whoever has one of the two by chance is left alone.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import Client
from ...install.manifests import plural
from ...quota import vocabulary as v
from ...quota.words import show
from ...settings import Settings
from ..reading import NOT_FOUND, ClusterError, inner, not_listed, not_read, without_call

TAKES_UP: Final = 3.0
"""Seconds after which every API server has taken up a change of a policy or webhook: they watch
them, and some lag by a second."""
NAME_LABEL: Final = "app.kubernetes.io/name"
PARTS: Final = ("cardquota", "cardquota-scheduler", "cardquota-node")
"""Values of that label."""
TERM_DEFINITION: Final = f"{v.TERMS}.{v.REVIEW_GROUP}"
DEFINITIONS: Final = (
    *(f"{kind}.{v.API_GROUP}" for kind in ("queues", "podgroups")),
    *(f"{kind}.{v.REVIEW_GROUP}" for kind in (v.QUEUE_REVIEWS, v.WORKLOAD_REVIEWS)),
    TERM_DEFINITION,
)
"""The definitions of the product's kinds, by name."""
ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
_TRIES: Final = 5
"""Of a write that somebody else's overtakes: the operator writes paths, every ten minutes."""


class ProductObject(NamedTuple):
    """One object, as it was read."""

    kind: str
    namespace: str
    """Empty: in none."""
    name: str
    path: str
    body: dict[str, Any]

    def __str__(self) -> str:
        """For people."""
        return in_words(self.kind, self.namespace, self.name)


def in_words(kind: str, namespace: str, name: str) -> str:
    """An object, for people."""
    where = f"{namespace}/{name}" if namespace else name
    return f"{kind} <{show(where)}>"


def is_products(name: str, settings: Settings) -> bool:
    """Whether a name begins as those of the product's objects do."""
    return any(
        name == begin or name.startswith(f"{begin}-") for begin in (PARTS[0], settings.webhook.name)
    )


async def products(
    client: Client, group: str, kind: str, settings: Settings, *, namespaced: bool = False
) -> list[ProductObject]:
    """The product's objects of a kind, by name; none if there is no such kind. `group`: its path.
    Errors: ClusterError.
    """
    path, found = f"{group}/{plural(kind)}", []
    selector = {"labelSelector": f"{NAME_LABEL} in ({','.join(PARTS)})"}
    try:
        answer = msgspec.json.decode(await client.get(path, params=selector))
    except ApiError as error:
        if error.status == NOT_FOUND:
            return []
        raise ClusterError(not_listed(plural(kind), str(error))) from error
    except OutcomeUnknown as error:
        raise ClusterError(not_listed(plural(kind), str(error))) from error
    version = group.removeprefix("/apis/").removeprefix("/api/")
    for item in answer.get("items") or ():
        meta = item["metadata"]
        name, namespace = meta["name"], meta.get("namespace", "")
        if is_products(name, settings) and bool(namespace) is namespaced:
            where = f"{group}/namespaces/{namespace}/{plural(kind)}" if namespaced else path
            body = {"apiVersion": version, "kind": kind, **item}
            found.append(ProductObject(kind, namespace, name, f"{where}/{name}", body))
    return found


Change = Callable[[dict[str, Any]], dict[str, Any]]


async def change(client: Client, path: str, to: Change) -> bool:
    """Bring one object to what `to` makes of it; whether that was a change. One that is gone is
    none. Errors: ClusterError.
    """
    for left in reversed(range(_TRIES)):
        try:
            found = msgspec.json.decode(await client.get(path))
            wanted = to(found)
            if wanted == found:
                return False
            await client.send("PUT", path, wanted)
        except ApiError as error:
            if error.status == NOT_FOUND:
                return False
            if error.status != 409 or not left:
                raise ClusterError(not_changed(path, str(error))) from error
        except OutcomeUnknown as error:
            raise ClusterError(not_changed(path, without_call(str(error)))) from error
        else:
            return True
    raise AssertionError("the last try returns or raises")


def not_changed(path: str, why: str) -> str:
    """One write was refused, or its outcome is not known."""
    kind, _, name = path.rpartition("/")
    return f"{kind.rpartition('/')[2]} {show(name)} was not changed: {why}; run the command again"


async def whoami(client: Client) -> str:
    """The user name by which the API server knows us. Errors: ClusterError."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    try:
        text = await client.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", body)
        found = inner(msgspec.json.decode(text), "status", "userInfo", "username")
    except (ApiError, OutcomeUnknown) as error:
        raise ClusterError(not_read("who you are", str(error))) from error
    return str(found)
