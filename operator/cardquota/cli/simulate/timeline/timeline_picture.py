"""A picture of a timeline: who held what when, and how many waited; one band per card.

Plain SVG without scripts. Its size is bounded: by its width in columns, the bands and the queues
that are drawn, not by the trace.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ....quota.words import counted, show
from .svg_writer import Attributes, SvgWriter, number, steps_between
from .time_columns import TimeColumns
from .timeline_report import TimelineReport
from .trace_file import TraceError
from .utilisation import (
    HeldInterval,
    Utilisation,
    WaitingInterval,
    held_intervals,
    waiting_intervals,
)
from .waits import duration_text

WIDTH: Final = 960
"""Pixels of a band, and the most columns."""
MOST_BANDS: Final = 16
"""Cards that are drawn: those of which most is held. The rest are counted."""
_COLOURS: Final = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")
"""The palette of Okabe and Ito, which people with any kind of colour blindness can tell apart."""
MOST_QUEUES: Final = 2 * len(_COLOURS)
"""Queues with a colour, or a colour and stripes, of their own: those that hold most. The rest are
drawn as one."""
_GREY: Final = "#999999"
_INK: Final = "#222222"
_LEFT: Final = 70
_RIGHT: Final = 250
_TOP: Final = 78
_BAND: Final = 150
_STRIP: Final = 44
_BETWEEN: Final = 10
_BELOW: Final = 58
_ROW: Final = 20
_LONGEST_NAME: Final = 30
"""Characters of a name in the legend. The whole name is in its title."""
_MOST_TICKS: Final = 10
_HEADROOM: Final = 1.12
_FAR: Final = 2
"""Quotas beyond so many times the nodes would press all else flat: they are not in the scale."""
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_TICKS: Final = (
    *(1, 5, 15, 30),
    *(minutes * _MINUTE for minutes in (1, 2, 5, 10, 15, 30)),
    *(hours * _HOUR for hours in (1, 2, 3, 6, 12)),
    *(days * _DAY for days in (1, 2, 7, 14, 28, 91, 182, 365, 730, 1_460)),
)
_OTHERS: Final = "\0"
"""Stands for all queues without a colour: no queue has this name."""


@dataclass(slots=True, frozen=True)
class _Band:
    """What is drawn of one card."""

    card: Utilisation
    held: dict[str, list[int]]
    """By queue, in the order of the stack: card-seconds in each column."""
    waiting: list[int]


def write_picture(path: Path, found: TimelineReport) -> None:
    """Raises TraceError."""
    try:
        path.write_text(picture(found), encoding="utf-8")
    except OSError as error:
        raise TraceError([f"{path}: cannot be written: {error.strerror}"]) from None


def picture(found: TimelineReport) -> str:
    """The picture as an XML document."""
    return _Picture(found).drawn()


class _Picture:
    """Draws once."""

    def __init__(self, found: TimelineReport) -> None:
        self._found = found
        self._columns = TimeColumns(found.seconds, WIDTH)
        held = held_intervals(found.records, found.seconds)
        waiting = waiting_intervals(found.records, found.seconds)
        self._queues = _queues(held)
        """With a colour, by name; then `_OTHERS`, if there are any."""
        self._others = len({one.queue for each in held.values() for one in each}) - sum(
            queue is not _OTHERS for queue in self._queues
        )
        in_order = sorted(found.cards, key=lambda one: (-one.held, one.card))[:MOST_BANDS]
        drawn = sorted(in_order, key=lambda one: one.card)
        self._bands = [
            self._band(card, held.get(card.card, []), waiting.get(card.card, [])) for card in drawn
        ]
        per_band = _BAND + _BETWEEN + _STRIP + _BELOW
        legend = _ROW * (len(self._queues) + 6)
        self._height = _TOP + max(per_band * len(self._bands), legend) + 10
        self._svg = SvgWriter(_LEFT + WIDTH + _RIGHT, self._height)
        last = self._columns.number
        self._places = [_LEFT + WIDTH * i / last for i in range(last + 1)]

    def drawn(self) -> str:
        self._head()
        top = _TOP
        for band in self._bands:
            self._draw(band, top)
            top += _BAND + _BETWEEN + _STRIP + _BELOW
        self._legend()
        return self._svg.text

    def _band(
        self, card: Utilisation, held: Sequence[HeldInterval], waiting: Sequence[WaitingInterval]
    ) -> _Band:
        by_queue: dict[str, list[HeldInterval]] = {}
        for one in held:
            queue = one.queue if one.queue in self._queues else _OTHERS
            by_queue.setdefault(queue, []).append(one)
        stack = {
            queue: self._columns.held(by_queue[queue])
            for queue in self._queues
            if queue in by_queue
        }
        return _Band(card, stack, self._columns.most_waiting(waiting))

    # --- the parts ----------------------------------------------------------------------------

    def _head(self) -> None:
        svg, found = self._svg, self._found
        total, seconds = found.by_queue[-1], max(self._columns.widths)
        title = f"Cards held by queue, over {duration_text(found.seconds)}"
        left = len(found.cards) - len(self._bands)
        told = (
            f"{counted(total.jobs, 'job')}: {total.started} started, {total.denied} denied, "
            f"{total.never_started} never started. Each column is the mean of up to "
            f"{duration_text(seconds)}; of the jobs that wait, the most at one moment."
        )
        told += f" {counted(left, 'more card')}, of which less is held, not drawn." if left else ""
        svg.element("title", {"id": "title"}, title)
        svg.element("desc", {"id": "description"}, told)
        style = f"text{{font:12px sans-serif;fill:{_INK}}}"
        svg.element("style", {}, style)
        with svg.within("defs", {}):
            for i, colour in enumerate(_COLOURS):
                self._stripes(i, colour)
        everything: Attributes = {"width": _LEFT + WIDTH + _RIGHT, "height": self._height}
        svg.element("rect", {**everything, "fill": "#ffffff"})
        svg.element("text", {"x": _LEFT, "y": 26, "style": "font-size:18px"}, title)
        svg.element("text", {"x": _LEFT, "y": 46}, told)

    def _stripes(self, number_: int, colour: str) -> None:
        size: Attributes = {"width": 6, "height": 6}
        turned = {"patternUnits": "userSpaceOnUse", "patternTransform": "rotate(45)"}
        with self._svg.within("pattern", {"id": f"stripes-{number_}", **size, **turned}):
            self._svg.element("rect", {**size, "fill": colour})
            self._svg.element("rect", {"width": 2, "height": 6, "fill": "#ffffff"})

    def _draw(self, band: _Band, top: int) -> None:
        svg, card = self._svg, band.card
        bottom, widths = top + _BAND, self._columns.widths
        columns = zip(*band.held.values(), strict=True)
        peaks = (-(-sum(one) // width) for one, width in zip(columns, widths, strict=False))
        peak = max(peaks, default=0)
        scale = _BAND / (_top_of(card, peak) * _HEADROOM)
        svg.element("text", {"x": _LEFT, "y": top - 8, "style": "font-weight:bold"}, card.card)
        self._frame(top, _BAND)
        below = [0] * self._columns.number
        lower = [float(bottom)] * self._columns.number
        for queue, held in band.held.items():
            below = [before + more for before, more in zip(below, held, strict=True)]
            upper = [
                bottom - total / width * scale for total, width in zip(below, widths, strict=True)
            ]
            path = {"d": steps_between(self._places, upper, lower), "fill": self._fill(queue)}
            hours = (sum(held) + 1_800) // 3_600
            with svg.within("path", path):
                svg.element("title", {}, f"{self._name(queue)}: {hours:,} card-hours")
            lower = upper
        self._lines(card, bottom, scale)
        self._label(_LEFT - 6, bottom, "0")
        self._label(_LEFT - 6, bottom - card.capacity * scale + 4, f"{card.capacity}")
        self._strip(band.waiting, bottom + _BETWEEN)

    def _lines(self, card: Utilisation, bottom: int, scale: float) -> None:
        """Of the nodes and of all quotas, each with its number."""
        nodes = f"on nodes: {card.capacity}"
        quotas = f"quotas: {card.quota}"
        above = bottom - card.capacity * scale
        if card.quota == card.capacity:
            nodes = f"on nodes and in quotas: {card.capacity}"
        else:
            line = bottom - card.quota * scale
            there = line >= bottom - _BAND
            if there:
                self._line(line, dashed=True)
            else:
                quotas += " (beyond the scale)"
            higher = card.quota > card.capacity
            y = line - 4 if there else bottom - _BAND + 12
            if abs(y - (above - 4)) < 14:
                y = above - 18 if higher else above + 14
            self._halo(y, quotas)
        self._line(above, dashed=False)
        self._halo(above - 4, nodes)

    def _strip(self, waiting: list[int], top: int) -> None:
        """The number of jobs that wait, and the time below it."""
        peak, bottom = max(waiting), top + _STRIP
        self._frame(top, _STRIP)
        if peak:
            heights = [bottom - _STRIP * jobs / (peak * _HEADROOM) for jobs in waiting]
            lower = [float(bottom)] * len(heights)
            path = steps_between(self._places, heights, lower)
            self._svg.element("path", {"d": path, "fill": _INK, "fill-opacity": "0.65"})
        self._label(_LEFT - 6, top + 10, f"{peak}")
        self._label(_LEFT - 6, bottom, "waiting")
        for moment, x in self._ticks():
            self._svg.element("path", {"d": f"M{number(x)} {bottom}v5", "stroke": _INK})
            text = duration_text(moment) if moment else "0"
            self._svg.element("text", {"x": x, "y": bottom + 18, "text-anchor": "middle"}, text)

    def _legend(self) -> None:
        x, y = _LEFT + WIDTH + 24, _TOP
        self._svg.element("text", {"x": x, "y": y - 8, "style": "font-weight:bold"}, "Queues")
        for queue in self._queues:
            box: Attributes = {"x": x, "y": y, "width": 14, "height": 14}
            self._svg.element("rect", {**box, "fill": self._fill(queue)})
            with self._svg.within("g", {}):
                self._svg.element("title", {}, self._name(queue))
                short = show(self._name(queue), most=_LONGEST_NAME)
                self._svg.element("text", {"x": x + 22, "y": y + 12}, short)
            y += _ROW
        for text, dashed in (("cards on nodes", False), ("quotas of all queues", True)):
            y += _ROW
            self._line(y - 4, dashed=dashed, begin=x, length=14)
            self._svg.element("text", {"x": x + 22, "y": y}, text)
        y += _ROW
        ink: Attributes = {"fill": _INK, "fill-opacity": "0.65"}
        self._svg.element("rect", {"x": x, "y": y - 12, "width": 14, "height": 14, **ink})
        self._svg.element("text", {"x": x + 22, "y": y}, "jobs that wait")

    # --- small ones ---------------------------------------------------------------------------

    def _name(self, queue: str) -> str:
        return counted(self._others, "other queue") if queue is _OTHERS else queue

    def _fill(self, queue: str) -> str:
        if queue is _OTHERS:
            return _GREY
        again, place = divmod(self._queues.index(queue), len(_COLOURS))
        return f"url(#stripes-{place})" if again else _COLOURS[place]

    def _frame(self, top: int, height: int) -> None:
        size: Attributes = {"x": _LEFT, "y": top, "width": WIDTH, "height": height}
        self._svg.element("rect", {**size, "fill": "none", "stroke": "#cccccc"})

    def _line(self, y: float, *, dashed: bool, begin: int = _LEFT, length: int = WIDTH) -> None:
        style = {"stroke-dasharray": "6 4"} if dashed else {}
        path = f"M{begin} {number(y)}h{length}"
        line = {"d": path, "stroke": _INK, "stroke-width": "1.5", "fill": "none"}
        self._svg.element("path", {**line, **style})

    def _label(self, x: float, y: float, text: str) -> None:
        self._svg.element("text", {"x": x, "y": y, "text-anchor": "end"}, text)

    def _halo(self, y: float, text: str) -> None:
        """Readable on any colour."""
        place: Attributes = {"x": _LEFT + WIDTH - 6, "y": y, "text-anchor": "end"}
        halo: Attributes = {"stroke": "#ffffff", "stroke-width": 3, "paint-order": "stroke"}
        self._svg.element("text", {**place, **halo}, text)

    def _ticks(self) -> Iterator[tuple[int, float]]:
        """Moments with a label, and their places."""
        seconds = max(1, self._found.seconds)
        step = next((one for one in _TICKS if seconds // one <= _MOST_TICKS), _TICKS[-1])
        for moment in range(0, seconds + 1, step):
            yield moment, _LEFT + WIDTH * moment / seconds


def _queues(held: dict[str, list[HeldInterval]]) -> list[str]:
    """Those that hold most, by name; then `_OTHERS`, if some are left."""
    sums: dict[str, int] = {}
    for each in held.values():
        for begin, end, queue, cards in each:
            sums[queue] = sums.get(queue, 0) + (end - begin) * cards
    in_order = sorted(sums, key=lambda queue: (-sums[queue], queue))
    drawn = sorted(in_order[:MOST_QUEUES])
    return [*drawn, _OTHERS] if len(in_order) > MOST_QUEUES else drawn


def _top_of(card: Utilisation, peak: int) -> int:
    """The most cards that the scale shows."""
    most = max(card.capacity, peak, 1)
    return max(most, card.quota) if card.quota <= _FAR * most else most
