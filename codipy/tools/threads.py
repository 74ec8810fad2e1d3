# SPDX-License-Identifier: Apache-2.0
"""How many threads array statements may run on."""
from __future__ import annotations

import os
from numbers import Integral

from codipy.programs import tiles

__all__ = ["get_num_threads", "set_num_threads"]


def get_num_threads() -> int:
    """How many threads one array statement may run on.

    Returns
    -------
    int
        What `set_num_threads` set, 1 before. Always 1 on Windows.

    See Also
    --------
    set_num_threads

    Examples
    --------
    >>> import codipy
    >>> codipy.get_num_threads()
    1
    """
    return tiles.threads()


def set_num_threads(count: int | None) -> None:
    """Let large array statements run on several threads, for the whole process.

    Values, gradients and tangents are the same to the last bit for any number of threads. Statements that are too small
    to gain (below about 100 us for each thread) and reverse sweeps in which parts of a statement add to the same
    adjoints (shifted slices of one array, broadcast rows) run on one. A single number that is used in the whole
    statement is no obstacle.

    Parameters
    ----------
    count : int or None
        At most so many threads, from 1 to 256. None takes what `OMP_NUM_THREADS` says, or else the number of processors
        that this process may use. On Windows it is 1.

    Raises
    ------
    TypeError
        Something else than an integer or None.
    ValueError
        A number out of range, or an `OMP_NUM_THREADS` that is none.

    Examples
    --------
    >>> import codipy
    >>> codipy.set_num_threads(2)
    >>> codipy.get_num_threads()
    2
    >>> codipy.set_num_threads(1)
    """
    if count is None:
        count = _asked_for()
    elif isinstance(count, bool) or not isinstance(count, Integral):
        raise TypeError(f"set_num_threads takes an integer or None, not {type(count).__name__}")
    elif not 1 <= count <= tiles.MOST_THREADS:
        raise ValueError(f"set_num_threads: between 1 and {tiles.MOST_THREADS} threads, not {count}")
    tiles.set_threads(min(int(count), tiles.MOST_THREADS if tiles.HAS_THREADS else 1))


def _asked_for():
    """What OMP_NUM_THREADS says, a number or a list of them for nested levels, or else the processors there are."""
    text = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if not text:
        return min(_processors(), tiles.MOST_THREADS)
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ValueError(f"OMP_NUM_THREADS={os.environ['OMP_NUM_THREADS']!r} is no number of threads: set it to 1 or "
                         f"more, or call set_num_threads with a number")
    return min(int(text), tiles.MOST_THREADS)


def _processors():
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
