# SPDX-License-Identifier: Apache-2.0
"""Resident memory of a function under each strategy, each in a process of its own, sampled over time.

Run as ``python -m codipy.tools.memory REQUEST RESULT`` it is such a process: two JSON files.
"""
from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from codipy.active import Tape
from codipy.tape.base import FORWARD_STRATEGY
from codipy.tools.problem import Problem
from codipy.tools.target import TargetError, load

__all__ = ["measure"]

_INTERVAL = 0.01      # seconds between samples
_SLACK = 4 << 20      # bytes: the last pages that come and go around a sample
# A process starts with the peak of the one that made it, in getrusage; so a small one makes it.
_LAUNCHER = [sys.executable, "-c", "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"]


def measure(target, at=None, pairs=(), chunk_size=None, progress=None):
    """Peak and curve of resident memory, for the plain run and for each way to record.

    Parameters
    ----------
    target, at : str
        The function in its file and its point: see `load`. Every process loads the file anew.
    pairs : list of tuple
        (strategy, granularity)
    chunk_size : int, optional
        Of the tapes.
    progress : callable, optional
        Called with (processes done, processes in all).

    Returns
    -------
    list of dict
        strategy, granularity, baseline, peak and over_plain (bytes), curve (seconds and bytes), rusage (what
        getrusage says of the peak, in bytes, None where there is no getrusage) and warning (where they differ).

    Raises
    ------
    TargetError
        If memory-profiler is not installed, or a process fails.
    """
    if importlib.util.find_spec("memory_profiler") is None:
        raise TargetError("--memory needs memory-profiler: pip install 'codipy[study]'")
    rows = []
    for done, (strategy, granularity) in enumerate([("plain", "-"), *pairs], start=1):
        request = {"target": target, "at": at, "strategy": strategy, "granularity": granularity,
                   "chunk_size": chunk_size}
        rows.append({"strategy": strategy, "granularity": granularity, **_in_its_own_process(request)})
        rows[-1]["over_plain"] = rows[-1]["peak"] - rows[0]["peak"]
        if progress is not None:
            progress(done, len(pairs) + 1)
    return rows


def _in_its_own_process(request):
    with tempfile.TemporaryDirectory() as folder:
        asked, result = Path(folder, "request.json"), Path(folder, "result.json")
        asked.write_text(json.dumps(request), encoding="utf-8")
        command = [*_LAUNCHER, sys.executable, "-m", "codipy.tools.memory", str(asked), str(result)]
        run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if run.returncode:
            raise TargetError(f"the memory run of {request['strategy']} failed:\n{run.stderr.rstrip()}")
        return json.loads(result.read_text(encoding="utf-8"))


def _sample(request):
    """Load, run once under the sampler, and compare its peak with the system's own."""
    from memory_profiler import memory_usage

    problem = Problem(*load(request["target"], request["at"]))
    if request["strategy"] == "plain":
        work, arguments = problem.value, (problem.point,)
    else:
        tape = Tape(request["strategy"], request["granularity"], request["chunk_size"])
        work, arguments = problem.gradient, (tape,)
        if request["strategy"] == FORWARD_STRATEGY:
            work, arguments = problem.along, (tape, np.ones(problem.point.size))
    baseline = memory_usage(-1, max_usage=True)
    samples = memory_usage((work, arguments), interval=_INTERVAL, timestamps=True)
    curve = [[time - samples[0][1], round(size * 2**20)] for size, time in samples]
    peak, rusage = max(size for _, size in curve), _peak_of_the_system()
    return {"baseline": round(baseline * 2**20), "peak": peak, "curve": curve, "rusage": rusage,
            "warning": _warning(peak, rusage)}


def _warning(peak, rusage):
    if rusage is None or abs(peak - rusage) <= _SLACK + rusage // 20:
        return None
    reason = ("the run is too short for the sampler, trust getrusage" if peak < rusage else
              "samples above the true peak, trust getrusage")
    return f"sampled peak {peak} bytes, getrusage {rusage} bytes: {reason}"


def _peak_of_the_system():
    try:
        import resource
    except ImportError:      # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    asked, result = map(Path, sys.argv[1:])
    result.write_text(json.dumps(_sample(json.loads(asked.read_text(encoding="utf-8")))), encoding="utf-8")
