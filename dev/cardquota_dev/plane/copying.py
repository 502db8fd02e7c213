"""Copying one TCP connection to another."""

import asyncio
from contextlib import suppress
from typing import Final

_CHUNK: Final = 65_536


async def copied(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    other_reader: asyncio.StreamReader,
    other_writer: asyncio.StreamWriter,
) -> None:
    """Copy both ways to the end of both. The other connection is closed then."""
    try:
        await asyncio.gather(_copy(reader, other_writer), _copy(other_reader, writer))
    finally:
        other_writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy one direction to its end. A reset connection counts as the end."""
    with suppress(ConnectionError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    with suppress(OSError):
        writer.write_eof()
