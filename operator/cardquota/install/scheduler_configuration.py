"""The configuration of a kube-scheduler that asks us: to print, and for the one that we ship.

Pure and deterministic: the same settings give the same mapping.
"""

from typing import Any, Final
from urllib.parse import urlsplit

from ..quota.vocabulary import GPU_MEMORY
from ..settings import Settings
from .manifests import text

# NVIDIA/mig-parted, deployments/systemd/config-default.yaml at 14007872, and for GB200
# deployments/container/nvidia-mig-manager-example-hopper-blackwell.yaml at 0d9252a4. B300 and
# GB300: NVIDIA's MIG User Guide, "Supported MIG Profiles".
_PROFILES: Final = (
    # A30
    *("1g.6gb", "1g.6gb.me", "2g.12gb", "2g.12gb.me", "4g.24gb"),
    # A100, A800 40GB
    *("1g.5gb", "1g.5gb.me", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"),
    # A100, A800, H100, H800 80GB
    *("1g.10gb", "1g.10gb.me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"),
    # H100, H800 NVL 94GB
    *("1g.12gb", "1g.12gb.me", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb"),
    # H100 96GB, GH200 96GB, H20
    *("1g.12gb", "1g.12gb.me", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb"),
    # H200 141GB
    *("1g.18gb", "1g.18gb.me", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"),
    # GH200 144GB
    *("1g.18gb", "1g.18gb.me", "1g.36gb", "2g.36gb", "3g.72gb", "4g.72gb", "7g.144gb"),
    # B200
    *("1g.23gb", "1g.23gb.me", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"),
    # GB200
    *("1g.24gb", "1g.24gb.me", "1g.47gb", "2g.47gb", "3g.95gb", "4g.95gb", "7g.189gb"),
    # B300
    *("1g.34gb", "1g.34gb.me", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb"),
    # GB300
    *("1g.35gb", "1g.35gb.me", "1g.70gb", "2g.70gb", "3g.139gb", "4g.139gb", "7g.278gb"),
    # RTX PRO 6000 96GB
    *("1g.24gb", "1g.24gb.gfx", "1g.24gb.me", "1g.24gb.me.all", "1g.24gb-me"),
    *("2g.48gb", "2g.48gb.gfx", "2g.48gb.me.all", "2g.48gb-me", "4g.96gb", "4g.96gb.gfx"),
)
MIG_RESOURCES: Final = tuple(sorted({f"nvidia.com/mig-{profile}" for profile in _PROFILES}))
"""Each once. A profile that is missing here is added by `extender.managedResources`."""


PATH: Final = "/scheduler"
"""Where the extender's verbs are."""
CREDENTIALS: Final = "/etc/cardquota-extender"
"""Where the scheduler finds `ca.crt`, `tls.crt` and `tls.key`, unless another folder is named."""
API: Final = "kubescheduler.config.k8s.io/v1"
# By default it prefers nodes with much free cpu and memory, against packing. Scoring by our names
# instead costs kube-scheduler 3 microseconds for each name, node and pod: with all of them 30 ms a
# pod at 100 nodes. What it filters stays.
_NOT_SCORING: Final = [{"name": "NodeResourcesFit"}]
"""Plugins whose scores do not count."""


def scheduler_text(
    settings: Settings,
    *,
    profile: str = "default-scheduler",
    credentials: str = CREDENTIALS,
    kubeconfig: str = "",
) -> str:
    """The KubeSchedulerConfiguration as YAML, in one document: kube-scheduler calls what is before
    a mark empty.

    That of the second kube-scheduler names a Lease of its own: with the usual one only one of the
    two schedulers would work.

    `profile`: the `schedulerName` of the pods that it schedules. `credentials`: the folder with CA,
    client certificate and key. `kubeconfig`: of the scheduler; empty: that of its pod's account.
    """
    connection = {"clientConnection": {"kubeconfig": kubeconfig}} if kubeconfig else {}
    own = {"leaderElect": True, "resourceNamespace": settings.namespace, "resourceName": profile}
    second = profile == settings.extender.scheduler_name
    found = {
        "apiVersion": API,
        "kind": "KubeSchedulerConfiguration",
        **connection,
        **({"leaderElection": own} if second else {}),
        # The fullest node may be any: of a sample only the fullest of the sample would be found.
        "percentageOfNodesToScore": 100,
        "profiles": [{"schedulerName": profile, "plugins": {"score": {"disabled": _NOT_SCORING}}}],
        "extenders": [_extender(settings, credentials.rstrip("/"))],
    }
    return text([found], marked=False)


def managed_resources(settings: Settings) -> tuple[str, ...]:
    """The resource names for whose pods kube-scheduler asks us; sorted, each once.

    kube-scheduler compares whole names, so the names that a prefix of the vendor table stands
    for are not here: `extender.managedResources` adds them.
    """
    names = {GPU_MEMORY, *MIG_RESOURCES, *settings.extender.managed_resources}
    for vendor in settings.vendor_table:
        names |= {vendor.usual, vendor.shared, *vendor.others}
    return tuple(sorted(names))


def _extender(settings: Settings, credentials: str) -> dict[str, Any]:
    own = settings.extender
    url = own.url or f"https://{own.service}.{settings.namespace}.svc"
    return {
        "urlPrefix": f"{url}{PATH}",
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "bindVerb": "bind",
        "preemptVerb": "preempt",
        "weight": own.weight,
        "enableHTTPS": True,
        "tlsConfig": {
            "caFile": f"{credentials}/ca.crt",
            "certFile": f"{credentials}/tls.crt",
            "keyFile": f"{credentials}/tls.key",
            "serverName": urlsplit(url).hostname,
        },
        "httpTimeout": f"{own.timeout_seconds}s",
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
