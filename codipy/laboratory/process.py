# SPDX-License-Identifier: Apache-2.0
"""One combination in a process of its own, watched from outside."""
from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from codipy.laboratory.resident import thinned, watch
from codipy.laboratory.waiting import signals_waiting, take_signals
from codipy.laboratory.worker import RUNNING, answer, end_with

__all__ = ["ProcessError", "measured"]

_START = "from codipy.laboratory.worker import main; main()"
_SLACK = 1 << 19      # bytes: the kernel counts pages by processor and adds them up now and then
_SURE = 2.0      # seconds from which on samples must come near the mark
_NEAR = 0.05


class ProcessError(RuntimeError):
    """A process of a study ended without an answer."""


def measured(request, tick=None):
    """What a process found out about one combination.

    Parameters
    ----------
    request : dict
        source, combination, repeat, rebind, and gradient: the file for it.
    tick : callable, optional
        Called now and then while it runs.

    Returns
    -------
    dict
        See `codipy.laboratory.worker`; beside that ``process`` ('fresh' or 'forked'), ``curve`` (seconds from the
        beginning and bytes, while the recording and its sweep run), ``sampled`` (the largest of them, None without
        memory-profiler) and ``warning``, where recordings or the two witnesses of the peak do not agree. Of a failure
        ``error`` and ``traceback``.

    Raises
    ------
    ProcessError
        With what the process said last.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, name) for name in ("request", "answer", "errors", "cold")}
        request = {**request, "cold": str(files["cold"])}
        fresh = request["source"].is_portable()
        run = _fresh if fresh else _forked
        samples, status = run(request, files, tick)
        if not files["answer"].exists():
            said = files["errors"].read_text(errors="replace").strip() if files["errors"].exists() else ""
            ended = f"by signal {-status}" if status < 0 else f"with status {status}"
            raise ProcessError(f"the process of {request['combination'].title} ended {ended}"
                               + (f":\n{said}" if said else ""))
        try:
            found = pickle.loads(files["answer"].read_bytes())
        except Exception as error:      # an exception of a class that only the other process has
            raise ProcessError(f"the answer of {request['combination'].title} cannot be read: {error}") from None
    if "ended" in found:
        raise ProcessError(f"{request['combination'].title}: {found['ended']}")
    if "error" in found:
        found["error"].codipy_traceback = found.pop("shown")
        return found
    return {**found, "process": "fresh" if fresh else "forked", **_watched(found, samples)}


def _fresh(request, files, tick):
    files["request"].write_bytes(pickle.dumps(request))
    command = [sys.executable, "-c", _START, str(files["request"]), str(files["answer"])]
    paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, RUNNING: "1", "PYTHONPATH": os.pathsep.join(paths)}
    with open(files["errors"], "wb") as errors:
        # A session of its own: Ctrl-C on the terminal is for the study, which then ends its process.
        process = None
        try:
            with signals_waiting():
                process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors,
                                           env=environment, start_new_session=True)
            samples = watch(process.pid, lambda: process.poll() is not None, files["cold"].exists, tick)
        finally:
            if process is not None:
                if process.poll() is None:
                    process.kill()
                process.wait()
                process.stdin.close()
    return samples, process.returncode


def _forked(request, files, tick):
    """For functions that no other process can find: those of notebooks, closures, lambdas."""
    if "fork" not in multiprocessing.get_all_start_methods():
        raise ProcessError("another process cannot find this function: put it into a module or a file")
    life, ours = os.pipe()
    process = multiprocessing.get_context("fork").Process(
        target=_in_the_fork, args=(request, files["answer"], files["errors"], life, ours), daemon=True)
    try:
        with warnings.catch_warnings(), signals_waiting():
            warnings.simplefilter("ignore", DeprecationWarning)      # threads of BLAS are at rest here
            process.start()
        os.close(life)
        samples = watch(process.pid, lambda: not process.is_alive(), files["cold"].exists, tick)
    finally:
        if process.pid is not None:
            if process.is_alive():
                process.kill()
            process.join()
        os.close(ours)
    return samples, process.exitcode


def _in_the_fork(request, path, errors, life, theirs):
    take_signals()
    os.setsid()
    os.close(theirs)
    end_with(life)
    with open(os.devnull, "wb") as nothing, open(errors, "wb") as said:
        os.dup2(nothing.fileno(), 1)
        os.dup2(said.fileno(), 2)
    answer(request, path)


def _watched(found, samples):
    marks = found["marks"]
    start, end = min(marks.values()), marks["end"]
    curve = [(moment - start, size) for moment, size in samples if start <= moment <= end]
    sampled = max((size for _, size in curve), default=None)
    return {"curve": [list(point) for point in thinned(curve)], "sampled": sampled,
            "marks": {name: moment - start for name, moment in marks.items()},
            "warning": found.get("warning") or _disagreement(sampled, found["peak"], end - start)}


def _disagreement(sampled, peak, seconds):
    """A sentence where the samples do not bear the kernel's mark out, else None."""
    if sampled is None:
        return None
    if sampled > peak + _SLACK:
        return f"memory-profiler saw {sampled} resident bytes, above the kernel's mark of {peak}"
    if seconds > _SURE and sampled < (1.0 - _NEAR) * peak:
        return f"memory-profiler saw {sampled} resident bytes at most, far below the kernel's mark of {peak}"
    return None
