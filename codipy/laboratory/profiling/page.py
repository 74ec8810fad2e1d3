# SPDX-License-Identifier: Apache-2.0
"""A profile as one page of HTML: the source with its heat, and tables that sort."""
from __future__ import annotations

import linecache
import os
from collections import defaultdict
from html import escape

from codipy.laboratory.page import document, sortable
from codipy.laboratory.profiling.text import advice, bytes_of_whole, function_table, line_rows, loop_table, said, short
from codipy.tools.console.table import Table

__all__ = ["page"]

_STYLE = """
td.source { text-align: left; white-space: pre; font-family: ui-monospace, monospace; }
td.heat { background: color-mix(in srgb, var(--c1) calc(var(--heat) * 100%), transparent); }
"""
_AROUND = 2      # lines of the source before and after those that have something


def page(profile):
    """The text of the page."""
    title = f"Profile of {profile.function}" if profile.function else "Profile"
    tables = [function_table(profile), *([loop_table(profile)] if profile.loops else []), bytes_of_whole(profile),
              _paths(profile)]
    files = defaultdict(dict)
    for line in profile.lines:
        files[line.file][line.line] = line
    most = max([line.sums.bytes for line in profile.lines], default=0) or 1
    return document(title, f"""{"".join(f"<p>{escape(line)}</p>" for line in said(profile) + advice(profile))}
<h2>Tables</h2><p>A click on a title sorts.</p>
{"".join(sortable(number, table) for number, table in enumerate(tables))}
<h2>Lines</h2><p>The redder a line, the more bytes it put on the tape.</p>
{"".join(_file(name, lines, most) for name, lines in files.items())}
""", _STYLE)


def _paths(profile):
    """The call paths with most bytes."""
    found = sorted(profile.stacks(), key=lambda stack: -stack[1].bytes)[:50]
    return Table("Call paths", ["path", "taping"], [
        [" > ".join(f"{function}:{line}" if line else function for function, _, line in path), short(sums.bytes)]
        for path, sums in found if sums.bytes])


def _file(name, lines, most):
    """The lines of a file that have something, and those around them."""
    if not name:
        shown = list(lines.values())
    else:
        known = next(iter(lines.values()))
        numbers = sorted({near for number in lines for near in range(max(number - _AROUND, 1), number + _AROUND + 1)
                          if near in lines or linecache.getline(name, near)})
        shown = [lines.get(number) or type(known)(name, number, "", type(known.sums)()) for number in numbers]
    header = ("line", "statements", "arguments", "streams", "arrays", "record", "reverse", "live", "source")
    head = "".join(f'<th scope="col"{_text(k == 8)}>{title}</th>' for k, title in enumerate(header))
    body = "".join(_row(line, cells, most) for line, cells in zip(shown, line_rows(shown)))
    return (f"<section><h3>{escape(os.path.basename(name) or 'no file')}</h3><div class=\"wide\"><table><thead>"
            f"<tr>{head}</tr></thead><tbody>{body}</tbody></table></div></section>")


def _text(is_text):
    return ' class="text"' if is_text else ""


def _row(line, cells, most):
    *numbers, source = map(escape, cells)
    heat = line.sums.bytes / most
    return ("<tr>" + "".join(f"<td>{cell}</td>" for cell in numbers)
            + f'<td class="source heat" style="--heat: {0.65 * heat:.3f}">{source}</td></tr>')
