# SPDX-License-Identifier: Apache-2.0
"""A profile as text: functions, loops, and the lines beside their source."""
from __future__ import annotations

import linecache
import os
import textwrap
from collections import defaultdict

from codipy.tape.memory.statistics import readable
from codipy.tools.comparison.report import readable_seconds
from codipy.tools.console.table import Table, line_width, sentences

__all__ = ["advice", "bytes_of_whole", "function_table", "line_rows", "loop_table", "said", "short", "text"]

_SOURCE = 24      # letters of the source that a line must have room for; else columns are left out
_COLUMNS = ("line", "statements", "arguments", "streams", "arrays", "record", "reverse", "live")
_LEFT_OUT = ("live", "arguments", "record", "statements")      # the first first, where a line is narrow


def text(profile, form, width=None):
    """In one of the formats of tables."""
    width = width or line_width()
    tables = [function_table(profile), *([loop_table(profile)] if profile.loops else []), bytes_of_whole(profile)]
    lines = sentences(said(profile) + advice(profile), form, width)
    if form == "text":
        sources = [line for table in _by_function(profile) for line in ["", *_beside_source(*table, width)]]
    else:
        sources = [line for title, rows in _by_function(profile)
                   for line in ["", *Table(title, [*_COLUMNS, "source"], rows).lines(form)]]
    return "\n".join([*lines, *(line for table in tables for line in ["", *table.lines(form, width)]), *sources])


def short(size):
    """Bytes as in other tables, without decimals of single ones."""
    return readable(size).replace(".00 B", " B")


def said(profile):
    """What was profiled, and what was not."""
    of = f"{profile.function}: " if profile.function else ""
    lines = [f"{of}{profile.recordings} recording{'s' * (profile.recordings != 1)}"
             + (f" ({'; '.join(profile.strategies)})" if profile.strategies else "")
             + f", {short(profile.total.used)} in use, {short(profile.total.allocated)} allocated."]
    if profile.recordings > 1:
        lines.append("All numbers are sums over the recordings.")
    if not profile.recordings and not profile.missed:
        lines.append("No recording began in the block on the thread that entered it: enter a block on the thread that "
                     "records.")
    if profile.missed:
        lines.append(f"{profile.missed} more had begun before the profile, or keep nothing: nothing here is theirs.")
    if profile.inner:
        lines.append(f"Recordings inside, of drivers or preaccumulate: {profile.inner}, in the times alone, since "
                     "nothing of them stays.")
    return lines


def advice(profile):
    """What checkpoints would save and cost, of the loop with most bytes that they make smaller."""
    loops = [loop for loop in profile.loops if loop.iterations > 1]
    if not loops:
        return []
    smaller = [loop for loop in loops if loop.state is not None and loop.checkpointed < loop.sums.bytes]
    loop = smaller[0] if smaller else loops[0]
    of = f"{loop.function}, the loop in line {loop.line}"
    if loop.state is None:
        return [f"Checkpoint {of}: {short(loop.sums.bytes)} to {short(loop.each)} and what each iteration begins with, "
                f"for {loop.runs:.1f} runs. How much that is is not known: {loop.unknown}."]
    sizes = (f"one iteration of {short(loop.each)}, and {loop.iterations} checkpoints of {short(loop.state)}, the "
             "active numbers that it begins with.")
    change = f"{short(loop.sums.bytes)} to {short(loop.checkpointed)}"
    if not smaller:
        return [f"Checkpoints would not make {of} smaller: {change}: {sizes}"]
    return [f"Checkpoint {of}: {change} for {loop.runs:.1f} runs: {sizes}"]


def function_table(profile):
    """The columns that Tapenade's profiler has, and what a function wrote itself."""
    header = ["function", "calls", "taping", "own", "statements", "record", "reverse"]
    return Table("Functions, with what they call", header, [
        [f"{function.name} ({os.path.basename(function.file)}:{function.line})",
         "-" if function.calls is None else str(function.calls),
         short(function.whole.bytes), short(function.own.bytes), str(function.whole.statements),
         readable_seconds(function.whole.record), readable_seconds(function.whole.reverse)]
        for function in profile.functions])


def loop_table(profile):
    """What an iteration takes, and what is kept and run again if each starts from a checkpoint."""
    return Table("Loops: with a checkpoint for each iteration one of them is on the tape at a time",
                 ["loop", "iterations", "taping", "an iteration", "a checkpoint", "runs"], [
                     [f"{loop.function} ({os.path.basename(loop.file)}:{loop.line})", str(loop.iterations),
                      short(loop.sums.bytes), short(loop.each), "-" if loop.state is None else short(loop.state),
                      f"{loop.runs:.2f}"] for loop in profile.loops])


def bytes_of_whole(profile):
    """What belongs to no line, and the sum."""
    lines = sum(line.sums.bytes for line in profile.lines)
    return Table("The tape", ["bytes of", "used", "allocated"], [
        ["all lines", short(lines), short(lines)],
        *([title, short(amount.used), short(amount.allocated)] for title, amount in profile.whole.items()),
        ["the tape", short(profile.total.used), short(profile.total.allocated)]])


def line_rows(lines):
    """Cells of lines, in the order of _COLUMNS, and the source."""
    def number(value):
        return str(value) if value else ""

    return [[number(line.line), number(line.sums.statements), number(line.sums.arguments),
             short(sum(line.sums.streams.values())) if line.sums.streams else "",
             short(line.sums.objects + line.sums.values) if line.sums.objects + line.sums.values else "",
             readable_seconds(line.sums.record) if line.sums.record else "",
             readable_seconds(line.sums.reverse) if line.sums.reverse else "", number(line.sums.live),
             line.source or line.function * (not line.line)] for line in lines]


def _by_function(profile):
    """(title, rows) of each function, in the order of their bytes; what no line called comes last."""
    lines = defaultdict(list)
    for line in profile.lines:
        lines[line.file, line.function].append(line)
    for (file, function), found in sorted(lines.items(), key=lambda item: (item[0][0] == "", -_bytes(item[1]))):
        title = f"{function} ({os.path.basename(file)})" if file else function
        yield f"{title}: {short(_bytes(found))}", line_rows(_with_gaps(found) if file else found)


def _bytes(lines):
    return sum(line.sums.bytes for line in lines)


def _with_gaps(lines):
    """The lines of a function with those between them, which put nothing on the tape."""
    known = {line.line: line for line in lines}
    first = lines[0]
    return [known.get(number) or type(first)(first.file, number, first.function, type(first.sums)())
            for number in range(min(known), max(known) + 1)
            if number in known or linecache.getline(first.file, number).strip()]


def _beside_source(title, rows, width):
    """Lines of a table whose last column is cut where the terminal ends."""
    kept = [k for k, _ in enumerate(_COLUMNS) if any(row[k] for row in rows)]
    widths = [max(len(name), *(len(row[k]) for row in rows)) for k, name in enumerate(_COLUMNS)]
    for name in _LEFT_OUT:
        if sum(widths[k] + 2 for k in kept) + _SOURCE > width and _COLUMNS.index(name) in kept:
            kept.remove(_COLUMNS.index(name))
    numbers = sum(widths[k] + 2 for k in kept)
    sources = textwrap.dedent("\n".join(row[-1] for row in rows)).split("\n")
    yield title[:width]
    for cells, source in [(_COLUMNS, "source"), (["-" * size for size in widths], ""), *zip(rows, sources)]:
        line = "  ".join(cells[k].rjust(widths[k]) for k in kept) + "  " + source
        yield line[:max(width, numbers)].rstrip()
