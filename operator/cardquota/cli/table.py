"""Lines of text in columns, as kubectl prints them."""

from collections.abc import Iterator, Sequence

from rich.text import Text


def table(rows: Sequence[Sequence[str]]) -> Iterator[Text]:
    """One line per row, each column as wide as its widest cell. The first row is the head.

    Never cut or wrapped. All rows have as many cells as the head.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for i, row in enumerate(rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield Text("   ".join(cells).rstrip(), style="" if i else "bold")
