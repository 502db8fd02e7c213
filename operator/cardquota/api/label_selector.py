"""A selector over labels (metav1.LabelSelector)."""

from pydantic import ConfigDict

from .constraint import constrained
from .wire import WireModel


class LabelRequirement(WireModel):
    """One requirement: a key, an operator and, for `In` and `NotIn`, values."""

    key: str
    """The label."""
    operator: str
    """`In`, `NotIn`, `Exists` or `DoesNotExist`."""
    values: list[str] | None = constrained(atomic=True)
    """The values that `In` and `NotIn` compare with."""


class LabelSelector(WireModel):
    """Labels that must be there and requirements that must hold, all of them together."""

    model_config = ConfigDict(json_schema_extra={"x-kubernetes-map-type": "atomic"})

    match_labels: dict[str, str] | None = None
    """Labels and the values they must have."""
    match_expressions: list[LabelRequirement] | None = constrained(atomic=True)
    """Requirements beyond plain equality."""
