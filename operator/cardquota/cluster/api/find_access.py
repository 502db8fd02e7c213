"""Which API server to use.

What the caller names comes first, then `KUBECONFIG`, then the files that Kubernetes mounts into a
pod, then `~/.kube/config`. So a pod never uses a kubeconfig that happens to be in its image.
"""

import os
import ssl
from pathlib import Path

from .access import Access, AccessError, TokenFile
from .kubeconfig import from_kubeconfig

MOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


async def find_access(kubeconfig: Path | None = None, context: str = "") -> Access:
    """Find the API server in the order above.

    `context`: use this context of the kubeconfig instead of its current one. A pod's own account
    has no contexts, so naming one selects a kubeconfig.
    Errors: AccessError.
    """
    if kubeconfig is not None:
        return await from_kubeconfig([kubeconfig], context)
    named = os.environ.get("KUBECONFIG", "")
    if named:
        return await from_kubeconfig([Path(p) for p in named.split(os.pathsep) if p], context)
    if not context and (MOUNT / "token").is_file() and os.environ.get("KUBERNETES_SERVICE_HOST"):
        return in_cluster(MOUNT, os.environ)
    return await from_kubeconfig([Path.home() / ".kube" / "config"], context)


def in_cluster(mount: Path, environ: "os._Environ[str] | dict[str, str]") -> Access:
    """The access of a pod's service account, from its mounted files and the environment.

    Not guaranteed: that a new cluster CA is noticed; that takes a restart.
    Errors: AccessError.
    """
    host = environ.get("KUBERNETES_SERVICE_HOST", "")
    port = environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise AccessError("KUBERNETES_SERVICE_HOST is not set")
    if ":" in host:
        host = f"[{host}]"
    try:
        tls = ssl.create_default_context(cafile=str(mount / "ca.crt"))
    except (OSError, ssl.SSLError) as error:
        raise AccessError(f"cannot read the cluster's CA {mount / 'ca.crt'}: {error}") from error
    namespace = mount / "namespace"
    own = namespace.read_text().strip() if namespace.is_file() else ""
    token = TokenFile(mount / "token")
    return Access(f"https://{host}:{port}", tls, token, namespace=own or "default")
