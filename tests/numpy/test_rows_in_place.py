# SPDX-License-Identifier: Apache-2.0
"""Expressions that are computed where they are joined, and elements and rows that are taken by integers.

The oracles are NumPy's run of the same source, to the bit, and its complex step.
"""

import numpy as np
import pytest

import codipy
from tests.strategies import STRATEGIES, each_as_values

DRAW = np.random.default_rng(5)
X = DRAW.standard_normal(12)
MANY = DRAW.standard_normal(3000)  # more than a tile of each loop
WEIGHTS = DRAW.standard_normal(16_000)
ORDER = DRAW.integers(-12, 12, 40)
MASK = X > 0.0


def twice(x):
    d = x * x
    return np.concatenate((d, d, 0.5 * d))


def used_afterwards(x):
    d = np.diff(x)
    e = np.append(d, x[0] * x[1])
    return np.append(d * d, e)


def written_afterwards(x):
    """Neither sees what is written into the other."""
    d = x * x
    e = np.concatenate((d, x[:2]))
    d[1:4] = 3.0 * x[1:4]
    d *= x
    e[0:2] = x[2:4]
    e[5] = 2.0
    return np.append(d, e)


def outlives(x):
    d = np.exp(x)
    e = np.append(x[:1], d)
    total = np.sum(e * e)
    del e
    for _ in range(3):
        total = total + np.sum(np.append(d * x, 1.0))
    return d * total


def views_of_parts(x):
    d = x * 2.0
    e = np.append(d, [1.0, 2.0])
    view = d[3:6]
    view += x[0]
    row = d.reshape(3, 4)[1]
    return np.concatenate((e, d, view, row, d[::-1]))


def rows_taken(x):
    a = x.reshape(4, 3) * 1.0
    return np.append(a[[2, 0, -1]], a[np.array([[1, 1], [0, -4]])])


def taken_from_views(x):
    u = np.sin(x)
    return np.concatenate((u[::2][np.array([0, 5, -1])], u[::-1][[3, 3]], u[2:9][np.array([6, -7], np.int8)]))


def masked(x):
    u = np.cos(x)
    a = u.reshape(3, 4)
    return np.concatenate((u[MASK], a[MASK.reshape(3, 4)], a[MASK[:3]].reshape(-1)))


def written_after_taking(x):
    u = x * x
    taken = u[ORDER]
    u[:] = 1.0
    taken[3] = u[0]
    return np.append(taken, u)


def assembled(x):
    """Small parts of a large matrix, by integers along both axes, of views and with places below zero."""
    k = np.zeros((20, 20)) + x[0] * 0.0
    block = np.outer(x[:3], x[3:6])
    for t in ([0, 4, 2], [1, 3, -1], [-5, 19 - 20, 7]):
        k[np.ix_(t, t)] += block
    k[::2][np.ix_([1, -1], [5, 6])] = x[6:8]
    k[np.array([0, 3]), np.array([3, 0], np.int16)] = x[8]
    k[np.ix_([0, 1], [0, 1])] = k[np.ix_([1, 2], [2, 3])] * 2.0
    k[[[2], [4]], [0, 1]] = k[:2, 6:8]
    return np.concatenate((k[np.ix_([0, 7, -1], [2, -5, 7])], k.T[np.ix_([4, 2, 3], [0, 1, 19])]))


PROGRAMS = {
    "in front": lambda x: np.concatenate((x[1:] * x[:-1], x[:1])),
    "behind": lambda x: np.append(x[:1], np.sin(x)),
    "between": lambda x: np.concatenate((x[:1], x[1:-1] * x[2:], x[-1:])),
    "several": lambda x: np.concatenate((2.0 * x, x, x * x, [1.0, 2.0], x[0] * x)),
    "matrices": lambda x: np.concatenate((x.reshape(3, 4) * x[:4], np.ones((1, 4)), 2.0 * x.reshape(3, 4))),
    "along rows": lambda x: np.concatenate((x.reshape(3, 4) * x[:4], x.reshape(3, 4)), axis=1),
    "of columns": lambda x: np.concatenate(((2.0 * x).reshape(3, 4).T, x.reshape(4, 3) * x[0]), axis=0),
    "flat": lambda x: np.concatenate((x.reshape(3, 4) * x[:4], x), axis=None),
    "stacked": lambda x: np.stack((x * x, x, np.sin(x))),
    "padded": lambda x: np.pad(x * x, (1, 2)),
    "padded much": lambda x: np.pad(x[:3] * x[0], 20),
    "small beside large": lambda x: np.concatenate((x[:2] * x[0], x, x, x)),
    "with a number": lambda x: np.append(x[3] * np.diff(x), x[0] * x[1]),
    "elements": lambda x: (x * x)[ORDER],
    "elements in a matrix": lambda x: (x * x)[ORDER.reshape(5, 8)],
    "elements in Fortran's order": lambda x: (x * x)[np.asfortranarray(ORDER.reshape(5, 8))],
    "elements in a row": lambda x: (x * x)[np.arange(3, 9)],
    "a cube": lambda x: (x.reshape(2, 3, 2) * 2.0)[[1, 1, 0]],
} | {f.__name__: f for f in (
    twice, used_afterwards, written_afterwards, outlives, views_of_parts, rows_taken, taken_from_views, masked,
    written_after_taking, assembled)}  # fmt: skip


def number(program, x):
    """A number that depends on every element, bit for bit on how they lie."""
    found = program(x)
    flat = np.reshape(found, -1)
    return np.sum(flat * WEIGHTS[: flat.shape[0]]) + 0.5 * np.sum(found)


def slopes(program, x):
    """By complex steps of the plain program."""
    return np.array([number(program, x + 1e-30j * one).imag for one in np.eye(x.size)]) / 1e-30


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name, strategy):
    program = PROGRAMS[name]
    value, gradient = codipy.value_and_grad(lambda x: number(program, x), strategy=strategy)(X)
    assert value == number(program, X)
    np.testing.assert_allclose(gradient, slopes(program, X), rtol=1e-12, atol=1e-13)


ANY_SIZE = ("in front", "behind", "between", "several", "stacked", "padded", "small beside large", "elements", "twice",
            "used_afterwards", "written_afterwards", "outlives", "written_after_taking")  # fmt: skip


@pytest.mark.parametrize("name", ANY_SIZE)
def test_many_elements(name):
    program, direction = PROGRAMS[name], DRAW.standard_normal(3000)
    value, gradient = codipy.value_and_grad(lambda x: number(program, x))(MANY)
    assert value == number(program, MANY)
    assert gradient @ direction == pytest.approx(number(program, MANY + 1e-30j * direction).imag / 1e-30, rel=1e-10)


@pytest.mark.parametrize("name", PROGRAMS)
def test_several_directions_at_once(name):
    program = PROGRAMS[name]
    found = codipy.jacobian(lambda x: program(x).reshape(-1)[:7])(X)
    expected = np.array([np.reshape(program(X + 1e-30j * one), -1)[:7].imag for one in np.eye(12)]).T / 1e-30
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", PROGRAMS)
def test_forward(name):
    program = PROGRAMS[name]
    direction = DRAW.standard_normal(12)
    _, tangent = codipy.jvp(lambda x: number(program, x), (X,), (direction,))
    assert tangent == pytest.approx(slopes(program, X) @ direction, rel=1e-12)


@each_as_values
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "masked"])
def test_replays(name, strategy):
    program = PROGRAMS[name]
    tape = codipy.Tape(strategy)
    with tape:
        x = tape.register_input(X.copy())
        y = tape.register_output(codipy.rebind(lambda v: number(program, v))(x))
    near = X + 0.01
    tape.set_primal(x, near)
    tape.evaluate_primal()
    assert tape.get_primal(y) == number(program, near)
    y.gradient = 1.0
    tape.evaluate()
    np.testing.assert_allclose(x.gradient, slopes(program, near), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_shape_and_layout(name):
    """Sums over a result, and so their bits, depend on how it lies in memory."""
    with codipy.Tape() as tape:
        found = PROGRAMS[name](tape.register_input(X.copy()))
        expected = PROGRAMS[name](X)
        assert found.shape == expected.shape
        assert [s for n, s in zip(found.shape, found.strides) if n > 1] == [
            s for n, s in zip(expected.shape, expected.strides) if n > 1
        ]
        assert found.flags.owndata == expected.flags.owndata


@pytest.mark.parametrize("index", [[12], [-13], np.array([0, 12]), np.array([[-13]])])
def test_what_is_out_of_bounds_is_numpys_error(index):
    with codipy.Tape() as tape:
        x = tape.register_input(X.copy())
        for wrong in (x, x.reshape(12, 1), x[::2]):
            with pytest.raises(IndexError, match="out of bounds"):
                wrong[index]
        with pytest.raises(IndexError, match="out of bounds"):
            np.add.at(x * 1.0, index, x[:1])


def test_warnings_of_an_expression_that_is_joined():
    def f(x):
        return np.sum(np.append(1.0 / x, x[0]))

    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        codipy.grad(f)(np.array([1.0, 0.0]))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        codipy.grad(f)(np.array([1.0, 0.0]))


@pytest.mark.parametrize("size", [1, 5, 1023, 1024, 1025, 3000])
def test_the_first_largest_of_many(size):
    for values in (DRAW.standard_normal(size), np.zeros(size), np.round(DRAW.standard_normal(size), 1)):
        programs = [(np.max, np.argmax), (np.min, np.argmin), (lambda x: x.max(axis=-1), np.argmax)]
        programs.append((lambda x: np.sum(np.max(x, axis=0, keepdims=True)), np.argmax))
        for program, place in programs:
            gradient = codipy.grad(program)(values)
            assert gradient[place(values)] == 1.0 and np.count_nonzero(gradient) == 1
            values[size // 2] = np.nan
            gradient = codipy.grad(program)(values)
            assert gradient[size // 2] == 1.0 and np.count_nonzero(gradient) == 1
            values[size // 2] = 0.0


@pytest.mark.parametrize("size", [1, 8, 1025])
@pytest.mark.parametrize("bounds", [(-0.5, 0.5), (-1.0, -0.25), (0.5, 0.5), (-np.inf, np.inf), (-1, 1)])
def test_clip_between_numbers(bounds, size):
    """To the bit, also NaN, infinities and zeros; on a bound the derivative is that of the element."""
    values = np.resize(np.array([-0.0, 0.5, np.nan, np.inf, -np.inf, 0.1, -0.5, 2.0]), size)
    weights = DRAW.standard_normal(size)
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(values.copy())
        y = np.clip(x, *bounds)
    assert codipy.value(y).tobytes() == np.clip(values, *bounds).tobytes()
    inside = ~((values < bounds[0]) | (values > bounds[1]))
    if not y.is_active:
        assert not inside.any()
        return
    y.gradient = weights
    tape.evaluate()
    assert x.gradient.tolist() == np.where(inside, weights, 0.0).tolist()
