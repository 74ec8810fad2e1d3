# SPDX-License-Identifier: Apache-2.0
"""Resident memory of a process whose gradients change their sizes: bounded by the largest, and given back."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import codipy
from codipy.numpy.rules import factors
from codipy.tape.strategies.table import STRATEGIES
from tests.strategies import COUNTING

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
try:
    work = importlib.import_module("bench_changing_sizes")
finally:
    del sys.path[0]

SLACK = 16 << 20  # bytes: arenas of the C library, and pages that come and go


@pytest.mark.release
@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
@pytest.mark.parametrize(("program", "strategy"), [*((p, STRATEGIES[0]) for p in work.PROGRAMS),
                                                   ("elementwise", COUNTING[-1])])  # fmt: skip
def test_a_process_stays_near_its_largest_gradient(program, strategy):
    most, alone, left = work.measure(program, strategy, largest=1_000_000, count=12)
    assert most <= 2.0 * alone + SLACK
    assert left <= SLACK


def test_clearing_forgets_the_factors_of_the_last_matrix():
    n = factors.LEAST
    gradient = codipy.grad(lambda b: np.sum(np.linalg.solve(np.eye(n) * 2.0, b)))
    expected = gradient(np.ones(n))
    codipy.clear_tapes()
    assert factors._last is None
    assert gradient(np.ones(n)).tolist() == expected.tolist() == [0.5] * n
