# SPDX-License-Identifier: Apache-2.0
"""`hessian`, `hvp` and `gradient_and_hvp`: forms, names, second results, pickles."""

import pickle

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der, rosen_hess, rosen_hess_prod

import codipy
from tests.strategies import each_strategy

X = np.array([1.3, 0.7, 0.8, 1.9, 1.2])
V = np.array([1.0, -2.0, 0.5, 0.0, 3.0])


def energy(p, scale=1.0):
    return scale * p["a"] ** 2 * np.sum(p["b"] ** 3)


@each_strategy
def test_the_hessian_of_scipys_function(strategy):
    np.testing.assert_allclose(codipy.hessian(rosen, strategy=strategy)(X), rosen_hess(X), rtol=1e-12)
    found = codipy.gradient_and_hvp(rosen, (X,), (V,), strategy=strategy)
    np.testing.assert_allclose(found[0][0], rosen_der(X), rtol=1e-12)
    np.testing.assert_allclose(found[1][0], rosen_hess_prod(X, V), rtol=1e-12)


def test_forms():
    p = {"a": 2.0, "b": np.array([1.0, 3.0])}
    hessian = codipy.hessian(energy)(p)
    assert type(hessian["a"]["a"]) is float and hessian["a"]["a"] == 2.0 * 28.0
    assert hessian["a"]["b"].tolist() == [12.0, 108.0] == hessian["b"]["a"].tolist()
    assert hessian["b"]["b"].tolist() == [[24.0, 0.0], [0.0, 72.0]]
    by_both = codipy.hessian(energy, argnums=(0, 1))(p, 1.0)
    assert by_both[0]["a"][1] == 4.0 * 28.0 and by_both[1][1] == 0.0
    assert codipy.hessian(lambda x: x**3)(2.0) == 12.0


def numbers_of(tree):
    return [a for item in tree for a in numbers_of(item)] if isinstance(tree, list) else [float(tree)]


def form_of(tree, leaf=None):
    return [form_of(item, leaf) for item in tree] if isinstance(tree, list) else leaf


@pytest.mark.parametrize("x", [[], [1.3], X.tolist(), [1.3, np.float64(0.7), 2, 1.1], [1.3, [0.7, 0.8], 1.9, []]])
def test_lists_of_numbers(x):
    def f(x):
        x = [a for item in x for a in (item if isinstance(item, list) else [item])] + [0.5]
        return sum(a * a * b * b * b for a, b in zip(x, x[1:])) + 0.0

    point, before = [*numbers_of(x), 0.5], list(x)
    exact = np.diag([2 * b**3 for b in point[1:]])
    for k, (a, b) in enumerate(zip(point[:-2], point[1:-1])):
        exact[k + 1, k + 1] += 6 * a * a * b
        exact[k, k + 1] = exact[k + 1, k] = 6 * a * b * b
    hessian = codipy.hessian(f)(x)
    assert form_of(hessian) == form_of(x, form_of(x)) and x == before
    np.testing.assert_allclose(numbers_of(hessian), exact.ravel(), rtol=1e-13)
    numbers = iter(np.linspace(-1.0, 2.0, len(exact)).tolist())
    along = [[next(numbers) for _ in a] if isinstance(a, list) else next(numbers) for a in x]
    (gradient,), (product,) = codipy.gradient_and_hvp(f, (x,), (along,))
    assert form_of(gradient) == form_of(product) == form_of(x)
    np.testing.assert_allclose(numbers_of(product), exact @ numbers_of(along), rtol=1e-13, atol=1e-13)


def test_names():
    named = codipy.hessian(energy, argnames="scale")({"a": 2.0, "b": X}, scale=3.0)
    assert named == 0.0
    p, tangent = {"a": 2.0, "b": np.array([1.0, 3.0])}, {"a": 1.0, "b": np.zeros(2)}
    by_p, by_scale = codipy.hvp(energy, (p,), (tangent, 1.0), kwargs={"scale": 1.0}, argnames="scale")
    assert by_p["a"] == 2.0 * 28.0 + 4.0 * 28.0 and by_scale == 4.0 * 28.0
    np.testing.assert_allclose(by_p["b"], [12.0 + 12.0, 108.0 + 108.0])


def test_second_results():
    def f(x):
        return np.sum(x**3), {"squares": x * x, "name": "text"}

    hessian, aux = codipy.hessian(f, has_aux=True)(X)
    np.testing.assert_allclose(hessian, np.diag(6.0 * X))
    assert aux["name"] == "text" and aux["squares"].tolist() == (X * X).tolist()
    gradient, product, aux = codipy.gradient_and_hvp(f, (X,), (V,), has_aux=True)
    np.testing.assert_allclose(gradient[0], 3.0 * X * X)
    np.testing.assert_allclose(product[0], 6.0 * X * V)
    assert type(aux["squares"]) is np.ndarray
    product, aux = codipy.hvp(f, (X,), (V,), has_aux=True)
    assert aux["name"] == "text"


def test_what_is_refused():
    with pytest.raises(TypeError, match=r"hessian\(f\)\(x\)"):
        codipy.hessian(3.0)
    with pytest.raises(ValueError, match="strategy"):
        codipy.hessian(rosen, strategy="fast")
    with pytest.raises(ValueError, match="one for each"):
        codipy.hvp(rosen, (X,), (V, V))
    with pytest.raises(TypeError, match="must return one real number"):
        codipy.hessian(lambda x: x * x)(X)


def test_it_can_be_pickled():
    again = pickle.loads(pickle.dumps(codipy.hessian(rosen)))
    np.testing.assert_allclose(again(X), rosen_hess(X), rtol=1e-12)
    assert "Hessian" in repr(again) or "hessian" in repr(again)
