# SPDX-License-Identifier: Apache-2.0
"""Positions, ranges, repeated sweeps, external adjoints, and what stays of an input that was overwritten."""

import numpy as np
import pytest

import codipy
from codipy.errors import TapeError
from tests.active.recording import assert_close, each_variant, new_tape

START = np.array([0.5, 1.25, 2.0, 0.75])


def two_halves(tape):
    """(x, y, positions): a recording with scalars and arrays on both sides of the middle."""
    x = tape.register_input(START.copy())
    first = tape.position()
    u = x * x
    u[0] = x[1] * x[2]
    u[2:] += np.sum(x)
    middle = tape.position()
    v = u[::-1] * x
    v[3] = v[0] * u[1]
    y = tape.register_output(v * u)
    return x, y, (first, middle, tape.position())


def plain(x):
    u = x * x
    u[0] = x[1] * x[2]
    u[2:] += np.sum(x)
    v = u[::-1] * x
    v[3] = v[0] * u[1]
    return v * u


def jacobian():
    return np.array([np.imag(plain(START + 1e-40j * row)) / 1e-40 for row in np.eye(4)]).T


@each_variant
def test_ranges_add_up_to_the_whole(variant):
    tape = new_tape(variant)
    with tape:
        x, y, (first, middle, end) = two_halves(tape)
    assert np.array_equal(y.value, plain(START))
    for row, seed in zip(jacobian(), np.eye(4)):
        for sweep in (
            lambda: tape.evaluate(),
            lambda: tape.evaluate(end),
            lambda: (tape.evaluate(end, middle), tape.evaluate(middle)),
            lambda: (tape.evaluate(end, middle), tape.evaluate(middle, first), tape.evaluate(first)),
        ):
            tape.clear_adjoints()
            y.gradient = seed
            sweep()
            assert_close([x.gradient], [row])
    if not variant[0].endswith("-reuse"):       # there y may have an identifier that the first half used
        tape.clear_adjoints()
        y.gradient = 1.0
        tape.evaluate(middle)       # only the first half: nothing reached it
        assert not x.gradient.any()


@each_variant
def test_forward_ranges(variant):
    tape = new_tape(variant)
    with tape:
        x, y, (first, middle, end) = two_halves(tape)
    for column, seed in zip(jacobian().T, np.eye(4)):
        for sweep in (
            lambda: tape.evaluate_forward(),
            lambda: (tape.evaluate_forward(first, middle), tape.evaluate_forward(middle, end)),
        ):
            tape.clear_adjoints()
            x.gradient = seed
            sweep()
            assert_close([y.gradient], [column])


@each_variant
def test_gradients_add_up_over_sweeps_without_clearing(variant):
    tape = new_tape(variant)
    with tape:
        x, y, _ = two_halves(tape)
    for count in (1, 2, 3):
        y.gradient = [1.0, 0.0, 2.0, 0.0]
        tape.evaluate()
        assert_close([x.gradient], [count * (jacobian()[0] + 2.0 * jacobian()[2])])


@each_variant
def test_reset_to_a_position_and_another_end(variant):
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(START.copy())
        u = np.sin(x)
        assert np.array_equal(u.value, np.sin(START))       # computed before the position, so it stays after the reset
        here = tape.position()
        for k in range(4):
            v = u * float(k)
            v[1] = u[0] * v[2]
            y = tape.register_output(v * u)
            y.gradient = 1.0
            tape.evaluate()
            s, c = np.sin(START), np.cos(START)
            expected = 2.0 * k * s * c
            expected[1] = k * s[0] * s[2] * c[1]
            expected[0] += k * s[1] * s[2] * c[0]
            expected[2] += k * s[1] * s[0] * c[2]
            assert_close([x.gradient], [expected])
            tape.clear_adjoints()
            tape.reset(here)
            with pytest.raises(TapeError):
                v * 2.0
            with pytest.raises(TapeError):
                y.gradient
            tape._check()


@each_variant
def test_an_input_overwritten_keeps_the_gradient_of_what_was_registered(variant):
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(START.copy())
        x[1:] = x[:-1] * x[1:]
        x *= 2.0
        x[0] = 7.0
        y = tape.register_output(x * x)
        x[:] = 0.0
    for count in (1, 2):
        y.gradient = 1.0
        tape.evaluate()
        p, q = START[:-1], START[1:]
        expected = np.zeros(4)
        expected[1:] += 8.0 * p * p * q
        expected[:-1] += 8.0 * p * q * q
        assert_close([x.gradient], [count * expected])


@each_variant
def test_outputs_overwritten_or_dead(variant):
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(START.copy())
        y = tape.register_output(x * x)
        z = y * 3.0
        y[1] = z[0]
        y *= 5.0
        w = tape.register_output(y * x)
        dead = tape.register_output(w * w)
        del dead
    w.gradient = 1.0
    tape.evaluate()
    expected = 15.0 * START**2
    expected[1] = 5.0 * 3.0 * START[0] ** 2
    expected[0] += 5.0 * 6.0 * START[0] * START[1]
    assert_close([x.gradient], [expected])


@each_variant
def test_directions_that_are_seeded_together(variant):
    tape = new_tape(variant)
    with tape:
        x, y, _ = two_halves(tape)
        s = tape.register_output(y[0] * y[3])
    adjoints = tape.new_adjoints(width=5)
    adjoints[y] = np.eye(4, 5)
    adjoints[s] = [0.0, 0.0, 0.0, 0.0, 1.0]
    tape.evaluate(adjoints=adjoints)
    J, v = jacobian(), plain(START)
    assert_close([adjoints[x]], [np.column_stack([*J, J[0] * v[3] + J[3] * v[0]])])
    assert not x.gradient.any()         # the tape's own adjoints are others
    adjoints.clear()
    adjoints[x] = np.eye(4, 5)
    tape.evaluate_forward(adjoints=adjoints)
    assert_close([adjoints[y][:, :4]], [J])
    single = tape.new_adjoints()
    single[y] = 1.0
    tape.evaluate(adjoints=single)
    assert_close([single[x]], [J.sum(axis=0)])
    with pytest.raises(TapeError, match="another tape"):
        new_tape(variant).new_adjoints()[x]


@each_variant
def test_nested_recordings_on_two_tapes(variant):
    """The inner one differentiates what is plain for the outer one."""
    outer, inner = new_tape(variant), new_tape(variant)
    with outer:
        x = outer.register_input(START.copy())
        u = x * 2.0
        with inner:
            z = inner.register_input(x.value * 3.0)
            with pytest.raises(TapeError):
                z * u           # another tape's
            w = inner.register_output(z * z)
        w.gradient = 1.0
        inner.evaluate()
        u[1:] *= z.gradient[1:]
        with pytest.raises(TapeError):
            u + z
        y = outer.register_output(u)
    y.gradient = 1.0
    outer.evaluate()
    assert_close([z.gradient, x.gradient], [6.0 * START, np.r_[2.0, 12.0 * START[1:]]])
    assert codipy.active_tape() is None


@each_variant
def test_outputs_without_elements(variant):
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(START.copy())
        y = x * x
        s = y[0]
        x *= 2.0
        assert tape.register_output(y[:0]).shape == (0,)
        assert tape.register_output(x[4:]).shape == (0,)
        z = tape.register_output(y * s)
    z.gradient = 1.0
    tape.evaluate()
    assert x.gradient[1] == 2.0 * START[0] ** 2 * START[1]
