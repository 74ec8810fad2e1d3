# SPDX-License-Identifier: Apache-2.0
"""What holds of the gradient of any program: every strategy gives it, and so does a tape that was saved and loaded."""

import numpy as np
import pytest

import codipy
from codipy.errors import TapeError
from tests.files.test_tape_files import saved


def demand_same_gradient(f, point, strategy, tolerance, text):
    """A strategy's gradient beside the default's, both measured by the largest number of that."""
    expected = codipy.grad(f)(point)
    found = codipy.grad(f, strategy=strategy)(point)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max(), err_msg=text)


def demand_same_when_loaded(f, point, path):
    """Record on a tape of values, save, load and sweep both; returns the tape, its input and its output."""
    tape = codipy.Tape("primal")
    with tape:
        x = tape.register_input(point.copy())
        y = tape.register_output(codipy.rebind(f)(x))
    loaded = saved(tape, path)
    loaded.outputs[0].gradient = y.gradient = 1.0
    loaded.evaluate()
    tape.evaluate()
    assert np.array_equal(loaded.inputs[0].gradient, x.gradient)
    return tape, x, y


def demand_no_replay_elsewhere(f, point, message):
    """A tape of values gives its value again where it was recorded; elsewhere it says with `message` that it cannot."""
    tape = codipy.Tape(strategy="primal")
    with tape:
        x = tape.register_input(point)
        y = tape.register_output(codipy.rebind(f)(x))
    tape.evaluate_primal()
    assert tape.get_primal(y) == f(point)
    tape.set_primal(x, point + 0.1)
    with pytest.raises(TapeError, match=message):
        tape.evaluate_primal()
