# SPDX-License-Identifier: Apache-2.0
"""Where two features of arrays meet."""

import operator

import numpy as np
import pytest

import codipy
from codipy.errors import TapeError
from tests.active.recording import each_strategy, new_tape
from tests.strategies import AS_VALUES

X = np.linspace(0.1, 1.0, 50)


def test_short_sweeps_of_float64_round_nothing():
    """The short way read a flag that it had not set: at times the values inside of a sweep were those of float32."""

    def f(x):
        return np.sum(np.sqrt(np.tanh(x) ** 2 + np.log1p(x * x) ** 2 + 0.1) * x)

    def reference(x):
        return codipy.grad(f, strategy="jacobian")(x)

    x = np.random.default_rng(1).uniform(-1, 1, 5)
    single = codipy.value_and_grad(lambda x: np.sum(np.sqrt(x * x + np.float32(0.1)) * x))
    for strategy in ("auto", *AS_VALUES) * 20:
        single(x.astype(np.float32))
        np.testing.assert_allclose(codipy.grad(f, strategy=strategy)(x), reference(x), rtol=1e-13)


@each_strategy
def test_an_array_that_a_reset_made_stale_gives_no_identifiers_back(variant):
    """They have been given out again: two living arrays shared them."""
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(X)
        place = tape.position()
        y = x * 2.0
        np.sum(y)
        tape.reset(place)
        z = x * 3.0
        np.sum(z)
        del y
        w = x * 5.0
        np.sum(w)
        s = tape.register_output(np.sum(z * w * w))
    tape._check()
    s.gradient = 1.0
    tape.evaluate()
    np.testing.assert_allclose(x.gradient, 225.0 * X**2, rtol=1e-14)


def test_an_expression_that_was_written_into_a_float32_array_stays_double():
    """operator.setitem(*arguments): the tuple holds the expression, which looks like a temporary."""
    arguments = (codipy.Array(np.zeros(50, np.float32)), slice(None), codipy.Array(X) / 3.0)
    operator.setitem(*arguments)
    assert arguments[0].value.tobytes() == (X / 3.0).astype(np.float32).tobytes()
    assert arguments[2].dtype == np.float64 and arguments[2].value.tobytes() == (X / 3.0).tobytes()


def test_an_expression_of_a_finished_recording_is_not_passive():
    with codipy.Tape() as tape:
        y = tape.register_input(X) * 2.0
    with pytest.raises(TapeError, match="no tape is recording"):
        y + 1.0
    with codipy.passive():
        assert (y + 1.0).value.tobytes() == (X * 2.0 + 1.0).tobytes()


@pytest.mark.parametrize("mode", ["warn", "raise"])
def test_rules_for_warnings_are_those_of_each_operation(mode):
    """A temporary written under other rules was merged, and its rules taken for all."""

    def quiet(x):
        with np.errstate(divide="ignore"):
            return np.log(x)

    x, y = codipy.Array(np.array([0.0, 2.0, 3.0])), codipy.Array(np.array([1.0, 0.0, 2.0]))
    error = pytest.warns(RuntimeWarning, match="in divide") if mode == "warn" else pytest.raises(
        FloatingPointError, match="in divide")
    with np.errstate(divide=mode), error:
        (quiet(x) / y).value


DOORS = {
    "copy": lambda y: y.copy(),
    "view": lambda y: y[1:],
    "transpose": lambda y: y.T,
    "shape": lambda y: y.reshape(-1, 1),
    "element": lambda y: y[0],
    "flat": lambda y: y.flat[0],
    "joined": lambda y: np.concatenate([y, y]),
    "chosen": lambda y: np.where(X > 0.5, y, 0.0),
    "summed": lambda y: np.sum(y),
    "in place": lambda y: y.__iadd__(1.0),
    "written": lambda y: codipy.Array(np.zeros(50)).__setitem__(slice(None), y),
}


@pytest.mark.parametrize("name", DOORS)
def test_what_was_not_computed_while_recording_leaves_by_no_door(name):
    """Copies, views and joined arrays of it were passive."""
    with codipy.Tape() as tape:
        y = tape.register_input(X) * 2.0
    with pytest.raises(TapeError, match="no tape is recording"):
        DOORS[name](y)
    assert y.value.tobytes() == (X * 2.0).tobytes()
    assert (y > 1.0).tolist() == (X * 2.0 > 1.0).tolist()
    assert "0.2" in repr(y)


INDICES = {
    "element": lambda y: y[3],
    "slice": lambda y: y[3:7] * 1.0,
    "list": lambda y: y[[3, 1]],
    "written": lambda y: y.__setitem__(3, 0.5),
    "slice written": lambda y: y.__setitem__(slice(3, 7), y[0] * 0.5),
    "whole": lambda y: np.sum(y),
}


@pytest.mark.parametrize("name", INDICES)
@each_strategy
def test_an_expression_from_before_a_position_is_indexed_after_a_reset(variant, name):
    """It was refused as stale where it had been computed between position and reset."""
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(X)
        y = x * 2.0
        place = tape.position()
        np.sum(y)
        tape.reset(place)
        INDICES[name](y)
        s = tape.register_output(np.sum(y * y))
    tape._check()
    s.gradient = 1.0
    tape.evaluate()
    untouched = np.r_[8:50]
    np.testing.assert_allclose(x.gradient[untouched], 8.0 * X[untouched], rtol=1e-14)


LAYOUTS = {
    "Fortran": lambda a: np.asfortranarray(a),
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "backwards": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "both backwards": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
    "steps": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "axes": lambda a: np.ascontiguousarray(a.reshape(16, 4, 4).transpose(1, 2, 0)).transpose(2, 0, 1),
    "broadcast": lambda a: np.broadcast_to(a[0], a.shape),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_plain_array_beside_an_array_is_read_as_it_lies(name, dtype):
    """Its copy was in C order: other loops of NumPy, another order of sums, and so other last bits."""
    values = np.random.default_rng(3).uniform(0.1, 1.0, (2, 16, 16)).astype(dtype)
    plain = LAYOUTS[name](values[0])
    active = codipy.Array(values[1].reshape(plain.shape))
    if name in ("Fortran", "transposed"):
        active, other = active.T, values[1].T
    else:
        other = values[1].reshape(plain.shape)
    for function in (np.power, np.arctan2, np.multiply):
        for found, expected in ((function(active, plain), function(other, plain)),
                                (function(plain, active), function(plain, other))):
            assert found.strides == expected.strides
            assert np.asarray(found.value).tobytes("A") == expected.tobytes("A")
            if dtype == np.float64:
                assert np.sum(found) == np.sum(expected)


@each_strategy
@pytest.mark.parametrize("name", [name for name in LAYOUTS if name != "broadcast"])
def test_an_input_lies_as_the_array_it_comes_from(name, variant):
    """Inputs were in C order whatever came: sums over them had another last bit than NumPy's."""

    def f(a):
        return np.sum(np.sin(a) * a) + np.sum(a[0] * a[-1])

    plain = LAYOUTS[name](np.random.default_rng(3).uniform(0.1, 1.0, (16, 16)))
    value, gradient = codipy.value_and_grad(f, strategy=variant[0])(plain)
    assert value == f(plain)
    np.testing.assert_allclose(gradient, codipy.grad(f)(np.ascontiguousarray(plain)), rtol=1e-13)
    assert codipy.Array(plain).strides == np.array(plain).strides
