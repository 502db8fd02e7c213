"""Whole numbers with the width that the API server keeps."""

from typing import Annotated

from pydantic import WithJsonSchema

Int32 = Annotated[int, WithJsonSchema({"type": "integer", "format": "int32"})]
"""A number as Volcano counts: 32 bits."""

Int64 = Annotated[int, WithJsonSchema({"type": "integer", "format": "int64"})]
"""A number of cards, a generation: 64 bits."""

Count32 = Annotated[int, WithJsonSchema({"type": "integer", "format": "int32", "minimum": 0})]
"""A 32-bit number that is never negative."""
