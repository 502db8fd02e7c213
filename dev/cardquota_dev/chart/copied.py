"""Templates that are files of `manifests/` under a condition, with the namespace of the release."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ..paths import CHECKOUT
from .admission import CHOICES, RECLAIMS, look_up

_MANIFESTS: Final = CHECKOUT / "manifests"
_EXTENDER: Final = look_up("extender.enabled")
(_VOLCANO,) = (one.condition for one in CHOICES if one.path == "scheduler")
_ALWAYS: Final = ""

_FILES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "rbac.yaml": (_ALWAYS, ("base/rbac.yaml",)),
    "roles.yaml": (_ALWAYS, ("base/roles.yaml",)),
    "flowschema.yaml": (_ALWAYS, ("base/flowschema.yaml",)),
    "metrics-authentication.yaml": (
        look_up("metrics.authentication"),
        (
            "components/metrics-authentication/rbac.yaml",
            "components/metrics-authentication/reader.yaml",
        ),
    ),
    "page.yaml": (
        look_up("page.enabled"),
        ("components/page/rbac.yaml", "components/page/forwarder.yaml"),
    ),
    "extender.yaml": (
        _EXTENDER,
        ("components/extender/rbac.yaml", "components/extender/service.yaml"),
    ),
    "reclaim.yaml": (RECLAIMS, ("components/reclaim/rbac.yaml",)),
    "scheduler-rbac.yaml": (
        f"and ({_EXTENDER}) .Values.scheduler.enabled",
        ("components/extender/scheduler-rbac.yaml",),
    ),
    "volcano.yaml": (_VOLCANO, ("components/volcano/rbac.yaml",)),
    "node-rbac.yaml": (".Values.nodeAgent.enabled", ("components/node/rbac.yaml",)),
    "cert-manager.yaml": (
        ".Values.certManager.enabled",
        ("components/cert-manager/certificates.yaml",),
    ),
    "alerts.yaml": (".Values.alerts.enabled", ("components/alerts/rules.yaml",)),
}
"""By name of the template: when it is rendered, and of which files it is made."""

_OWN_ISSUER: Final = "{group: cert-manager.io, kind: Issuer, name: cardquota-webhook-ca}"
_ISSUER: Final = (
    "{{ with .Values.certManager.issuerRef }}{{ toJson . }}{{ else }}" + _OWN_ISSUER + "{{ end }}"
)
_LABELS: Final = "  labels:\n    app.kubernetes.io/name: cardquota\n"
_MORE_LABELS: Final = (
    _LABELS + "{{- with .Values.alerts.labels }}\n{{ toYaml . | indent 4 }}\n{{- end }}\n"
)
_VOLCANOS_CONFIGURATION: Final = (
    f'{{{{ splitList "/" ({look_up("volcano.configuration")}) | last | quote }}}}'
)
_CHANGES: Final[Mapping[str, tuple[str, str]]] = {
    "cert-manager.yaml": (_OWN_ISSUER, _ISSUER),
    "alerts.yaml": (_LABELS, _MORE_LABELS),
    "volcano.yaml": ("[volcano-scheduler-configmap]", f"[{_VOLCANOS_CONFIGURATION}]"),
}
"""What values change beside the namespace: it must stand in the file."""


def copied() -> dict[str, str]:
    """The templates by name."""
    return {name: _template(name, *of) for name, of in _FILES.items()}


def _template(name: str, condition: str, files: tuple[str, ...]) -> str:
    found = "---\n".join(_read(_MANIFESTS / path) for path in files)
    if name in _CHANGES:
        old, new = _CHANGES[name]
        if found.count(old) != 1:
            raise AssertionError(f"{name}: {old!r} must stand there once")
        found = found.replace(old, new)
    if condition:
        found = f"{{{{- if {condition} }}}}\n{found}{{{{- end }}}}\n"
    return found


def _read(path: Path) -> str:
    # Braces of others: the templates of alerts.
    own = path.read_text("utf-8").replace("{{", '{{ "{{" }}')
    return own.replace("cardquota-system", "{{ .Release.Namespace }}")
