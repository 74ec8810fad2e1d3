# SPDX-License-Identifier: Apache-2.0
"""Tables as plain text."""
from __future__ import annotations

__all__ = ["table"]


def table(header, rows, texts=0):
    """Lines of a table: the first `texts` columns to the left, the others to the right.

    Parameters
    ----------
    header : list of str
        Titles.
    rows : list of list of str
        Cells, as many as titles.
    texts : int
        How many columns are texts.

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
    widths = [max(map(len, column)) for column in zip(header, *rows)]
    lines = []
    for cells in (header, ["-" * width for width in widths], *rows):
        line = [cell.ljust(width) if k < texts else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(cells, widths))]
        lines.append("  ".join(line).rstrip())
    return lines
