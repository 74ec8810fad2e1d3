# SPDX-License-Identifier: Apache-2.0
"""Arrays that cannot be active: each message says what to write instead, and no derivative is lost."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

POINT = np.array([2.0, 3.0])
FIELDS = [("a", float), ("b", float)]


def filled(x):
    a = np.zeros(2, dtype=FIELDS)
    a["a"] = x
    return a["a"].sum()


CASES = {
    "masked": (lambda x: np.ma.masked_array(x, [0, 1]).sum(), "np.where"),
    "masked where": (lambda x: np.ma.masked_where(x > 2.5, x).sum(), "np.where"),
    "masked beside": (lambda x: (np.ma.masked_array(POINT, [0, 1]) * x).sum(), "np.where"),
    "matrix": (lambda x: np.sum(np.matrix(x)), "array of two axes"),
    "a field": (filled, "keep an array for each field"),
    "rows of fields": (lambda x: np.array([(x[0], x[1])], dtype=FIELDS)["a"].sum(), "one array for each field"),
    "half precision": (lambda x: np.sum(np.float16(x)) * x[0], r"codipy\.value\(x\)\.astype\(float16\)"),
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("name", CASES)
def test_what_to_write_instead(name):
    f, words = CASES[name]
    with pytest.raises(ActiveError, match=words):
        codipy.grad(f)(POINT)


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0]})
    for f in (
        lambda x: (frame["a"] * x).sum(),
        lambda x: (x * frame["a"]).sum(),
        lambda x: (frame @ x).sum(),
    ):
        with pytest.raises(ActiveError, match=r"`.values`"):
            codipy.grad(f)(POINT)
    np.testing.assert_array_equal(codipy.grad(lambda x: np.sum(x * frame["a"].values))(POINT), [1.0, 2.0])


def test_a_series_of_what_is_active_is_right_where_pandas_computes_in_python():
    pandas = pytest.importorskip("pandas")
    value, gradient = codipy.value_and_grad(lambda x: pandas.Series(x).sum() ** 2)(POINT)
    assert value == np.sum(POINT) ** 2
    np.testing.assert_array_equal(gradient, 2.0 * np.sum(POINT))


def test_the_representation_of_adjoints():
    tape = codipy.Tape(strategy="primal")
    assert repr(tape.new_adjoints(3)).startswith("Adjoints(width=3, of primal tape ")
