"""What the API server checks or fills in, declared at the field it belongs to.

Constraints exist only in the CRD: the models themselves accept whatever is stored (see `wire`). The
default of a field is therefore also the API server's; in the models an absent field is `None`.
"""

from collections.abc import Sequence
from typing import Any, Final

from pydantic import Field

SERVER_DEFAULT: Final = "x-server-default"
"""Used instead of `default` until `schema` renders it, so that pydantic's defaults are left out."""


def rule(expression: str, message: str) -> dict[str, str]:
    """A CEL rule with the text for users who violate it."""
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
    """An optional field with constraints. `keywords` are OpenAPI's own (`maximum`, `enum`, ...).

    `map_keys`: the list is a map by these keys, so server-side apply merges it row by row.
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
