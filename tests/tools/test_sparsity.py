# SPDX-License-Identifier: Apache-2.0
"""Sparse Jacobians and Hessians: against complex steps of the plain functions, at other points, in every form."""

import importlib
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import codipy
from codipy.errors import UndifferentiableError
from tests.strategies import VARIANTS

pytest.importorskip("scipy.sparse")

# ---- Problems of More, Garbow and Hillstrom, "Testing unconstrained optimization software", ACM TOMS 7 (1981) --------


def broyden_tridiagonal(x):
    y = (3.0 - 2.0 * x) * x + 1.0
    y[1:] -= x[:-1]
    y[:-1] -= 2.0 * x[1:]
    return y


def broyden_banded(x):
    n, y = len(x), x * (2.0 + 5.0 * x * x) + 1.0
    for i in range(n):
        for j in range(max(0, i - 5), min(n, i + 2)):
            if j != i:
                y[i] = y[i] - x[j] * (1.0 + x[j])
    return y


def discrete_boundary_value(x):
    n = len(x)
    h = 1.0 / (n + 1)
    t = h * np.arange(1, n + 1)
    around = np.concatenate([np.zeros(1), x, np.zeros(1)])
    return 2.0 * x - around[:-2] - around[2:] + 0.5 * h * h * (x + t + 1.0) ** 3


def extended_rosenbrock(x):
    y = np.zeros_like(x)
    y[::2] = 10.0 * (x[1::2] - x[::2] ** 2)
    y[1::2] = 1.0 - x[::2]
    return y


def extended_powell(x):
    a, b, c, d = x.reshape(-1, 4).T
    return np.stack([a + 10.0 * b, 5.0**0.5 * (c - d), (b - 2.0 * c) ** 2, 10.0**0.5 * (a - d) ** 2], axis=1).ravel()


def loops(x):
    return [x[0] * x[1]] + [np.sin(x[i]) * x[i - 1] + x[i + 1] ** 2 for i in range(1, len(x) - 1)] + [np.exp(x[-1])]


def wide(x):
    return np.array([np.sum(x[:4] ** 2), np.sum(x[4:])])


SYSTEMS = [broyden_tridiagonal, broyden_banded, discrete_boundary_value, extended_rosenbrock, extended_powell, loops,
           wide]


def by_complex_steps(f, x):
    step = 1e-40
    return np.array([np.imag(np.asarray(f(x + 1j * step * unit))) / step for unit in np.eye(len(x))]).T


def chained_rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def chained_loop(x):
    total = 0.0
    for i in range(len(x) - 1):
        total = total + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def broyden_squares(x):
    return np.sum(broyden_tridiagonal(x) ** 2)


def arrow(x):
    return x[0] ** 2 * np.sum(x[1:]) + np.sum(np.cos(x))


def wood(x):
    a, b, c, d = x.reshape(-1, 4).T
    return np.sum(100.0 * (a * a - b) ** 2 + (a - 1.0) ** 2 + (c - 1.0) ** 2 + 90.0 * (c * c - d) ** 2
                  + 10.1 * ((b - 1.0) ** 2 + (d - 1.0) ** 2) + 19.8 * (b - 1.0) * (d - 1.0))


def evolving(x):
    """In place, step by step: identifiers of blocks are set again."""
    u = x.copy()
    for _ in range(3):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
    return np.sum(u * u)


SUMS = [chained_rosenbrock, chained_loop, broyden_squares, arrow, wood, evolving]
X = np.linspace(-0.7, 1.3, 16)


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


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_pattern_that_a_rule_says_wrongly_is_found_out(mode):
    from codipy.active.array import call
    from codipy.numpy.links import Same

    turned = codipy.Primitive(
        "turned", lambda x: x[::-1] * 1.0, lambda g, out, args, kwargs, argnums: [g[::-1]],
        lambda tangents, out, args, kwargs: tangents[0][::-1], pattern=lambda args, kwargs, argnums, shapes: [Same()])
    with pytest.raises(ValueError, match="leaves out"):
        codipy.jacobian(lambda x: call(turned, (x,)) * x, sparsity=True, mode=mode)(np.linspace(0.5, 1.5, 4))


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


def branching(x):
    y = x * x
    if x[0] > 1.0:
        y[3] = y[3] + 1e-3 * x[0]
    return y


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_what_the_pattern_lacks_is_an_error(mode):
    low, high = np.array([0.5, 2.0, 3.0, 4.0]), np.array([1.5, 2.0, 3.0, 4.0])
    pattern = codipy.sparsity(branching, low)
    driver = codipy.jacobian(branching, sparsity=pattern, mode=mode)
    assert np.array_equal(driver(low).toarray(), np.diag(2.0 * low))
    with pytest.raises(ValueError, match=r"lacks .* \(3, 0\).*join the patterns"):
        driver(high)
    both = pattern | codipy.sparsity(branching, high)
    joined = codipy.jacobian(branching, sparsity=both, mode=mode)
    for x in (low, high):
        assert np.array_equal(joined(x).toarray(), codipy.jacobian(branching)(x))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_pattern_that_was_found_grows(mode):
    low, high = np.array([0.5, 2.0, 3.0, 4.0]), np.array([1.5, 2.0, 3.0, 4.0])
    driver = codipy.jacobian(branching, sparsity=True, mode=mode)
    assert driver.colouring is None
    for x, count in ((low, 4), (high, 5), (low, 5)):
        found = driver(x)
        assert np.array_equal(found.toarray(), codipy.jacobian(branching)(x)) and found.nnz == count
        assert driver.colouring.pattern.nnz == count
    assert driver(np.ones(5)).shape == (5, 5)      # another size: another pattern


def test_what_a_hessian_lacks():
    def f(x):
        return np.sum(x**3) + (x[0] * x[1] if x[0] > 1.0 else 0.0)

    low, high = np.array([0.5, 2.0, 3.0]), np.array([1.5, 2.0, 3.0])
    driver = codipy.hessian(f, sparsity=codipy.hessian_sparsity(f, low))
    assert np.allclose(driver(low).toarray(), np.diag(6.0 * low))
    with pytest.raises(ValueError, match="lacks"):
        driver(high)
    grows = codipy.hessian(f, sparsity=True)
    for x in (low, high):
        assert np.allclose(grows(x).toarray(), codipy.hessian(f)(x))


def beside_large(x):
    y = np.stack([1e12 * x[0] + 1e-3 * x[2], x[0] * x[3]])
    if x[3] > 0:
        y[0] = y[0] + x[1]
    return y


def beside_large_in_its_row_alone(x):
    r = 1e12 * (x[0] - 1.0)
    return np.stack([r + (x[1] - 2.0) if x[3] > 0 else r, x[2], x[3]])


def far_below(x):
    return np.stack([1e-200 * x[0] + (1e-212 * x[1] if x[3] > 0 else 0.0), x[3]])


def beside_infinite(x):
    return np.stack([np.sqrt(x[0] - 1.0) + (x[1] if x[3] > 0 else 0.0) + 3.0 * x[2], x[3]])


LOW, HIGH = np.array([1.0, 1.0, 1.0, -1.0]), np.ones(4)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("f", [beside_large, beside_large_in_its_row_alone, far_below, beside_infinite])
def test_what_is_large_hides_nothing_that_lacks(f, mode):
    with pytest.raises(ValueError, match="lacks"):
        codipy.jacobian(f, sparsity=codipy.sparsity(f, LOW), mode=mode)(HIGH)
    driver = codipy.jacobian(f, sparsity=True, mode=mode)
    driver(LOW)
    assert np.array_equal(driver(HIGH).toarray(), codipy.jacobian(f)(HIGH))


def test_a_large_diagonal_hides_nothing_that_a_hessian_lacks():
    def f(x):
        total = 1e13 * (x[0] ** 2 + x[1] ** 2 + x[2] ** 2) + 1e-3 * x[2] * x[3]
        return total + x[0] * x[1] if x[3] > 0 else total

    with pytest.raises(ValueError, match="lacks"):
        codipy.hessian(f, sparsity=codipy.hessian_sparsity(f, LOW))(HIGH)
    driver = codipy.hessian(f, sparsity=True)
    driver(LOW)
    assert np.array_equal(driver(HIGH).toarray(), codipy.hessian(f)(HIGH))


def smear():
    """Each number and twice the one before; its pattern says that it is each number only."""
    from codipy.active.array import call
    from codipy.numpy.links import Same

    rule = codipy.Primitive(
        "smear", lambda a: a + 2.0 * np.roll(a, 1), lambda g, out, args, kwargs, argnums: [g + 2.0 * np.roll(g, -1)],
        lambda tangents, out, args, kwargs: tangents[0] + 2.0 * np.roll(tangents[0], 1), keep_args=False,
        keep_out=False, pattern=lambda args, kwargs, argnums, shapes: [Same()])
    return lambda x: call(rule, (x,))


def test_rows_that_are_rounded_or_infinite_hide_no_others():
    smeared = smear()

    def rounded(x):
        a = 1e20 * (x[3] / 3.0 + x[4] / 7.0 + x[5] / 11.0)
        return np.concatenate([smeared(x[:3] * 1.0),
                               np.stack([a * x[4], a * x[5] * x[3] - a * x[4] * (1.0 + 1e-9), a * x[3] - a * x[4]])])

    def infinite(x):
        return np.concatenate([smeared(x[:3] * 1.0), np.sqrt(x[3:4] - 1.0) + smeared(x[:3] * 1.0)[:1]])

    def all_infinite(x):
        return smeared(np.sqrt(x - 1.0))

    for mode in ("forward", "reverse"):
        for f, size in ((rounded, 6), (infinite, 4), (all_infinite, 3)):
            with pytest.raises(ValueError, match="leaves out"):
                codipy.jacobian(f, sparsity=True, mode=mode)(np.ones(size))


def test_many_rows_that_are_rounded_hide_no_other():
    smeared = smear()

    def f(x):
        large = np.diff(1e18 * x[3:] / 3.0)
        return np.concatenate([smeared(x[:3] * 1.0), large - 1e18 * (x[4:] / 3.0 - x[3:-1] / 3.0)])

    x = np.linspace(0.1, 0.9, 300)
    with pytest.raises(ValueError, match="leaves out"):
        codipy.jacobian(f, sparsity=True)(x)
    plain = lambda x: f(np.concatenate([np.zeros(3), x]))[3:]      # noqa: E731
    assert np.array_equal(codipy.jacobian(plain, sparsity=True)(x).toarray(), codipy.jacobian(plain)(x))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_what_has_grown_is_checked_again(mode):
    smeared = smear()

    def f(x):
        return smeared(x * 1.0) + 0.5 * x[0] if x[0] > 0 else x * 1.0

    driver = codipy.jacobian(f, sparsity=True, mode=mode)
    driver(-np.ones(4))
    with pytest.raises(ValueError, match="leaves out"):
        driver(np.ones(4))


def test_symmetric_patterns_do_not_make_values_symmetric():
    def f(x):
        return np.stack([np.sqrt(x[0]) + 2.0 * x[1] + 3.0 * x[2], 5.0 * x[1] + 6.0 * x[0], 7.0 * x[2] + 8.0 * x[0],
                         x[3]])

    pattern = codipy.Sparsity(codipy.sparsity(f, HIGH), symmetric=True)
    for mode in ("auto", "forward", "reverse"):
        for x in (HIGH, np.array([0.0, 1.0, 1.0, 1.0])):
            found = codipy.jacobian(f, sparsity=pattern, mode=mode)(x)
            assert np.array_equal(found.toarray(), codipy.jacobian(f)(x))
    with pytest.raises(ValueError, match="a Jacobian takes"):
        codipy.jacobian(f, sparsity=pattern.colouring("star"))
    with pytest.raises(ValueError, match="a Hessian takes a star colouring.*of the columns"):
        codipy.hessian(lambda x: np.sum(x * x), sparsity=pattern.colouring("columns"))


@pytest.mark.parametrize("driver", [codipy.jacobian, codipy.hessian])
@pytest.mark.parametrize(("given", "kind"), [("x", "str"), (3, "int"), ({}, "dict")])
def test_what_is_no_pattern_is_named(driver, given, kind):
    with pytest.raises(TypeError, match=f"sparsity= takes .* got {kind}"):
        driver(lambda x: x, sparsity=given)


def test_second_derivatives_that_are_not_symmetric_are_named():
    from codipy.active.array import call
    from codipy.numpy.links import Same

    slope = np.array([[1.0, 2.0, 3.0], [6.0, 5.0, 0.0], [8.0, 0.0, 7.0]])
    wrong = codipy.Primitive("wrong", lambda x: x * x, lambda g, out, args, kwargs, argnums: [g * (slope @ args[0])],
                             lambda tangents, out, args, kwargs: 2.0 * args[0] * tangents[0],
                             pattern=lambda args, kwargs, argnums, shapes: [Same()])
    with pytest.raises(ValueError, match="not symmetric"):
        codipy.hessian(lambda x: np.sum(call(wrong, (x,))), sparsity=slope)(np.ones(3))


def test_a_check_is_seldom_undecided():
    """Ordinary problems are not read again at each call."""
    module = importlib.import_module("codipy.tools.sparsity")

    def heat(u):
        for _ in range(300):
            u = u + 0.2 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) - 0.01 * u * u
        return u

    found, times = module.jacobian_pattern, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "jacobian_pattern", lambda *args: times.append(args) or found(*args))
        for f in (*SYSTEMS, heat):
            driver = codipy.jacobian(f, sparsity=True)
            for x in (X, X[::-1] ** 2 + 0.1, X * 100.0):
                driver(x if f is not heat else x / 100.0)
    assert len(times) == len(SYSTEMS) + 1


def test_rounding_is_no_missing_element():
    def f(x):
        return (x[1:] + 1e12 * x[:-1]) - 1e12 * x[:-1]

    x = np.linspace(0.1, 0.9, 5)
    driver = codipy.jacobian(f, sparsity=codipy.sparsity(f, x))
    assert np.array_equal(driver(x).toarray(), codipy.jacobian(f)(x))


def test_infinite_derivatives():
    f = lambda x: np.sqrt(x) * 2.0      # noqa: E731
    x = np.array([0.0, 1.0, 4.0])
    expected = codipy.jacobian(f)(x)
    for mode in ("forward", "reverse"):
        found = codipy.jacobian(f, sparsity=codipy.sparsity(f, x), mode=mode)(x)
        assert np.array_equal(found.diagonal(), np.diag(expected)) and found.nnz == 3


def test_patterns_of_another_shape_are_refused():
    driver = codipy.jacobian(lambda x: x * x, sparsity=np.eye(3))
    with pytest.raises(ValueError, match="3 x 3, but the result has 4 numbers and the argument 4"):
        driver(np.ones(4))
    with pytest.raises(ValueError, match="choose another strategy"):
        codipy.jacobian(lambda x: x, sparsity=True, mode="forward", strategy="forward")
    with pytest.raises(ValueError, match="contradict"):
        codipy.jacobian(lambda x: x, sparsity=codipy.Sparsity(np.eye(3)).colouring("columns"), mode="reverse")
    with pytest.raises(ValueError, match="symmetric"):
        codipy.hessian(lambda x: x[0], sparsity=np.triu(np.ones((3, 3))))


# ---- Forms -----------------------------------------------------------------------------------------------------------


@dataclass
class State:
    u: np.ndarray
    k: float


def of_state(state, scale, other):
    return {"sum": state.u * state.k, "rest": [scale * state.u[0], state.k], "last": np.sum(other) + scale}


def test_forms_of_arguments_and_results():
    args = State(np.array([1.0, 2.0, 3.0]), 2.0), 4.0, [1.0, 2.0]
    for argnums in (0, 1, 2, (0, 2), (2, 0, 1)):
        dense = codipy.jacobian(of_state, argnums)(*args)
        sparse = codipy.jacobian(of_state, argnums, sparsity=True)(*args)
        assert list(sparse) == ["sum", "rest", "last"]
        several = isinstance(argnums, tuple)
        for k, number in enumerate(argnums if several else (argnums,)):
            of = lambda tree, k=k, several=several: tree[k] if several else tree      # noqa: E731
            if number == 0:
                assert isinstance(of(sparse["sum"]), State)
                assert np.array_equal(of(sparse["sum"]).u.toarray(), of(dense["sum"]).u)
                assert np.array_equal(of(sparse["sum"]).k.toarray().ravel(), of(dense["sum"]).k)
                assert np.array_equal(of(sparse["rest"]).u.toarray(), [of(d).u for d in dense["rest"]])
                assert np.array_equal(of(sparse["last"]).u.toarray().ravel(), of(dense["last"]).u)
            elif number == 1:
                assert of(sparse["last"]).toarray().tolist() == [[of(dense["last"])]]
                assert of(sparse["rest"]).toarray().ravel().tolist() == [of(d) for d in dense["rest"]]
            else:
                assert of(sparse["last"]).toarray().tolist() == [of(dense["last"])]
                assert of(sparse["sum"]).toarray().tolist() == [[0.0, 0.0]] * 3


def test_names_keywords_and_second_results():
    def f(a, b, *, c):
        return a * b[:2] * c, {"a": a}

    args, c = (np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])), np.array([1.0, 2.0])
    found, aux = codipy.jacobian(f, argnames=("b", "c"), has_aux=True, sparsity=True)(*args, c=c)
    assert [x.toarray().tolist() for x in found] == [[[1.0, 0.0, 0.0], [0.0, 4.0, 0.0]], [[3.0, 0.0], [0.0, 8.0]]]
    assert aux["a"].tolist() == [1.0, 2.0]
    pattern = codipy.sparsity(f, *args, kwargs={"c": c}, argnames="c", has_aux=True)
    assert np.array_equal(pattern.toarray(), np.eye(2))
    g = lambda x: (np.sum(x**3), "aux")      # noqa: E731
    assert np.array_equal(codipy.hessian_sparsity(g, args[0], has_aux=True).toarray(), np.eye(2))
    found, aux = codipy.hessian(g, has_aux=True, sparsity=True)(args[0])
    assert np.allclose(found.toarray(), np.diag(6.0 * args[0])) and aux == "aux"


def test_single_precision():
    x = np.linspace(0.5, 1.5, 6, dtype=np.float32)
    found = codipy.jacobian(broyden_tridiagonal, sparsity=True)(x)
    assert found.dtype == np.float32
    assert np.array_equal(found.toarray(), codipy.jacobian(broyden_tridiagonal)(x))


def test_numbers_and_nothing():
    assert codipy.jacobian(lambda x: x * x, sparsity=True)(3.0).toarray().tolist() == [[6.0]]
    assert codipy.sparsity(lambda x: 5.0, np.ones(3)).nnz == 0
    assert codipy.jacobian(lambda x: np.ones(2), sparsity=True)(np.ones(3)).toarray().tolist() == [[0.0] * 3] * 2
    assert codipy.sparsity(lambda x: x, np.ones(0)).shape == (0, 0)
    assert codipy.jacobian(lambda x: x * 2.0, sparsity=True)(np.ones(0)).shape == (0, 0)
    assert codipy.hessian_sparsity(lambda x: 5.0, np.ones(3)).nnz == 0
    assert codipy.hessian(lambda x: np.sum(x), sparsity=True)(np.ones(3)).nnz == 0


def test_inside_of_another_recording():
    x = np.linspace(0.5, 1.5, 4)

    def outer(p):
        pattern = codipy.sparsity(lambda x: x * p, x)
        matrix = codipy.jacobian(lambda x: x[1:] * x[:-1], sparsity=True)(x)
        return p * pattern.nnz + matrix.nnz

    assert codipy.grad(outer)(2.0) == 4.0
    with pytest.raises(UndifferentiableError, match="leave out sparsity="):
        codipy.grad(lambda p: p * codipy.jacobian(lambda x: x * p, sparsity=True)(x).sum())(2.0)


def test_drivers_are_pickled():
    driver = codipy.jacobian(broyden_tridiagonal, sparsity=codipy.sparsity(broyden_tridiagonal, X))
    again = pickle.loads(pickle.dumps(driver))
    assert np.array_equal(again(X).toarray(), driver(X).toarray())
    second = codipy.hessian(chained_rosenbrock, sparsity=codipy.hessian_sparsity(chained_rosenbrock, X))
    assert np.array_equal(pickle.loads(pickle.dumps(second))(X).toarray(), second(X).toarray())


def test_results_do_not_share_memory_with_the_pattern():
    driver = codipy.jacobian(broyden_tridiagonal, sparsity=True)
    found = driver(X)
    found.data[:] = 0.0
    found.eliminate_zeros()
    assert driver(X).nnz == driver.colouring.pattern.nnz == 3 * len(X) - 2


def test_wrong_calls():
    with pytest.raises(TypeError, match=r"say sparsity\(f\)\(x\)|must be a function"):
        codipy.sparsity(3.0, X)
    with pytest.raises(TypeError, match="one real number"):
        codipy.hessian_sparsity(lambda x: x, X)
    with pytest.raises(TypeError, match="argnums"):
        codipy.sparsity(lambda x: x, X, argnums=1)


def test_numbers_that_are_computed_beside_arrays_that_are_set_again():
    def f(x):
        a = x[[5, 7, 8], [1, 0, 1]]
        x[::-1, ::3] += np.cos(x[:, 1:])
        y = np.sum(np.sin(a)) + np.sum(np.sin(x))
        return np.sum(y * y)

    x = np.linspace(0.3, 0.9, 18).reshape(9, 2)
    assert (codipy.hessian(f)(x) != 0.0).all() and codipy.hessian_sparsity(f, x).nnz == 18 * 18
