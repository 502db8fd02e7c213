"""The base of all sections of the settings, and what several of them have."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
"""A time of at most a day."""


class Section(BaseModel):
    """Keys in camelCase; unknown keys are refused; immutable."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )
