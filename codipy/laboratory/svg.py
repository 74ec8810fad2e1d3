# SPDX-License-Identifier: Apache-2.0
"""Figures as SVG text that takes its colours from the page around it."""
from __future__ import annotations

import math
from html import escape

from codipy.laboratory.axes import said, ticks
from codipy.laboratory.figures import COLOURS

__all__ = ["svg"]

_WIDTH, _HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 28, 14, 44
_LINE = 16      # of the legend


def svg(figure):
    """The text of one ``<svg>``, with a title for those who cannot see it."""
    drawn = _Bars(figure) if figure.bars else _Lines(figure)
    body, legend = drawn.body(), _legend(figure, drawn.bottom + 44 if figure.bars else _HEIGHT + 4)
    height = (drawn.bottom + 44 if figure.bars else _HEIGHT + 4) + _LINE * _legend_lines(figure) + 6
    return (f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(figure.title)}" '
            f'xmlns="http://www.w3.org/2000/svg"><title>{escape(figure.title)}</title>{body}{legend}</svg>')


class _Lines:
    """Lines and dots on two axes."""

    bottom = _HEIGHT - _BOTTOM

    def __init__(self, figure):
        self.figure = figure
        points = [point for one in figure.series for point in one.points]
        self.x = _Axis([x for x, _ in points], _LEFT, _WIDTH - _RIGHT, figure.log)
        self.y = _Axis([y for _, y in points], self.bottom, _TOP, figure.log)

    def body(self):
        """Axes and what is on them."""
        parts = [_frame(self.bottom)]
        for value in ticks(self.x.low, self.x.high, self.figure.x, self.figure.log):
            parts.append(_text(self.x(value), self.bottom + 16, said(value, self.figure.x), "middle"))
        for value in ticks(self.y.low, self.y.high, self.figure.y, self.figure.log):
            parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{self.y(value):.1f}" '
                         f'y2="{self.y(value):.1f}"/>')
            parts.append(_text(_LEFT - 6, self.y(value) + 4, said(value, self.figure.y), "end"))
        parts.append(_text((_LEFT + _WIDTH) / 2, self.bottom + 36, self.figure.x, "middle"))
        parts.append(f'<text transform="translate(12 {self.bottom / 2:.0f}) rotate(-90)" text-anchor="middle">'
                     f'{escape(self.figure.y)}</text>')
        return "".join([*parts, *map(self._series, self.figure.series)])

    def _series(self, one):
        places = [(self.x(x), self.y(y)) for x, y in one.points if self.x.holds(x) and self.y.holds(y)]
        dash = ' stroke-dasharray="5 3"' if one.dashed else ""
        text = ""
        if one.line and len(places) > 1:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            text += f'<polyline class="{_class(one)}" fill="none"{dash} points="{path}"/>'
        for a, b in (one.points if one.dots else one.spots):
            if self.x.holds(a) and self.y.holds(b):
                title = f"{one.label}: {said(a, self.figure.x)}, {said(b, self.figure.y)}"
                hollow = " hollow" if one.dashed else ""
                text += (f'<circle class="{_class(one)}{hollow}" cx="{self.x(a):.1f}" cy="{self.y(b):.1f}" r="4">'
                         f"<title>{escape(title)}</title></circle>")
        return text


class _Bars:
    """Bars that lie, each made of layers."""

    _row, _text = 24, 190

    def __init__(self, figure):
        self.figure = figure
        self.bottom = _TOP + self._row * len(figure.bars)
        totals = [sum(dict(one.points)[k] for one in figure.series) for k in range(len(figure.bars))]
        self.x = _Axis([0, *totals], self._text, _WIDTH - _RIGHT, False)

    def body(self):
        """Titles, bars and the axis below."""
        parts = []
        for value in ticks(self.x.low, self.x.high, self.figure.y, False):
            x = self.x(value)
            parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{self.bottom}"/>')
            parts.append(_text(x, self.bottom + 16, said(value, self.figure.y), "middle"))
        parts.append(_text((self._text + _WIDTH) / 2, self.bottom + 34, self.figure.y, "middle"))
        for k, title in enumerate(self.figure.bars):
            top, done = _TOP + self._row * k + 3, 0
            parts.append(_text(self._text - 6, top + 13, title, "end"))
            for one in self.figure.series:
                height = dict(one.points)[k]
                if height:
                    left, right = self.x(done), self.x(done + height)
                    parts.append(f'<rect class="{_class(one)}" x="{left:.1f}" y="{top}" width="{right - left:.1f}" '
                                 f'height="{self._row - 6}"><title>{escape(title)}, {escape(one.label)}: '
                                 f"{said(height, self.figure.y)}</title></rect>")
                    done += height
        return "".join(parts)


class _Axis:
    """From numbers to places."""

    def __init__(self, values, first, last, log):
        values = [value for value in values if math.isfinite(value) and (value > 0 or not log)] or [1]
        low, high = (min(values), max(values)) if log else (min(0, *values, 0), max(0, *values, 0))
        if low == high:
            low, high = (low / 2, high * 2) if log else (low, high + 1)
        self.log, self.low, self.high, self.first, self.last = log, low, high, first, last

    def holds(self, value):
        """Whether there is a place for a number."""
        return math.isfinite(value) and (value > 0 or not self.log)

    def __call__(self, value):
        if self.log:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return self.first + part * (self.last - self.first)


def _class(one):
    return "front" if one.colour < 0 else f"c{one.colour % len(COLOURS)}"


def _frame(bottom):
    return f'<path class="axis" fill="none" d="M{_LEFT} {_TOP}V{bottom}H{_WIDTH - _RIGHT}"/>'


def _text(x, y, text, anchor):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _columns(figure):
    return 1 if max((len(one.label) for one in figure.series), default=0) > 34 else 2


def _legend_lines(figure):
    return math.ceil(len(figure.series) / _columns(figure))


def _legend(figure, top):
    columns, parts = _columns(figure), []
    for k, one in enumerate(figure.series):
        x, y = _LEFT + (_WIDTH - _LEFT) // columns * (k % columns), top + _LINE * (k // columns) + 10
        dash = ' stroke-dasharray="5 3"' if one.dashed else ""
        parts.append(f'<line class="{_class(one)}" stroke-width="4"{dash} x1="{x}" x2="{x + 22}" y1="{y - 4}" '
                     f'y2="{y - 4}"/>' + _text(x + 28, y, one.label, "start"))
    return "".join(parts)
