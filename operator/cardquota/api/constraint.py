"""What the API server checks or fills in, said beside the field it belongs to.

A constraint is written into the CRD and nowhere else: the models themselves accept whatever is
stored (see `wire`). The default of a field is therefore the API server's too; in the models an
absent field is `None`.
"""

from collections.abc import Sequence
from typing import Any, Final

from pydantic import Field

SERVER_DEFAULT: Final = "x-server-default"
"""Stands for `default` until `schema` renders it: pydantic's own defaults must not get there."""


def rule(expression: str, message: str) -> dict[str, str]:
    """A CEL rule with the text that a person gets who breaks it."""
    return {"rule": expression, "message": message}


def constrained(
    *,
    server_default: str | int | bool | None = None,
    rules: Sequence[dict[str, str]] = (),
    map_keys: Sequence[str] = (),
    atomic: bool = False,
    alias: str | None = None,
    **keywords: Any,
) -> Any:
    """An optional field with constraints; `keywords` are OpenAPI's own (`maximum`, `enum`, ...).

    `map_keys`: the list is a map by these keys, so that server-side apply merges it row by row.
    `atomic`: the list is replaced as a whole.
    """
    extra: dict[str, Any] = dict(keywords)
    if server_default is not None:
        extra[SERVER_DEFAULT] = server_default
    if rules:
        extra["x-kubernetes-validations"] = list(rules)
    if map_keys:
        extra["x-kubernetes-list-type"] = "map"
        extra["x-kubernetes-list-map-keys"] = list(map_keys)
    elif atomic:
        extra["x-kubernetes-list-type"] = "atomic"
    return Field(default=None, json_schema_extra=extra, alias=alias)
