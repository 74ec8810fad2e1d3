# SPDX-License-Identifier: Apache-2.0
"""The figures of a study drawn by matplotlib."""
from __future__ import annotations

from codipy.laboratory.axes import said, ticks
from codipy.laboratory.errors import StudyError
from codipy.laboratory.figures import COLOURS, figures
from codipy.laboratory.resident import EXTRA

__all__ = ["plot"]


def plot(study, names=None):
    """Figures by name, each a matplotlib Figure that belongs to no window: save it, or show it in a notebook."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise StudyError(f"plot() needs matplotlib: {EXTRA}") from None
    known = {figure.name: figure for figure in figures(study)}
    names = list(known) if names is None else [names] if isinstance(names, str) else list(names)
    if unknown := [name for name in names if name not in known]:
        raise StudyError(f"this study has no figure {unknown[0]!r}: there are {', '.join(known) or 'none'}")
    drawn = {}
    for name in names:
        drawn[name] = Figure(figsize=(8.0, 5.0), layout="constrained")
        _draw(known[name], drawn[name].subplots())
    return drawn


def _draw(figure, axes):
    axes.set_title(figure.title)
    if figure.bars:
        _draw_bars(figure, axes)
    else:
        _draw_lines(figure, axes)
    if figure.log:
        axes.set(xscale="log", yscale="log")
    for axis, name in ((axes.xaxis, figure.y if figure.bars else figure.x), (axes.yaxis, figure.y)):
        if not (figure.bars and axis is axes.yaxis):      # which has the titles of the bars
            low, high = sorted(axis.get_view_interval())
            places = ticks(low, high, name, figure.log)
            axis.set_ticks(places, [said(place, name) for place in places])
            axis.set_ticks([], minor=True)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="x-small")


def _draw_lines(figure, axes):
    for one in figure.series:
        colour, fill = _colour(one), "none" if one.dashed else "full"
        axes.plot(*zip(*one.points), color=colour, label=one.label,
                  linestyle="none" if not one.line else "--" if one.dashed else "-",
                  marker="o" if one.dots else "", fillstyle=fill)
        for x, y in one.spots:
            axes.plot(x, y, color=colour, marker="o", fillstyle=fill)
    axes.set(xlabel=figure.x, ylabel=figure.y)


def _draw_bars(figure, axes):
    done = [0.0] * len(figure.bars)
    for one in figure.series:
        heights = [dict(one.points)[k] for k in range(len(figure.bars))]
        axes.barh(figure.bars, heights, left=done, color=_colour(one), label=one.label)
        done = [a + b for a, b in zip(done, heights)]
    axes.invert_yaxis()
    axes.set_xlabel(figure.y)


def _colour(one):
    return "0.5" if one.colour < 0 else COLOURS[one.colour % len(COLOURS)][0]
