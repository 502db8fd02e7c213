"""Webhooks, policies and the scheduler's configuration for all values of the settings.

What has few values (`CHOICES`) is rendered for every combination, and made one text. What has any
value (`_FREE`) is rendered as a mark, and the mark is replaced by an expression of Helm. A test
finds every setting that changes what is rendered and is in neither.
"""

import itertools
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from cardquota.install.cel import literal
from cardquota.install.manifests import documents, text
from cardquota.install.policies.eviction_policies import eviction_term
from cardquota.install.scheduler_configuration import managed_resources
from cardquota.settings import CoveredNamespaces, GateSetter, InstallationMode, Settings

from ..generate import scheduler_config
from .variants import merged

M = TypeVar("M", bound=BaseModel)

Render = Callable[[Settings], list[dict[str, Any]]]
"""What makes documents of settings."""

_ANY: Final = "any"
"""The value of a choice that is whether there is a value at all."""


@dataclass(frozen=True)
class Choice:
    """A setting on which it depends what is rendered. One with three values needs two lines."""

    path: str
    value: Any
    none: bool = False
    """Whether it is about the setting's having no value at all."""

    @property
    def condition(self) -> str:
        """Whether a release has this value, as Helm asks."""
        found = look_up(self.path)
        if self.none:
            return f"not ({found})"
        return found if self.value in (True, _ANY) else f"eq ({found}) {json.dumps(self.value)}"


CHOICES: Final = (
    Choice("scheduler", "volcano"),
    Choice("mode", InstallationMode.AUDIT),
    Choice("namespaces", CoveredNamespaces.LABELLED),
    Choice("webhook.gate", GateSetter.POLICY),
    Choice("extender.enabled", True),
    Choice("require_queue", True),
    Choice("default_queue", _ANY),
    Choice("webhook.url", _ANY),
    Choice("volcano.accounts", (), none=True),
)
"""Each doubles the time that this takes: some 2 seconds for eight."""
_OF_THE_SCHEDULER: Final = (Choice("extender.url", _ANY),)

RECLAIMS: Final = 'include "cardquota.reclaims" .'
"""Whether the mode of reclaiming is not `off`: the setting has several forms."""

_VENDORS: Final = literal(Settings.model_construct().vendor_table.pattern)


def _mark(name: str) -> str:
    """In small letters, since a host's name is."""
    return f"zz{name}zz"


_FREE: Final[dict[str, Any]] = {
    "namespace": _mark("namespace"),
    "exempt_namespaces": (_mark("exempt"),),
    "device_classes_without_cards": (_mark("classes"),),
    "scale.autoscalers": (_mark("autoscalers"),),
    "volcano.accounts": (_mark("accounts"),),
    "webhook.timeout_seconds": _mark("timeout"),
    "extender.timeout_seconds": _mark("extendertimeout"),
    "extender.weight": _mark("weight"),
}
_URLS: Final = {"webhook.url": "https://zzurlzz", "extender.url": "https://zzextenderurlzz:1"}
_BY_VARIABLE: Final = ("vendors", "extender.managed_resources")
KNOWN: Final = frozenset(
    (
        *(one.path for one in (*CHOICES, *_OF_THE_SCHEDULER)),
        *_FREE,
        *_BY_VARIABLE,
        "reclaim.mode",
    )
)
"""The settings for whose values the chart renders what `cardquota manifests` prints."""

FIXED: Final = (
    "service_account",
    "webhook.name",
    "webhook.service",
    "webhook.secret",
    "extender.service",
    "extender.secret",
    "extender.client_secret",
    "extender.scheduler_name",
)
"""Names of the chart's own objects, which are always the defaults."""

_REPLACED: Final = (
    (r"values:\n +- zzexemptzz\n +- zznamespacezz", "values: {{ $unwatched }}"),
    (r'\["zzexemptzz", "zznamespacezz"\]', "{{ $unwatched }}"),
    (r'\["system:nodes", "system:serviceaccounts:zzexemptzz"\]', "{{ $pluginAccounts }}"),
    (r'\["zzclasseszz"\]', "{{ $classes }}"),
    (r"zzclasseszz", "{{ $classesInWords }}"),
    (r'\["zzautoscalerszz"\]', "{{ $autoscalers }}"),
    (r'\["zzaccountszz"\]', "{{ $accounts }}"),
    (re.escape(_VENDORS), "{{ $vendors }}"),
    (r"https://zzurlzz", "{{ $url | quote }}"),
    (r"https://zzextenderurlzz:1", "{{ $extenderUrl }}"),
    (r"zzextenderurlzz", "{{ (urlParse $extenderUrl).hostname | lower }}"),
    # What would be no text without quotes: a namespace may be called 1.
    (r"(?m)^( *(?:- )?(?:\w+: )?)zznamespacezz$", r"\1{{ $namespace | quote }}"),
    (r"zz([a-z]+?)zz", r"{{ $\1 }}"),
)
"""In this order: what stands in a document, as a regular expression, and what comes there."""

_VARIABLES: Final = {
    "namespace": ".Release.Namespace",
    "unwatched": 'include "cardquota.literals"'
    " (append (exempt_namespaces) .Release.Namespace | uniq | sortAlpha)",
    "pluginAccounts": 'include "cardquota.pluginAccounts" (exempt_namespaces)',
    "classes": 'include "cardquota.literals" (device_classes_without_cards)',
    "classesInWords": '(device_classes_without_cards) | join ", " | default "none"',
    "autoscalers": 'include "cardquota.literals" (scale.autoscalers)',
    "accounts": 'include "cardquota.literals" (volcano.accounts)',
    "vendors": 'include "cardquota.vendors" .',
    "managedResources": 'include "cardquota.managedResources" . | fromJsonArray',
    "timeout": "(webhook.timeout_seconds)",
    "extendertimeout": "(extender.timeout_seconds)",
    "weight": "(extender.weight)",
    "url": "(webhook.url)",
    "extenderUrl": "(extender.url)",
}
"""Computed once, before the documents. A path in brackets is the value of that setting."""


def look_up(path: str) -> str:
    """The value of a setting in a release, as Helm finds it: the default if it is not given."""
    keys = " ".join(json.dumps(to_camel(key)) for key in path.split("."))
    default = _of(Settings.model_construct(), path)
    if isinstance(default, tuple):
        shown = " ".join(["list", *map(json.dumps, default)])
        return f"dig {keys} ({shown}) .Values.config"
    return f"dig {keys} {json.dumps('' if default is None else default)} .Values.config"


def admission() -> str:
    """The template of what `cardquota manifests` prints."""
    evictions = _template(_of_evictions, ())
    return f"{_template(documents, CHOICES)}{{{{- if {RECLAIMS} }}}}\n{evictions}{{{{- end }}}}\n"


def _of_evictions(settings: Settings) -> list[dict[str, Any]]:
    """What reclaiming adds. No other choice changes it: one more would double the time."""
    rule = eviction_term(settings)
    return [rule.policy(), *rule.bindings(settings)]


def scheduler_configuration() -> str:
    """The template of the ConfigMap of the second kube-scheduler."""
    names = "\n".join(
        f"      - name: {name}\n        ignoredByScheduler: false"
        for name in managed_resources(Settings.model_construct())
    )
    loop = (
        "{{- range $managedResources }}\n"
        "      - name: {{ . }}\n        ignoredByScheduler: false\n"
        "{{- end }}"
    )
    template = _template(lambda one: [scheduler_config(one)], _OF_THE_SCHEDULER, "managedResources")
    if template.count(names) != 1:
        raise AssertionError("the resource names stand once in the scheduler's configuration")
    extender = look_up("extender.enabled")
    return (
        f"{{{{- if and ({extender}) .Values.scheduler.enabled }}}}\n"
        f"{template.replace(names, loop)}"
        "{{- end }}\n"
    )


def _template(render: Render, choices: Sequence[Choice], *variables: str) -> str:
    """Everything that `render` makes by these choices, after the variables that it needs: those
    that it names, and `variables`.
    """
    texts: dict[str, list[str]] = {}
    variants = []
    for chosen in itertools.product((False, True), repeat=len(choices)):
        found = {}
        for document in render(_settings(itertools.compress(choices, chosen))):
            # Most variants are the same, and to write YAML takes long.
            content = json.dumps(document)
            if content not in texts:
                texts[content] = _lines(text([document]))
            found[document["kind"], document["metadata"]["name"]] = texts[content]
        variants.append(found)
    conditions = [one.condition for one in choices]
    body = "\n".join(
        line
        for key in dict.fromkeys(itertools.chain.from_iterable(variants))
        for line in merged([one.get(key, ()) for one in variants], conditions)
    )
    needed = [one for one in _VARIABLES if f"${one} " in body or one in variables]
    return "\n".join((*map(_assignment, needed), body, ""))


def _lines(document: str) -> list[str]:
    """Of a rendered document, with expressions of Helm instead of marks."""
    if "{{" in document or re.search(r"(?m)[ \t]$|^$", document.rstrip("\n")):
        raise AssertionError("a document has what Helm would change")
    for found, wanted in _REPLACED:
        document = re.sub(found, wanted, document)
    return document.splitlines()


def _assignment(name: str) -> str:
    def value(path: re.Match[str]) -> str:
        return f"({look_up(path[1])})"

    expression = re.sub(r"\(([a-z_.]*[a-z])\)", value, _VARIABLES[name])
    return f"{{{{- ${name} := {expression} }}}}"


def _settings(chosen: Iterable[Choice]) -> Settings:
    """With a mark for every free value, and these choices."""
    values = _FREE | {one.path: _URLS.get(one.path, one.value) for one in chosen}
    return with_values(Settings.model_construct(), values)


def with_values(settings: M, values: dict[str, Any]) -> M:
    """These settings, or a section of them, with other values, by path. Nothing is validated."""
    fields = {name: getattr(settings, name) for name in type(settings).model_fields}
    inner: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        name, dot, rest = path.partition(".")
        if dot:
            inner.setdefault(name, {})[rest] = value
        else:
            fields[name] = value
    for name, own in inner.items():
        fields[name] = with_values(fields[name], own)
    return type(settings).model_construct(**fields)


def _of(settings: Any, path: str) -> Any:
    for key in path.split("."):
        settings = getattr(settings, key)
    return settings
