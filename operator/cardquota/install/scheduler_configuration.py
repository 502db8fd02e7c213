"""The configuration of a kube-scheduler that asks us: to print, and for the one that we ship.

Pure and deterministic: the same settings give the same mapping.
"""

from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import urlsplit

from ..quota.vocabulary import GPU_MEMORY
from ..settings import Settings
from .manifests import text
from .mig_profiles import MIG_RESOURCES

PATH: Final = "/scheduler"
"""Where the extender's verbs are."""
CREDENTIALS: Final = PurePosixPath("/etc/cardquota-extender")
"""Where the scheduler finds `ca.crt`, `tls.crt` and `tls.key`, unless another folder is named."""
API: Final = "kubescheduler.config.k8s.io/v1"
# By default it prefers nodes with much free cpu and memory, against packing. Scoring by our names
# instead costs kube-scheduler 3 microseconds for each name, node and pod: with all of them 30 ms a
# pod at 100 nodes. What it filters stays.
_NOT_SCORING: Final = [{"name": "NodeResourcesFit"}]
"""Plugins whose scores do not count."""


def scheduler_configuration(
    settings: Settings,
    *,
    profile: str = "default-scheduler",
    credentials: PurePosixPath = CREDENTIALS,
    kubeconfig: str = "",
) -> dict[str, Any]:
    """The KubeSchedulerConfiguration.

    That of the second kube-scheduler names a Lease of its own: with the usual one only one of the
    two schedulers would work.

    `profile`: the `schedulerName` of the pods that it schedules. `credentials`: the folder with CA,
    client certificate and key. `kubeconfig`: of the scheduler; empty: that of its pod's account.
    """
    connection = {"clientConnection": {"kubeconfig": kubeconfig}} if kubeconfig else {}
    own = {"leaderElect": True, "resourceNamespace": settings.namespace, "resourceName": profile}
    second = profile == settings.extender.scheduler_name
    return {
        "apiVersion": API,
        "kind": "KubeSchedulerConfiguration",
        **connection,
        **({"leaderElection": own} if second else {}),
        # The fullest node may be any: of a sample only the fullest of the sample would be found.
        "percentageOfNodesToScore": 100,
        "profiles": [{"schedulerName": profile, "plugins": {"score": {"disabled": _NOT_SCORING}}}],
        "extenders": [_extender(settings, credentials)],
    }


def scheduler_text(
    settings: Settings,
    *,
    profile: str = "default-scheduler",
    credentials: PurePosixPath = CREDENTIALS,
    kubeconfig: str = "",
) -> str:
    """The same as YAML, in one document: kube-scheduler calls what is before a mark empty."""
    found = scheduler_configuration(
        settings, profile=profile, credentials=credentials, kubeconfig=kubeconfig
    )
    return text([found], marked=False)


def extender_url(settings: Settings) -> str:
    """Where a kube-scheduler reaches us, without the path."""
    own = settings.extender
    return own.url or f"https://{own.service}.{settings.namespace}.svc"


def managed_resources(settings: Settings) -> tuple[str, ...]:
    """The resource names for whose pods kube-scheduler asks us; sorted, each once.

    kube-scheduler compares whole names, so the names that a prefix of the vendor table stands
    for are not here: `extender.managedResources` adds them.
    """
    names = {GPU_MEMORY, *MIG_RESOURCES, *settings.extender.managed_resources}
    for vendor in settings.vendor_table:
        names |= {vendor.usual, vendor.shared, *vendor.others}
    return tuple(sorted(names))


def _extender(settings: Settings, credentials: PurePosixPath) -> dict[str, Any]:
    url = extender_url(settings)
    return {
        "urlPrefix": f"{url}{PATH}",
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "bindVerb": "bind",
        "preemptVerb": "preempt",
        "weight": settings.extender.weight,
        "enableHTTPS": True,
        "tlsConfig": {
            "caFile": str(credentials / "ca.crt"),
            "certFile": str(credentials / "tls.crt"),
            "keyFile": str(credentials / "tls.key"),
            "serverName": urlsplit(url).hostname,
        },
        "httpTimeout": f"{settings.extender.timeout_seconds}s",
        # Names only: kube-scheduler would send every node whole, and take its scores for empty.
        "nodeCacheCapable": True,
        # Without us nobody knows which card has room: pods that ask for one wait then.
        "ignorable": False,
        # False for all: a node's sum is what kube-scheduler and the kubelet count too. It is a
        # necessary condition, costs no call, and preemption and autoscaler need it.
        "managedResources": [
            {"name": name, "ignoredByScheduler": False} for name in managed_resources(settings)
        ],
    }
