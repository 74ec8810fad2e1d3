# SPDX-License-Identifier: Apache-2.0
"""Numbers and arrays as notebooks show them."""
from __future__ import annotations

from html import escape

import numpy as np

from codipy.tape.html import html_table

__all__ = ["array_html", "number_html"]

_EDGE = 4      # rows and columns at either end that are shown of a large array


def number_html(value, text):
    """A Real: its value, and what `repr` says of it."""
    return f"<code title=\"{escape(text)}\">{escape(str(value))}</code>"


def array_html(values, is_active):
    """An Array: shape, and a table of vectors and matrices."""
    said = f"Array, shape {values.shape}, {values.dtype}{', active' if is_active else ''}"
    if values.ndim not in (1, 2) or not values.size:
        return f"<p>{escape(said)}</p><pre>{escape(str(values))}</pre>"
    rows, columns = np.atleast_2d(values).shape
    table = [["…" if i is None or j is None else f"{np.atleast_2d(values)[i, j]:.6g}" for j in _places(columns)]
             for i in _places(rows)]
    header = ["…" if j is None else str(j) for j in _places(columns)]
    if values.ndim == 2:
        table = [["…" if i is None else str(i), *row] for i, row in zip(_places(rows), table)]
        header = ["", *header]
    return html_table(header, table, values.ndim - 1, said)


def _places(count):
    """The indices that are shown, None for those between."""
    return list(range(count)) if count <= 2 * _EDGE + 1 else [*range(_EDGE), None, *range(count - _EDGE, count)]
