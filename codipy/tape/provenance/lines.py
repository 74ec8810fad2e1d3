# SPDX-License-Identifier: Apache-2.0
"""The user's lines that put on a tape what is there, while it is profiled."""
from __future__ import annotations

import linecache
import os

__all__ = ["lines_of", "said"]


def said(file, number):
    """A line of a file, and what it says where that is known."""
    text = linecache.getline(file, number).strip()
    return f"{os.path.basename(file)}:{number}" + (f": `{text}`" if text else "")


def lines_of(tape):
    """The lines of a recording.

    Parameters
    ----------
    tape : Tape

    Returns
    -------
    statements, records : list of str
        For each scalar statement, and for each record, in their order; an empty text for what no line of the user's
        called. None and None where the tape is not being profiled.
    """
    if tape.journal is None:
        return None, None
    nodes, spots, _ = tape.journal.spots.table()
    texts = ["" if node == 0 else said(nodes[node][0].co_filename, line) for node, line, _, _ in spots]
    statements, records = tape.journal.spots_of()
    return [texts[spot] for spot in statements], [texts[spot] for spot in records[:, 0]]
