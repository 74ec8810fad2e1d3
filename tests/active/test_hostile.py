# SPDX-License-Identifier: Apache-2.0
"""Programs and misuse that broke the arrays once: aliasing, layouts, subclasses, checkpoints."""

import gc
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

import codipy
from codipy.errors import TapeError
from tests.strategies import STRATEGIES, each_strategy


def central(f, x):
    """The Jacobian by differences of fourth order."""
    columns = []
    for k in range(x.size):
        step = np.zeros_like(x)
        step.flat[k] = 1e-3
        near, far = f(x + step) - f(x - step), f(x + 2 * step) - f(x - 2 * step)
        columns.append((8 * near - far) / 12e-3)
    return np.stack(columns, -1)


def layouts(x):
    a = x.reshape(2, 3)[::-1, ::-1].T
    a[1] *= a[0]
    a[:, 0] += a[:, 1]
    return a.ravel() + a.ravel("F")


def memory_order(x):
    return x.reshape(2, 3)[::-1, ::-1].T.ravel("K")


def memory_order_copied(x):
    return x.reshape(2, 3).T.flatten("K")


def contiguous_copies(x):
    y = np.ascontiguousarray(x[::-1])
    y[0] = 9.0
    z = np.asfortranarray(x.reshape(2, 3))
    z[0] = 0.0
    w = np.require(x[::2], requirements="C")
    w *= 3.0
    return x * 1.0


def pending_overwritten(x):
    u = x * 2
    e = u * u + x
    u[:] = 0
    f = u + e
    u[1:3] = x[1:3]
    g = u * e
    x[:] = 1
    h = x * e
    x += u
    return f + g + h + x


def elements_and_pending(x):
    u = x * 2
    for k in range(30):
        e = u * 1.5
        u[k % 5] = u[(k + 1) % 5] * 0.9 + e[k % 5]
        if k % 7 == 0:
            u[1:3] = u[2:4] * x[:2]
        if k % 11 == 0:
            u[...] = u * 1.1
        if k % 5 == 0:
            u[2:3] = e[1:2]
    return u


def mixed_views(x):
    z = np.zeros((2, 3))
    zt, row = z.T, z[1]
    z[0, 0], zt[2, 1], row[0] = x[0], x[1] * 2, x[2]
    z[:, 1] = x[3:5]
    row *= 2
    zt += x[5]
    r = zt[1]
    zt[0] = r
    r[:] = 0
    return (z * zt.T + row).ravel()


def dead_bases(x):
    def windows():
        t = x * x
        parts = [t[i : i + 2] for i in range(5)]
        del t
        parts[0][:] = parts[4] * parts[2]
        return parts

    v, w = windows(), windows()
    w[1][1] = v[1][0]
    total = 0.0
    for a, b in zip(v, w):
        total = total + a * b[::-1]
    return total


def failures_in_between(x):
    u = np.zeros(6)
    u[:] = x
    for k in range(4):
        try:
            u[k : k + 2] = u[k + 1 : k + 3] * u[:2]
            if k % 2:
                u[:] = np.linalg.solve(np.zeros((6, 6)), u)
            u[k] = u[k + 1] / 0.5
        except np.linalg.LinAlgError:
            u[k] = x[k]
        finally:
            u *= 1.1
    for value in (np.ones(5), u[:4] * 2):
        with pytest.raises(ValueError):
            u[:] = value
    return u


def work_array(x):
    work = np.zeros(6)

    def use(v):
        work[:] = v
        return work * 2

    a, b, c = use(x), use(x**2), use(np.sin(x))
    work[:] = 0
    work += 1
    return a * b + c + work


PROGRAMS = [layouts, memory_order, memory_order_copied, contiguous_copies, pending_overwritten, elements_and_pending,
            mixed_views, dead_bases, failures_in_between, work_array]  # fmt: skip


@each_strategy
@pytest.mark.parametrize("f", PROGRAMS)
def test_program(f, strategy):
    x = np.random.default_rng(5).normal(size=6)
    expected, jacobian = f(x.copy()), central(lambda x: f(x.copy()), x)
    value, pullback = codipy.vjp(f, x, strategy=strategy)
    assert np.array_equal(value, expected)
    np.testing.assert_allclose(codipy.jacobian(f, strategy=strategy)(x), jacobian, rtol=1e-6, atol=1e-6)
    seed = np.arange(1.0, 1.0 + expected.size)
    np.testing.assert_allclose(pullback(seed)[0], seed @ jacobian, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("name", ["dot", "matmul", "solve", "einsum", "multiply"])
def test_a_plain_operand_may_change_afterwards(name):
    operation = {"dot": np.dot, "matmul": np.matmul, "solve": np.linalg.solve, "multiply": np.multiply,
                 "einsum": lambda a, x: np.einsum("ij,j", a, x)}[name]  # fmt: skip
    a, x0 = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([1.2, 0.7])
    expected = central(lambda x: operation(a, x), x0).reshape(-1, 2).sum(0)
    operand = a.copy()
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(x0)
        y = tape.register_output(operation(operand, x))
    operand[...] = 50.0
    y.gradient = 1.0
    tape.evaluate()
    np.testing.assert_allclose(x.gradient, expected, atol=1e-8)


def test_masks_are_not_dropped():
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
    with codipy.Tape() as tape:
        x = tape.register_input(np.ones(3))
        with pytest.raises(TypeError):
            x * masked
        with pytest.raises(TypeError):
            np.multiply(x, masked)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_is_not_multiplied_element_by_element():
    matrix = np.matrix(np.arange(9.0).reshape(3, 3))
    with codipy.Tape() as tape:
        x = tape.register_input(np.ones((1, 3)))
        try:
            product = x * matrix
        except TypeError:
            return
    assert np.array_equal(product.value, np.ones((1, 3)) * matrix)


def test_read_only_views_are_not_written_to():
    with codipy.Tape() as tape:
        x = tape.register_input(np.arange(3.0))
        view = np.broadcast_to(x[:1], (4,))      # a copy or refused: never a door into x
        try:
            view[0] = 5.0
        except ValueError as error:
            assert "read-only" in str(error)
        assert np.array_equal(x.value, np.arange(3.0))


@each_strategy
def test_filled_by_elements_before_a_position(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        x = tape.register_input(np.arange(1.0, 5.0))
        z = np.zeros_like(x)
        z[0] = x[1] * x[1]
        here = tape.position()
        for k in range(3):
            w = tape.register_output((z * float(k + 1)).sum())
            if k < 2:
                tape.reset(here)
    w.gradient = 1.0
    tape.evaluate()
    assert np.array_equal(x.gradient, [0.0, 12.0, 0.0, 0.0])


def test_globals_set_after_the_first_gradient_are_seen():
    module = types.ModuleType("codipy_test_hostile_module")
    source = ("import numpy as np\nP = 2.0\ndef helper(x):\n    return x\ndef first(x):\n    return np.sum(x)\n"
              "def second(x):\n    return np.sum(helper(P * x))\ndef third(x):\n    return np.sum(Q * x)\n")
    exec(source, vars(module))
    x = np.ones(2)
    assert np.array_equal(codipy.grad(module.first)(x), [1.0, 1.0])
    module.P, module.Q = 7.0, 5.0
    module.helper = lambda x: 3 * x
    assert np.array_equal(codipy.grad(module.second)(x), [21.0, 21.0])
    assert np.array_equal(codipy.grad(module.third)(x), [5.0, 5.0])


@pytest.mark.parametrize("use", ["a.value", "a.T", "a + 1", "a.sum()", "a.copy()", "np.sin(a)", "a.gradient",
                                 "a.__setitem__((), 1.0)", "codipy.Array(np.ones(3)).__setitem__(0, a)"])  # fmt: skip
def test_an_array_that_was_never_initialised(use):
    program = (f"import numpy as np, codipy\na = codipy.Array.__new__(codipy.Array)\n"
               f"try:\n    {use}\nexcept Exception:\n    pass\n")  # fmt: skip
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_threads_each_on_a_tape_of_their_own():
    def f(x):
        y = x.copy()
        for _ in range(20):
            y[1:] *= y[:-1] * 0.9
            y[0] = y[3] * x[0]
            y = np.where(y > 1, 1 / y, y) + x
        return np.sum(y)

    x = np.random.default_rng(1).random(30) + 0.5
    expected, wrong = codipy.grad(f)(x), []

    def work():
        for k in range(15):
            got = codipy.grad(f, strategy=STRATEGIES[k % len(STRATEGIES)])(x)
            if not np.allclose(got, expected, rtol=1e-9):
                wrong.append(got)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@each_strategy
def test_arrays_outlive_their_tape(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        x = tape.register_input(np.arange(4.0))
        y = x * x
        z = np.zeros_like(x)
        z[0], z[1] = y[1], y[2]
        pending, view = x * 3, y[1:3]
    values = [a.value.copy() for a in (x, y, z, pending, view)]
    del tape
    gc.collect()
    for a, value in zip((x, y, z, pending, view), values):
        assert np.array_equal(a.value, value)
        with codipy.Tape(), pytest.raises(TapeError):
            (a + 1).value


@each_strategy
@pytest.mark.parametrize("f", [np.sort, lambda v: np.matmul(np.eye(2), v), lambda v: np.broadcast_to(v[:1], (2,)) @ v])
def test_a_primitive_of_a_small_view_of_a_mixed_array(f, strategy):
    def g(x):
        u = x.copy()
        u[21] = x[22] * 2
        return f(u[1:3])

    x = np.arange(1.0, 43.0)
    expected = central(lambda x: g(x.copy()), x)
    np.testing.assert_allclose(codipy.jacobian(g, strategy=strategy)(x), expected, atol=1e-6)
