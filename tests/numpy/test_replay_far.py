# SPDX-License-Identifier: Apache-2.0
"""Every function run again at other inputs, where values lie in another order: NumPy's values there, or an error.

What a condition of the user's chose (`x > 0.0`, a mask, `//`, `int()`) stays chosen: control flow is recorded.
"""

import re

import numpy as np
import pytest

import codipy
from codipy.active.array import Array
from codipy.errors import TapeError
from codipy.numpy import decisions
from tests.numpy import table
from tests.numpy.test_replay import TEXTS
from tests.scipy.test_linalg import CASES, program
from tests.strategies import each_as_values

pytestmark = pytest.mark.filterwarnings("ignore")
CONDITIONS = re.compile(r"[<>]")  # in the text of a case: the user's own
DECIDING = {
    "np.clip": "np.clip(x, -0.5, 0.5) * y", "np.nan_to_num": "np.nan_to_num(1.0 / np.maximum(x, 0.0)) * y",
    "np.union1d": "np.union1d(x, y)", "np.setxor1d": "np.setxor1d(x, np.concatenate((x[:2], y)))",
    "np.setdiff1d": "np.setdiff1d(x, x[:2])",
    "np.intersect1d": "np.intersect1d(x, x[::2], return_indices=True)[1] * z[:3]",
    "np.intersect1d of one": "np.intersect1d(x, np.concatenate((x[1:3], y)))", "np.frexp": "np.frexp(x)[1] * y",
    "np.trim_zeros": "np.trim_zeros(np.maximum(x, 0.0))", "np.lexsort": "y[np.lexsort((y, x))]",
    "np.unravel_index": None, "np.ravel_multi_index": None,  # of whole numbers
    "np.diag_indices_from": None, "np.tril_indices_from": None, "np.triu_indices_from": None,  # of shapes
    "np.linalg.matrix_rank": "np.linalg.matrix_rank(np.diag(np.maximum(x, 0.0))) * y",
    "np.count_nonzero": "np.count_nonzero(np.maximum(x, 0.0)) * y",
    "np.digitize": "np.digitize(x, [-1.0, 0.0, 1.0]) * y",
    "np.searchsorted": "np.searchsorted([-1.0, 0.0, 1.0], x) * y", "np.floor_divide": "np.floor_divide(x, 0.3) * y",
    "np.argpartition": "np.argpartition(x, 2) * y", "np.argwhere": "np.argwhere(np.maximum(x, 0.0)).sum() * y",
    "np.flatnonzero": "np.flatnonzero(np.maximum(x, 0.0)).sum() * y",
    "np.nonzero": "np.nonzero(np.maximum(x, 0.0))[0].sum() * y",
}  # fmt: skip
NAMES = sorted(name.removesuffix(" of values") for name in decisions.PRIMITIVES if name.startswith("np."))
DECIDING = {name: DECIDING.get(name, f"{name}(x) * y") for name in NAMES}


def elsewhere(rng):
    """Inputs with the elements in another order, and moved."""
    found = {}
    for name, x in table.INPUTS.items():
        found[name] = rng.permutation(np.ravel(x)).reshape(np.shape(x)) + 0.1 * rng.uniform(0.5, 1.0, np.shape(x))
    found["r"] = float(found["r"])
    return found


def outcome(text, strategy, monkeypatch, seed=3):
    """Whether the replay of a case elsewhere has NumPy's bits there, or the error."""
    tape, active, results, _ = table.record(text, strategy)
    far = elsewhere(np.random.default_rng(seed))
    for name, x in active.items():
        tape.set_primal(x, far[name])
    try:
        tape.evaluate_primal()
    except TapeError as error:
        return str(error)
    monkeypatch.setattr(table, "INPUTS", {name: np.asarray(x) if name != "r" else x for name, x in far.items()})
    expected = table.plain_results(text, table.plain_values(active))
    pairs = [(tape.get_primal(y), plain) for y, plain in zip(results, expected, strict=True)
             if type(y) in (Array, codipy.Real) and y.is_active]  # fmt: skip
    return all(np.shape(y) == np.shape(plain) and np.array_equal(y, plain, equal_nan=True) for y, plain in pairs)


@pytest.mark.parametrize("text", [text for text in TEXTS if not CONDITIONS.search(text) and "mask" not in text])
def test_functions_of_numpy(text, monkeypatch):
    found = outcome(text, "primal", monkeypatch)
    assert found is True or "record again" in found


@each_as_values
@pytest.mark.parametrize("name", [name for name, text in DECIDING.items() if text])
def test_what_values_decide_is_decided_again(name, strategy, monkeypatch):
    assert outcome(DECIDING[name], strategy, monkeypatch) is not False
    with monkeypatch.context() as patched:
        patched.setattr(table, "INPUTS", table.INPUTS)
        same = [outcome(DECIDING[name], strategy, patched, seed) for seed in range(4)]
    assert any(f"of {name} of values" in str(found) and "record again" in str(found) for found in same), same


@pytest.mark.parametrize("text", CASES)
def test_functions_of_scipy_linalg(text):
    f = codipy.rebind(program(text))
    near, rng = CASES[text], np.random.default_rng(5)
    tape = codipy.Tape("primal")
    with tape:
        given = [tape.register_input(np.array(x, float)) for x in near]
        y = tape.register_output(f(*given))
    # Rows and columns in another order, so that pivots are others.
    far = []
    for x in near:
        x = np.asarray(x, float)
        far.append(x + 1e-3 * rng.standard_normal(x.shape) * (x != 0.0))
        if x.ndim == 2 and x.shape[0] == x.shape[1]:
            order = rng.permutation(len(x))
            far[-1] = far[-1][order][:, order]
    for x, new in zip(given, far):
        tape.set_primal(x, new)
    expected = program(text)(*[x.copy() for x in far])
    try:
        tape.evaluate_primal()
    except TapeError as error:
        assert "record again" in str(error)
    else:
        assert np.array_equal(tape.get_primal(y), expected)


@each_as_values
def test_pivots(strategy):
    """Each that is handed out is a result without derivative."""
    a = np.array([[1.0, 2.0], [3.0, 4.0]])

    def f(a):
        import scipy.linalg

        lu, pivots = scipy.linalg.lu_factor(a)
        return np.sum(lu * (1.0 + pivots))

    tape = codipy.Tape(strategy)
    with tape:
        x = tape.register_input(a)
        tape.register_output(codipy.rebind(f)(x))
    tape.set_primal(x, a + 0.1)
    tape.evaluate_primal()
    tape.set_primal(x, a[::-1])
    with pytest.raises(TapeError, match="scipy.linalg.lu_factor is not what it was when it was recorded"):
        tape.evaluate_primal()


@pytest.mark.parametrize("optimized", [False, True])
def test_a_loaded_and_an_optimized_tape_compare_as_well(tmp_path, optimized):
    tape = codipy.Tape("primal")
    x0 = np.array([0.2, 1.4, -2.0])
    with tape:
        x = tape.register_input(x0)
        tape.register_output(np.sum(np.clip(x, -1.0, 1.0) * np.floor(x)))
    if optimized:
        loaded, [x], _, _ = tape.optimize()
    else:
        tape.save(tmp_path / "tape")
        loaded = codipy.load_tape(tmp_path / "tape")
        [x] = loaded.inputs
    loaded.set_primal(x, x0 + 0.1)
    loaded.evaluate_primal()
    loaded.set_primal(x, x0[::-1])
    with pytest.raises(TapeError, match="of values is not what it was"):
        loaded.evaluate_primal()


def test_drivers_keep_no_decisions():
    """What no replay reaches has no record of them."""
    tape = codipy.Tape("auto")
    with tape:
        x = tape.register_input(np.array([0.2, 1.4]))
        tape.register_output(np.sum(np.clip(x, -1.0, 1.0) * np.floor(x)))
    assert "of values" not in str(tape.dump())
