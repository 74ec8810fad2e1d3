# SPDX-License-Identifier: Apache-2.0
"""What was not selected gets nothing, whatever flows back or forth: no zero meets an infinity and becomes a NaN.

The oracle is the program on the branch that was taken: what is selected is computed alone.
"""

import numpy as np
import pytest

import codipy
from tests.programs.widths import NEVER, WIDTHS, compiling
from tests.strategies import STRATEGIES

V = np.array([-1.0, -3.0, 2.0, 4.0, -0.5, 1.0])
CHOSEN = V > 0.0
ROOT = np.where(CHOSEN, 0.5 / np.sqrt(np.abs(V)), 0.0)


def apart(v):
    """A statement of its own between the selection and the root."""
    kept = np.maximum(v, 0.0)
    return np.sqrt(kept), kept


def written(v):
    w = v * 1.0
    w[:] = np.maximum(v, 0.0)
    return np.sqrt(w)


PROGRAMS = {
    "maximum": (lambda v: np.sqrt(np.maximum(v, 0.0)), ROOT),
    "maximum, second": (lambda v: np.sqrt(np.maximum(0.0, v)), ROOT),
    "fmax": (lambda v: np.sqrt(np.fmax(v, 0.0)), ROOT),
    "minimum": (lambda v: np.sqrt(-np.minimum(-v, 0.0)), ROOT),
    "fmin": (lambda v: np.sqrt(-np.fmin(0.0, -v)), ROOT),
    "where": (lambda v: np.sqrt(np.where(v > 0.0, v, 0.0)), ROOT),
    "where of the root": (lambda v: np.where(v > 0.0, np.sqrt(v), 0.0), ROOT),
    "clip": (lambda v: np.sqrt(np.clip(v, 0.0, 10.0)), ROOT),
    "a mask": (lambda v: np.sqrt(v * (v > 0.0)), ROOT),
    "heaviside": (lambda v: np.sqrt(np.heaviside(v, 0.0) * v), ROOT),
    "a product of an active mask": (lambda v: np.sqrt(np.maximum(v, 0.0) * np.sign(v)), ROOT),
    "in its own statement": (lambda v: apart(v)[0], ROOT),
    "in place": (lambda v: written(v), ROOT),
    "a negative power": (lambda v: np.where(v > 0.0, np.maximum(v, 0.0) ** -0.5, 0.0), -4.0 * ROOT**3),
    "a quotient": (lambda v: np.minimum(1.0 / np.maximum(v, 0.0), 9.0), np.where(CHOSEN, -1.0 / V**2, 0.0)),
    "absolute": (lambda v: np.sqrt(np.abs(np.maximum(v, 0.0) + 0.0 * v)), ROOT),
    "accumulate": (lambda v: np.sqrt(np.maximum.accumulate(np.stack([0.0 * v, v]), axis=0))[1], ROOT),
    "interp": (lambda v: np.sqrt(np.interp(v, [0.0, 9.0], [0.0, 9.0])), ROOT),
    "a sum": (lambda v: np.sqrt(np.sum(np.maximum(-np.abs(v), 0.0)) + 0.0 * v), np.zeros(6)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("repeat", [1, 100])
@pytest.mark.parametrize("width", [NEVER, *WIDTHS])
def test_what_was_not_selected_gets_nothing(name, repeat, width):
    """Short and long arrays take other loops; forward, reverse, and all strategies agree."""
    program, slope = PROGRAMS[name]
    x, slope = np.tile(V, repeat), np.tile(slope, repeat)
    with compiling(width):
        for strategy in STRATEGIES:
            tape = codipy.Tape(strategy=strategy)
            for _ in range(2):
                with np.errstate(all="ignore"), tape:
                    v = tape.register_input(x)
                    y = tape.register_output(program(v) * 1.0)
                y.gradient = 1.0
                tape.evaluate()
                assert np.allclose(v.gradient, slope, rtol=1e-12, atol=1e-15), strategy
                tape.clear_adjoints()
                v.gradient = 1.0
                tape.evaluate_forward()
                assert np.allclose(y.gradient, slope, rtol=1e-12, atol=1e-15), strategy
                tape.reset()


def test_what_is_undefined_stays_so():
    """An infinite slope of what was selected, and a NaN among the factors, are not hidden."""
    root = codipy.grad(lambda v: np.sum(np.sqrt(np.maximum(v, 0.0))))
    assert np.isposinf(root(np.array([0.0, 1.0]))[0])
    assert np.isnan(codipy.grad(lambda v: np.sum(np.sqrt(v * np.array([np.nan, 1.0]))))(np.array([1.0, 1.0]))[0])
    assert np.isnan(codipy.grad(lambda v: np.sum(np.cbrt(v * v * v)))(np.array([0.0, 1.0]))[0])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_numbers_agree(strategy):
    def loss(v):
        return sum(np.sqrt(np.maximum(x, 0.0)) + np.sqrt(max(x, 0.0)) + np.sqrt(x * (1.0 if x > 0 else 0.0)) for x in v)

    assert np.allclose(codipy.grad(loss, strategy=strategy)(V), 3.0 * ROOT, rtol=1e-12)
