# SPDX-License-Identifier: Apache-2.0
"""Sparse Jacobians and Hessians: against complex steps of the plain functions, under every strategy."""
import numpy as np
import pytest

import codipy
from tests.strategies import VARIANTS, each_strategy
from tests.tools.sparse_problems import (
    SUMS,
    SYSTEMS,
    X,
    broyden_banded,
    broyden_squares,
    by_complex_steps,
    chained_loop,
    chained_rosenbrock,
    evolving,
    wide,
    wood,
)

pytest.importorskip("scipy.sparse")


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("f", SYSTEMS)
def test_compressed_is_dense(f, mode):
    expected = by_complex_steps(f, X)
    pattern = codipy.sparsity(f, X)
    assert not (pattern.toarray() < (expected != 0)).any()
    for given in (pattern, True, pattern.tocsr(), pattern.toarray()):
        driver = codipy.jacobian(f, sparsity=given, mode=mode)
        for x in (X, X[::-1] ** 2 + 0.1):
            found = driver(x)
            assert found.format == "csr" and found.shape == expected.shape and found.nnz == pattern.nnz
            assert np.allclose(found.toarray(), by_complex_steps(f, x), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("strategy", "granularity"), VARIANTS)
@pytest.mark.parametrize("width", [1, 2, 3, None])
def test_every_strategy_and_width(strategy, granularity, width):
    options = {"strategy": strategy, "granularity": granularity, "width": width}
    for f in (broyden_banded, wide):
        driver = codipy.jacobian(f, sparsity=codipy.sparsity(f, X), **options)
        assert np.allclose(driver(X).toarray(), by_complex_steps(f, X), rtol=1e-13, atol=1e-13)


def dense_hessian(f, x):
    """Differences of complex steps."""
    h = 1e-5
    gradient = lambda x: by_complex_steps(lambda z: [f(z)], x)[0]      # noqa: E731
    return np.array([(gradient(x + h * unit) - gradient(x - h * unit)) / (2.0 * h) for unit in np.eye(len(x))])


EXACT = {chained_rosenbrock, chained_loop, broyden_squares, wood, evolving}


@pytest.mark.parametrize("f", SUMS)
def test_patterns_of_hessians(f):
    expected = np.abs(dense_hessian(f, X)) > 1e-6
    pattern = codipy.hessian_sparsity(f, X)
    assert pattern.symmetric and not (expected & ~pattern.toarray()).any()
    if f in EXACT:
        assert np.array_equal(codipy.hessian(f)(X) != 0.0, pattern.toarray())


@pytest.mark.parametrize("f", SUMS)
def test_compressed_hessians_are_dense_ones(f):
    pattern = codipy.hessian_sparsity(f, X)
    for given in (pattern, True, pattern.tocsr(), pattern.colouring()):
        driver = codipy.hessian(f, sparsity=given)
        for x in (X, X[::-1] ** 2 + 0.1):
            found, expected = driver(x), codipy.hessian(f)(x)
            assert found.format == "csr" and found.nnz == pattern.nnz
            assert np.allclose(found.toarray(), expected, rtol=1e-12, atol=1e-11)
            assert np.allclose(found.toarray(), dense_hessian(f, x), rtol=1e-5, atol=1e-4)
    assert driver.colouring.by == "star"


@each_strategy
def test_sparse_hessians_of_every_form_are_dense_ones(strategy):
    def f(x, numbers, k):
        total = np.sum(np.exp(0.1 * x[1:] * x[:-1])) * k
        return total + numbers[0] ** 2 * x[0, 0] + numbers[1] ** 3, {"sum": np.sum(x)}

    args = np.linspace(0.5, 1.5, 12).reshape(3, 4), [2.0, 3.0], 0.5
    options = {"argnums": (0, 1), "has_aux": True, "strategy": strategy}
    found, aux = codipy.hessian(f, sparsity=True, **options)(*args)
    expected, said = codipy.hessian(f, **options)(*args)
    assert aux == said == {"sum": np.sum(args[0])}
    array, numbers = expected
    blocks = [[array[0].reshape(12, 12), np.stack(array[1], axis=-1).reshape(12, 2)],
              [np.stack([row[0].reshape(12) for row in numbers]), np.array([row[1] for row in numbers])]]
    for row, others in zip(found, blocks):
        for block, other in zip(row, others):
            assert block.format == "csr" and block.shape == other.shape
            np.testing.assert_allclose(block.toarray(), other, rtol=1e-13, atol=1e-13)


def test_sparse_hessians_record_the_function_and_not_its_gradient(monkeypatch):
    driver = codipy.hessian(chained_rosenbrock, sparsity=codipy.hessian_sparsity(chained_rosenbrock, X))
    monkeypatch.setattr(driver._jacobian, "at", None)
    assert np.array_equal(driver(X).toarray(), codipy.hessian(chained_rosenbrock)(X))


def test_hessians_of_closed_form():
    from scipy.optimize import rosen_hess

    found = codipy.hessian(chained_rosenbrock, sparsity=True)
    assert np.allclose(found(X).toarray(), rosen_hess(X), rtol=1e-13)
    assert found.colouring.count == 3


# ---- Structure -------------------------------------------------------------------------------------------------------


def test_values_do_not_matter():
    f = lambda x: np.array([0.0 * x[0] + x[1], x[2] * x[3], np.floor(x[0]) + 1.0])      # noqa: E731
    expected = [[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]]
    assert codipy.sparsity(f, np.zeros(4)).toarray().astype(int).tolist() == expected
    curved = codipy.hessian_sparsity(lambda x: x[0] * x[1] + 0.0 * x[2] ** 2, np.zeros(3))
    assert curved.toarray().astype(int).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_second_derivatives_follow_the_table():
    cases = {
        "x[0] + 3.0 * x[1] - x[2] / 2.0": "", "x[0] * x[1]": "01", "x[0] / x[1]": "01 11", "x[0] * x[0]": "00",
        "x[0] ** 2 + x[1]": "00", "np.sin(x[0] + x[1])": "00 01 11", "abs(x[0])": "", "np.maximum(x[0], x[1])": "",
        "(x[0] + x[1]) * x[2]": "02 12", "x[0] * x[1] * x[2]": "01 02 12", "np.exp(x[0]) * x[1]": "00 01",
        "np.sum(x[:2] * x[1:])": "01 12", "np.sum(np.cumsum(x) * np.ones(3))": "", "np.hypot(x[0], x[1])": "00 01 11",
        "x[0] * codipy.value(x[1])": "", "(x * x)[0] + np.sum(x[1:])": "00", "np.dot(x, x[::-1])": "02 11 01 00 12 22",
    }  # fmt: skip
    for text, pairs in cases.items():
        f = eval(f"lambda x: {text}", {"np": np, "codipy": codipy})
        found = codipy.hessian_sparsity(f, np.array([0.5, 1.5, 2.5]))
        expected = {(int(a), int(b)) for a, b in pairs.split()} | {(int(b), int(a)) for a, b in pairs.split()}
        assert set(map(tuple, np.argwhere(found.toarray()).tolist())) == expected, text


def test_what_is_not_reached_by_the_result_is_not_curved():
    def f(x):
        _ = np.sum(np.exp(x))
        return x[0] * x[1]

    assert codipy.hessian_sparsity(f, np.ones(3)).nnz == 2


def test_statements_made_by_hand_depend_on_their_arguments():
    def f(x):
        return [codipy.active_tape().push_statement(1.0, [x[0], x[2]], [1.0, 0.0]), x[1] * 2.0]

    assert codipy.sparsity(f, [1.0, 2.0, 3.0]).toarray().astype(int).tolist() == [[1, 0, 1], [0, 1, 0]]
    curved = codipy.hessian_sparsity(lambda x: f(x)[0] + x[1], [1.0, 2.0, 3.0])
    assert curved.toarray().astype(int).tolist() == [[1, 0, 1], [0, 0, 0], [1, 0, 1]]


def test_primitives_of_the_user_are_dense_unless_they_say_more():
    from codipy.active.array import call
    from codipy.numpy.links import Same

    options = {"vjp": lambda g, out, args, kwargs, argnums: [3.0 * args[0] ** 2 * g],
               "jvp": lambda tangents, out, args, kwargs: 3.0 * args[0] ** 2 * tangents[0]}
    cube = codipy.Primitive("cube", lambda x: x**3, **options)
    assert codipy.sparsity(lambda x: call(cube, (x,)), np.ones(3)).nnz == 9
    said = codipy.Primitive("cube", lambda x: x**3, pattern=lambda args, kwargs, argnums, shapes: [Same()], **options)
    assert np.array_equal(codipy.sparsity(lambda x: call(said, (x,)), np.ones(3)).toarray(), np.eye(3))
    assert np.array_equal(codipy.hessian_sparsity(lambda x: np.sum(call(said, (x,))), np.ones(3)).toarray(), np.eye(3))
    found = codipy.jacobian(lambda x: call(said, (x,)), sparsity=True)(np.ones(3))
    assert np.allclose(found.toarray(), 3.0 * np.eye(3))


def test_inputs_that_are_overwritten_and_outputs_that_are_inputs():
    def f(x):
        y = x[1:] * 2.0
        x[0] = 5.0
        x[1:] *= x[:-1]
        return {"x": x, "y": y, "none": np.zeros(2), "same": y}

    x = np.array([1.0, 2.0, 3.0])
    assert codipy.sparsity(f, x).toarray().astype(int).tolist() == [
        [0, 0, 0], [0, 1, 0], [0, 1, 1], [0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1]]
    dense, sparse = codipy.jacobian(f)(x), codipy.jacobian(f, sparsity=True)(x)
    for mode in ("forward", "reverse"):
        sparse = codipy.jacobian(f, sparsity=True, mode=mode)(x)
        assert all(np.array_equal(sparse[name].toarray(), dense[name]) for name in dense)


# ---- Patterns that lack elements -------------------------------------------------------------------------------------


def test_second_derivatives_of_solutions_are_in_the_pattern():
    optimize = pytest.importorskip("scipy.optimize")
    several = codipy.implicit.root(lambda u, p: u**3 + p * u - 1.0, lambda p: np.array([
        optimize.brentq(lambda u, q=q: u**3 + q * u - 1.0, 0.0, 5.0, xtol=1e-15) for q in p]))

    def quotient(x):
        return optimize.brentq(lambda u: u * x[0] - x[1], 0.0, 5.0, xtol=1e-15)

    x = np.array([0.71, 1.13])
    assert codipy.hessian_sparsity(quotient, x).toarray().tolist() == [[True, True], [True, False]]
    for f in (quotient, lambda p: np.sum(several(p))):
        dense, sparse = codipy.hessian(f)(x), codipy.hessian(f, sparsity=True)(x)
        assert np.any(dense)
        np.testing.assert_allclose(sparse.toarray(), dense, rtol=1e-9, atol=1e-12)
