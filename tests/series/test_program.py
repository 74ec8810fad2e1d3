# SPDX-License-Identifier: Apache-2.0
"""Power series of whole functions: every function of NumPy that has rules, loops, writing in place, trees, float32."""

import math
import struct
from dataclasses import dataclass

import numpy as np
import pytest

import codipy
from codipy.errors import UndifferentiableError
from tests.numpy.table import evaluate, leaves, names_in, plain_results, plain_values, weights_for
from tests.numpy.texts import texts
from tests.strategies import STRATEGIES

ORDER, STEP = 4, 4e-3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", texts(0, 3))
def test_functions_of_numpy(text):
    """The polynomial is the plain function nearby, and its first coefficients are those of jvp, also of a gradient."""
    names = [name for name in names_in(text) if name != "e"]
    values = plain_values(names_in(text))
    seeds = weights_for(plain_results(text, values))
    rng = np.random.default_rng(4)
    at = tuple(values[name] for name in names)
    tangents = tuple(rng.uniform(-1.0, 1.0, np.shape(x))[()] for x in at)

    def total(args):
        results = leaves(evaluate(text, {**values, **dict(zip(names, args))}))
        return sum((np.sum(y * y * 0.5 * s) for y, s in zip(results, seeds) if s is not None), 0.0)

    found = codipy.taylor(total, at, tangents, ORDER)
    assert found[0] == total(at)
    gradient, product = codipy.gradient_and_hvp(total, (at,), (tangents,))
    first, second = (sum(np.sum(g * t) for g, t in zip(d[0], tangents)) for d in (gradient, product))
    scale = 1.0 + max(map(abs, found))
    assert found[1] == pytest.approx(first, rel=1e-10, abs=1e-10 * scale)
    assert 2.0 * found[2] == pytest.approx(second, rel=1e-9, abs=1e-9 * scale)
    for t in (-STEP, STEP):
        there = total(tuple(x + t * d for x, d in zip(at, tangents)))
        assert abs(np.polyval(found[::-1], t) - there) <= 3e-10 * scale


def lorenz(u, steps=20, h=0.01):
    x, y, z = u
    for _ in range(steps):
        x, y, z = x + h * 10.0 * (y - x), y + h * (x * (28.0 - z) - y), z + h * (x * y - 8.0 / 3.0 * z)
    return [x, y, z]


def by_nesting(f, order):
    """Coefficients of a function of one number, by gradients of gradients."""
    found = [f(0.0)]
    for k in range(1, order + 1):
        f = codipy.grad(f)
        found.append(f(0.0) / math.factorial(k))
    return found


def test_a_loop_over_numbers():
    start, direction = [1.0, 2.0, 20.0], [0.3, -1.0, 0.5]
    found = codipy.taylor(lorenz, start, direction, 4)
    for place in range(3):
        expected = by_nesting(lambda t, k=place: lorenz([x + t * d for x, d in zip(start, direction)])[k], 4)
        np.testing.assert_allclose([c[place] for c in found], expected, rtol=1e-11, atol=1e-13)
    assert found[0] == lorenz(start) and all(type(x) is float for c in found for x in c)


def in_place(u):
    v = np.zeros((4, 3))
    v[0], v[1:, 0] = np.sin(u), u[::-1]
    for _ in range(3):
        v[1:-1] += 0.5 * v[:-2] * v[2:] - v[1:-1] ** 2
        v[2, 1] = v[0, 0] * v[1, 2]
        v *= 0.5 * np.cos(v)
    w = v.T.copy()
    w[:, ::2] = np.cumsum(w[:, 1::2], axis=0) * np.max(v)
    return np.stack([w.T[0], w.T[3]]), v[2, 1]


def test_arrays_that_are_written_in_place():
    u, direction = np.array([0.5, 1.0, 1.5]), np.array([1.0, -0.5, 0.25])
    found = codipy.taylor(in_place, u, direction, 5)
    for index in np.ndindex(2, 3):
        expected = by_nesting(lambda t, i=index: in_place(u + t * direction)[0][i], 3)
        np.testing.assert_allclose([c[0][index] for c in found[:4]], expected, rtol=1e-10, atol=1e-12)
    for t in (-0.01, 0.01):
        for place, there in enumerate(in_place(u + t * direction)):
            near = sum(c[place] * t**k for k, c in enumerate(found))
            np.testing.assert_allclose(near, there, rtol=1e-9, atol=1e-10)


def test_an_equation_that_its_own_series_solves():
    """exp and log undo each other, coefficient by coefficient; so do a product with an inverse and a solve."""
    random = np.random.default_rng(0)
    x, direction = random.uniform(0.5, 1.5, (3, 3)) + 2.0 * np.eye(3), random.uniform(-1.0, 1.0, (3, 3))
    for f in (lambda x: np.exp(np.log(x)), lambda x: np.linalg.inv(np.linalg.inv(x)), lambda x: np.sqrt(x) ** 2,
              lambda x: x @ np.linalg.solve(x, x), lambda x: np.cbrt(x) ** 3, lambda x: np.tan(np.arctan(x)),
              lambda x: np.linalg.cholesky(x @ x.T) @ np.linalg.cholesky(x @ x.T).T @ np.linalg.inv(x.T)):
        found = codipy.taylor(f, x, direction, 5)
        for k, c in enumerate(found):
            np.testing.assert_allclose(c, x if k == 0 else direction if k == 1 else 0.0 * x, atol=1e-11)


def test_a_high_order():
    # 1 / (1 - t): all coefficients are 1.
    found = codipy.taylor(lambda x: np.exp(-np.log(1.0 - x)), np.zeros(2), np.array([1.0, 0.5]), 60)
    np.testing.assert_allclose(found, [[1.0, 0.5**k] for k in range(61)], rtol=1e-10)
    assert codipy.taylor(lambda x: x**3, 2.0, 1.0, 0) == [8.0]


@dataclass
class Point:
    a: float
    b: np.ndarray


def test_trees_keywords_and_second_results():
    def f(p, factor, *, power):
        q = p.b ** power["n"] * factor
        return {"q": q, "sum": np.sum(q) * p.a, "fixed": 3}, {"q": q * 2.0}

    found, aux = codipy.taylor(f, Point(2.0, np.array([1.0, 3.0])), Point(1.0, np.array([1.0, 0.0])), 3,
                               args=(5.0,), kwargs={"power": {"n": 2}}, has_aux=True)
    assert [c["q"].tolist() for c in found] == [[5.0, 45.0], [10.0, 0.0], [5.0, 0.0], [0.0, 0.0]]
    assert [c["sum"] for c in found] == [100.0, 50.0 + 20.0, 10.0 + 10.0, 5.0]
    assert [c["fixed"] for c in found] == [3, 0.0, 0.0, 0.0]
    assert aux["q"].tolist() == [10.0, 90.0]


def test_float32():
    x = np.array([0.5, 1.5], np.float32)
    found = codipy.taylor(lambda x: np.sin(x) * x, x, np.ones(2), 3)
    assert [c.dtype for c in found] == [np.float32] * 4
    assert found[0].tolist() == (np.sin(x) * x).tolist()
    exact = codipy.taylor(lambda x: np.sin(x) * x, x.astype(float), np.ones(2), 3)
    np.testing.assert_allclose(found, exact, rtol=1e-6)


def test_series_of_gradients_and_of_solutions():
    x, d = np.array([0.4, 1.2]), np.array([1.0, 0.5])

    def f(x):
        return np.sum(np.sin(x) * x[::-1] ** 2)

    found = codipy.taylor(codipy.grad(f), x, d, 2)
    np.testing.assert_allclose(found[1], codipy.hvp(f, (x,), (d,))[0], rtol=1e-13)
    along = codipy.taylor(f, x, d, 3)
    np.testing.assert_allclose([np.dot(c, d) for c in found], [k * c for k, c in enumerate(along)][1:], rtol=1e-12)

    @codipy.primitive
    def wave(x):
        return np.sin(x)

    wave.jvp(lambda tangents, out, x: np.cos(x) * tangents[0])
    own = codipy.taylor(lambda x: wave(x) * 2.0, x, d, 4)
    np.testing.assert_allclose(own, codipy.taylor(lambda x: np.sin(x) * 2.0, x, d, 4), rtol=1e-13)


@pytest.mark.parametrize("solve", ["dense", "gmres"])
def test_solutions_of_equations_to_any_order(solve):
    """Each order takes a step of its own in codipy.implicit; also where the series is that of a gradient."""
    root = codipy.implicit.root(lambda u, p: u**2 - p, np.sqrt, solve=solve)
    x, d = np.array([0.4, 1.2]), np.array([1.0, 0.5])
    np.testing.assert_allclose(codipy.taylor(root, x, d, 6), codipy.taylor(np.sqrt, x, d, 6), rtol=1e-10)
    found = codipy.taylor(codipy.grad(lambda x: np.sum(root(x))), x, d, 3)
    np.testing.assert_allclose(found, codipy.taylor(lambda x: 0.5 / np.sqrt(x), x, d, 3), rtol=1e-10)
    np.testing.assert_allclose(codipy.hessian(lambda x: np.sum(root(x)))(x), np.diag(-0.25 * x**-1.5), rtol=1e-10)


def test_inside_of_another_recording():
    def constant(x):
        return x * codipy.taylor(lambda t: np.exp(2.0 * t), 0.0, 1.0, 2)[2]

    assert codipy.grad(constant)(3.0) == 2.0
    # Point, closure and direction may be variables; the closed forms are those of the coefficients as polynomials.
    assert codipy.grad(lambda x: codipy.taylor(lambda t: t**4, x, 1.0, 3)[3])(1.5) == pytest.approx(4.0)
    assert codipy.grad(lambda x: codipy.taylor(lambda t: t**3 * x, 2.0, 1.0, 2)[2])(5.0) == pytest.approx(6.0)
    assert codipy.grad(lambda x: codipy.taylor(lambda t: t**3, 2.0, x, 2)[2])(5.0) == pytest.approx(60.0)
    assert codipy.grad(codipy.grad(lambda x: codipy.taylor(lambda t: t**4, x, 1.0, 2)[2]))(1.5) == pytest.approx(12.0)


def test_arrays_inside_of_another_recording():
    """Derivatives of coefficients, against differences of the coefficients that series give."""
    def f(x):
        return {"a": np.sin(x) * x[::-1], "b": (x @ x) ** 2}, "aux"

    def weighted(x):
        found, aux = codipy.taylor(f, x, direction, 3, has_aux=True)
        assert aux == "aux"
        return sum(w * (np.sum(c["a"]) + c["b"]) for w, c in zip((1.0, -2.0, 0.5, 3.0), found))

    x, direction, step = np.array([0.3, -0.7, 1.1]), np.array([1.0, 2.0, -0.5]), 1e-5
    differences = [(weighted(x + step * e) - weighted(x - step * e)) / (2 * step) for e in np.eye(3)]
    for strategy in STRATEGIES:
        assert codipy.grad(weighted, strategy=strategy)(x) == pytest.approx(np.array(differences), rel=1e-8)
    assert codipy.jvp(weighted, (x,), (direction,))[1] == pytest.approx(np.dot(differences, direction), rel=1e-8)


def test_what_is_refused():
    with pytest.raises(TypeError, match="taylor"):
        codipy.taylor(3.0, 1.0, 1.0, 2)
    with pytest.raises(TypeError, match="whole number"):
        codipy.taylor(np.exp, 1.0, 1.0, 2.5)
    with pytest.raises(ValueError, match="0 or more"):
        codipy.taylor(np.exp, 1.0, 1.0, -1)
    with pytest.raises((TypeError, ValueError), match="direction"):
        codipy.taylor(np.exp, np.ones(2), np.ones(3), 2)

    @codipy.primitive
    def compiled(x):
        return x * 2.0

    with pytest.raises(UndifferentiableError, match="compiled"):
        codipy.taylor(compiled, 1.0, 1.0, 2)
    compiled.jvp(lambda tangents, out, x: struct.unpack("d", struct.pack("d", tangents[0]))[0])
    with pytest.raises(UndifferentiableError, match="compiled has no power series"):
        codipy.taylor(compiled, 1.0, 1.0, 2)
