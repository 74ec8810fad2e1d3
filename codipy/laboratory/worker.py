# SPDX-License-Identifier: Apache-2.0
"""What a process of a study does: one combination, measured once cold for its memory and then repeatedly for its time.

What is asked and answered are pickles of codipy's own, in files that only the two processes know.
"""
from __future__ import annotations

import gc
import importlib
import os
import pickle
import sys
import threading
import time
import traceback
from pathlib import Path

import numpy as np

from codipy.laboratory.bandwidth import Bandwidth
from codipy.laboratory.plan import PLAIN
from codipy.laboratory.resident import Mark, trim
from codipy.laboratory.sampled import passive_shares, sampled
from codipy.numpy.rules.factors import import_lapack
from codipy.tools.arguments.leaves import join
from codipy.tools.comparison.measuring import (
    Looked,
    TimedTape,
    demand_the_same,
    no_garbage_collection,
    runs_for,
    time_plain,
)
from codipy.tools.comparison.verdict import Differences, direction_of, timed_value
from codipy.tools.console.raised import traceback_of
from codipy.tools.derivatives.drivers import grad
from codipy.tools.runs.problem import Problem

__all__ = ["RUNNING", "answer", "end_with"]

RUNNING = "CODIPY_STUDY_PROCESS"      # set in the environment of such a process


def end_with(life):
    """End this process when the other end of a pipe is closed, which the system does for a study that was killed.

    A thread waits for it, and is never woken meanwhile. Rejected was to look at the parent's number now and then, which
    would be seen in the times."""
    def wait():
        while os.read(life, 1):
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def answer(request, path):
    """Measure what is asked for and write what came out to a file; an exception is an answer too."""
    os.environ[RUNNING] = "1"
    # What the parent has freed is not to be used again without being seen: it goes back before the mark is set.
    gc.collect()
    trim()
    try:
        found = _measure(request)
    except SystemExit as error:
        found = {"ended": f"the program called exit({error.code!r}) while it ran: return from the function instead"}
    except Exception as error:      # the user's file may raise anything
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        found = {"error": error if _can_be_pickled(error) else RuntimeError(text), "traceback": text,
                 "shown": traceback_of(error, request["source"].target)}
    Path(path).write_bytes(pickle.dumps(found))


def _can_be_pickled(error):
    try:
        return isinstance(pickle.loads(pickle.dumps(error)), Exception)
    except Exception:      # classes of the user's file, arguments that cannot be pickled
        return False


def _measure(request):
    asked = request["combination"]
    problem = Problem(*request["source"].load(asked.point), request["rebind"])
    import_what_recordings_need()
    if asked.strategy == PLAIN:
        return _measure_plain(problem, request)
    return _measure_taped(problem, asked, request)


def import_what_recordings_need():
    """Import what codipy imports when it is needed: its memory is not the tape's. A first recording finds the most."""
    for module in ("codipy.numpy.doors", "codipy.math"):
        importlib.import_module(module)
    import_lapack()
    grad(_squared)(1.0)


def _squared(x):
    return x * x


def _measure_plain(problem, request):
    mark, start = Mark(), time.time()
    value, seconds = timed_value(problem)
    found = _memory(mark, {"run": start, "end": time.time()}, mark.peak())
    if not request["repeat"]:
        return found
    _say_cold_is_over(request)
    demand_the_same(problem, value)
    runs, measured = runs_for(seconds), []
    with no_garbage_collection():
        for _ in range(request["repeat"]):
            measured.append(time_plain(problem, runs))
    differences = Differences(problem, seconds)
    return {**found, "value": value, "numbers": problem.point.size, "runs": runs, "plain": measured,
            "differences": differences, "differenced": differences.count}


def _measure_taped(problem, asked, request):
    mark = Mark()
    tape = TimedTape(problem, asked.strategy, asked.granularity, asked.chunk_size, asked.width)
    marks = {"record": time.time()}
    inputs, output = tape.record()
    marks["reverse"], recorded = time.time(), mark.peak()
    gradient, adjoints = None, None
    if not tape.is_forward:
        adjoints = tape.adjoints()
        gradient = join(tape.reverse(inputs, output, adjoints))
    marks["end"] = time.time()
    found = _memory(mark, marks, recorded)
    if not request["repeat"]:
        return found
    _say_cold_is_over(request)
    looked = Looked(gradient, output.value, tape.tape, adjoints)
    del inputs, output, adjoints
    tape.tape.reset()
    found |= {"value": looked.value, "numbers": problem.point.size, **_figures(looked),
              **_slope(problem, tape, looked, request["gradient"]), **_times(problem, tape, request["repeat"]),
              "timeline": _timeline(problem, tape)}
    last = found["timeline"][-1][1]
    if last != looked.statements:
        found["warning"] = (f"the first recording has {looked.statements} statements and the last {last}, so times are "
                            "not those of the recording whose bytes stand here: does the function keep something "
                            "between calls?")
    return found


def _slope(problem, tape, looked, path):
    """Save the gradient; where strategy 'forward' has too many numbers for one, give a derivative in one direction."""
    gradient = tape.gradient_forward() if tape.is_forward else looked.gradient
    if gradient is not None:
        np.save(path, gradient)
        return {}
    alone = TimedTape(problem, tape.tape.strategy, tape.tape.granularity)
    return {"tangent": float(problem.along(alone.tape, direction_of(problem.point))[1])}


def _say_cold_is_over(request):
    """Nobody samples memory while times are taken."""
    Path(request["cold"]).touch()


def _memory(mark, marks, recorded):
    return {"baseline": mark.baseline, "peak": mark.peak(), "peak_record": recorded, "mark": mark.kind, "marks": marks}


def _figures(looked):
    counts = looked.statistics["identifiers"].counts
    sections = {section.title: {"used": section.memory.used, "allocated": section.memory.allocated,
                                "items": section.counts.get("number of items",
                                                            section.counts.get("number of statements", 0))}
                for section in looked.statistics.recorded}
    identifiers = looked.statistics["identifiers"].memory
    arguments = next((sections[name]["items"] for name in ("Jacobian entries", "argument identifiers", "primal data")
                      if name in sections), 0)
    return {"statements": looked.statements, "arguments": arguments, "sections": sections,
            "used": looked.total.used, "allocated": looked.total.allocated, "adjoint_bytes": looked.adjoint_bytes,
            "identifier_bytes": identifiers.used, "live": counts["live indices"],
            "peak_live": counts["max live indices"], "largest": counts["largest index"]}


def _times(problem, tape, repeat):
    """Seconds of the plain run and of each phase, in turns, and memory's bytes a second between them."""
    _, seconds = timed_value(problem)
    runs, memory = runs_for(seconds), Bandwidth()
    plain, phases, copied = [], [], []
    with no_garbage_collection():
        for _ in range(repeat):
            # Python adapts its bytecode to the types that it meets, and each measurement meets others than the last.
            if runs > 1:
                time_plain(problem, 1)
            plain.append(time_plain(problem, runs))
            if runs > 1:
                tape.run()
            phases.append(tape.run(runs))
            copied.append(memory.copy())
    return {"runs": runs, "plain": plain, "refused": tape.refused, "copied": copied,
            "seconds": {phase: [one[phase] for one in phases] for phase in phases[-1] if phase in phases[0]}}


def _timeline(problem, tape):
    """Samples of one recording more, with the shares of passive operands where they are kept."""
    new = TimedTape(problem, tape.tape.strategy, tape.tape.granularity, width=tape.width)
    samples = sampled(new.tape, new.record)
    shares = passive_shares(new.tape, samples) if new.tape.keeps_values else [None] * len(samples)
    return [[one.lines, one.statements, one.live, one.largest, one.used, share, one.peak]
            for one, share in zip(samples, shares)]


def main():
    """Answer the request in the file that is the first word of the command line into that of the second."""
    os.environ[RUNNING] = "1"      # before the request is read: it may run the user's script
    end_with(os.dup(0))
    with open(os.devnull, "rb") as nothing:      # the user's function reads nothing
        os.dup2(nothing.fileno(), 0)
    asked, result = map(Path, sys.argv[1:])
    try:
        request = pickle.loads(asked.read_bytes())
    except Exception as error:      # the user's script may raise anything
        text = traceback.format_exc()
        found = {"error": RuntimeError(f"{type(error).__name__}: {error}"), "traceback": text, "shown": text}
        result.write_bytes(pickle.dumps(found))
    else:
        answer(request, result)
