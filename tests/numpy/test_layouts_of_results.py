# SPDX-License-Identifier: Apache-2.0
"""Results and inputs that do not lie in C's order, and extremes of what has no axes or no elements."""

import types

import numpy as np
import pytest

import codipy
from codipy.numpy.registry import PRIMITIVES
from tests.active.recording import (
    assert_close,
    assert_same_values,
    complex_step,
    dot,
    each_strategy,
    new_tape,
    plainly,
    record,
    seeds_for,
)
from tests.strategies import each_as_values

RNG = np.random.default_rng(4)
X = RNG.standard_normal((17, 13, 19))
COLUMNS = RNG.integers(0, 13, 11)

# NumPy lays their results out in another order than C's, at least for transposed arguments, and sums in that order.
LAID_OUT = {
    "columns": lambda a: a[:, COLUMNS],
    "columns of planes": lambda a: a[:, [1, 0, 2], [3, 4, 5]],
    "sum": lambda a: np.sum(a.T, axis=0),
    "sum of a product": lambda a: np.sum(a.T * a.T, axis=1, keepdims=True),
    "mean": lambda a: a[::-1].T.mean(-1),
    "prod": lambda a: np.prod(a.T, axis=0),
    "cumsum": lambda a: np.cumsum(np.swapaxes(a, 0, 1), axis=0),
    "concatenate": lambda a: np.concatenate([a.T, 2.0 * a.T]),
    "roll": lambda a: np.roll(a.T, 1, 0),
    "diff": lambda a: np.diff(a.T, axis=0),
    "copy": lambda a: a.T.copy("K"),
    "one column": lambda a: 2.0 * a[:, :1].T,
    "a row first": lambda a: np.arange(17.0) + a.T,
    "astype": lambda a: a.T.astype(a.dtype),
}


def lie_alike(x, y):
    return x.shape == y.shape and all(n == 1 or s == t for n, s, t in zip(x.shape, x.strides, y.strides))


@each_strategy
@pytest.mark.parametrize("name", LAID_OUT)
def test_sums_over_results_in_another_order_than_cs(name, variant):
    def f(a):
        part = LAID_OUT[name](a)
        return part * 1.0, np.sum(part * part), np.sum(part)

    recorded = record(new_tape(variant), f, [X])
    assert_same_values([y.value for y in recorded.outputs], plainly(f, [X]))
    assert lie_alike(recorded.outputs[0].value, f(X)[0])
    tangents, seeds = [RNG.standard_normal(X.shape)], seeds_for(recorded.outputs)
    expected = complex_step(f, [X], tangents)
    np.testing.assert_allclose(dot(recorded.reverse(seeds), tangents), dot(seeds, expected), rtol=1e-9)
    for found, tangent in zip(recorded.forward(tangents), expected, strict=True):
        np.testing.assert_allclose(found, tangent, rtol=1e-9, atol=1e-8)


@each_as_values
@pytest.mark.parametrize("name", LAID_OUT)
def test_replayed_results_in_another_order_than_cs(name, strategy):
    def f(a):
        return LAID_OUT[name](a) * 1.0, np.sum(LAID_OUT[name](a))

    variant = (strategy, "operation" if strategy == "simple" else "statement")
    recorded, other = record(new_tape(variant), f, [X]), X + RNG.standard_normal(X.shape)
    recorded.tape.set_primal(recorded.inputs[0], other)
    recorded.tape.evaluate_primal()
    assert_same_values([recorded.tape.get_primal(y) for y in recorded.outputs], plainly(f, [other]))
    again = record(new_tape(variant), f, [other])
    seeds = seeds_for(again.outputs)
    assert_close(recorded.reverse(seeds), again.reverse(seeds))


@pytest.mark.parametrize("part", [np.s_[2:5, 3:9], np.s_[::3, ::2], np.s_[1:4]])
def test_sums_over_a_part_of_what_was_written_to(part):
    def f(a):
        b = a.T.copy()
        b[0, 0], b[4:, 5] = 1.0, 2.0
        return np.sum(b[part]), np.sum(b[part].T, axis=0), b[part].T @ np.ones(b[part].shape[0])

    x = np.ascontiguousarray(X[:, :, 0])
    recorded = record(new_tape(("auto", "statement")), f, [x])
    assert_same_values([y.value for y in recorded.outputs], plainly(f, [x]))


@each_strategy
@pytest.mark.parametrize("f", [np.max, np.min, np.sum])
@pytest.mark.parametrize("axis", [0, -1])
def test_the_axis_of_what_has_none(f, axis, variant):
    recorded = record(new_tape(variant), lambda a: f(a.reshape(()), axis=axis) * 3.0, [X[0, 0, :1]])
    assert_close(recorded.reverse([1.0]), [[3.0]])


@pytest.mark.parametrize("f", [np.max, np.min])
def test_extremes_of_no_elements(f):
    recorded = record(
        new_tape(("auto", "statement")), lambda a: f(a[:0], axis=0, initial=a[0, 0, 0]) + a[0], [X[:2]])
    assert_close(recorded.reverse([1.0])[0][1:], np.zeros((1, *X.shape[1:])))


@pytest.mark.parametrize("of", [lambda a: a, lambda a: a.T, np.asfortranarray, lambda a: a.astype(np.float32)])
@pytest.mark.parametrize("view", [
    lambda a: a.T, lambda a: a[1:].T, lambda a: a[1:, ::2], lambda a: a.swapaxes(0, 2)[::2], lambda a: a[::-1].T])
def test_a_registered_view_shows_the_same_elements(view, of):
    array = of(X)
    plain = np.array(view(array), np.float64)
    tape = codipy.Tape(strategy="primal")
    with tape:
        x = tape.register_input(view(codipy.Array(array)))
        y = tape.register_output(np.sum(x * x * 0.5))
    y.gradient = 1.0
    tape.evaluate()
    assert np.array_equal(x.value, plain) and np.array_equal(x.gradient, plain)
    if array.dtype == np.float64:
        other = RNG.standard_normal(plain.shape)
        tape.set_primal(x, other)
        tape.evaluate_primal()
        assert_same_values([tape.get_primal(x)], [other])
        np.testing.assert_allclose(tape.get_primal(y), np.sum(other * other * 0.5), rtol=1e-13)


@pytest.mark.parametrize("name", ["max", "amin"])
def test_an_extreme_of_all_elements_takes_an_active_cotangent(name):
    with codipy.Tape() as tape:
        g = tape.register_input(np.array([2.0]))
        (bar,) = PRIMITIVES[name].vjp(g.reshape(()), PRIMITIVES[name].forward(X), (X,), {}, (0,))
        total = tape.register_output(np.sum(bar))
    assert np.count_nonzero(bar.value) == 1
    total.gradient = 1.0
    tape.evaluate()
    assert g.gradient.tolist() == [1.0]


@pytest.mark.parametrize("product", [
    lambda a: a @ a.T, lambda a: a.T @ a, lambda a: np.dot(a[1:], a[1:].T), lambda a: np.inner(a, a)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_a_matrix_with_itself(product, dtype):
    x = X[:, :, 0].astype(dtype)
    with codipy.Tape() as tape:
        found = product(tape.register_input(codipy.Array(x))).value
    assert found.dtype == dtype and np.array_equal(found, product(x))


SEEN = [
    "x", "x.T", "x.transpose(1, 0, 2)", "x[0].T", "x[0]", "x[0, 0]", "x[:, :1]", "x[:, :1].T", "x[::-1]", "x[:1]",
    "x[0, :1]", "2.0", "x[0, 0, 0]", "x[0, :, :1]", "x[:0]", "x[0][:, ::2].T",
]  # fmt: skip


@pytest.mark.parametrize("order", "KACF")
@pytest.mark.parametrize("factor", [1.0, 1.0 + 0.5j], ids=["real", "complex"])
def test_ufuncs_lay_their_results_out_as_order_says(order, factor):
    views = [eval(f"lambda x: {text}") for text in SEEN]
    small = RNG.standard_normal((2, 3, 4))
    count = 0
    for one in views:
        for two in views:

            def f(x, one=one, two=two):
                y = x * factor
                return np.add(one(y), two(y), order=order)

            try:
                expected = f(small)
            except ValueError:
                continue  # shapes that do not fit
            with codipy.Tape() as tape:
                found = f(tape.register_input(small))
            count += 1
            if np.size(expected) and np.ndim(expected):
                strides = [[s for s, n in zip(y.strides, y.shape) if n > 1] for y in (found, expected)]
                assert strides[0] == strides[1]
                assert np.array_equal(codipy.value(found), expected)
    assert count > 100


COPIES = [
    "x.T.astype(complex)", "x.T.astype(np.complex64)", "np.sort_complex(x.transpose(1, 2, 0))",
    "np.array(x.T, dtype=complex)", "np.vectorize(lambda t: t * 2.5)(x.T)", "np.vectorize(lambda t: t * 1j)(x.T)",
    "np.piecewise(x.T * 1j, [x.T > 0], [1j])", "np.max(x.T * 1j, 0)", "np.sort(x.T * 1j)",
    "np.partition(x.T * 1j, 1)", "np.nan_to_num(x.T * 1j)", "np.ptp(x.T * 1j, 0)",
    "np.vectorize(lambda t, u: t * u)(x.T, x.T[:1])", "x.transpose(1, 0, 2).astype(complex, order='C')",
    "np.round(x.T * 1j, 1)", "np.clip(x.T * 1j, 0, 1)", "np.cumsum(x.T * 1j, 0)", "np.median(x.T * 1j, 0)",
]  # fmt: skip


@pytest.mark.parametrize("text", COPIES)
def test_copies_lie_as_numpys(text):
    f = types.FunctionType(compile(f"def f(x):\n    return {text}\n", text, "exec").co_consts[0], {"np": np})
    small = RNG.standard_normal((2, 3, 4))
    expected, found = f(small), codipy.vjp(f, small)[0]
    with codipy.Tape() as tape:
        laid = codipy.rebind(f)(tape.register_input(codipy.Array(small)))
    assert np.array_equal(found, expected) and laid.dtype == expected.dtype
    assert [s for s, n in zip(laid.strides, laid.shape) if n > 1] == [
        s for s, n in zip(expected.strides, expected.shape) if n > 1
    ]
