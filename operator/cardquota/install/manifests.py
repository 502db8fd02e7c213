"""What an administrator applies, as text: policies, bindings, webhook configurations.

Pure and deterministic: the same settings give the same bytes. The operator itself writes only the
CA bundles; after a change of the configuration an administrator renders and applies again.
"""

from typing import Any, NamedTuple

import yaml

from ..settings import Settings
from .policies.all_policies import policies
from .policies.gate_setting import gate_is_set_by_policy, gate_mutations
from .webhook_objects import (
    looks_at_refused,
    looks_at_volcano_jobs,
    mutating,
    mutating_refused,
    mutating_reviews,
    mutating_scales,
    refused_name,
    reviews_name,
    scales_name,
    validating,
    validating_volcano_jobs,
    volcano_jobs_name,
)

_WIDTH = 100


class WebhookNames(NamedTuple):
    """The webhook configurations whose CA bundle the operator maintains."""

    mutating: tuple[str, ...]
    """That of pods is not among them if a policy sets the gate."""
    validating: tuple[str, ...]


def names(settings: Settings) -> WebhookNames:
    """The names of our rendered webhook configurations."""
    name, scales = settings.webhook.name, scales_name(settings)
    of_pods = () if gate_is_set_by_policy(settings) else (name,)
    refused = (refused_name(settings),) if looks_at_refused(settings) else ()
    jobs = (volcano_jobs_name(settings),) if looks_at_volcano_jobs(settings) else ()
    return WebhookNames((*of_pods, scales, reviews_name(settings), *refused), (name, *jobs))


def render(settings: Settings) -> str:
    """All documents: policies, their bindings, then what sets the gate and the webhooks.

    Policies come first: while only they exist, managed pods are refused, instead of created without
    a gate and never held.
    """
    return text(documents(settings))


def render_policies(settings: Settings) -> str:
    """The part that needs no webhook: only policies and bindings."""
    return text(_policy_documents(settings) + _gate_documents(settings))


def documents(settings: Settings) -> list[dict[str, Any]]:
    """What `render` prints."""
    webhooks = [mutating_scales(settings), mutating_reviews(settings), validating(settings)]
    if not gate_is_set_by_policy(settings):
        webhooks.insert(0, mutating(settings))
    if looks_at_refused(settings):
        webhooks.insert(-1, mutating_refused(settings))
    if looks_at_volcano_jobs(settings):
        webhooks.append(validating_volcano_jobs(settings))
    return [*_policy_documents(settings), *_gate_documents(settings), *webhooks]


def _gate_documents(settings: Settings) -> list[dict[str, Any]]:
    rules = gate_mutations(settings)
    return [rule.policy() for rule in rules] + [rule.binding() for rule in rules]


def _policy_documents(settings: Settings) -> list[dict[str, Any]]:
    rules = policies(settings)
    return [rule.policy() for rule in rules] + [rule.binding(settings) for rule in rules]


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
