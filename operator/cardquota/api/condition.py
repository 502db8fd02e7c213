"""The standard condition of Kubernetes objects (metav1.Condition)."""

from typing import Annotated, Final

from pydantic import Field, WithJsonSchema

from .constraint import constrained
from .number_field import Int64
from .wire import WireModel

Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""A time, RFC 3339."""

STATUSES: Final = ("True", "False", "Unknown")


class QueueCondition(WireModel):
    """One fact about an object: true, false or unknown."""

    type: str = Field(json_schema_extra={"maxLength": 316, "minLength": 1})
    """The name of the fact."""
    status: str = Field(json_schema_extra={"enum": list(STATUSES)})
    """True, False or Unknown."""
    observed_generation: Int64 | None = constrained(minimum=0)
    """The generation of the object that this condition is about. If it is lower than
    metadata.generation, the condition is out of date."""
    last_transition_time: Time
    """When the status last changed."""
    reason: str = Field(
        json_schema_extra={
            "minLength": 1,
            "maxLength": 1024,
            "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        }
    )
    """The reason for the status, as one word for programs."""
    message: str = Field(json_schema_extra={"maxLength": 32768})
    """The reason as a sentence; may be empty."""
