# SPDX-License-Identifier: Apache-2.0
"""Who may overwrite values and identifiers: elements, copies, waiting expressions and parts keep what they read."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import codipy
from codipy.active.arrays.packing import identifiers
from tests.active.recording import dot, each_variant, new_tape, record, seeds_for

X = np.linspace(0.1, 1.3, 12)
DIRECTION = np.cos(np.arange(X.size))


def differences(f, x, step=1e-6):
    """Central differences of the same source on plain NumPy."""
    columns = []
    for k in range(x.size):
        up, down = x.copy(), x.copy()
        up[k] += step
        down[k] -= step
        columns.append((f(up) - f(down)) / (2 * step))
    return np.array(columns)


def element_of_mixed(x):
    c = x * 2.0
    c[0] = np.sin(x[1])
    q = c[2]
    return np.sum(np.sin(c)) + q


def thermometer(x):
    u, seen = x * 1.0, 0.0
    for _ in range(5):
        new = np.empty_like(u)
        new[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        new[0], new[-1] = np.sin(x[0]), u[-2]
        u = new
        seen = seen + u[3] * u[3]
    return np.sum(u ** 2) + seen


def elements_kept_while_arrays_die(x):
    kept = 0.0
    for k in range(6):
        c = x * (k + 1.0)
        c[k] = x[k] * x[k + 1]
        kept = kept + c[k + 2] * c[k]
        del c
    return kept


def rows(x):
    h = np.zeros((9, x.size))
    h[0] = x
    for k in range(8):
        h[k + 1] = np.sin(h[k]) + h[k] * h[k, 3]
    return np.sum(h[-1] ** 2) + h[4, 2]


def rows_of_arrays(x):
    h, row = np.zeros((9, x.size)), x
    for k in range(9):
        h[k] = row
        row = np.sin(row * h[k]) + h[k // 2]
    return np.sum(h[3:7] * h[2:6])


def columns(x):
    h = np.zeros((x.size, 9))
    h[:, 0] = x
    for k in range(8):
        h[:, k + 1] = np.cos(h[:, k]) * h[:, k][::-1]
    return np.sum(h[:, -1]) + np.sum(h[:, 2] * h[:, 5])


def overwritten_rows(x):
    h = np.zeros((5, x.size))
    h[0] = x
    for k in range(12):
        h[(k + 1) % 5] = h[k % 5] * 0.9 + np.sin(h[(k + 3) % 5])
        h[k % 5, 2] = h[(k + 1) % 5, 1]
    return np.sum(h * h)


def backwards(x):
    v = np.zeros((9, x.size))
    v[-1] = x
    for k in range(7, -1, -1):
        v[k] = np.maximum(v[k + 1] * 0.7, x) + v[k + 1] * x[0]
    return np.sum(v[0])


def waiting_across_writes(x):
    h = np.zeros((6, x.size))
    h[0], h[1] = x, x * x
    late = h[1] * h[0] + 1.0
    h[1] = h[0] * 3.0
    h[0] = late
    return np.sum(late * h[1] + h[0])


def boxes(x):
    h = np.zeros((8, 8))
    h[1:3, 1:3] = x[:4].reshape(2, 2)
    for k in range(4):
        h[k + 2:k + 4, k + 2:k + 4] = h[k + 1:k + 3, k + 1:k + 3].T * x[k] + h[k + 1, k + 1]
    return np.sum(h ** 2)


def whole_and_part_in_one_operation(x):
    h = np.zeros((6, 6))
    for k in range(5):
        h[k + 1] = np.tanh(h[k] + x[k:k + 6])
    h = h @ h[..., 3] * 0.3
    g = np.zeros((6, 6))
    for k in range(5):
        g[:, k + 1] = np.cos(g[:, k]) * h
    return np.sum(np.where(g[:, 2] > 0.5, g, g[2] * h) ** 2) + np.sum(g.T @ g[:, 4] * (g[1] @ g))


def assembled(x):
    stiffness = np.zeros((13, 13))
    for k in range(x.size):
        t = np.array([k, k + 1])
        stiffness[np.ix_(t, t)] += x[k] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return np.sum(stiffness ** 2) + stiffness[3, 4]


def scattered(x):
    h = np.zeros(60)
    for k in range(5):
        h[np.array([3 * k, 3 * k + 7, 3 * k + 1])] = x[k:k + 3] * x[k] + h[np.array([0, 3 * k, 1])]
    h[[4, 4, 9]] = x[:3]
    h[[1, 2]] = h[[2, 1]]
    return np.sum(h * h)


def on_tape(f, variant):
    """Value, gradient and the derivative along a direction, from one recording."""
    tape = codipy.Tape(strategy=variant[0], granularity=variant[1])
    with tape:
        x = tape.register_input(codipy.Array(X))
        y = tape.register_output(codipy.rebind(f)(x))
    y.gradient = 1.0
    tape.evaluate()
    gradient = x.gradient
    tape.clear_adjoints()
    x.gradient = DIRECTION
    tape.evaluate_forward()
    tape._check()
    return y.value, gradient, y.gradient


PROGRAMS = [element_of_mixed, thermometer, elements_kept_while_arrays_die, rows, rows_of_arrays, columns,
            overwritten_rows, backwards, waiting_across_writes, boxes, whole_and_part_in_one_operation,
            assembled, scattered]


@each_variant
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f, variant):
    value, gradient, tangent = on_tape(f, variant)
    assert value == f(X)
    np.testing.assert_allclose(gradient, differences(f, X), rtol=2e-7, atol=2e-7)
    np.testing.assert_allclose(tangent, gradient @ DIRECTION, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_the_drivers_give_the_same(f):
    np.testing.assert_allclose(codipy.grad(f)(X), on_tape(f, ("primal", "statement"))[1], rtol=1e-13, atol=1e-13)


def spans(*variables):
    return [(int(i), 1) for x in variables for i in np.ravel(identifiers(x)) if i]


@each_variant
@settings(max_examples=30, deadline=None)
@given(steps=st.lists(st.tuples(*[st.integers(0, most) for most in (7, 3, 3, 5)]), max_size=25))
def test_no_variable_that_is_alive_names_a_free_identifier(variant, steps):
    tape = codipy.Tape(strategy=variant[0], granularity=variant[1])
    with tape:
        x = tape.register_input(codipy.Array(np.linspace(0.2, 1.0, 24)))
        arrays = [x * 1.0, x.reshape(4, 6) * 2.0, x[:6] + 1.0, codipy.Array(np.ones((4, 6)))]
        arrays = [a.reshape(4, 6) if a.size == 24 else np.stack([a] * 4) for a in arrays]
        reals = [x[0], x[1] * x[2], x[3], x[4]]
        for what, a, b, i in steps:
            if what == 0:
                arrays[a] = arrays[b] * arrays[a] + reals[a]
            elif what == 1:
                reals[b] = arrays[a][a, i]
            elif what == 2:
                arrays[a][b, i] = reals[b] * reals[a]
            elif what == 3:
                arrays[a][b] = arrays[b][a]
            elif what == 4:
                arrays[a][:, i] = np.sin(arrays[b][:, 5 - i])
            elif what == 5:
                arrays[a] = arrays[b].copy()
            elif what == 6:
                arrays[a][[0, b], [i, 2]] = arrays[b][[1, 2], [0, i]]
            else:
                arrays[a][1:] += arrays[b][:-1]
            tape._check(spans(*arrays, *reals))


def recorded_bytes(f, n, variant):
    tape = codipy.Tape(strategy=variant[0], granularity=variant[1])
    with tape:
        x = codipy.Array(np.sin(np.arange(40.0)))
        tape.register_input(x)
        codipy.rebind(f)(x, n)
    return tape.statistics().total.used


def by_rows(x, n):
    h = np.zeros((n + 1, x.size))
    h[0] = x
    for k in range(n):
        h[k + 1] = np.sin(h[k]) * h[k]


def by_columns(x, n):
    h = np.zeros((x.size, n + 1))
    h[:, 0] = x
    for k in range(n):
        h[:, k + 1] = np.sin(h[:, k]) * h[:, k]


def by_products(x, n):
    a = np.eye(x.size) * 0.5
    h = np.zeros((x.size, n + 1))
    h[:, 0] = x
    for k in range(n):
        h[:, k + 1] = a @ h[:, k]


def by_elements(x, n):
    h = np.zeros((n + 1, 3))
    h[0] = x[:3]
    for k in range(n):
        a, b, c = h[k]
        h[k + 1] = h[k] + 0.1 * np.array([b - a, a * c, a * b])


@each_variant
@pytest.mark.parametrize("f", [by_rows, by_columns, by_products, by_elements], ids=lambda f: f.__name__)
def test_a_step_costs_what_it_touches(f, variant):
    """Twice as many steps take twice the bytes: a step that copied the whole would make that four times."""
    small, large = (recorded_bytes(f, n, variant) for n in (50, 100))
    assert large < 2.3 * small


@each_variant
def test_a_primitive_of_a_whole_and_of_a_column_of_it(variant):
    """Reading a column makes the identifiers explicit, after the whole has been named."""

    def f(x):
        a = np.zeros((5, 5))
        for k in range(4):
            a[k + 1] = np.tanh(a[k] + x[2])
        return a @ a[..., 3], a[:, 1] @ a, np.linalg.solve(a[1:, 1:] + 3.0 * np.eye(4), a[1:, 3])

    inputs = [np.linspace(0.4, 1.5, 5)]
    recording = record(new_tape(variant), codipy.rebind(f), inputs)
    seeds, tangents = seeds_for(recording.outputs), seeds_for(inputs, 3)
    step = 1e-6
    there, here = (f(inputs[0] + h * tangents[0]) for h in (step, -step))
    expected = dot(seeds, [(y - x) / (2 * step) for x, y in zip(here, there)])
    assert np.isclose(dot(recording.reverse(seeds), tangents), expected, rtol=1e-7)


def narrow_indices(x):
    y = np.zeros(400)
    odd = y[::2]
    odd[np.array([80, 90], np.int8)] = 1.0
    columns = np.sin(np.outer(np.arange(160.0), x))[:, 3]
    columns[np.array([3, 100, 120], np.int16)] = x[:3]
    far = np.sin(np.arange(400.0) * x[0])
    odd[np.array([-3, 70], np.int8)] = far[np.array([3, 50], np.int8)]
    return np.sum(y * far) + np.sum(columns ** 2)


def row_of_itself_everywhere(x):
    h = np.sin(np.outer(x, x + 1.0))
    s = np.sum(h * h)
    h[5, 2:4] *= 0.5
    s = s + np.sum(h * h)
    h[1:] = h[0]
    return s + np.sum(h[1, :3] * h[2, :3])


def row_of_itself_over_all(x):
    h = np.zeros((12, 12))
    h[0] = x
    s = np.sum(h * h)
    h[5] = x * x
    s = s + np.sum(h * h)
    np.copyto(h, h[5])
    return s + np.sum(h[1, :3] * h[2, :3])


@each_variant
@pytest.mark.parametrize("f", [narrow_indices, row_of_itself_everywhere, row_of_itself_over_all])
def test_what_was_read_of_a_part_is_forgotten_when_it_is_written(f, variant):
    value, gradient, tangent = on_tape(f, variant)
    assert value == f(X)
    np.testing.assert_allclose(gradient, differences(f, X), rtol=2e-7, atol=2e-7)
    np.testing.assert_allclose(tangent, gradient @ DIRECTION, rtol=1e-12, atol=1e-12)
