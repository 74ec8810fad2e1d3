# SPDX-License-Identifier: Apache-2.0
"""Peaks of resident memory are the kernel's, of the recording alone; memory-profiler bears them out."""

import subprocess
import sys

import numpy as np
import pytest

import codipy
from codipy.laboratory import process, resident
from codipy.laboratory.plan import PLAIN, Combination, Point
from codipy.laboratory.process import ProcessError, measured
from codipy.laboratory.source import Given
from tests.laboratory import models

pytestmark = [pytest.mark.release,      # a sanitizer keeps what is freed
              pytest.mark.skipif(sys.platform != "linux", reason="the kernel's mark is read from /proc")]
MB = 1 << 20


def cold(function, x, strategy=PLAIN, granularity="-"):
    """The memory of one run in a process of its own."""
    source = Given(function, {"x0": (x,)})
    return measured({"source": source, "combination": Combination(Point("x0"), strategy, granularity), "repeat": 0,
                     "rebind": True})


def test_a_moment_is_in_the_peak():
    found = cold(models.allocates, [1.0])
    assert 30 * MB < found["peak"] - found["baseline"] < 36 * MB and found["mark"] == "VmHWM"


@pytest.mark.parametrize("way", [(PLAIN, "-"), ("jacobian", "statement")])
def test_samples_stay_below_the_mark_and_come_near_it(way):
    """Of a run of more than two seconds: never above, but for the pages that the kernel counts late, within 5 %."""
    pytest.importorskip("memory_profiler")
    found = cold(models.holds, [1.0], *way)
    assert found["warning"] is None and len(found["curve"]) > 50 and found["marks"]["end"] >= 2.2
    assert 0.95 * found["peak"] <= found["sampled"] <= found["peak"] + process._SLACK
    assert 60 * MB < found["peak"] - found["baseline"] < 70 * MB


def test_the_tape_is_what_a_recording_adds():
    """The growth over that of the plain run is the tape with its adjoints, and the values that a plain run has too."""
    u = models.long.x0(20_000)
    plain, taped = (cold(models.long, u, *way) for way in [(PLAIN, "-"), ("primal", "statement")])
    over = (taped["peak"] - taped["baseline"]) - (plain["peak"] - plain["baseline"])
    tape = codipy.Tape("primal", "statement")
    with tape:
        x = tape.register_input(u)
        y = tape.register_output(models.long(x))
    y.gradient = 1.0
    tape.evaluate()
    total = tape.statistics().total
    assert total.used > 60 * MB and 0.9 * total.used < over < 1.2 * total.allocated


def test_what_a_sweep_imports_is_not_its_memory():
    plain, taped = (cold(models.solves, np.ones(3), *way) for way in [(PLAIN, "-"), ("primal", "statement")])
    assert (taped["peak"] - taped["baseline"]) - (plain["peak"] - plain["baseline"]) < 4 * MB


def test_the_mark_forgets_what_was_before():
    script = ("import numpy as np; from codipy.laboratory.resident import Mark; a = np.ones(8_000_000); del a; "
              "m = Mark(); print(m.peak() - m.baseline)")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert abs(int(done.stdout)) < 4 * MB


def test_witnesses_that_do_not_agree_are_reported():
    assert process._disagreement(None, 100 * MB, 9.0) is None
    assert process._disagreement(99 * MB, 100 * MB, 9.0) is None
    assert process._disagreement(50 * MB, 100 * MB, 0.1) is None      # too short for the sampler
    assert "far below the kernel's mark" in process._disagreement(90 * MB, 100 * MB, 9.0)
    assert "above the kernel's mark" in process._disagreement(102 * MB, 100 * MB, 0.1)


def test_without_memory_profiler_the_mark_stays(monkeypatch):
    monkeypatch.setattr(resident, "can_sample", lambda: False)
    found = cold(models.allocates, [1.0])
    assert found["sampled"] is None and found["curve"] == [] and found["peak"] - found["baseline"] > 30 * MB


def test_a_process_that_dies_says_what_it_said():
    with pytest.raises(ProcessError, match="plain at x0 ended with status 3:\nlast words"):
        cold(models.dies, [1.0])


def test_long_curves_keep_their_peak():
    curve = [(float(k), k % 997) for k in range(100_000)]
    thin = resident.thinned(curve, 400)
    assert len(thin) == 400 and max(size for _, size in thin) == 996 and thin == sorted(thin)
    assert resident.thinned(curve[:10], 400) == curve[:10]


@pytest.mark.usefixtures("forked")
def test_the_timeline_counts_what_lives():
    found = codipy.study(models.chain, [1.0], strategies=["jacobian", "jacobian-reuse"], granularities="statement",
                         repeat=1)
    linear, reuse = found.taped
    for row in (linear, reuse):
        assert 200 <= len(row.timeline) <= 401 and row.timeline == sorted(row.timeline)
        assert row.timeline[-1][1] == row.statements and np.all(np.diff([line[1] for line in row.timeline]) >= 0)
    assert [line[0] for line in linear.timeline] == [line[0] for line in reuse.timeline]
    assert reuse.timeline[-1][2] < 10 and linear.timeline[-1][2] == linear.largest


IMPORTS = '''
import sys
import numpy as np
from codipy.laboratory.worker import import_what_recordings_need
from codipy.tools.comparison.measuring import TimedTape
from codipy.tools.runs.problem import Problem

def f(x):
    return np.sum(np.sin(x) * x[0]) + np.linalg.solve(np.eye(len(x)) * 2.0, x)[0] + np.concatenate([x, x])[1]

import_what_recordings_need()
for strategy in ("auto", "forward", "primal-reuse"):
    before = set(sys.modules)
    tape = TimedTape(Problem(f, (np.ones(3),)), strategy, "statement", None, 1)
    inputs, output = tape.record()
    if strategy != "forward":
        tape.reverse(inputs, output, tape.adjoints())
    print(sorted(set(sys.modules) - before))
'''


def test_a_process_of_a_study_has_imported_what_codipy_needs_before_memory_is_measured(tmp_path):
    """A megabyte of modules beside a tape of some kilobytes says nothing of the tape."""
    path = tmp_path / "imports.py"      # a file, which is rebuilt
    path.write_text(IMPORTS)
    found = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines() == ["[]"] * 3
