# SPDX-License-Identifier: Apache-2.0
"""Sums, products, means and variances: rules against differences, kinks against the conventions, values bit for bit."""

import math
from fractions import Fraction

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from codipy.numpy.rules.reductions import COMPOSITES, PRIMITIVES
from tests.numpy.rules.checking import check
from tests.strategies import each_strategy

RNG = np.random.default_rng(3)
A = RNG.uniform(0.5, 2.0, (3, 4, 2))
WHERE = RNG.random(A.shape) < 0.5
WHERE[:, :2] = True  # every slice keeps some elements
HOLES = np.where(WHERE, A, np.nan)
AXES = [None, 0, -1, (0, 2), (2, 0), (0, 1, 2), ()]
REDUCTIONS = ["sum", "mean", "prod", "var", "std"]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_axes(name, axis, keepdims):
    if axis == () and name in ("var", "std"):
        pytest.skip("the variance of one element is 0 everywhere")
    check(PRIMITIVES[name], [A], {"axis": axis, "keepdims": keepdims})


@pytest.mark.parametrize("axis", [None, 1, (0, 1)])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_where(name, axis):
    check(PRIMITIVES[name], [A], {"axis": axis, "where": WHERE})
    check(PRIMITIVES[name], [A], {"axis": axis, "where": np.array([[True], [False], [True], [True]])})


@pytest.mark.parametrize("axis", [None, 1, (0, 1)])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_nan_is_skipped(name, axis):
    p = PRIMITIVES["nan" + name]
    out = p.forward(HOLES, axis)
    g = np.ones(np.shape(out))
    holed = p.vjp(g, out, (HOLES, axis), {}, (0,))[0]
    plain = PRIMITIVES[name].vjp(g, out, (A, axis), {"where": WHERE}, (0,))[0]
    np.testing.assert_array_equal(holed, plain)
    check(p, [A], {"axis": axis, "keepdims": True})
    tangent = p.jvp({0: np.ones(A.shape)}, out, (HOLES, axis), {})
    np.testing.assert_allclose(np.sum(tangent * g), np.sum(plain), atol=1e-13)


@pytest.mark.parametrize("name", ["sum", "prod", "nansum", "nanprod"])
def test_initial(name):
    check(PRIMITIVES[name], [A, 1, None, None, False, 1.5], argnums=(0, 5))
    check(PRIMITIVES[name], [A, None, None, None, True, 1.5], {"where": WHERE}, argnums=(0, 5))


@pytest.mark.parametrize("kwargs", [{"ddof": 1}, {"correction": 1.5}, {"axis": 1, "ddof": 1, "where": WHERE}])
@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
def test_degrees_of_freedom(name, kwargs):
    if "where" in kwargs:
        kwargs = {**kwargs, "axis": (0, 1)}
    check(PRIMITIVES[name], [A], kwargs)


def test_given_mean_is_constant():
    check(PRIMITIVES["var"], [A], {"axis": 1, "mean": np.zeros((3, 1, 2))})


@pytest.mark.parametrize("zeros", [[1], [1, 3], [0, 1, 2]])
def test_prod_is_exact_at_zeros(zeros):
    a = np.array([2.0, 3.0, 5.0, 7.0])
    a[zeros] = 0.0
    expected = [np.prod(np.delete(a, i)) for i in range(4)]
    for name in ("prod", "nanprod"):
        p = PRIMITIVES[name]
        assert p.vjp(np.array(1.0), 0.0, (a,), {}, (0,))[0].tolist() == expected
        assert p.jvp({0: np.ones(4)}, 0.0, (a,), {}) == sum(expected)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e300])
def test_std_of_equal_values(value):
    a = np.full(3, value)
    p = PRIMITIVES["std"]
    assert p.vjp(np.array(1.0), np.std(a), (a,), {}, (0,))[0].tolist() == [0.0, 0.0, 0.0]
    assert p.jvp({0: np.array([1.0, 2.0, 3.0])}, np.std(a), (a,), {}) == 0.0


def test_zero_cotangent_times_infinity():
    a = np.array([[np.inf, 2.0], [3.0, 4.0]])
    with np.errstate(invalid="ignore"):
        got = PRIMITIVES["prod"].vjp(np.array([0.0, 1.0]), np.prod(a, axis=1), (a, 1), {}, (0,))[0]
    assert got.tolist() == [[0.0, 0.0], [4.0, 3.0]]


@pytest.mark.parametrize(
    "axis, shape", [(None, (3, 4, 2)), (1, (4,)), (1, (3, 4, 2)), ((2, 0), (2, 3)), ((0, 2), (3, 2)), (-1, (2,))]
)
@pytest.mark.parametrize("returned", [False, True])
@pytest.mark.parametrize("keepdims", [False, True])
def test_average(axis, shape, returned, keepdims):
    weights = RNG.uniform(0.5, 1.5, shape)
    kwargs = {"returned": returned, "keepdims": keepdims}
    check(PRIMITIVES["average"], [A, axis, weights], kwargs, argnums=(0, 2))
    check(PRIMITIVES["average"], [A, axis], kwargs)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_empty_and_scalar(name):
    if name in ("sum", "mean", "prod"):
        check(PRIMITIVES[name], [np.array(2.0)])
        check(PRIMITIVES[name], [2.0])
    if name in ("sum", "prod"):
        got = PRIMITIVES[name].vjp(np.ones(3), np.zeros(3), (np.zeros((3, 0)), 1), {}, (0,))[0]
        assert got.shape == (3, 0)


@pytest.mark.parametrize("args", [(), (1,), (-1, 1, 2), (0, 2, 0)])
def test_trace(args):
    np.testing.assert_array_equal(COMPOSITES["trace"](A, *args), np.trace(A, *args))


def test_unknown_position_is_an_error():
    with pytest.raises(ActiveError, match="argument 2"):
        PRIMITIVES["mean"].vjp(np.ones(()), 1.0, (A, 1.0), {}, (1,))


def test_a_number_has_no_axis_to_take_the_mean_of():
    for axis in (0, -1):
        for mean in (np.mean, lambda z, axis: z.mean(axis)):
            with pytest.raises(np.exceptions.AxisError):
                codipy.grad(lambda x, axis=axis, mean=mean: mean(np.reshape(x[:1], ()), axis=axis))(np.ones(2))
    assert codipy.grad(lambda x: np.mean(np.reshape(x[:1], ())))(np.ones(2)).tolist() == [1.0, 0.0]
    assert codipy.grad(lambda x: np.sum(np.reshape(x[:1], ()), axis=0))(np.ones(2)).tolist() == [1.0, 0.0]


HUGE = 1e200
OVERFLOWING = [
    [HUGE, 2.0, 0.0, HUGE, HUGE],
    [HUGE, 0.0, 3.0, 0.0, HUGE, HUGE],
    [0.0, 2.0, 5.0],
    [0.0, 2.0, 0.0],
    [1e-200, 0.0, 1e-200, 4.0],
]


def rounded(number):
    return float(number) if abs(number) < Fraction(2) ** 1024 else math.inf


@pytest.mark.parametrize("factors", OVERFLOWING)
@pytest.mark.parametrize("product", ["prod", "nanprod"])
@pytest.mark.parametrize("initial", [{}, {"initial": 2.0}])
@each_strategy
def test_products_that_overflow_beside_a_zero(strategy, initial, product, factors):
    """Exact products of the others, by fractions: of a zero and what overflows elsewhere 0, never NaN."""
    scale = Fraction(initial.get("initial", 1.0))
    exact = [rounded(scale * math.prod(map(Fraction, factors[:k] + factors[k + 1 :]))) for k in range(len(factors))]
    multiply = getattr(np, product)
    for f in (lambda x: multiply(x, **initial),
              lambda x: np.sum(multiply(np.stack((x, np.ones(len(factors)))), axis=1, **initial))):  # fmt: skip
        found = codipy.grad(f, strategy=strategy)(np.array(factors))
        np.testing.assert_allclose(found, exact, rtol=1e-15)
        tape = codipy.Tape(strategy=strategy)
        with tape:
            x = tape.register_input(np.array(factors))
            y = tape.register_output(f(x))
        for k, partial in enumerate(exact):
            tape.clear_adjoints()
            x.gradient = np.arange(len(factors)) == k
            tape.evaluate_forward()
            assert y.gradient == pytest.approx(partial, rel=1e-15)
