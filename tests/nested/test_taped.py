# SPDX-License-Identifier: Apache-2.0
"""`tape.nested` and sweeps that are recorded: against drivers inside of drivers, and against plain NumPy."""

import numpy as np
import pytest

import codipy
from codipy.errors import TapeError
from tests.strategies import each_strategy

POINT = np.array([0.3, -0.7, 1.1])


def slope_on_a_tape(f, x, *others):
    """The gradient of f as a variable of the recording around."""
    inner = codipy.Tape(strategy="primal", chunk_size=4)
    with inner.nested(x) as (u,):
        y = inner.register_output(f(u, *others))
    y.gradient = 1.0
    return inner.evaluate(record=True)[u]


def third_power(x):
    return x**3 * np.sin(x)


def of_array(x):
    return np.sum(np.exp(x) * x[::-1]) * (x @ x) + np.prod(x)


def in_place(x):
    u = np.zeros(5) * x[0]
    u[1:4] = x
    for _ in range(3):
        u[1:-1] = u[1:-1] * (u[2:] - u[:-2]) + 0.5 * u[1:-1]
    return np.sum(u * u)


@each_strategy
@pytest.mark.parametrize("f, x", [(third_power, 1.3), (of_array, POINT), (in_place, POINT)])
def test_gradients_of_gradients(strategy, f, x):
    """The derivative of a gradient is that of grad(grad), and of differences of the gradient."""
    def total(x, slope=slope_on_a_tape):
        g = slope(f, x)
        return np.sum(g * g)

    expected = codipy.grad(lambda x: total(x, lambda f, x: codipy.grad(f)(x)))(x)
    found = codipy.grad(total, strategy=strategy)(x)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    step = 1e-6
    for place in np.ndindex(np.shape(x)):
        e = np.zeros(np.shape(x))
        e[place] = step
        ahead, behind = (np.sum(codipy.grad(f)(x + s * e) ** 2) for s in (1.0, -1.0))
        assert np.asarray(found)[place] == pytest.approx((ahead - behind) / (2 * step), rel=1e-6)


@each_strategy
def test_on_a_tape_of_the_user(strategy):
    """Without any driver, the way of the documentation; the outer variable stays what it is."""
    tape, inner = codipy.Tape(strategy=strategy), codipy.Tape(strategy="primal")
    for _ in range(2):           # the inner tape serves again after a reset
        with tape:
            x = tape.register_input(2.0)
            with inner.nested(x) as (u,):
                y = inner.register_output(u**3)
            y.gradient = 1.0
            slope = tape.register_output(inner.evaluate(record=True)[u] + 5.0 * x)
        assert slope.value == 22.0
        slope.gradient = 1.0
        tape.evaluate()
        assert x.gradient == 17.0
        inner.reset()
        tape.reset()


def test_three_levels():
    assert codipy.grad(lambda x: slope_on_a_tape(lambda x: slope_on_a_tape(third_power, x), x))(1.3) == pytest.approx(
        codipy.grad(codipy.grad(codipy.grad(third_power)))(1.3), rel=1e-13)


@each_strategy
def test_other_variables_of_the_enclosing_recording(strategy):
    """Those are held, and the sweep depends on them: numbers, arrays, written ones; perturbations are not confused."""
    def f(p, x):
        w = np.ones(3) * p[0]
        w[1] = p[1]
        return np.sum(slope_on_a_tape(lambda u, p, w: np.sum(u**2 * p[2] * w + u * p), x, p, w) ** 2)

    def by_hand(p):
        return np.sum((2.0 * POINT * p[2] * np.array([p[0], p[1], p[0]]) + p) ** 2)

    p, step = np.array([0.5, 2.0, -1.5]), 1e-20
    expected = [by_hand(p + 1j * step * e).imag / step for e in np.eye(3)]
    np.testing.assert_allclose(codipy.grad(f, strategy=strategy)(p, POINT), expected, rtol=1e-13)
    assert codipy.grad(lambda x: x * slope_on_a_tape(lambda y, x: x + y, 1.0, x))(1.0) == 1.0


def test_seeds_that_are_variables_and_forward_sweeps():
    def product(x, v, forward):
        inner = codipy.Tape(strategy="primal")
        with inner.nested(x) as (u,):
            y = inner.register_output(np.sin(u) * u[::-1])
        adj = inner.new_adjoints(record=True)
        adj[u if forward else y] = v
        if forward:
            inner.evaluate_forward(adjoints=adj)
            return np.sum(adj[y] ** 2) + adj[y][0]
        inner.evaluate(adjoints=adj)
        return np.sum(adj[u] ** 2) + np.sum(adj[u[1:]])

    def on_numbers(x, v, forward):
        matrix = np.diag(np.cos(x) * x[::-1]) + np.diag(np.sin(x))[:, ::-1]
        found = matrix @ v if forward else matrix.T @ v
        return np.sum(found**2) + (found[0] if forward else np.sum(found[1:]))

    v, step = np.array([1.0, -2.0, 0.5]), 1e-20
    for forward in (False, True):
        for argnum in (0, 1):
            expected = []
            for e in np.eye(3):
                at = [POINT.astype(complex), v.astype(complex)]
                at[argnum] = at[argnum] + 1j * step * e
                expected.append(on_numbers(*at, forward).imag / step)
            found = codipy.grad(product, argnums=argnum)(POINT, v, forward)
            np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_an_input_that_is_written_to_after_the_recording():
    """The sweep takes the values that the recording had."""
    def f(x):
        x = 1.0 * x
        inner = codipy.Tape(strategy="primal")
        with inner.nested(x) as (u,):
            y = inner.register_output(np.sum(u**3))
        x[0] = 100.0
        y.gradient = 1.0
        return np.sum(inner.evaluate(record=True)[u])

    np.testing.assert_allclose(codipy.grad(f)(POINT), 6.0 * POINT, rtol=1e-14)


def test_what_is_refused():
    outer, inner = codipy.Tape(), codipy.Tape(strategy="primal")
    with outer:
        z = outer.register_input(np.array([1j]))
        with pytest.raises(TypeError), inner.nested(z):
            pass
    with pytest.raises(TapeError, match="strategy='primal'"), codipy.Tape().nested(1.0):
        pass
    for wrong in (1j, "a", None, [np.ones(2), object()]):
        with pytest.raises((TypeError, ValueError), match=r"nested\(\)|inhomogeneous"), inner.nested(wrong):
            pass
    with pytest.raises(TapeError, match=r"nested\(x\)"):
        inner.new_adjoints(record=True)
    with inner.nested(2.0) as (u,):
        y = inner.register_output(u * u)
    y.gradient = 1.0
    assert inner.evaluate(record=True)[u] == 4.0       # without a recording around: numbers
    for sweep in (inner.evaluate, inner.evaluate_forward, inner.evaluate_primal):
        with pytest.raises(TapeError, match="record=True"):
            sweep()
    with pytest.raises(TapeError, match="at once"), inner:
        pass
    with pytest.raises(TapeError, match="empty"), inner.nested(1.0):
        pass
    with pytest.raises(TypeError, match="record=True"):
        inner.evaluate(record=True, adjoints=codipy.Tape().new_adjoints())
    with pytest.raises(TypeError, match="start"):
        inner.evaluate(inner.position(), record=True)
    with pytest.raises(ValueError, match="one direction"):
        inner.new_adjoints(3, record=True)
    adj = inner.new_adjoints(record=True)
    with pytest.raises(TapeError, match="gave nothing"):
        adj[u]
    with pytest.raises(ValueError, match="shape"):
        adj[y] = np.ones(3)
    with pytest.raises(TapeError, match="another tape"):
        codipy.Tape(strategy="primal").evaluate(adjoints=adj)
    inner.reset()
    with pytest.raises(TapeError):
        adj[y] = 1.0
    with inner:
        x = inner.register_input(3.0)
        z = inner.register_output(x * x)
    z.gradient = 1.0
    inner.evaluate()
    assert x.gradient == 6.0


def test_an_error_inside_gives_variables_back():
    tape, inner = codipy.Tape(), codipy.Tape(strategy="primal")
    with tape:
        x, p = tape.register_input(2.0), tape.register_input(np.ones(2))
        with pytest.raises(ZeroDivisionError), inner.nested(x) as (u,):
            _ = u * np.sum(p)
            raise ZeroDivisionError
        y = tape.register_output(x * np.sum(p * p))
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 2.0 and p.gradient.tolist() == [4.0, 4.0]
