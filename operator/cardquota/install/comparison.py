"""Compares objects in the cluster with the rendered ones: only what changes the meaning counts.

Guarantees: defaults of the API server, labels, annotations and other metadata, the CA bundles and
paths that the operator writes, the order of listed names, and fields that this version does not
know are no differences. Any other change, addition or removal is. Pure.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

_SHOWN: Final = 60
"""Characters of a value that a difference quotes. For a longer value it only says that it differs:
people do not compare expressions by eye."""

_MAPS: Final = ("namespaceSelector", "objectSelector", "matchLabels", "matchResources")
_LISTS: Final = (
    *("rules", "resourceRules", "excludeResourceRules", "resourceNames", "matchExpressions"),
    *("matchConditions", "variables", "validations", "validationActions", "auditAnnotations"),
    "mutations",
)
_OBJECTS: Final = ("paramKind", "paramRef", "selector", "url", "service")
_DEFAULTS: Final[Mapping[str, Any]] = {
    **{key: {} for key in _MAPS},
    **{key: [] for key in _LISTS},
    **dict.fromkeys((*_OBJECTS, "jsonPatch", "applyConfiguration")),
    **dict.fromkeys(("namespace", "message", "messageExpression"), ""),
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "reinvocationPolicy": "Never",
    "timeoutSeconds": 10,
    "scope": "*",
    "port": 443,
    "reason": "Invalid",
}
"""What an absent field means, as the API documents it."""


def differences(wanted: Mapping[str, Any], found: Mapping[str, Any] | None) -> list[str]:
    """How an object differs from the rendered one, for people; empty if it does not.

    `found`: as the API server returns it, None if it is missing.
    """
    if found is None:
        return ["is missing"]
    if "webhooks" in wanted:
        return list(_compare("webhooks", "", wanted["webhooks"], found.get("webhooks") or []))
    return list(_compare(wanted["kind"], "", wanted["spec"], found.get("spec") or {}))


def _compare(field: str, at: str, wanted: Any, found: Any) -> Iterator[str]:
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        yield from _compare_mappings(field, at, wanted, found)
    elif isinstance(wanted, list) and isinstance(found, list) and _holds_mappings(wanted, found):
        yield from _compare_lists(field, at, wanted, found)
    elif field == "url" and isinstance(found, str) and found.startswith(f"{wanted}/"):
        return  # the operator adds the path
    elif _plain(wanted) != _plain(found):
        yield _told(at, wanted, found)


def _compare_mappings(
    field: str, at: str, wanted: Mapping[str, Any], found: Mapping[str, Any]
) -> Iterator[str]:
    # In maps that users fill (labels of a selector) every key counts; in the API's, known keys.
    free = field == "matchLabels"
    for key in dict.fromkeys((*wanted, *(key for key in found if free or key in _DEFAULTS))):
        default = None if free else _DEFAULTS.get(key)
        yield from _compare(
            key,
            f"{at}.{key}" if at else key,
            wanted.get(key) if wanted.get(key) is not None else default,
            found.get(key) if found.get(key) is not None else default,
        )


def _compare_lists(
    field: str, at: str, wanted: Sequence[Any], found: Sequence[Any]
) -> Iterator[str]:
    ours, theirs = _by_name(field, wanted), _by_name(field, found)
    for name in dict.fromkeys((*ours, *theirs)):
        where = f"{at or field}[{name}]"
        if name not in theirs:
            yield f"lacks {where}"
        elif name not in ours:
            yield f"has {where}, which does not belong there"
        else:
            yield from _compare(field, where, ours[name], theirs[name])


def _by_name(field: str, items: Sequence[Any]) -> dict[str, Any]:
    """Without a name: by position."""
    key = "key" if field == "matchExpressions" else "name"
    named: dict[str, Any] = {}
    for position, item in enumerate(items):
        name = str(item.get(key, position)) if isinstance(item, Mapping) else str(position)
        named[name if name not in named else f"{name}#{position}"] = item
    return named


def _holds_mappings(*lists: Sequence[Any]) -> bool:
    return any(isinstance(item, Mapping) for items in lists for item in items)


def _plain(value: Any) -> Any:
    """Lists of strings are compared as sets: operations, actions, the values of an expression."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return sorted(set(value))
    return value


def _told(at: str, wanted: Any, found: Any) -> str:
    shown = [_shown(value) for value in (found, wanted)]
    if None in shown:
        return f"has another {at}"
    return f"has {at} {shown[0]} instead of {shown[1]}"


def _shown(value: Any) -> str | None:
    if value is None or value in ("", [], {}):
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN and "\n" not in text else None
