# SPDX-License-Identifier: Apache-2.0
"""What one way to record costs: a look at the tape, and seconds phase by phase, in turns with the plain run."""
from __future__ import annotations

import gc
import math
import time
from contextlib import contextmanager

import numpy as np

from codipy.active import Tape
from codipy.tape.provenance.watching import unwatched
from codipy.tape.strategies.table import FORWARD_STRATEGY
from codipy.tools.arguments.leaves import join, shape_of
from codipy.tools.callee import name_of
from codipy.tools.comparison.verdict import MOST_COLUMNS
from codipy.tools.threads import get_num_threads

__all__ = ["NO_VALUES", "PHASES", "Looked", "StatefulError", "TimedTape", "clock", "demand_the_same", "stateful",
           "no_garbage_collection", "runs_for", "time_plain"]

NO_VALUES = "the tape keeps no values"      # why it cannot be run again
PHASES = ("record", "reverse", "forward", "replay")

_LONG_ENOUGH = 5e-3      # seconds of runs in one measurement, so that the clock's resolution does not matter
_MOST_RUNS = 1000
_SHORT = 100      # runs in a measurement, from which on one takes less than 50 us
_FINE = 1e-6      # seconds
_WIDTH = 16              # of strategy 'forward': directions in a run


class StatefulError(ValueError):
    """A function does not return twice what it returned once."""


def demand_the_same(problem, value):
    """Raise unless the function returns again what it returned: each strategy would be given another one."""
    again = problem.value(problem.point)
    if again != value and not (math.isnan(again) and math.isnan(value)):
        raise StatefulError(stateful(problem.f, value, again))


def stateful(f, value, again):
    """What is said of a function that returns something else at its second call."""
    return (f"{name_of(f)} returns {value} when it is called first and {again} when it is called again with the same "
            "arguments, so nothing can be compared: it keeps something between calls (an attribute, a global "
            "variable), or draws random numbers. Make what it keeps anew in each call, in a function that makes the "
            "object and calls it, and seed the numbers there")


def runs_for(seconds):
    """How many runs of so many seconds one measurement is made of."""
    return max(1, min(_MOST_RUNS, int(_LONG_ENOUGH / max(seconds, 1e-9))))


def clock():
    """The function whose differences are the seconds, and what it counts.

    On a shared machine the wall clock counts other people's turns, so it is this thread's processor time; but that
    of one thread says little where several run array statements, or where the system counts it by long ticks.
    """
    if get_num_threads() > 1 or time.get_clock_info("thread_time").resolution > _FINE:
        return time.perf_counter, "wall clock"
    return time.thread_time, "processor time"


@contextmanager
def no_garbage_collection():
    """No collections while times are taken."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def time_plain(problem, runs):
    """Seconds of one plain run; the arguments are made before, as for a recording."""
    now, f, taken = clock()[0], problem.f, 0.0
    if runs > _SHORT:      # asking for the time would be part of it
        several = [problem.arguments(problem.point) for _ in range(runs)]
        start = now()
        for arguments in several:
            f(*arguments)
        return (now() - start) / runs
    for _ in range(runs):
        arguments = problem.arguments(problem.point)
        start = now()
        f(*arguments)
        taken += now() - start
    return taken / runs


class Looked:
    """What one recording is, and its gradient.

    Attributes
    ----------
    gradient : numpy.ndarray or None
        None of strategy 'forward' where there are many numbers.
    value : float
        Of the function.
    statistics : Statistics
        After a reverse sweep, with the inputs and the output still alive.
    statements : int
    adjoint_bytes, total : int and Amount
        With the adjoints of the width that was asked for in place of the tape's own.
    """

    def __init__(self, gradient, value, tape, adjoints=None):
        self.gradient, self.value = gradient, float(value)
        self.statistics = tape.statistics()
        self.statements = tape.statements if tape.can_sweep else 0
        self.total, self.adjoint_bytes = self.statistics.total, self.statistics["adjoint vector"].memory.used
        if adjoints is not None:
            own = self.statistics["adjoint vector"].memory
            self.adjoint_bytes = adjoints.bytes_used
            self.total = type(own)(self.total.used - own.used + adjoints.bytes_used,
                                   self.total.allocated - own.allocated + adjoints.bytes_allocated)


class TimedTape:
    """A tape, and what is done with it.

    Parameters
    ----------
    problem : Problem
    strategy, granularity : str
    chunk_size : int, optional
    width : int
        Directions of a sweep; with 1 the reverse sweep runs on the tape's own adjoints.

    Attributes
    ----------
    refused : dict
        The phases that cannot be run, and the reason of each.
    """

    def __init__(self, problem, strategy, granularity, chunk_size=None, width=1):
        self.problem, self.width, self.refused = problem, width, {}
        self.is_forward = strategy == FORWARD_STRATEGY
        wide = {"width": width} if self.is_forward and width > 1 else {}
        self.tape = unwatched(Tape, strategy=strategy, granularity=granularity, chunk_size=chunk_size, **wide)
        self.tape.registers = False      # as those of the drivers

    def record(self):
        """Inputs and output of one recording; of strategy 'forward' along directions of ones."""
        direction = np.ones((self.problem.point.size, self.width)) if self.is_forward else None
        return self.problem.record(self.tape, direction)

    def reverse(self, inputs, output, adjoints=None):
        """Sweep back; returns the adjoints of the inputs, and of a wider sweep those of the first direction."""
        if adjoints is None:
            return self.problem.pull(self.tape, output, inputs)
        adjoints[output] = np.ones(self.width)
        self.tape.evaluate(adjoints=adjoints)
        return [adjoints[x][..., 0] for x in inputs]

    def adjoints(self):
        """Adjoints of the width, None where the tape's own are swept."""
        return self.tape.new_adjoints(width=self.width) if self.width > 1 else None

    def look(self):
        """Record and sweep once; returns what there is to say about it."""
        if self.is_forward:
            return self._look_forward()
        inputs, output = self.record()
        adjoints = self.adjoints()
        gradient = join(self.reverse(inputs, output, adjoints))
        looked = Looked(gradient, output.value, self.tape, adjoints)
        self.tape.reset()
        return looked

    def _look_forward(self):
        """The same for strategy 'forward', which runs again for every few of the numbers; of many there is none."""
        inputs, output = self.record()
        looked = Looked(None, output.value, self.tape)
        del inputs, output
        self.tape.reset()
        looked.gradient = self.gradient_forward()
        return looked

    def gradient_forward(self):
        """The gradient by strategy 'forward', a few columns at once; None where there are many numbers."""
        size = self.problem.point.size
        if size > MOST_COLUMNS:
            return None
        gradient = np.zeros(size)
        for start in range(0, size, _WIDTH):
            rows = np.eye(size)[:, start:start + _WIDTH]
            wide = Tape(self.tape.strategy, self.tape.granularity, width=rows.shape[1])
            gradient[start:start + rows.shape[1]] = self.problem.along(wide, rows)[1]
        return gradient

    def run(self, runs=1):
        """Seconds of each phase, the mean of some runs; those of phases that are refused are left out.

        Registration is part of ``record``, reading the gradient of ``reverse``; of strategy 'forward' a run along its
        directions is ``record``. Adjoints other than the tape's own are made between the phases.
        """
        taken = dict.fromkeys(PHASES, 0.0)
        for _ in range(runs):
            self._run_once(taken)
        return {phase: seconds / runs for phase, seconds in taken.items() if phase not in self.refused}

    def _run_once(self, taken):
        now = clock()[0]
        start = now()
        inputs, output = self.record()
        taken["record"] += now() - start
        if self.is_forward:
            self.refused |= dict.fromkeys(PHASES[1:], "nothing is recorded")
            self.tape.reset()
            return
        adjoints = self.adjoints()
        start = now()
        self.reverse(inputs, output, adjoints)
        taken["reverse"] += now() - start
        if not self.tape.keeps_values:
            self.refused.setdefault("replay", NO_VALUES)
        for phase, sweep in (("forward", self._forward), ("replay", self._replay)):
            if phase not in self.refused:
                try:
                    taken[phase] += sweep(inputs, output, now)
                except Exception as error:      # rules of users without a jvp, records that cannot be run again
                    self.refused[phase] = str(error) or type(error).__name__
        self.tape.reset()

    def _forward(self, inputs, output, now):
        tangents = self.tape.new_adjoints(width=self.width)
        for x in inputs:
            shape = shape_of(x.value) + ((self.width,) if self.width > 1 else ())
            tangents[x] = np.ones(shape) if shape else 1.0
        start = now()
        self.tape.evaluate_forward(adjoints=tangents)
        tangents[output]
        return now() - start

    def _replay(self, inputs, output, now):
        start = now()
        self.tape.evaluate_primal()
        return now() - start
