# SPDX-License-Identifier: Apache-2.0
"""Every way to a derivative gives the same one at zeros, kinks, infinities and where formulas cancel or underflow."""

import math

import numpy as np
import pytest

import codipy
from codipy.active.arrays.elementwise_door import elementwise
from codipy.operations import TABLE
from tests.strategies import STRATEGIES

EDGES = [0.0, -0.0, 5e-324, -1e-310, 1e-300, -1e-160, 1e-20, 1.0, -1.0, 1e8, 1e160]
FAR = [math.inf, -math.inf, math.nan]
# gamma raises where it is infinite, of numbers; the powers' partials by the exponent are those of one row.
ROWS = [row.name for row in TABLE if row.arity == 1 and set(row.second) != {"0"} and row.name != "gamma"]
POWERS = (2.5, 1.5, 0.5, 3.0, 2.0, 1.0, 0.0, 0.3, -0.5, -1.0, -2.0)
PLANE = [(3.0, 1e8), (1e8, 1.0), (1e-300, 1e-160), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (-0.0, 0.0), (1e-20, 1e160),
         (1e-300, 1e-100)]

pytestmark = pytest.mark.filterwarnings("ignore")


def functions():
    yield from ((name, lambda x, name=name: elementwise(name, x)) for name in ROWS)
    yield from ((f"power {p}", lambda x, p=p: np.power(1.0 * x, p)) for p in POWERS)


FUNCTIONS = dict(functions())


def firsts(f, x):
    """The first derivative, by every strategy and mode."""
    one = np.array([x])
    for strategy in STRATEGIES:
        yield strategy, codipy.grad(lambda x: f(x).sum(), strategy=strategy)(one)[0]
    yield "jvp", codipy.jvp(f, (one,), (np.ones(1),))[1][0]
    yield "taylor", codipy.taylor(f, one, np.ones(1), 1)[1][0]


def seconds(f, x):
    one = np.array([x])
    gradient = codipy.grad(lambda x: f(x).sum())
    yield "hessian", codipy.hessian(lambda x: f(x).sum())(one)[0, 0]
    yield "grad of grad", codipy.grad(lambda x: gradient(x).sum())(one)[0]
    yield "jvp of grad", codipy.jvp(gradient, (one,), (np.ones(1),))[1][0]
    yield "hvp", codipy.hvp(lambda x: f(x).sum(), (one,), (np.ones(1),))[0][0]
    yield "taylor", 2 * codipy.taylor(f, one, np.ones(1), 2)[2][0]


def same(found, expected):
    if math.isnan(expected) or math.isinf(expected):
        return found == expected or math.isnan(found) and math.isnan(expected)
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-307)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_and_second_derivatives_at_edges(name):
    with np.errstate(all="ignore"):
        for x in EDGES + FAR:
            for derivatives in (firsts, seconds):
                found = dict(derivatives(FUNCTIONS[name], x))
                _, expected = next(iter(found.items()))
                for way, value in found.items():
                    # At infinity a quotient of infinities may say that it is none.
                    allowed = math.isinf(x) and (math.isnan(value) or math.isnan(expected))
                    assert same(value, expected) or allowed, (x, way, found)


@pytest.mark.parametrize("name", ["hypot", "atan2"])
@pytest.mark.parametrize("point", PLANE)
def test_second_derivatives_in_the_plane(name, point):
    """Along each axis, against those of the table."""
    for k in range(2):
        def f(t, k=k):
            return elementwise(name, *(t if j == k else np.full(1, x) for j, x in enumerate(point)))

        found = dict(seconds(f, point[k]))
        assert all(same(value, found["hessian"]) for value in found.values()), (k, found)


def test_the_mixed_derivative_of_a_power_that_underflows():
    def f(x, y):
        return np.power(x, y)

    x, y = np.float64(1e-130), np.float64(2.5)
    expected = 1e-130**1.5 * (1 + 2.5 * math.log(1e-130))
    by_y = codipy.grad(f, argnums=1)
    assert codipy.grad(by_y)(x, y) == pytest.approx(expected, rel=1e-12)
    assert codipy.hessian(lambda v: f(v[0], v[1]))(np.array([x, y]))[0, 1] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "x", "y", "expected"),
    [
        ("atan2", 1e-156, 1e-156, (-math.inf, 0.0, math.inf)),
        ("atan2", 1e-160, -1e-160, (math.inf, 0.0, -math.inf)),
        ("hypot", 1e-300, 1e-100, (1e100, -1e-100, 1e-300)),
        ("power", 1e-160, 1e-160, (-1e160, 1e160, math.log(1e-160) ** 2)),
        ("power", 1e-160, -1e-20, (1e300, 1e160, math.log(1e-160) ** 2)),
        ("power", 3.0, 1e-20, (-1e-20 / 9, 1 / 3, math.log(3.0) ** 2)),
        ("power", 30.0, -1e300, (0.0, 0.0, 0.0)),
    ],
)
def test_second_derivatives_of_which_a_part_overflows_or_underflows(name, x, y, expected):
    def f(x, y):
        return elementwise(name, x, y)

    def check(way, found, k):
        assert math.isclose(found, expected[k], rel_tol=1e-12), (way, k, found)

    for wrap in (lambda x: x, lambda x: np.array([x])):
        a, b = wrap(x), wrap(y)
        of_pair = codipy.hessian(lambda *p: np.sum(f(*p)), argnums=(0, 1))(a, b)
        for k, (i, j) in enumerate([(0, 0), (0, 1), (1, 1)]):
            check("hessian", np.ravel(of_pair[i][j])[0], k)
            if (name, k) != ("atan2", 1):      # a difference of two terms that overflow, as a program's own would be
                def slope(*p, i=i):
                    return np.sum(codipy.grad(lambda *p: np.sum(f(*p)), argnums=i)(*p))

                check("grad of grad", np.ravel(codipy.grad(slope, argnums=j)(a, b))[0], k)
            if i == j:
                def alone(t, i=i, a=a, b=b):
                    return f(t, b) if i == 0 else f(a, t)

                point, one = (a, b)[i], wrap(1.0)
                check("hvp", np.ravel(codipy.hvp(lambda t: np.sum(alone(t)), (point,), (one,))[0])[0], k)
                check("taylor", np.ravel(2 * codipy.taylor(alone, point, one, 2)[2])[0], k)


def test_the_slope_of_an_arc_tangent_far_out_has_a_slope():
    for x in (1e80, -1e100):
        by_grad = codipy.grad(codipy.grad(np.arctan))(np.float64(x))
        assert math.isclose(by_grad, -2 / x / x / x, rel_tol=1e-12)
