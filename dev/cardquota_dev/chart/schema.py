"""`values.schema.json`: what Helm accepts as values, so that a wrong one is refused before anything
is rendered.

`config` are the operator's settings, and `nodeAgent.config` those of the node agent, as their
models say; without the names of the chart's own objects.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from cardquota.settings import Settings
from cardquota_node.node_settings import NodeSettings

from .admission import FIXED

_NOT_VALUES: Final = (
    *FIXED,
    "namespace",  # that of the release
    "probes.port",  # the Deployment's
    "volcano.enqueue.path_secret",  # a Secret's
)
_OF_THE_NODE: Final = ("node", "kubeconfig", "kubelet", "http")
_LABEL_PART: Final = r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?"
_NARROWER: Final[dict[tuple[str, str], dict[str, Any]]] = {
    ("Settings", "exemptNamespaces"): {"pattern": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
    ("Scaling", "autoscalers"): {"pattern": r"^[ -~]+$"},
    ("Volcano", "accounts"): {"pattern": r"^[ -~]+$"},
    ("VendorRow", "prefix"): {"pattern": f"^{_LABEL_PART}$"},
    ("VendorRow", "type"): {"pattern": f"^{_LABEL_PART}$"},
    ("VendorRow", "resources"): {"pattern": f"^{_LABEL_PART}/{_LABEL_PART}$"},
    ("VendorRow", "resourcePrefix"): {"pattern": f"^({_LABEL_PART})?$"},
}
"""What the models check by code, or need not check: the chart writes these into expressions."""

_TEXT: Final = {"type": "string"}
_FLAG: Final = {"type": "boolean"}
_FREE: Final = {"type": "object"}
_LABELS: Final = {"type": "object", "additionalProperties": _TEXT}
_LIST: Final = {"type": "array", "items": _FREE}
_COUNT: Final = {"type": "integer", "minimum": 1, "maximum": 9}


def _closed(**properties: Any) -> dict[str, Any]:
    """All these and no others. Each has a default: who writes null takes it away."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


_IMAGE: Final = _closed(
    registry=_TEXT,
    repository={"type": "string", "minLength": 1},
    tag=_TEXT,
    digest={"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"},
    pullPolicy={"enum": ["Always", "IfNotPresent", "Never"]},
)


def schema() -> str:
    """The file's text."""
    config, its_parts = _of_model(Settings, _NOT_VALUES)
    node, more_parts = _of_model(NodeSettings, _OF_THE_NODE)
    # Both have a section Log: one name each.
    node = json.loads(json.dumps(node).replace("#/$defs/", "#/$defs/Node"))
    parts = json.loads(json.dumps(more_parts).replace("#/$defs/", "#/$defs/Node"))
    found: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_closed(
            config=config,
            image=_IMAGE,
            imagePullSecrets={"type": "array", "items": _closed(name=_TEXT)},
            replicas=_COUNT,
            resources=_FREE,
            priorityClassName=_TEXT,
            nodeSelector=_LABELS,
            tolerations=_LIST,
            affinity=_FREE,
            podLabels=_LABELS,
            podAnnotations=_LABELS,
            certManager=_closed(enabled=_FLAG, issuerRef=_LABELS),
            networkPolicy=_closed(
                enabled=_FLAG,
                webhookFrom=_LIST,
                metricsFrom=_LIST,
                extenderFrom=_LIST,
                enqueueFrom=_LIST,
            ),
            monitor=_closed(
                kind={"enum": ["", "PodMonitor", "ServiceMonitor"]}, labels=_LABELS, endpoint=_FREE
            ),
            alerts=_closed(enabled=_FLAG, labels=_LABELS),
            board=_closed(enabled=_FLAG, labels=_LABELS),
            scheduler=_closed(enabled=_FLAG, image=_IMAGE, replicas=_COUNT, resources=_FREE),
            nodeAgent=_closed(
                enabled=_FLAG,
                image=_IMAGE,
                config=node,
                runtimeClassName=_TEXT,
                nodeSelector=_LABELS,
                tolerations=_LIST,
                resources=_FREE,
            ),
        ),
        "$defs": its_parts | {f"Node{name}": part for name, part in parts.items()},
    }
    found["properties"]["global"] = _FREE  # Helm gives it to every chart
    return json.dumps(found, indent=2) + "\n"


def _of_model(
    model: type[BaseModel], without: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of a model without some settings, and what it refers to."""
    found = model.model_json_schema(by_alias=True)
    parts: dict[str, Any] = found.pop("$defs", {})
    for path in without:
        *sections, key = map(to_camel, path.split("."))
        inner = found
        for section in sections:
            inner = parts[inner["properties"][section]["$ref"].rpartition("/")[2]]
        del inner["properties"][key]
    for (part, key), more in _NARROWER.items():
        inner = found if part == model.__name__ else parts.get(part, {})
        if key in inner.get("properties", {}):
            narrowed = inner["properties"][key]
            narrowed.get("items", narrowed).update(more)
    for one in (found, *parts.values()):
        _plain(one)
    return found, {name: one for name, one in parts.items() if name in _referred(found, parts)}


def _plain(part: dict[str, Any]) -> None:
    """Without what nobody reads there: titles, and defaults, which the models have."""
    part.pop("title", None)
    for one in part.get("properties", {}).values():
        one.pop("title", None)
        one.pop("default", None)
        if "patternProperties" in one:  # Pydantic's own reading refuses other keys
            one["additionalProperties"] = False


def _referred(part: Any, parts: dict[str, Any]) -> Iterator[str]:
    for name in parts:
        if f'"#/$defs/{name}"' in json.dumps(part):
            yield name
            yield from _referred(parts[name], parts)
