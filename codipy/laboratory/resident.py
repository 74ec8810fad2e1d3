# SPDX-License-Identifier: Apache-2.0
"""Resident memory of a process: what the kernel says of itself, and samples by memory-profiler from outside."""
from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import time
from pathlib import Path

__all__ = ["EXTRA", "Mark", "can_sample", "resident", "thinned", "trim", "watch"]

EXTRA = "pip install 'codipy[study]'"
INTERVAL = 0.01      # seconds between samples
_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


class Mark:
    """The high-water mark of this process, reset when this is made where the kernel can do that.

    Attributes
    ----------
    kind : str
        'VmHWM', Linux's mark of this very memory map, or 'ru_maxrss', which other systems have and nobody can reset.
    baseline : int
        Bytes that were resident when the mark was reset.
    """

    def __init__(self):
        self.kind = "VmHWM" if _status("VmHWM") is not None else "ru_maxrss"
        if self.kind == "VmHWM":
            # Where the kernel cannot do that, the mark is that of the whole life of the process.
            with contextlib.suppress(OSError):
                _CLEAR.write_text("5")      # see proc_pid_clear_refs(5)
        self.baseline = resident()

    def peak(self):
        """The largest number of resident bytes since then."""
        return _status("VmHWM") if self.kind == "VmHWM" else _largest()


def resident():
    """Bytes of this process that are resident now; the mark where the system does not tell."""
    now = _status("VmRSS")
    return _largest() if now is None else now


def _status(name):
    try:
        text = _STATUS.read_text()
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) << 10
    return None


def _largest():
    try:
        import resource
    except ImportError:      # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def can_sample():
    """Whether memory-profiler is installed."""
    return importlib.util.find_spec("memory_profiler") is not None


def watch(pid, is_over, is_enough, tick=None):
    """Wait until another process is over, and sample it.

    Parameters
    ----------
    pid : int
    is_over : callable
        Says whether the process has ended.
    is_enough : callable
        Says whether no more samples are needed.
    tick : callable, optional
        Called now and then.

    Returns
    -------
    list of tuple
        Seconds since the epoch and bytes; empty without memory-profiler.
    """
    samples, ticked = [], time.monotonic()
    sample = _sampler(pid) if can_sample() else None
    while not is_over():
        if sample is None or is_enough():
            sample = None
            time.sleep(INTERVAL)
        elif (found := sample()) is not None:
            samples.append(found)
        if tick is not None and time.monotonic() - ticked > 0.5:
            ticked = time.monotonic()
            tick()
    return samples


def _sampler(pid):
    from memory_profiler import memory_usage

    def sample():
        try:
            [(megabytes, moment)] = memory_usage(pid, interval=INTERVAL, timestamps=True)
        except Exception:      # psutil's, when the process has just ended
            time.sleep(INTERVAL)
            return None
        return (moment, round(megabytes * 2**20)) if megabytes > 0 else None

    return sample


def thinned(curve, most=400):
    """A curve of at most so many points: of each piece of it the largest."""
    if len(curve) <= most:
        return list(curve)
    pieces = [curve[k * len(curve) // most:(k + 1) * len(curve) // most] for k in range(most)]
    return [max(piece, key=lambda point: point[1]) for piece in pieces]


def trim():
    """Give free memory back to the system, where the C library can: what a fork inherits is not to be used again."""
    if os.name == "posix":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):      # not glibc
            ctypes.CDLL(None).malloc_trim(0)
