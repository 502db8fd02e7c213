"""`cardquota uninstall`: takes the product away, in an order that leaves no window (U5, U6).

First goes what refuses or gates pods, then the operator, then the rest: so no pod is refused since
nobody answers, or created with a gate that nobody opens. What is there is listed anew each time, so
one that was cut off is done again.
"""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import Client
from ...install.pause import DEMANDS
from ...quota import vocabulary as v
from ...quota.words import counted, first_of, show
from ...settings import Settings
from ..installed_settings import read_installed_settings
from ..output import ClusterChoice
from ..reading import NOT_FOUND, ClusterError, NotRead, client_of, done, inner, read_object
from .changes import Changes
from .gates import gated_pods, open_gates
from .product_objects import (
    ADMISSION,
    DEFINITIONS,
    NAME_LABEL,
    PARTS,
    TAKES_UP,
    ProductObject,
    in_words,
    is_products,
    products,
)


class _Kind(NamedTuple):
    group: str
    kind: str
    namespaced: bool = False


_APPS: Final = "/apis/apps/v1"
_RBAC: Final = "/apis/rbac.authorization.k8s.io/v1"
_FLOW: Final = "/apis/flowcontrol.apiserver.k8s.io/v1"
_EXTENSIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_BINDING: Final = _Kind(ADMISSION, "ValidatingAdmissionPolicyBinding")
_WEBHOOKS: Final = (
    _Kind(ADMISSION, "MutatingWebhookConfiguration"),
    _Kind(ADMISSION, "ValidatingWebhookConfiguration"),
)
_SETS_GATE: Final = (_Kind(ADMISSION, "MutatingAdmissionPolicyBinding"),)
_RUNS: Final = (_Kind(_APPS, "Deployment", True), _Kind(_APPS, "DaemonSet", True))
_REST: Final = (
    _Kind(ADMISSION, "MutatingAdmissionPolicy"),
    _Kind(ADMISSION, "ValidatingAdmissionPolicy"),
    _Kind(_FLOW, "FlowSchema"),
    _Kind(_FLOW, "PriorityLevelConfiguration"),
    _Kind(_RBAC, "ClusterRoleBinding"),
    _Kind(_RBAC, "ClusterRole"),
    _Kind(_RBAC, "RoleBinding", True),
    _Kind(_RBAC, "Role", True),
    _Kind("/apis/policy/v1", "PodDisruptionBudget", True),
    _Kind("/apis/networking.k8s.io/v1", "NetworkPolicy", True),
    _Kind("/apis/monitoring.coreos.com/v1", "PrometheusRule", True),
    _Kind("/apis/monitoring.coreos.com/v1", "PodMonitor", True),
    _Kind("/apis/monitoring.coreos.com/v1", "ServiceMonitor", True),
    _Kind("/apis/cert-manager.io/v1", "Certificate", True),
    _Kind("/apis/cert-manager.io/v1", "Issuer", True),
    _Kind("/api/v1", "Service", True),
    _Kind("/api/v1", "ConfigMap", True),
    _Kind("/api/v1", "ServiceAccount", True),
)
_OTHERS: Final = (
    *(f"/api/v1/{{}}/{it}" for it in ("pods", "configmaps", "secrets", "services")),
    "/api/v1/{}/persistentvolumeclaims",
    *(f"{_APPS}/{{}}/{it}" for it in ("deployments", "statefulsets", "daemonsets")),
    *(f"/apis/batch/v1/{{}}/{it}" for it in ("jobs", "cronjobs")),
)
"""Where something of others is looked for in the operator's namespace."""
_NAME: Final = ("metadata", "labels", NAME_LABEL)
_OF_ALL_NAMESPACES: Final = ("kube-root-ca.crt",)
_OF_USERS: Final = {"queues": "Queue", "podgroups": "PodGroup"}
_VOLCANO: Final = "jobs.batch.volcano.sh"
"""The definition that only Volcano has."""
_PODS_END: Final = 60
"""Seconds to wait for the operator's pods."""


def uninstall(
    settings: Settings,
    *,
    given: bool,
    opens: bool,
    crds: bool,
    cluster: ClusterChoice,
    changes: Changes,
) -> None:
    """`given`: whether `settings` are the operator's; else they are read. `opens`: whether the
    gates are opened that are shut then. `crds`: whether the definitions go too, with all objects of
    theirs. Errors: typer.Exit.
    """
    done(_uninstall(settings, cluster, changes, given=given, opens=opens, crds=crds))


async def _uninstall(
    settings: Settings,
    cluster: ClusterChoice,
    changes: Changes,
    *,
    given: bool,
    opens: bool,
    crds: bool,
) -> None:
    async with client_of(cluster) as client:
        if not given:
            settings, unknown = await read_installed_settings(client, settings)
            changes.note(*unknown)
        taker = _Taker(client, settings, changes)
        bindings = await taker.of((_BINDING,))
        await taker.take([one for one in bindings if one.name in DEMANDS], TAKES_UP)
        await taker.take(await taker.of(_WEBHOOKS), TAKES_UP)
        await taker.take(await taker.of(_SETS_GATE), TAKES_UP)
        await taker.take(await taker.of(_RUNS))
        await taker.until_operator_ended()
        await taker.take([one for one in bindings if one.name not in DEMANDS], TAKES_UP)
        await _see_to_gates(client, changes, opens=opens)
        await taker.take(await taker.of(_REST))
        await taker.take(_unlabelled(settings))
        await _take_namespace(taker)
        await _see_to_definitions(taker, crds=crds)
        changes.note("Labels and annotations stay on pods; they mean nothing any more.")
    changes.end("Nothing of cardquota is installed.")


class _Taker:
    """Deletes objects, or says that it would."""

    def __init__(self, client: Client, settings: Settings, changes: Changes) -> None:
        self.client, self.settings, self.changes = client, settings, changes

    async def of(self, kinds: Iterable[_Kind]) -> list[ProductObject]:
        """The product's objects of these kinds, in its own namespace and in kube-system. Errors:
        ClusterError.
        """
        found = []
        for group, kind, namespaced in kinds:
            every = await products(self.client, group, kind, self.settings, namespaced=namespaced)
            ours = ("", self.settings.namespace, "kube-system")
            found += [one for one in every if one.namespace in ours]
        return found

    async def take(self, found: Iterable[ProductObject], pause: float = 0.0) -> None:
        """Those of them that are there. Then wait, if any was. Errors: ClusterError."""
        taken = False
        for one in found:
            if self.changes.yes:
                there = await self._delete(one)
            else:
                there = bool(one.body) or await self._is_there(one)
            if there:
                self.changes.step("delete", "deleted", str(one))
                taken = True
        if taken and self.changes.yes:
            await asyncio.sleep(pause)

    async def until_operator_ended(self) -> None:
        """Until then its leader may still open gates, by what the policies allow."""
        path = f"/api/v1/namespaces/{self.settings.namespace}/pods"
        for _ in range(_PODS_END if self.changes.yes else 0):
            if not any(inner(one, *_NAME) == v.DEPLOYMENT for one in await self.items(path)):
                return
            await asyncio.sleep(1)

    async def items(self, path: str) -> list[dict[str, Any]]:
        """A list; empty if there is no such kind. Errors: ClusterError."""
        found = await read_object(self.client, path, path.rpartition("/")[2])
        if isinstance(found, NotRead):
            raise ClusterError(found.why)
        return list(inner(found, "items") or ())

    async def _is_there(self, one: ProductObject) -> bool:
        return await read_object(self.client, one.path, str(one)) is not None

    async def _delete(self, one: ProductObject) -> bool:
        try:
            await self.client.send("DELETE", one.path)
        except ApiError as error:
            if error.status == NOT_FOUND:
                return False
            raise ClusterError(f"{one} was not deleted: {error}; run the command again") from error
        except OutcomeUnknown as error:
            why = f"it is not known whether {one} was deleted: {error}; run the command again"
            raise ClusterError(why) from error
        return True


async def _see_to_gates(client: Client, changes: Changes, *, opens: bool) -> None:
    waiting = len(await gated_pods(client))
    if not opens:
        if waiting:
            changes.note(
                "Left at the gate, until cardquota is installed again or somebody removes it: "
                f"{counted(waiting, 'pod')}."
            )
        return
    if waiting and changes.yes:
        waiting = await open_gates(client)
    if waiting:
        changes.step("open", "opened", f"the gates of {counted(waiting, 'pod')}")


def _unlabelled(settings: Settings) -> Iterator[ProductObject]:
    """What the operator itself has written."""
    namespace, extender = settings.namespace, settings.extender
    inside = f"namespaces/{namespace}"
    lease = f"/apis/coordination.k8s.io/v1/{inside}/leases/{v.LEASE}"
    yield ProductObject("Lease", namespace, v.LEASE, lease, {})
    term = f"/apis/{v.REVIEW_GROUP}/{v.REVIEW_VERSION}/{inside}/{v.TERMS}/{v.LEASE}"
    yield ProductObject("Term", namespace, v.LEASE, term, {})
    secrets = [settings.webhook.secret] if settings.webhook.certificates == "own" else []
    if extender.certificates == "own":
        secrets += [extender.secret, extender.client_secret]
    for name in secrets:
        path = f"/api/v1/{inside}/secrets/{name}"
        yield ProductObject("Secret", namespace, name, path, {})


async def _take_namespace(taker: _Taker) -> None:
    """The operator's own, unless somebody else has something in it."""
    name = taker.settings.namespace
    path = f"/api/v1/namespaces/{name}"
    found = await read_object(taker.client, path, in_words("Namespace", "", name))
    if inner(found, *_NAME) != PARTS[0]:
        return
    others = []
    for kind in _OTHERS:
        for item in await taker.items(kind.format(f"namespaces/{name}")):
            its = str(inner(item, "metadata", "name"))
            if not is_products(its, taker.settings) and its not in _OF_ALL_NAMESPACES:
                others.append(f"{kind.rpartition('/')[2]} {show(its)}")
    if others:
        left = first_of(others, ", ")
        taker.changes.note(f"{in_words('Namespace', '', name)} stays: others have {left} in it.")
    else:
        await taker.take([ProductObject("Namespace", "", name, path, {})])


async def _see_to_definitions(taker: _Taker, *, crds: bool) -> None:
    """The definitions of Queues and PodGroups are Volcano's where it is installed."""
    definition = f"CustomResourceDefinition <{_VOLCANO}>"
    volcano = await read_object(taker.client, f"{_EXTENSIONS}/{_VOLCANO}", definition) is not None
    found = []
    for name in DEFINITIONS:
        plural_name, _, group = name.partition(".")
        if group == v.API_GROUP and (volcano or taker.settings.scheduler == "volcano"):
            continue
        if plural_name in _OF_USERS:
            number = len(await taker.items(f"/apis/{v.API_GROUP}/{v.VERSION}/{plural_name}"))
            what = counted(number, _OF_USERS[plural_name])
            if number and crds:
                taker.changes.note(f"Lost with the definition: {what}.")
            elif number:
                taker.changes.note(f"{what} and the definition stay: --crds deletes them.")
        found.append(
            ProductObject("CustomResourceDefinition", "", name, f"{_EXTENSIONS}/{name}", {})
        )
    if crds:
        await taker.take(found)
