"""Whole numbers of the width that the API server stores."""

from typing import Annotated

from pydantic import WithJsonSchema

Int32 = Annotated[int, WithJsonSchema({"type": "integer", "format": "int32"})]
"""A number of 32 bits, as Volcano's counts."""

Int64 = Annotated[int, WithJsonSchema({"type": "integer", "format": "int64"})]
"""A number of 64 bits: of cards, a generation."""

Count32 = Annotated[int, WithJsonSchema({"type": "integer", "format": "int32", "minimum": 0})]
"""A 32-bit number that is never negative."""
