# SPDX-License-Identifier: Apache-2.0
"""A pattern that lacks an element, or is none, is found out; what is rounded or infinite hides nothing."""
import importlib

import numpy as np
import pytest

import codipy
from tests.tools.sparse_problems import SYSTEMS, X

pytest.importorskip("scipy.sparse")


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_pattern_that_a_rule_says_wrongly_is_found_out(mode):
    from codipy.active.array import call
    from codipy.numpy.links import Same

    turned = codipy.Primitive(
        "turned", lambda x: x[::-1] * 1.0, lambda g, out, args, kwargs, argnums: [g[::-1]],
        lambda tangents, out, args, kwargs: tangents[0][::-1], pattern=lambda args, kwargs, argnums, shapes: [Same()])
    with pytest.raises(ValueError, match="leaves out"):
        codipy.jacobian(lambda x: call(turned, (x,)) * x, sparsity=True, mode=mode)(np.linspace(0.5, 1.5, 4))


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
    module = importlib.import_module("codipy.tools.derivatives.sparsity")

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


def softmax(x):
    y = np.exp(x - np.max(x))
    return y / np.sum(y)


ROUNDED = {
    "softmax": lambda x: np.sum(softmax(x)),
    "norm": lambda x: np.sum((x / np.sqrt(np.sum(x * x))) ** 2),
    "root": lambda x: np.sum(np.sqrt(x * x)),
    "quotient": lambda x: np.sum(x**2 / x / x),
    "circle": lambda x: np.sin(np.sum(x)) ** 2 + np.cos(np.sum(x)) ** 2,
    "large": lambda x: np.sum((x[1:] * x[:-1] + 1e10 * x[1:]) - 1e10 * x[1:] - x[1:] * x[:-1]),
}


@pytest.mark.parametrize("size", [5, 90])
@pytest.mark.parametrize("name", ROUNDED)
def test_what_is_zero_but_for_rounding_is_no_error(name, size):
    f, x = ROUNDED[name], np.random.default_rng(size).normal(size=size) + 0.01
    curved = codipy.hessian(f, sparsity=True)(x).toarray()
    assert np.abs(curved).max() <= (1e-4 if name == "large" else 1e-13 * (1.0 + np.max(1.0 / x**2)))
    rows = lambda x: np.stack([f(x), np.sum(x[1:] * x[:-1])])      # noqa: E731
    for mode in ("forward", "reverse"):
        found, expected = codipy.jacobian(rows, sparsity=True, mode=mode)(x).toarray(), codipy.jacobian(rows)(x)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-13, atol=1e-4 if name == "large" else 1e-13)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-13)


def test_what_is_outside_of_the_pattern_is_named_beside_rounding():
    smeared = smear()

    def f(x):
        return np.concatenate([smeared(x[:3] * 1.0), np.sum(softmax(x[3:]))[None], np.sqrt(x[3:] * x[3:])])

    with pytest.raises(ValueError, match=r"derivative \(row, column\) \(0, 2\) is 2\.0, .*leaves out"):
        codipy.jacobian(f, sparsity=True, mode="forward")(np.linspace(0.3, 0.9, 6))


def test_elements_of_other_size_than_rounding_are_kept_beside_it():
    """A row of rounding alone, but for one element that is as small as the rounding of others is."""

    def f(x):
        return np.sum(softmax(x[1:])) + 1e-15 * x[0] + 1e-13 * x[0] * x[1]

    x = np.array([0.7, 1.1, 0.4, 2.3])
    assert codipy.jacobian(f, sparsity=True)(x)[[0], [0]] == codipy.grad(f)(x)[0] > 1e-13
    np.testing.assert_allclose(codipy.hessian(f, sparsity=True)(x)[[0], [1]], 1e-13, rtol=1e-13)


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
