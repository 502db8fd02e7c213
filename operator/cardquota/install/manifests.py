"""What an administrator applies, as text: policies, bindings, webhook configurations.

Pure and deterministic: the same settings give the same bytes. The operator itself never writes
any of it but the CA bundles; whoever changes the configuration renders and applies again.
"""

from typing import Any, NamedTuple

import yaml

from ..settings import Settings
from .policies import policies
from .webhook_objects import mutating, validating

_WIDTH = 100


class WebhookNames(NamedTuple):
    """The webhook configurations whose CA bundle the operator maintains."""

    mutating: str
    validating: str


def names(settings: Settings) -> WebhookNames:
    """Names of our webhook configurations."""
    return WebhookNames(settings.webhook.name, settings.webhook.name)


def render(settings: Settings) -> str:
    """All documents: policies, their bindings, then the webhook configurations.

    Policies come first: while only they are there, managed pods are refused, rather than
    created without a gate and never held.
    """
    return _text(documents(settings))


def documents(settings: Settings) -> list[dict[str, Any]]:
    """What `render` writes, in its order."""
    return [*_policy_documents(settings), mutating(settings), validating(settings)]


def render_policies(settings: Settings) -> str:
    """Policies and bindings alone."""
    return _text(_policy_documents(settings))


def _policy_documents(settings: Settings) -> list[dict[str, Any]]:
    rules = policies(settings)
    return [rule.policy() for rule in rules] + [rule.binding(settings) for rule in rules]


class _Dumper(yaml.SafeDumper):
    """Expressions stay readable, without doubled quotes; nothing is written as an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text or "'" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def _text(documents: list[dict[str, Any]]) -> str:
    return yaml.dump_all(
        documents,
        Dumper=_Dumper,
        sort_keys=False,
        explicit_start=True,
        allow_unicode=True,
        width=_WIDTH,
    )
