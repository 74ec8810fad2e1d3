# SPDX-License-Identifier: Apache-2.0
"""What a figure is, and how times are compared: in turns within one run, by their medians.

Times are this thread's processor time: on a shared machine the wall clock counts other people's turns, and the
process's clock counts the threads of NumPy's BLAS, which spin for a while after the import. Bandwidth, and what
runs on several threads, is measured by the wall clock.
"""
import gc
import statistics
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured number beside its target."""

    name: str
    reached: float
    target: float
    at_least: bool = False      # whether the target is a lower bound
    unit: str = ""
    detail: str = ""            # spread, parts, what else the same run measured
    question: str = ""          # run.py's argument that measures it again

    @property
    def met(self):
        """Whether the target is reached."""
        return self.reached >= self.target if self.at_least else self.reached <= self.target

    @property
    def bound(self):
        """The target as text."""
        return f"{'>=' if self.at_least else '<='} {self.target:g}{self.unit}"

    @property
    def command(self):
        """What measures this figure again."""
        return f"python benchmarks/run.py {self.question}"


def seconds(function, *arguments):
    """One call, in seconds of this thread's processor time."""
    start = time.thread_time()
    function(*arguments)
    return time.thread_time() - start


def in_turns(functions, repeats=15, batch_seconds=0.005, clock=time.thread_time):
    """Seconds per call of each function, `repeats` times in turns; short ones run in batches."""
    counts = []
    for function in functions:
        function()              # warm: memory, specialised bytecode
        start = clock()
        function()
        counts.append(max(1, int(batch_seconds / max(1e-9, clock() - start))))
    times = [[] for _ in functions]
    gc.collect()
    for _ in range(repeats):
        for function, count, taken in zip(functions, counts, times):
            start = clock()
            for _ in range(count):
                function()
            taken.append((clock() - start) / count)
    return times


def ratio(times, plain):
    """Median over median; and, as text, least over least, with the plain run's time."""
    detail = f"least/least {min(times) / min(plain):.2f}, plain {1e3 * statistics.median(plain):.3g} ms"
    return statistics.median(times) / statistics.median(plain), detail


def gradient(tape, function, x):
    """Record, sweep, read: a gradient on a tape that is used again."""
    tape.reset()
    with tape:
        register = tape.register_input
        inputs = [register(v) for v in x]
        result = tape.register_output(function(inputs))
    result.gradient = 1.0
    tape.evaluate()
    return [v.gradient for v in inputs]
