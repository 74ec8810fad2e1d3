# SPDX-License-Identifier: Apache-2.0
"""Tables as plain text, which fold where a line is too narrow, as Markdown and as LaTeX."""
from __future__ import annotations

import shutil
import textwrap
from dataclasses import dataclass
from typing import Any

from codipy.tape.html import html_table

__all__ = ["FORMATS", "Table", "Told", "line_width", "sentences", "table"]

FORMATS = ("text", "markdown", "latex")
_GAP = "  "
_LATEX = str.maketrans({"\\": r"\textbackslash{}", "±": r"$\pm$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
                        "≤": r"$\le$", "≥": r"$\ge$", **{letter: f"\\{letter}" for letter in "&%$#_{}"}})


def table(header, rows, texts=0, width=None):
    """Lines of a table: the first `texts` columns to the left, the others to the right.

    Parameters
    ----------
    header : list of str
        Titles.
    rows : list of list of str
        Cells, as many as titles.
    texts : int
        How many columns are texts.
    width : int, optional
        Letters in a line. What does not fit stands in a further table below, with the texts again, or with the number
        of the row where these leave no room.

    Returns
    -------
    list of str

    Examples
    --------
    >>> print("\\n".join(table(["name", "bytes"], [["a", "1"], ["longer", "12"]], texts=1)))
    name    bytes
    ------  -----
    a           1
    longer     12
    """
    widths, again, left = _widths(header, rows), texts, range(texts)
    if width is not None and len(rows) > 1 and _room(widths[:texts]) + max(widths[texts:], default=0) > width:
        header, rows = ["row", *header], [[str(number), *row] for number, row in enumerate(rows, start=1)]
        widths, again, left = _widths(header, rows), 1, range(1, texts + 1)
    lines = []
    for columns in _folded(widths, again, width):
        lines += [""] if lines else []
        for cells in (header, ["-" * width for width in widths], *rows):
            line = [cells[k].ljust(widths[k]) if k in left else cells[k].rjust(widths[k]) for k in columns]
            lines.append(_GAP.join(line).rstrip())
    return lines


def _widths(header, rows):
    return [max(map(len, column)) for column in zip(header, *rows)]


def _room(widths):
    """Letters that columns take in front of others."""
    return sum(widths) + len(_GAP) * len(widths)


def _folded(widths, again, width):
    """The columns of each part: the first, which stand in all, then as many others as fit, one at least."""
    parts, left = [], list(range(again, len(widths)))
    room = _room(widths[:again])
    while True:
        part, taken = list(range(again)), room
        while left and (width is None or len(part) == again or taken + widths[left[0]] <= width):
            taken += widths[left[0]] + len(_GAP)
            part.append(left.pop(0))
        parts.append(part)
        if not left:
            return parts


def line_width():
    """Letters in a line of the terminal, 80 where there is none."""
    return shutil.get_terminal_size().columns


def sentences(lines, form, width, indent=""):
    """Sentences beside tables of a format.

    Parameters
    ----------
    lines : list of str
        One for each; in LaTeX one that has several lines, as errors may, is several comments.
    form : str
        One of the FORMATS.
    width : int
        Letters in a line of text.
    indent : str
        What the second line of a sentence begins with, in text.

    Returns
    -------
    list of str
    """
    if form == "text":
        return [part for line in lines for part in textwrap.wrap(line, width, subsequent_indent=indent) or [""]]
    if form == "latex":
        return [f"% {part}".rstrip() for line in lines for part in line.splitlines() or [""]]
    return list(lines)


@dataclass(frozen=True)
class Table:
    """A title, titles of columns, and cells as text; the first `texts` columns are texts, the others numbers."""

    title: str
    header: list
    rows: list
    texts: int = 1

    def text(self, width=None):
        """Lines, folded at a width."""
        title = textwrap.wrap(self.title, width) if width else [self.title] * bool(self.title)
        return [*title, *table(self.header, self.rows, self.texts, width)]

    def markdown(self):
        """Lines of a table of GitHub's Markdown."""
        rule = ["---" if k < self.texts else "---:" for k in range(len(self.header))]
        rows = [[cell.replace("|", "\\|") for cell in row] for row in self.rows]
        return [*([f"**{self.title}**", ""] if self.title else []),
                *("| " + " | ".join(cells) + " |" for cells in (self.header, rule, *rows))]

    def latex(self):
        """Lines of a LaTeX table with the rules of the package booktabs."""
        columns = "l" * self.texts + "r" * (len(self.header) - self.texts)
        head, *body = [" & ".join(cell.translate(_LATEX) for cell in cells) + r" \\"
                       for cells in (self.header, *self.rows)]
        caption = [rf"  \caption{{{self.title.translate(_LATEX)}}}"] if self.title else []
        return [r"\begin{table}", r"  \centering", *caption,
                rf"  \begin{{tabular}}{{{columns}}}", r"    \toprule", f"    {head}", r"    \midrule",
                *(f"    {line}" for line in body), r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]

    def html(self):
        """A table of HTML."""
        return html_table(self.header, self.rows, self.texts, self.title)

    def lines(self, form="text", width=None):
        """In one of the FORMATS; `width` is that of text."""
        if form not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(map(repr, FORMATS))}, got {form!r}")
        return self.text(width) if form == "text" else getattr(self, form)()


class Told:
    """What was found out about a function, as one table with sentences around it, which classes that inherit make.

    Attributes
    ----------
    function : str
        Its name.
    rows : list
    """

    function: str
    rows: list[Any]

    def _table(self) -> Table:
        raise NotImplementedError

    def _said(self) -> tuple[list[str], list[str]]:
        """Sentences before the table, and after it."""
        raise NotImplementedError

    def table(self, format: str = "text", width: int | None = None) -> str:
        """The rows.

        Parameters
        ----------
        format : str
            'text', 'markdown' or 'latex' (for the package booktabs).
        width : int, optional
            Letters in a line of text, at which the table folds; default is the terminal's, 80 without one.

        Returns
        -------
        str
        """
        return "\n".join(self._table().lines(format, width or line_width()))

    def text(self, format: str = "text", width: int | None = None) -> str:
        """The rows with the sentences; the parameters are those of `table`."""
        width = width or line_width()
        before, after = (["\n".join(sentences([line], format, width)) for line in lines] for lines in self._said())
        return "\n\n".join([*before, self.table(format, width), *after])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.function}: {len(self.rows)} rows>"

    def _repr_html_(self):
        return self._table().html()
