# SPDX-License-Identifier: Apache-2.0
"""The trajectories of the growth benchmark: their gradients, and bytes that grow like the steps, however recorded."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import codipy
from codipy.testing import check_derivatives
from tests.strategies import each_pair

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
try:
    work = importlib.import_module("growth_work")
finally:
    del sys.path[0]

each_pattern = pytest.mark.parametrize("name", work.PATTERNS)
STEPS = 60
GROWTH = 4.6        # of bytes where the steps are four times as many


@each_pattern
def test_gradients(name):
    function, _ = work.PATTERNS[name]
    check_derivatives(lambda x: function(x, STEPS), work.POINT)


@each_pair()
def test_bytes_grow_like_the_steps(variant):
    """A step that kept or copied the whole trajectory would make it 16 times as many."""
    for name, (function, _) in work.PATTERNS.items():
        small, large = (bytes_used(function, n, variant) for n in (STEPS, 4 * STEPS))
        assert large <= GROWTH * small, (name, small, large)


def bytes_used(function, n, variant):
    tape, f = codipy.Tape(*variant), codipy.rebind(function)
    with tape:
        y = tape.register_output(f(tape.register_input(np.array(work.POINT)), n))
    used = tape.statistics().total.used
    del y
    return used
