# SPDX-License-Identifier: Apache-2.0
"""Resident memory of a function under each strategy, each in a process of its own: that part of a study alone."""
from __future__ import annotations

from codipy.laboratory.plan import PLAIN, Combination, Point
from codipy.laboratory.process import measured
from codipy.laboratory.source import FromFile

__all__ = ["measure"]


def measure(target, at=None, pairs=(), chunk_size=None, progress=None, text=None):
    """Peak and curve of resident memory, for the plain run and for each way to record.

    Parameters
    ----------
    target, at, text : str
        The function in its file and its point, see `codipy.tools.console.target.load`; each process loads the file.
    pairs : list of tuple
        (strategy, granularity)
    chunk_size : int, optional
        Of the tapes.
    progress : callable, optional
        Called with (processes done, processes in all, what runs).

    Returns
    -------
    list of dict
        strategy, granularity; baseline, peak, growth (from one to the other) and over_plain, in bytes, by the kernel's
        high-water mark; sampled (the largest sample of memory-profiler, None without it), curve (seconds and bytes) and
        warning (where the two do not agree).
    """
    source, point, rows = FromFile(target), Point(at or text or "x0", at=at, text=text), []
    asked = [Combination(point, PLAIN), *(Combination(point, *pair, chunk_size) for pair in pairs)]
    for done, combination in enumerate(asked):
        if progress is not None:
            progress(done, len(asked), combination.title)
        found = measured({"source": source, "combination": combination, "rebind": True, "repeat": 0})
        if "error" in found:
            raise found["error"]
        rows.append({"strategy": combination.strategy, "granularity": combination.granularity,
                     "growth": found["peak"] - found["baseline"],
                     **{name: found[name] for name in ("baseline", "peak", "sampled", "curve", "mark", "warning")}})
        rows[-1]["over_plain"] = rows[-1]["growth"] - rows[0]["growth"]
    return rows
