"""What an administrator applies, as text: policies, bindings, webhook configurations.

Pure and deterministic: the same settings give the same bytes. The operator itself writes only CA
bundles and paths; after a change of the configuration an administrator renders and applies again.
"""

from collections.abc import Mapping
from typing import Any, Final

import yaml

from ..settings import InstallationMode, Settings
from .policies.all_policies import policies
from .policies.gate_policies import gate_is_set_by_policy, gate_mutations
from .webhook_objects import (
    MUTATE,
    OBSERVE,
    REFUSED,
    VALIDATE,
    mutating,
    mutating_refused,
    mutating_reviews,
    mutating_scales,
    validating,
    validating_volcano_jobs,
)

_GROUP: Final = "/apis/admissionregistration.k8s.io/v1"


def plural(kind: str) -> str:
    """The resource of a kind, as roles and paths name it."""
    return f"{kind.lower()}s".replace("policys", "policies")


def admission_path(document: Mapping[str, Any]) -> str:
    """The path of the object that a rendered document describes."""
    return f"{_GROUP}/{plural(document['kind'])}/{document['metadata']['name']}"


_WIDTH = 100


def webhook_paths(settings: Settings) -> dict[str, str]:
    """Of the webhook configurations that the operator maintains, as `KINDS/NAME`: the path that the
    API server calls, which the operator completes by a secret (N1).
    """
    found = {}
    for one in _webhook_documents(settings):
        kind, name = str(one["kind"]), str(one["metadata"]["name"])
        path = MUTATE if kind == "MutatingWebhookConfiguration" else VALIDATE
        refused = name == f"{settings.webhook.name}{REFUSED}"
        found[f"{plural(kind)}/{name}"] = OBSERVE if refused else path
    return found


def render(settings: Settings) -> str:
    """All documents: policies, their bindings, then what sets the gate and the webhooks.

    Policies come first: while only they exist, managed pods are refused, instead of created without
    a gate and never held.
    """
    return text(documents(settings))


def documents(settings: Settings) -> list[dict[str, Any]]:
    """What `render` prints."""
    rules, mutations = policies(settings), gate_mutations(settings)
    return [
        *(rule.policy() for rule in rules),
        *(binding for rule in rules for binding in rule.bindings(settings)),
        *(one.policy() for one in mutations),
        *(one.binding() for one in mutations),
        *_webhook_documents(settings),
    ]


def _webhook_documents(settings: Settings) -> list[dict[str, Any]]:
    webhooks = [mutating_scales(settings), mutating_reviews(settings), validating(settings)]
    if not gate_is_set_by_policy(settings):
        webhooks.insert(0, mutating(settings))
    if settings.scheduler == "volcano":
        if settings.mode is InstallationMode.ENFORCE:
            webhooks.insert(-1, mutating_refused(settings))
        webhooks.append(validating_volcano_jobs(settings))
    return webhooks


class _ManifestDumper(yaml.SafeDumper):
    """Expressions stay readable, without doubled quotes; aliases are not used."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text or "'" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_ManifestDumper.add_representer(str, _represent_text)


def text(found: list[dict[str, Any]], *, marked: bool = True) -> str:
    """The documents as YAML. `marked`: also before the first is a line `---`."""
    return yaml.dump_all(
        found,
        Dumper=_ManifestDumper,
        sort_keys=False,
        explicit_start=marked,
        allow_unicode=True,
        width=_WIDTH,
    )
