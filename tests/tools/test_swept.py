# SPDX-License-Identifier: Apache-2.0
"""Second derivatives by sweeps over one recording: against closed forms, mpmath, and gradients of gradients."""

import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import rosen_der, rosen_hess, rosen_hess_prod

import codipy
from codipy.errors import UndifferentiableError
from codipy.operations import TABLE
from codipy.tools.derivatives import curvature
from tests.nested.once import set_twice
from tests.strategies import each_pair

pytestmark = pytest.mark.filterwarnings("ignore")


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1.0 - x[:-1]) ** 2.0)


def rosenbrock_loop(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def nested_hvp(f, args, tangents):
    """By a driver inside of another one."""
    return codipy.jvp(codipy.grad(f, argnums=tuple(range(len(args)))), args, tangents)[1]


def agree(f, args, tangents, rtol=1e-11):
    """Swept and nested products are the same, and the gradient is; the products."""
    gradient, swept = codipy.gradient_and_hvp(f, args, tangents)
    for x, y in zip(gradient, codipy.grad(f, argnums=tuple(range(len(args))))(*args), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14)
    nested = nested_hvp(f, args, tangents)
    for x, y in zip(swept, nested, strict=True):
        assert np.shape(x) == np.shape(y) and getattr(x, "dtype", float) == getattr(y, "dtype", float)
        scale = 1e-13 * (1.0 + np.max(np.abs(y), initial=0.0, where=np.isfinite(y)))
        np.testing.assert_allclose(x, y, rtol=rtol, atol=scale)
    return swept


@pytest.fixture(autouse=True)
def _swept(monkeypatch):
    """Every recording here is swept, and its identifiers are set once: none falls back in silence."""
    seen, has_second = [], curvature.has_second

    def known(tape):
        seen.append(has_second(tape))
        assert not set_twice(tape)
        return seen[-1]

    monkeypatch.setattr(curvature, "has_second", known)
    yield
    assert all(seen)


# ---- Directions ----
@pytest.mark.parametrize("edge", [0.0, 0.7])
@pytest.mark.parametrize("n", [2, 31, 33, 70])
def test_directions_of_numbers_have_the_bits_of_one_alone(n, edge):
    """Numbers are swept some directions at a time, side by side; at the edge partials are infinite."""

    def f(x):
        total = math.sqrt(x[0]) * x[1]
        for k in range(n):
            total = total + math.sin(x[k]) * x[k - 1] + (x[k] * x[k - 2]) ** 3 / (1.0 + x[k - 1] ** 2) - total * x[k]
        return total

    x = [edge, *np.linspace(0.4, 1.3, n - 1).tolist()]
    product, units = codipy.linearize(codipy.grad(f), x)[1], np.eye(n)
    alone = np.array([product(unit.tolist()) for unit in units])
    np.testing.assert_array_equal(codipy.hessian(f)(x), alone)
    assert np.isfinite(alone).all() == (edge > 0.0)
    assert np.count_nonzero(alone) > n


# ---- Closed forms ----
@pytest.mark.parametrize("granularity", ["statement", "operation"])
@pytest.mark.parametrize("n", [2, 3, 50, 1000, 5000])
def test_rosenbrock(n, granularity):
    x, v = np.linspace(0.5, 1.5, n), np.cos(np.arange(n))
    for f, args, tangents in ((rosenbrock, x, v), (rosenbrock_loop, x.tolist(), v.tolist())):
        (gradient,), (product,) = codipy.gradient_and_hvp(f, (args,), (tangents,), granularity=granularity)
        np.testing.assert_allclose(gradient, rosen_der(x), rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(product, rosen_hess_prod(x, v), rtol=1e-12, atol=1e-10)
        if n <= 50:
            found = codipy.hessian(f, granularity=granularity)(args)
            np.testing.assert_allclose(found, rosen_hess(x), rtol=1e-12, atol=1e-11)


@each_pair()
def test_every_strategy_gives_the_same(variant):
    x, v = np.linspace(0.5, 1.5, 7), np.cos(np.arange(7))
    found = codipy.hvp(rosenbrock, (x,), (v,), strategy=variant[0], granularity=variant[1])[0]
    np.testing.assert_allclose(found, rosen_hess_prod(x, v), rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("text, point", [
    ("exp(sin(x) * x) / (1 + x**2)", 0.7), ("x**x * log(x)", 1.3), ("tanh(3 * x) + sqrt(1 + x * x)", -0.4),
    ("gamma(x) * exp(-x)", 2.5), ("asinh(x) * atan(2 * x) + acosh(2 + x)", 0.8), ("cosh(x)**3 / sinh(x)", 1.1),
    ("log1p(x) * expm1(x) - cbrt(x)", 0.6), ("erf(x) * erf(2 * x)", 0.3), ("acos(x / 3) * asin(x / 4)", 0.9),
])  # fmt: skip
def test_numbers_against_mpmath(text, point):
    names = {name: getattr(codipy.math, name, None) for name in
             ("exp", "sin", "log", "tanh", "sqrt", "asinh", "atan", "acosh", "cosh", "sinh", "log1p", "expm1", "erf",
              "acos", "asin", "gamma", "cbrt")}  # fmt: skip
    with mpmath.workdps(40):
        exact = {name: getattr(mpmath, name, None) for name in names}
        expected = float(mpmath.diff(lambda x: eval(text, exact, {"x": x}), mpmath.mpf(point), 2))
    arrays = {**{name: getattr(np, name.replace("as", "arcs").replace("ac", "arcc").replace("at", "arct"), None)
                 for name in names}, **dict.fromkeys(("gamma", "erf"))}
    import scipy.special

    arrays.update(gamma=scipy.special.gamma, erf=scipy.special.erf)
    found = codipy.hessian(lambda x: eval(text, names, {"x": x}))(point)
    assert found == pytest.approx(expected, rel=1e-11)
    several = codipy.hvp(lambda x: np.sum(eval(text, arrays, {"x": x})), (np.full(5, point),), (np.ones(5),))[0]
    np.testing.assert_allclose(several, expected, rtol=1e-11)


# ---- Every row of the table, as numbers and as arrays ----
ROWS = [row for row in TABLE if row.name not in ("single", "mantissa", "fraction", "scale", "fma")]


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_every_operation(row):
    from codipy.active.arrays.elementwise_door import elementwise

    rng = np.random.default_rng(row.code)
    free = [k for k in range(row.arity) if k not in row.constant]
    points = [rng.uniform(*row.domain[k], 9) for k in range(row.arity)]
    points = [np.round(x) if k in row.constant else x for k, x in enumerate(points)]
    tangents = [rng.uniform(-1.0, 1.0, 9) for _ in free]
    weights = rng.uniform(0.5, 1.5, 9)

    def total(given, weights):
        def f(*moving):
            u = list(given)
            for k, x in zip(free, moving):
                u[k] = x
            w = elementwise(row.name, *u)
            return np.sum(weights * w * w * w) + np.sum(weights * w)

        return f

    swept = agree(total(points, weights), tuple(points[k] for k in free), tuple(tangents))
    for i in range(3):
        at = tuple(float(points[k][i]) for k in free)
        one = agree(total([float(x[i]) for x in points], float(weights[i])), at, tuple(float(t[i]) for t in tangents))
        np.testing.assert_allclose(one, [x[i] for x in swept], rtol=1e-11, atol=1e-12)
    for k, x, t in zip(free, (points[k] for k in free), tangents):      # the others are passive
        def alone(y, k=k):
            u = list(points)
            u[k] = y
            return np.sum(weights * elementwise(row.name, *u) ** 2)

        agree(alone, (x,), (t,))


def test_operations_that_are_no_ufuncs_of_numpy():
    a, v = (1.3, -0.7, 2.1), (1.0, 0.5, -0.25)
    agree(lambda x, y, z: codipy.math.fma(x, y, z) ** 3, a, v)
    expected = codipy.hvp(lambda x, y, z: (x * y + z) ** 3, a, v)
    np.testing.assert_allclose(codipy.hvp(lambda x, y, z: codipy.math.fma(x, y, z) ** 3, a, v), expected, rtol=1e-14)
    agree(lambda x: np.sum(np.ldexp(x, np.array([1, -2, 3])) ** 3), (np.arange(1.0, 4.0),), (np.ones(3),))
    agree(lambda x: codipy.math.frexp(x)[0] ** 2 + codipy.math.modf(x)[0] ** 3, (2.7,), (1.0,))


# ---- Layouts ----
A = np.random.default_rng(1).uniform(0.5, 1.5, (4, 6))
LAYOUTS = {
    "transposed": lambda a: np.sum(np.sin(a.T) * a.T * a[::-1, :].T),
    "columns": lambda a: np.sum(a[:, ::2] * a[:, 1::2] ** 2 * np.exp(a[:, ::-2])),
    "overlapping": lambda a: np.sum(a[1:-1] * a[2:] * np.log(a[:-2])),
    "broadcast rows": lambda a: np.sum(a * a[0] * np.sqrt(a[1] + 2.0)),
    "broadcast columns": lambda a: np.sum(np.tanh(a * a[:, :1]) / a[:, 2:3]),
    "one number": lambda a: np.sum(a * a[0, 0] ** 2 + a[1, 1] * np.cos(a)),
    "numbers and arrays": lambda a: a[0, 0] * a[0, 1] * np.sum(np.exp(a * a[2, 2])) + a[3, 3] ** 3,
    "sums": lambda a: np.sum(np.sum(a * a, axis=0) * np.mean(a, axis=0) ** 2) * np.mean(a) ** 2,
    "joined": lambda a: np.sum(np.concatenate([a, a * a])[::-1] * np.vstack([a.T.reshape(4, 6) ** 2, a])),
    "chosen": lambda a: np.sum(np.where(a > 1.0, a * a, np.sin(a)) * a),
    "taken": lambda a: np.sum(a[[0, 2, 2], [1, 1, 1]] ** 3 * a[0, :3]),
    "products": lambda a: np.sum((a @ a.T) ** 2) + np.sum(np.linalg.inv(a @ a.T + np.eye(4)) * (a @ a.T)),
    "one passive": lambda a: np.sum((a @ np.arange(12.0).reshape(6, 2)) ** 3),
    "sorted": lambda a: np.sum(np.sort(a, axis=1) ** 2 * np.arange(6.0)) + np.max(a) ** 3,
    "square": lambda a: np.sum(a * a),
    "nothing second": lambda a: np.sum(3.0 * a - a[::-1] + 1.0),
    "copies": lambda a: np.sum(+a) * np.sum(-(+a)),
    "long": lambda a: np.sum(np.sin(np.tile(a, (40, 30))) * np.tile(a, (40, 30)) ** 2),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name):
    rng = np.random.default_rng(5)
    t = rng.uniform(-1.0, 1.0, A.shape)
    agree(LAYOUTS[name], (A,), (t,))
    agree(LAYOUTS[name], (np.asfortranarray(A),), (t,))
    agree(LAYOUTS[name], (A.astype(np.float32),), (t,), rtol=1e-5)
    found = codipy.hessian(LAYOUTS[name])(A)
    np.testing.assert_allclose(np.tensordot(found, t), codipy.hvp(LAYOUTS[name], (A,), (t,))[0], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found, np.transpose(found, (2, 3, 0, 1)), rtol=1e-9, atol=1e-10)


# ---- Written in place ----
def part_by_part(x):
    y = np.zeros_like(x)
    y[: len(x) // 2] = x[: len(x) // 2] * x[0]
    y[len(x) // 2 :] = np.sin(x[len(x) // 2 :])
    y[1:-1] += y[:-2] * y[2:]
    y[1:-1] *= y[1:-1]
    y *= x
    return np.sum(y * y)


def one_by_one(x):
    y = x * x
    for i in range(1, len(x)):
        y[i] = y[i] * y[i - 1] + x[i]
    z = y.copy()
    z[::2] = z[::2] * x[::2]
    return np.sum(z * y)


def set_again(x):
    a = np.stack([x, x * 2.0])
    a[0] = 0.1
    b = np.concatenate([x * x, np.sin(x)])
    b[2:7] = b[2:7] * x[0] * 2.0
    return np.sum(np.sin(a) * a) + np.sum(np.cos(b) * b)


@pytest.mark.parametrize("f", [part_by_part, one_by_one, set_again])
@pytest.mark.parametrize("n", [5, 40, 700])
def test_in_place(f, n):
    x, v = np.linspace(0.4, 0.9, n), np.cos(np.arange(n))
    agree(f, (x,), (v,))


# ---- Kinks, and what is zero ----
@pytest.mark.parametrize("f, point, expected", [
    (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), [0.0, 4.0], [[0.0, 0.0], [0.0, -1.0 / 32.0]]),
    (lambda x: np.sum(np.exp(np.where(x > 0, np.log(x), 0.0))), [0.0, 2.0], [[0.0, 0.0], [0.0, 0.0]]),
    (lambda x: np.sum(np.abs(x) ** 3), [0.0, -2.0], [[0.0, 0.0], [0.0, 12.0]]),
    (lambda x: np.sum(np.maximum(x, 0.0) ** 2), [0.0, 2.0], [[2.0, 0.0], [0.0, 2.0]]),
    (lambda x: (np.linalg.norm(x) - 5.0) ** 2, [3.0, 4.0], [[0.72, 0.96], [0.96, 1.28]]),
    (lambda x: np.sum(np.sqrt(np.maximum(x, 0.0))), [-1.0, 4.0], [[0.0, 0.0], [0.0, -1.0 / 32.0]]),
    (lambda x: ((x[0] - 2.0) * 0.0) ** 0.5 * x[1] + x[1] ** 2, [1.0, 2.0], [[0.0, 0.0], [0.0, 2.0]]),
    (lambda x: (((x[0] - 2.0) * 0.0 * x[0]) ** 0.5 * 2.0 + x[0]) ** 2, [1.0, 2.0], [[2.0, 0.0], [0.0, 0.0]]),
    (lambda x: x[0] ** x[1], [2.0, 0.0], [[0.0, 0.5], [0.5, math.log(2.0) ** 2]]),
    (lambda x: np.sum(x[0] * x[1] * np.ones(3)), [0.0, 0.0], [[0.0, 3.0], [3.0, 0.0]]),
])  # fmt: skip
def test_kinks(f, point, expected):
    np.testing.assert_allclose(codipy.hessian(f)(np.array(point)), expected, rtol=1e-12, atol=1e-15)


def test_numbers_that_were_not_chosen():
    def f(x):
        a = codipy.math.sqrt(x[0]) if x[0] > 0.0 else 0.0 * x[0]
        return a + x[1] ** 3 + 0.0 * np.sqrt(x[0])

    assert np.array_equal(codipy.hessian(f)(np.array([0.0, 2.0])), [[0.0, 0.0], [0.0, 12.0]])


def test_a_first_tile_through_which_nothing_flows():
    def f(x):
        a = np.where(x > 1.2, x[-1] / (2.0 + np.cos(x)), x) * 1.0
        a[0] = 0.5
        return np.sum(np.sin(a))

    rng = np.random.default_rng(3)
    agree(f, (rng.uniform(1.0, 2.0, (2, 511)),), (rng.uniform(-1.0, 1.0, (2, 511)),))


# ---- Forms and edges ----
def test_no_numbers():
    assert codipy.hvp(lambda x, y: np.sum(x * x) + y * y, (np.zeros(0), 2.0), (np.zeros(0), 1.0))[1] == 2.0
    assert codipy.hessian(lambda x: np.sum(x * x))(np.zeros((0, 2))).shape == (0, 2, 0, 2)
    assert codipy.hessian(lambda x: 3.0)(2.0) == 0.0
    assert np.array_equal(codipy.hessian(lambda x: 7)(np.ones(2)), np.zeros((2, 2)))


def test_what_depends_on_itself_twice():
    assert codipy.hessian(lambda x: x)(2.0) == 0.0
    assert codipy.hessian(lambda x: (x + x) * (x + x))(2.0) == 8.0
    agree(lambda x: np.sum((x + x) * (x - 2.0 * x)) + np.sum(x[0] * x), (np.arange(1.0, 4.0),), (np.ones(3),))


def test_inner_derivatives():
    """A driver in the function is run again on the recording that is swept."""
    def f(x):
        return np.sum(codipy.grad(lambda y: np.sum(y**3 * x[0]))(x) * x)

    x = np.array([1.3, 0.7])
    agree(f, (x,), (np.array([1.0, -2.0]),))


def test_numbers_of_a_hand_made_statement_are_refused():
    def f(x):
        tape = codipy.active_tape()
        return tape.push_statement(codipy.value(x) ** 2, [x], [2.0 * codipy.value(x)]) * x

    with pytest.raises(UndifferentiableError, match="by hand"):
        codipy.hessian(f)(3.0)


def test_the_function_runs_once():
    calls = []

    def f(x):
        calls.append(1)
        return np.sum(x**3)

    codipy.hessian(f)(np.ones(100))
    codipy.hvp(f, (np.ones(3),), (np.ones(3),))
    assert len(calls) == 2


def test_many_steps():
    """As many as one program holds, and what does not fit into one."""
    def f(x):
        y = x
        for k in range(60):
            y = np.sin(y * x + 0.1 * k) + x / (2.0 + y * y)
        return np.sum(y * y)

    agree(f, (np.linspace(0.1, 1.0, 33),), (np.ones(33),), rtol=1e-9)
    agree(lambda x: f(x[0]) + x[1] ** 2, ([0.3, 0.4],), ([1.0, 2.0],), rtol=1e-9)
