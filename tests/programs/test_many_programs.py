# SPDX-License-Identifier: Apache-2.0
"""A process that has seen as many distinct expressions as it may keep goes on recording, in smaller statements."""

import pytest

import codipy
from codipy import math
from codipy.programs import program


@pytest.fixture
def full_table():
    program._limit(0)
    yield program.count
    program._limit()


@pytest.mark.parametrize("strategy", ["primal", "primal-reuse"])
def test_a_full_table_of_programs_splits_expressions(strategy, full_table):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x, y = tape.register_input(1.1), tape.register_input(0.3)
        before = full_table()
        z = tape.register_output(math.expm1(math.atan(x * y - x) / math.cosh(y + 7.0 * x)) % 0.7)
    assert full_table() - before <= 10  # one for each operation and the copy, where nobody had these before
    tape._check()
    z.gradient = 1.0
    tape.evaluate()
    oracle = codipy.grad(lambda x, y: math.expm1(math.atan(x * y - x) / math.cosh(y + 7.0 * x)) % 0.7, argnums=(0, 1))
    assert (x.gradient, y.gradient) == pytest.approx(oracle(1.1, 0.3), rel=1e-12)
    tape.set_primal(x, 0.8)
    tape.evaluate_primal()
    assert tape.get_primal(z) == math.expm1(math.atan(0.8 * 0.3 - 0.8) / math.cosh(0.3 + 7.0 * 0.8)) % 0.7
