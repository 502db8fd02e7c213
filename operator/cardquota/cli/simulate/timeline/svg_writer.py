"""Plain SVG as text: elements, attributes, and step curves. Everything from outside is escaped."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from xml.sax.saxutils import escape, quoteattr

from ....quota.words import show

Attributes = Mapping[str, str | int | float]
"""Names as in SVG. Numbers are written with at most one decimal."""


class SvgWriter:
    """Collects the elements of one picture. `text` is a whole XML document."""

    def __init__(self, width: int, height: int) -> None:
        size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        named = 'role="img" aria-labelledby="title description"'
        self._lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {named}>',
        ]

    def element(self, name: str, attributes: Attributes, content: str = "") -> None:
        """One element with text in it, or none."""
        inner = f">{_safe(content)}</{name}>" if content else "/>"
        self._lines.append(f"<{name}{_written(attributes)}{inner}")

    @contextmanager
    def within(self, name: str, attributes: Attributes) -> Iterator[None]:
        """What is written meanwhile stands inside this element."""
        self._lines.append(f"<{name}{_written(attributes)}>")
        yield
        self._lines.append(f"</{name}>")

    @property
    def text(self) -> str:
        """The document; the writer must not be inside an element."""
        return "\n".join([*self._lines, "</svg>", ""])


def steps_between(places: Sequence[float], upper: Sequence[float], lower: Sequence[float]) -> str:
    """The path data of the area between two step curves. `places` are the borders of the columns,
    one more than there are columns. Columns of the same height cost nothing.
    """
    there, back = _steps(places, upper), _steps(places[::-1], lower[::-1])
    return f"M{number(places[0])} {there}L{number(places[-1])} {back}Z"


def number(value: float) -> str:
    """With at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def _steps(places: Sequence[float], heights: Sequence[float]) -> str:
    """From the first place on: the first height, then one horizontal and one vertical line for each
    change.
    """
    found = [number(heights[0])]
    last = found[0]
    for place, height in zip(places[1:-1], heights[1:], strict=True):
        if (text := number(height)) != last:
            found.append(f"H{number(place)}V{text}")
            last = text
    return "".join([*found, f"H{number(places[-1])}"])


def _written(attributes: Attributes) -> str:
    texts = (
        (name, value if isinstance(value, str) else number(value))
        for name, value in attributes.items()
    )
    return "".join(f" {name}={quoteattr(_printable(text))}" for name, text in texts)


def _safe(text: str) -> str:
    return escape(_printable(text))


def _printable(text: str) -> str:
    """Without the characters that XML must not have."""
    return show(text, most=len(text))
