# SPDX-License-Identifier: Apache-2.0
"""The ufuncs of NumPy on Arrays: calls, methods, keyword arguments, and what they refuse."""

import numpy as np
import pytest
from numpy.testing import overrides

import codipy
from codipy.active.array import Array
from codipy.errors import ActiveError
from codipy.numpy.ufunc_sets import REFUSED
from codipy.numpy.ufuncs import kind_of
from tests.numpy.cases_ufuncs import CALLS, METHODS, PASSIVE
from tests.numpy.newer import has
from tests.numpy.table import check, names_in, plain_results, plain_values, record, same

pytestmark = pytest.mark.filterwarnings("ignore")
UFUNCS = [u for u in overrides.get_overridable_numpy_ufuncs() if u.__name__[0] != "_"]
NUMERIC = [u for u in UFUNCS if any("d" in types for types in u.types)]
GUFUNCS = [getattr(np, name) for name in ("matmul", "vecdot", "matvec", "vecmat") if has(name)]


@pytest.mark.parametrize("text", [*CALLS, *METHODS])
def test_value_and_gradient(text):
    check(text)


@pytest.mark.parametrize("text", PASSIVE)
def test_passive_results(text):
    expected = plain_results(text, plain_values(names_in(text)))
    _, _, results, active = record(text)
    assert active == []
    assert all(map(same, results, expected))


@pytest.mark.parametrize("ufunc", [*NUMERIC, *GUFUNCS], ids=lambda u: u.__name__)
def test_every_numeric_ufunc_has_its_place(ufunc):
    assert (kind_of(ufunc) is None) == (ufunc.__name__ in REFUSED)
    has_case = any(f"np.{ufunc.__name__}" in text for text in (*CALLS, *PASSIVE))
    assert has_case or kind_of(ufunc) is None or ufunc.__name__ == "clip"


@pytest.mark.parametrize("name", ["bitwise_and", "gcd", "isnat"])
def test_whole_numbers_and_dates_are_refused(name):
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.ones(2))
        with pytest.raises(ActiveError, match=f"np.{name}: only"):
            getattr(np, name)(*[x] * getattr(np, name).nin)


@pytest.mark.parametrize(
    "text",
    ["np.exp(x, dtype=np.float16)", "np.add(x, 1, signature='ff->f')", "np.add.reduce(x, dtype=np.float16)",
     "np.arctan2.reduce(x)", "np.power.accumulate(x)", "np.fmod.reduceat(x, [0])", "np.add(x, np.array(['a', 'b']))"],
)  # fmt: skip
def test_what_would_lose_the_derivative(text):
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.ones(2))
        with pytest.raises(TypeError):
            eval(text, {"np": np, "x": x})


def test_where_without_out_is_zero_elsewhere():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([0.0, 4.0]))
        y = tape.register_output(np.sqrt(x, where=np.array([False, True])))
    assert y.value[1] == 2.0
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tolist() == [0.0, 0.25]


def test_the_root_at_zero_behind_where_has_no_slope():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([0.0, 4.0]))
        y = tape.register_output(np.where(x > 0, np.sqrt(x), 0.0))
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tolist() == [0.0, 0.25]


def test_a_python_ufunc_sees_reals():
    double = np.frompyfunc(lambda s: 2 * s, 1, 1)
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([1.0, 2.0]))
        y = tape.register_output(np.sum(np.concatenate((x, double(x)))))
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tolist() == [3.0, 3.0]


def test_another_type_with_a_door_of_its_own_is_asked():
    class Other:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return "other"

    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.ones(2))
        assert np.add(x, Other()) == "other"


def test_nothing_active_gives_numpys_result():
    x = Array([1.0, 2.0])
    assert np.asarray(np.add(x, 1.0)).tolist() == [2.0, 3.0]
    assert np.add.reduce(x) == 3.0
    y = Array([0.0, 0.0])
    assert np.multiply(x, 2.0, out=y) is y
    assert y.value.tolist() == [2.0, 4.0]
    plain = np.zeros(2)
    assert np.multiply(x, 2.0, out=plain) is plain
    np.add.at(x, [0, 0], 1.0)
    assert x.value.tolist() == [3.0, 2.0]


def test_an_array_in_use_after_its_recording_is_an_error():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.ones(2))
    with pytest.raises(codipy.errors.TapeError):
        np.exp(x)
    with pytest.raises(codipy.errors.TapeError):
        np.concatenate((x, x))
    with codipy.passive():
        assert np.exp(x).tolist() == np.exp([1.0, 1.0]).tolist()


def test_steps_take_every_keyword():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([0.5, 2.5]))
        assert np.greater(x, 1.0, where=[True, True], dtype=object).tolist() == [False, True]
        found = np.greater(x, 1.0, out=np.array([True, False]), where=[True, False])
        assert found.tolist() == [False, False]
        assert np.floor(x, out=Array(np.zeros(2))).value.tolist() == [0.0, 2.0]
