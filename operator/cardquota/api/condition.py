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
    """One fact about an object that is true, false or not known."""

    type: str = Field(json_schema_extra={"maxLength": 316, "minLength": 1})
    """Which fact this is about."""
    status: str = Field(json_schema_extra={"enum": list(STATUSES)})
    """Whether it holds."""
    observed_generation: Int64 | None = constrained(minimum=0)
    """The generation of the object that this was found for; an older one is out of date."""
    last_transition_time: Time
    """When the status last changed."""
    reason: str = Field(
        json_schema_extra={
            "minLength": 1,
            "maxLength": 1024,
            "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        }
    )
    """One word for programs."""
    message: str = Field(json_schema_extra={"maxLength": 32768})
    """A sentence for people; may be empty."""
