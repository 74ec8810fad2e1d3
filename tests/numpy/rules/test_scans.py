# SPDX-License-Identifier: Apache-2.0
"""Running sums and products and the methods of ufuncs: rules against differences, zeros exact."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from codipy.numpy.rules.scans import PRIMITIVES, UFUNC_PARTIALS
from tests.numpy.newer import has, runs
from tests.numpy.rules.checking import check

RNG = np.random.default_rng(7)
A = np.reshape(RNG.permutation(60), (3, 5, 4)) * 0.02 + 0.5
HOLES = np.where(RNG.random(A.shape) < 0.3, np.nan, A)
NAMES = ["cumsum", "cumprod", "nancumsum", "nancumprod"]
UFUNCS = [ufunc.__name__ for ufunc in UFUNC_PARTIALS]


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", NAMES)
def test_cumulative(name, axis):
    check(PRIMITIVES[name], [A], {"axis": axis})
    check(PRIMITIVES[name], [np.array(2.0)])
    check(PRIMITIVES[name], [A[:, :1], axis])


@pytest.mark.parametrize("include_initial", [False, True])
@pytest.mark.parametrize("name", list(filter(has, ["cumulative_sum", "cumulative_prod"])))
def test_array_api_names(name, include_initial):
    check(PRIMITIVES[name], [A[0, 0]], {"include_initial": include_initial})
    for axis in (0, -1, 1):
        check(PRIMITIVES[name], [A], {"axis": axis, "include_initial": include_initial})


@pytest.mark.parametrize("axis", [None, 1])
@pytest.mark.parametrize("name, filler", [("nancumsum", 0.0), ("nancumprod", 1.0)])
def test_nan_is_skipped(name, filler, axis):
    p, same = PRIMITIVES[name], PRIMITIVES[name[3:]]
    out = p.forward(HOLES, axis)
    g = RNG.standard_normal(out.shape)
    filled = np.where(np.isnan(HOLES), filler, HOLES)
    got = p.vjp(g, out, (HOLES, axis), {}, (0,))[0]
    expected = same.vjp(g, out, (filled, axis), {}, (0,))[0]
    np.testing.assert_array_equal(got, np.where(np.isnan(HOLES), 0.0, expected))
    t = RNG.standard_normal(A.shape)
    np.testing.assert_allclose(np.sum(p.jvp({0: t}, out, (HOLES, axis), {}) * g), np.sum(got * t))


@pytest.mark.parametrize("zeros", [[0], [2], [4], [1, 3], [0, 1, 2, 3, 4]])
def test_cumprod_is_exact_at_zeros(zeros):
    a = np.array([2.0, 3.0, 5.0, 7.0, 11.0])
    a[zeros] = 0.0
    g = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    expected = [sum(g[k] * np.prod(np.delete(a[: k + 1], i)) for k in range(i, 5)) for i in range(5)]
    assert PRIMITIVES["cumprod"].vjp(g, np.cumprod(a), (a,), {}, (0,))[0].tolist() == expected


def test_cumprod_that_underflows():
    a = np.array([1e-200, 1e-200, 1e200])
    out = np.cumprod(a)
    assert out[1:].tolist() == [0.0, 0.0]
    got = PRIMITIVES["cumprod"].vjp(np.ones(3), out, (a,), {}, (0,))[0]
    np.testing.assert_allclose(got[:2], [2.0, 1.0], rtol=1e-15)  # 1 + a1 + a1 a2, a0 + a0 a2


def test_cumprod_that_overflows():
    a = np.full(5, 1e200)
    with np.errstate(over="ignore", invalid="ignore"):
        got = PRIMITIVES["cumprod"].vjp(np.array([1.0, 0, 0, 0, 0]), np.cumprod(a), (a,), {}, (0,))[0]
    assert got.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", UFUNCS)
def test_accumulate_and_reduce(name, axis):
    check(PRIMITIVES[f"{name}.accumulate"], [A], {"axis": axis})
    check(PRIMITIVES[f"{name}.accumulate"], [A, axis])
    check(PRIMITIVES[f"{name}.reduce"], [A], {"axis": axis, "keepdims": True})
    check(PRIMITIVES[f"{name}.reduce"], [A, axis])


@pytest.mark.parametrize("name", UFUNCS)
def test_reduce_defaults_to_the_first_axis(name):
    check(PRIMITIVES[f"{name}.reduce"], [A])
    check(PRIMITIVES[f"{name}.accumulate"], [A])
    check(PRIMITIVES[f"{name}.reduce"], [A[0, 0]])
    if name not in ("subtract", "divide"):
        for axis in (None, (0, 2), (2, 1)):
            check(PRIMITIVES[f"{name}.reduce"], [A, axis])


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum"])
def test_reduce_with_initial_and_where(name):
    initial = {"add": 1.5, "multiply": 1.5, "maximum": -1.0, "minimum": 9.0}[name]
    check(PRIMITIVES[f"{name}.reduce"], [A, 1], {"initial": initial, "where": A > 0.7})


def test_reduce_refuses_what_it_does_not_know():
    p = PRIMITIVES["logaddexp.reduce"]
    with pytest.raises(ActiveError, match="initial"):
        p.vjp(np.ones((5, 4)), p.forward(A, initial=0.0), (A,), {"initial": 0.0}, (0,))


@pytest.mark.parametrize("indices", [[0, 2, 3], [0], [3, 1, 4, 0], [1, 1, 2], [4]])
@pytest.mark.parametrize("name", UFUNCS)
def test_reduceat(name, indices):
    check(PRIMITIVES[f"{name}.reduceat"], [A, indices], {"axis": 1}, argnums=(0,))
    check(PRIMITIVES[f"{name}.reduceat"], [A[0, :, 0], np.array(indices)], argnums=(0,))


def test_ties_go_to_the_first():
    a = np.array([1.0, 2.0, 2.0, np.nan, 3.0])
    for name, expected in (("maximum", [1, 2, 0, 2, 0]), ("fmax", [1, 3, 0, 0, 1])):
        p = PRIMITIVES[f"{name}.accumulate"]
        assert p.vjp(np.ones(5), p.forward(a), (a,), {}, (0,))[0].tolist() == expected


def test_empty():
    for name in ("cumsum", "cumprod", "add.accumulate", "multiply.accumulate"):
        assert PRIMITIVES[name].vjp(np.zeros(0), np.zeros(0), (np.zeros(0),), {}, (0,))[0].shape == (0,)


@pytest.mark.parametrize(
    "text",
    list(filter(runs, [
     "np.cumsum(x[0])", "np.cumsum(x[0], axis=-1)", "np.cumprod(x[0], axis=0)", "np.cumulative_sum(x[:1].reshape(()))",
     "np.cumulative_sum(x[:1].reshape(()), include_initial=True)", "np.add.accumulate(x, axis=None)",
     "np.maximum.accumulate(x, axis=None)", "np.multiply.reduceat(x, [0, 2, 1], axis=None)",
     "np.logaddexp.reduce(np.outer(x, x), axis=())", "np.hypot.reduce(np.outer(x, x), axis=())",
     "np.hypot.reduce(x.reshape(1, 3), axis=0, keepdims=True)", "np.hypot.reduce(x.reshape(3, 1), axis=1)",
     "np.subtract.reduce(x.reshape(3, 1), axis=1)", "np.histogramdd(x, bins=3)[1][0]",
     "np.histogram(x[:0].reshape(0, 3), bins=3)[1] + x[0]"])),
)  # fmt: skip
def test_no_axis_and_no_axes(text):
    f = eval(f"lambda x: np.sum({text} * np.arange(1.0, 1.0 + np.size({text})).reshape(np.shape({text})))", {"np": np})
    x = np.array([0.7, -1.3, 2.1])
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x)
    expected = [(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    assert gradient == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert codipy.jvp(f, (x,), (x,))[1] == pytest.approx(gradient @ x)
