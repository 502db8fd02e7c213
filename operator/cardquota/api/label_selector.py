"""A selector over labels (metav1.LabelSelector)."""

from pydantic import ConfigDict

from .constraint import constrained
from .wire import WireModel


class LabelRequirement(WireModel):
    """A requirement on a label: its key, an operator and, for `In` and `NotIn`, values."""

    key: str
    """The key of the label."""
    operator: str
    """`In`, `NotIn`, `Exists` or `DoesNotExist`."""
    values: list[str] | None = constrained(atomic=True)
    """The values that `In` and `NotIn` compare with."""


class LabelSelector(WireModel):
    """Selects by labels. All labels must match and all requirements must hold."""

    model_config = ConfigDict(json_schema_extra={"x-kubernetes-map-type": "atomic"})

    match_labels: dict[str, str] | None = None
    """Labels, with the value that each must have."""
    match_expressions: list[LabelRequirement] | None = constrained(atomic=True)
    """Requirements other than equality."""
