"""Which Kubernetes the product needs, said once: `run`, `check`, the texts of policies, the tests
and docs/versions.md read it here.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

from ..settings import GateSetter, Settings

_FORM: Final = re.compile(r"v?(\d{1,9})\.(\d{1,9})(?:[.+-].{0,100})?", re.ASCII)


class KubernetesVersion(NamedTuple):
    """Of an API server: patch levels go together."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


OLDEST: Final = KubernetesVersion(1, 33)
"""The oldest that is supported."""
NEWEST: Final = KubernetesVersion(1, 36)
"""The newest that the tests run on. A newer one is not refused."""


@dataclass(frozen=True, slots=True)
class NewerFeature:
    """What needs a newer Kubernetes than the oldest. Texts are Markdown."""

    since: KubernetesVersion
    what: str
    before: str
    """What holds with an older one."""
    setting: str = ""
    """As it stands in a configuration; empty: there is nothing to be set."""
    instead: str = ""
    """The setting for an older one."""
    wanted: Callable[[Settings], bool] = lambda _: False
    """Whether these settings ask for it."""


GATE_BY_POLICY: Final = "gate by policy"
LABELS_OF_BINDINGS: Final = "labels of Bindings"
FEATURES: Final[Mapping[str, NewerFeature]] = MappingProxyType(
    {
        GATE_BY_POLICY: NewerFeature(
            KubernetesVersion(1, 36),
            "[the gate by policy](install.md#who-sets-the-gate): MutatingAdmissionPolicies",
            "the webhook sets the gate, and pods with a queue are refused while no replica answers",
            "webhook.gate: policy",
            "webhook.gate: webhook",
            lambda settings: settings.webhook.gate is GateSetter.POLICY,
        ),
        LABELS_OF_BINDINGS: NewerFeature(
            KubernetesVersion(1, 35),
            "with the [extender](extender.md): a label of the Binding guards which card a pod has "
            "also in `pods/status`, if no review has seen the pod",
            "whoever may write `pods/status`, for which no role for tenants gives the right, can "
            "name another card there for a pod that is older than the installation, or in a "
            "namespace labelled `off`",
        ),
    }
)
"""By name. All else works with every Kubernetes that is supported."""


class Unsupported(NamedTuple):
    """What does not work with an API server's version, in words."""

    reason: str
    """One word."""
    why: str
    advice: str


def read_version(answer: object) -> KubernetesVersion | None:
    """What an API server answers to `/version`, decoded. None: it does not say its version."""
    text = answer.get("gitVersion") if isinstance(answer, Mapping) else None
    found = _FORM.fullmatch(text) if isinstance(text, str) else None
    return KubernetesVersion(int(found[1]), int(found[2])) if found is not None else None


def unsupported(version: KubernetesVersion, settings: Settings) -> Iterator[Unsupported]:
    """Why the product does not work there with these settings."""
    if version < OLDEST:
        why = f"Kubernetes {version} is older than {OLDEST}, the oldest that cardquota supports"
        yield Unsupported("KubernetesTooOld", why, "upgrade the cluster")
        return
    for one in FEATURES.values():
        if version < one.since and one.wanted(settings):
            why = f"`{one.setting}` needs Kubernetes {one.since}, and this is {version}"
            advice = f"set `{one.instead}`, or upgrade the cluster"
            yield Unsupported("KubernetesTooOldForSetting", why, advice)


def in_words(version: KubernetesVersion) -> str:
    """What to know of it, in one sentence."""
    if version < OLDEST:
        return f"Kubernetes {version} is not supported"
    if version > NEWEST:
        return f"Kubernetes {version} is newer than {NEWEST}, the newest that is tested"
    newer = [
        f"`{one.setting}` needs {one.since}"
        for one in FEATURES.values()
        if one.setting and version < one.since
    ]
    return f"Kubernetes {version} is supported{''.join(f'; {one}' for one in newer)}"
