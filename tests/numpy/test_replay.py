# SPDX-License-Identifier: Apache-2.0
"""All functions of NumPy that work on Arrays, run again at other inputs: NumPy's values, new gradients."""

import numpy as np
import pytest

import codipy
from codipy.active.array import Array
from tests.covering import in_turn
from tests.numpy import table
from tests.numpy.cases_movement import CASES as MOVEMENT
from tests.numpy.cases_rules import CASES as RULES
from tests.numpy.overridable import OVERRIDABLE
from tests.strategies import AS_VALUES

TEXTS = [text for cases in (MOVEMENT, RULES) for name, texts in cases.items() if name in OVERRIDABLE for text in texts]
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(("strategy", "text"), in_turn(AS_VALUES, TEXTS))
def test_a_replay_is_a_fresh_recording(text, strategy, monkeypatch):
    recorded = tape, active, results, _ = table.record(text, strategy)
    rng = np.random.default_rng(3)
    near = {name: x + 1e-4 * rng.uniform(0.5, 1.0, np.shape(x)) for name, x in table.INPUTS.items()}
    near["r"] = float(near["r"])
    for name, x in active.items():
        tape.set_primal(x, near[name])
    tape.evaluate_primal()
    monkeypatch.setattr(table, "INPUTS", {name: np.asarray(x) if name != "r" else x for name, x in near.items()})
    expected = table.plain_results(text, table.plain_values(active))
    for y, plain in zip(results, expected, strict=True):
        if type(y) in (Array, codipy.Real) and y.is_active:
            assert np.shape(tape.get_primal(y)) == np.shape(plain)
            assert np.array_equal(tape.get_primal(y), plain, equal_nan=True)
    weights = table.weights_for(expected)
    found, fresh = table.reverse(recorded, weights), table.reverse(table.record(text, strategy), weights)
    for name, gradient in fresh.items():
        np.testing.assert_allclose(found[name], gradient, 1e-9, 1e-11)
