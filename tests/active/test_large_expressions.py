# SPDX-License-Identifier: Apache-2.0
"""One expression of 200 operations on 100 arguments: every mode gives what plain NumPy gives by complex steps."""

import numpy as np
import pytest

import codipy
from tests.strategies import COMPARED, each_pair, kind_of, new_tape

ARGUMENTS, OPERATIONS = 100, 200


def expression():
    """A text that names each of x0 ... x99, as one tree of 200 operations."""
    random = np.random.default_rng(7)
    parts = [f"x{k}" for k in range(ARGUMENTS)]
    for number in range(OPERATIONS - (ARGUMENTS - 1)):
        k = random.integers(len(parts))
        parts[k] = f"np.{('sin', 'cos', 'tanh')[number % 3]}({parts[k]})"
    for number in range(ARGUMENTS - 1):
        a, b = (parts.pop(random.integers(len(parts))) for _ in range(2))
        parts.append(f"({a} {'+-*'[number % 3]} {b})")
    return parts[0]


TEXT = expression()
F = eval(f"lambda {', '.join(f'x{k}' for k in range(ARGUMENTS))}: {TEXT}", {"np": np})
SHAPES = [(), (5,), (300,)]          # a number; short arrays; those that compiled loops run over


def point(shape):
    return np.random.default_rng(len(shape)).uniform(0.5, 1.5, (ARGUMENTS, *shape))


def partials(x):
    """d F / d x_k by complex steps, of the shape of x."""
    found = np.empty(x.shape)
    for k in range(ARGUMENTS):
        moved = x.astype(complex)
        moved[k] += 1e-30j
        found[k] = np.imag(F(*moved)) / 1e-30
    return found


def test_the_text():
    assert sum(TEXT.count(word) for word in ("sin(", "cos(", "tanh(", " + ", " - ", " * ")) == OPERATIONS
    assert F.__code__.co_argcount == ARGUMENTS


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@each_pair("variant", COMPARED)
def test_reverse_forward_and_directions(variant, shape):
    x, width = point(shape), 3
    expected = partials(x)
    seeds = np.random.default_rng(1).standard_normal((ARGUMENTS, *shape, width))
    along = np.einsum("k...,k...d->...d", expected, seeds)
    forward = kind_of(variant[0]) == "forward"
    tape = codipy.Tape(*variant, width=width) if forward else new_tape(variant)
    with tape:
        inputs = [tape.register_input(row if shape else float(row)) for row in x]
        if forward:
            for u, seed in zip(inputs, seeds):
                u.tangent = seed
        y = tape.register_output(F(*inputs))
    np.testing.assert_array_equal(y.value, F(*x))
    if forward:
        np.testing.assert_allclose(y.tangent, along, rtol=1e-11, atol=1e-13)
        return
    y.gradient = np.ones(shape) if shape else 1.0
    tape.evaluate()
    np.testing.assert_allclose([u.gradient for u in inputs], expected, rtol=1e-11, atol=1e-15)
    adj = tape.new_adjoints(width)
    adj[y] = np.ones(shape)[..., None] * [1.0, -2.0, 0.0] if shape else [1.0, -2.0, 0.0]
    tape.evaluate(adjoints=adj)
    for u, row in zip(inputs, expected):
        np.testing.assert_allclose(adj[u], np.asarray(row)[..., None] * [1.0, -2.0, 0.0], rtol=1e-11, atol=1e-15)
    adj = tape.new_adjoints(width)
    for u, seed in zip(inputs, seeds):
        adj[u] = seed
    tape.evaluate_forward(adjoints=adj)
    np.testing.assert_allclose(adj[y], along, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("shape", SHAPES[:2], ids=str)
def test_second_order(shape):
    """By sweeps and by nesting, against differences of the partials that complex steps give."""
    x = point(shape)
    v = np.random.default_rng(2).standard_normal(x.shape)

    def total(*rows):
        return np.sum(F(*rows))

    ahead, behind = (partials(x + step * v) for step in (1e-5, -1e-5))
    expected = (ahead - behind) / 2e-5
    given, tangents = ((list(rows if shape else map(float, rows)),) for rows in (x, v))
    (by_sweeps,) = codipy.hvp(lambda rows: total(*rows), given, tangents)
    by_nesting = codipy.jvp(codipy.grad(lambda rows: total(*rows)), given, tangents)[1]
    np.testing.assert_allclose(by_sweeps, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(by_nesting, by_sweeps, rtol=1e-10, atol=1e-12)
