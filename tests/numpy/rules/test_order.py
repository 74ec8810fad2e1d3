# SPDX-License-Identifier: Apache-2.0
"""Extremes, sorting, order statistics and unique values: rules against differences, ties against the conventions."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from codipy.numpy.rules.order import PRIMITIVES
from tests.numpy.rules.checking import check

RNG = np.random.default_rng(5)
A = RNG.permutation(24).reshape(3, 4, 2) * 0.5 - 4.25
HOLES = np.where(RNG.random(A.shape) < 0.3, np.nan, A)
HOLES[0] = A[0]
EXTREMES = ["max", "min", "amax", "amin", "nanmax", "nanmin"]
METHODS = [
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
]  # fmt: skip


def reverse(name, a, *args, g=1.0, **kwargs):
    p = PRIMITIVES[name]
    out = p.forward(a, *args, **kwargs)
    return p.vjp(np.asarray(g), out, (a, *args), kwargs, (0,))[0]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 0), ()])
@pytest.mark.parametrize("name", [*EXTREMES, "ptp"])
def test_extremes(name, axis, keepdims):
    if name == "ptp" and axis == ():
        pytest.skip("the range of one element is 0 everywhere")
    check(PRIMITIVES[name], [A], {"axis": axis, "keepdims": keepdims})


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("initial", [-9.0, 0.1, 9.0])
def test_initial_and_where(name, initial):
    where = A > -1.0 if "max" in name else A < 1.0
    check(PRIMITIVES[name], [A, 1, None, False, initial], argnums=(0, 4))
    check(PRIMITIVES[name], [A, (0, 2), None, True, initial], {"where": where}, argnums=(0, 4))
    check(PRIMITIVES[name], [A[:, :0], 1, None, False, initial], argnums=(4,))


def test_ties_and_nan():
    a = np.array([1.0, 3.0, 3.0, np.nan, 0.0, 0.0])
    assert reverse("max", a[:3]).tolist() == [0.0, 1.0, 0.0]
    assert reverse("max", a).tolist() == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    assert reverse("nanmax", a).tolist() == [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    assert reverse("nanmin", a).tolist() == [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    assert reverse("ptp", np.ones(3)).tolist() == [0.0, 0.0, 0.0]
    assert reverse("max", np.array([-1.0, 0.0]), initial=0.0).tolist() == [0.0, 1.0]
    assert reverse("sort", np.array([2.0, 1.0, 2.0, 1.0]), g=[1.0, 2.0, 3.0, 4.0]).tolist() == [3.0, 1.0, 4.0, 2.0]


@pytest.mark.parametrize("name", ["max", "min", "amax", "amin"])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1, -3])
def test_ties_and_nan_along_an_axis(name, axis, keepdims):
    a = np.round(HOLES)
    out = PRIMITIVES[name].forward(a, axis, keepdims=keepdims)
    g = np.arange(1.0, 1.0 + out.size).reshape(out.shape)
    rows = np.moveaxis(a, axis, -1)
    each = [reverse(name, row, g=seed) for row, seed in zip(rows.reshape(-1, rows.shape[-1]), g.reshape(-1))]
    expected = np.moveaxis(np.reshape(each, rows.shape), -1, axis)
    np.testing.assert_array_equal(reverse(name, a, axis, g=g, keepdims=keepdims), expected)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_sort(axis):
    check(PRIMITIVES["sort"], [A], {"axis": axis})
    check(PRIMITIVES["sort"], [A, axis, "stable"])
    check(PRIMITIVES["partition"], [A, 1], {"axis": axis})
    check(PRIMITIVES["partition"], [A, (0, 1)], {"axis": axis})


def test_nan_is_sorted_last():
    a = np.array([np.nan, 2.0, np.nan, 1.0])
    assert reverse("sort", a, g=[1.0, 2.0, 3.0, 4.0]).tolist() == [3.0, 2.0, 4.0, 1.0]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 10])
@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_median_of_n(name, n):
    check(PRIMITIVES[name], [RNG.permutation(n) * 1.0])


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2)])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name, scale", [("quantile", 1), ("percentile", 100)])
def test_quantiles(name, scale, method, axis):
    for q in (0.37, [0.0, 0.5, 1.0], [[0.2], [0.81]]):
        q = np.multiply(q, scale)
        for a in (A, A[:, :3]):
            check(PRIMITIVES[name], [a, q], {"axis": axis, "method": method}, argnums=(0,))
            if not (np.ndim(q) == 2 and axis == (0, 2)):
                kwargs = {"axis": axis, "method": method, "keepdims": True}
                check(PRIMITIVES["nan" + name], [a, q], kwargs, argnums=(0,))


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2)])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name, scale", [("quantile", 1), ("percentile", 100)])
def test_quantiles_by_q(name, scale, method, axis):
    for q in (0.3713, [0.0237, 0.6151, 0.9913], [[0.2113], [0.8117]]):
        q = np.multiply(q, scale)
        check(PRIMITIVES[name], [A, q], {"axis": axis, "method": method}, argnums=(0, 1), step=1e-5, rtol=1e-6)
        if np.ndim(q) < 2:
            kwargs = {"axis": axis, "method": method, "keepdims": True}
            check(PRIMITIVES["nan" + name], [A, q], kwargs, argnums=(1,), step=1e-5, rtol=1e-6)
            check(PRIMITIVES["nan" + name], [HOLES, q], kwargs, argnums=(1,), step=1e-5, rtol=1e-6)


def test_quantiles_by_q_in_a_program():
    def f(q):
        a = np.array([1.0, 5.0, 2.0, 7.0]) * q[0]
        return np.sum(np.quantile(a, q)) + np.percentile(a, 100.0 * q[1]) + np.quantile([3.0, 1.0], q[0])

    q, h = np.array([0.31, 0.64]), np.eye(2) * 1e-6
    slopes = [(f(q + d) - f(q - d)) / 2e-6 for d in h]
    np.testing.assert_allclose(codipy.grad(f)(q), slopes, rtol=1e-6)
    assert codipy.grad(lambda q: np.quantile(np.array([1.0, 2.0, 5.0]), q))(0.5) == 6.0  # the line to the right
    assert codipy.grad(lambda q: np.quantile(np.array([1.0, 2.0, 5.0]), q))(1.0) == 6.0  # to the left


@pytest.mark.parametrize("axis", [None, 0, (0, 2)])
def test_nan_quantiles(axis):
    for q in (0.37, [0.0, 0.5, 1.0]):
        g = RNG.standard_normal(np.shape(np.nanquantile(HOLES, q, axis=axis)))
        got = reverse("nanquantile", HOLES, q, axis=axis, g=g)
        assert not got[np.isnan(HOLES)].any()
        # Order statistics are homogeneous: sum of element times derivative is the value.
        np.testing.assert_allclose(np.nansum(got * HOLES), np.sum(g * np.nanquantile(HOLES, q, axis=axis)))
    check(PRIMITIVES["nanmedian"], [A], {"axis": axis, "keepdims": True})


def test_several_axes_of_q_over_several_axes_are_refused():
    with pytest.raises(ActiveError, match="nanquantile"):
        reverse("nanquantile", A, [[0.2], [0.8]], axis=(0, 2), g=np.ones((1, 4, 2)))


def test_slice_of_nothing_but_nan_gets_nothing():
    a = np.array([[np.nan, np.nan], [1.0, 2.0]])
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        assert reverse("nanmedian", a, axis=1, g=[1.0, 1.0]).tolist() == [[0.0, 0.0], [0.5, 0.5]]


def test_weighted_quantile():
    weights = RNG.uniform(0.5, 1.5, A.shape)
    for q in (0.4, [0.1, 0.9]):
        check(PRIMITIVES["quantile"], [A, q], {"method": "inverted_cdf", "weights": weights, "axis": 1}, argnums=(0,))


def test_argument_is_not_overwritten():
    a = A.ravel().copy()
    for name, args in (("median", ()), ("nanpercentile", (50.0,))):
        PRIMITIVES[name].forward(a, *args, overwrite_input=True)
        assert (a == A.ravel()).all()
    PRIMITIVES["median"].forward(a, None, None, True)
    assert (a == A.ravel()).all()


def test_unique():
    a = A.round()
    kwargs = {"return_index": True, "return_inverse": True, "return_counts": True}
    check(PRIMITIVES["unique"], [A])
    check(PRIMITIVES["unique"], [A], kwargs)
    check(PRIMITIVES["unique"], [A[:, 0], False, True, False, 0])
    for name in ("unique_values", "unique_all", "unique_counts", "unique_inverse"):
        check(PRIMITIVES[name], [A])
    g = np.arange(1.0, 1.0 + np.unique(a).size)
    values, first = np.unique(a, return_index=True)
    got = reverse("unique", a, g=g)
    assert got.ravel()[first].tolist() == g.tolist() and np.count_nonzero(got) == g.size < a.size


@pytest.mark.parametrize(
    "text",
    ["np.median(x[:0])", "np.nanmedian(x[:0].reshape(0, 3), axis=0)", "np.nanpercentile(x[:0], 30)",
     "np.median(x[:0].reshape(3, 0), axis=0)", "np.quantile(x[:0].reshape(3, 0), [0.3, 0.4], axis=0)"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_medians_of_nothing_have_no_derivative(text):
    f = eval(f"lambda x: np.sum(x * x) + np.sum({text})", {"np": np})
    x = np.array([0.5, 2.0])
    assert np.array_equal(codipy.value_and_grad(f)(x)[0], f(x), equal_nan=True)
    assert np.array_equal(codipy.grad(f)(x), 2 * x)
    assert codipy.jvp(f, (x,), (x,))[1] == pytest.approx(2 * x @ x)


@pytest.mark.parametrize("f", [
    lambda v: np.quantile(v[1:], v[0]),
    lambda v: np.sum(np.quantile(v[1:] ** 2, np.stack([v[0], v[0] ** 2])) ** 2),
    lambda v: np.sum(np.percentile(v[1:].reshape(2, 2), 100.0 * v[0], axis=1, method="hazen") ** 2),
    lambda v: np.nanquantile(v[1:] ** 2, v[0]),
], ids=["one", "several", "percentile", "nan"])
def test_second_derivatives_of_quantiles_by_both_arguments(f):
    v = np.array([0.4, 1.0, 3.0, 2.0, 7.0])
    gradient = codipy.grad(f)
    steps = np.eye(v.size) * 1e-5
    expected = np.array([(gradient(v + h) - gradient(v - h)) / 2e-5 for h in steps])
    np.testing.assert_allclose(codipy.hessian(f)(v), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(codipy.jacobian(gradient)(v), expected, rtol=1e-6, atol=1e-6)
