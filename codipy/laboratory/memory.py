# SPDX-License-Identifier: Apache-2.0
"""Resident memory of a function under each strategy, each in a process of its own: that part of a study alone."""
from __future__ import annotations

from codipy.laboratory.plan import PLAIN, Combination
from codipy.laboratory.process import measured
from codipy.laboratory.source import FromFile

__all__ = ["measure"]


def measure(target, point, pairs=(), chunk_size=None, progress=None):
    """Peak and curve of resident memory, for the plain run and for each way to record.

    Parameters
    ----------
    target : str
        The function in its file; each process loads the file.
    point : Point
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
    source, rows = FromFile(target), []
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
