# SPDX-License-Identifier: Apache-2.0
"""Plain arrays beside Arrays: what they held when they were used counts, and what is used again is copied once."""
import numpy as np
import pytest

import codipy
from tests.active.recording import each_variant

U = np.linspace(0.5, 1.5, 70)


def layouts():
    a = np.random.default_rng(3).uniform(0.1, 0.9, (140, 140))
    return {"C": a[:70, :70].copy(), "F": a[:70, :70].copy().T, "cut": a[::2, ::2], "turned": a[:70, :70].copy()[::-1]}


def run(f, variant):
    """Value and gradient of a function that gets plain arrays as a code that is not rebuilt does."""
    tape = codipy.Tape(strategy=variant[0], granularity=variant[1])
    with tape:
        x = tape.register_input(codipy.Array(U))
        y = tape.register_output(f(x))
    y.gradient = 1.0
    tape.evaluate()
    return y.value, x.gradient, tape


@each_variant
@pytest.mark.parametrize("layout", ["C", "F", "cut", "turned"])
def test_what_an_array_held_when_it_was_used_counts(variant, layout):
    def f(x):
        a = layouts()[layout]
        total = np.sum(np.sin(a @ x))
        for k in range(4):
            total = total + np.sum(a[k] * x * x) + np.sum((a @ x) ** 2)
            if k % 2:
                a[k] = a[k] * 2.0
                a[k + 1, 3] = -0.0
        return total

    value, gradient, _ = run(f, variant)
    assert value == f(U)
    step = 1e-6
    expected = [(f(U + step * e) - f(U - step * e)) / (2 * step) for e in np.eye(U.size)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def kept_bytes(f):
    return run(f, ("auto", "statement"))[2].statistics()["array values"].memory.used


def test_what_is_used_again_is_kept_once():
    a = layouts()["C"]

    def times(n):
        def f(x):
            for _ in range(n):
                x = np.tanh(a @ x)
            return np.sum(x)
        return f

    assert kept_bytes(times(40)) - kept_bytes(times(4)) < 2 * a.nbytes


def test_the_same_numbers_made_anew_are_kept_once():
    def times(n):
        def f(x):
            for _ in range(n):
                x = np.tanh(np.linspace(0.0, 0.02, 4900).reshape(70, 70) @ x)
            return np.sum(x)
        return f

    assert kept_bytes(times(40)) - kept_bytes(times(4)) < 2 * 8 * 4900


def test_a_copy_goes_with_the_array_that_it_was_made_of():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(codipy.Array(U))
        arrays = [np.full(70, float(k)) for k in range(30)]
        y = sum(np.sum(np.sin(x * a)) for a in arrays)
        many = len(tape.constants)
        del arrays
        assert many > 30 > len(tape.constants) and len(tape.constants) < 6
        tape.register_output(y)
    y.gradient = 1.0
    tape.evaluate()
    np.testing.assert_allclose(x.gradient, sum(k * np.cos(U * k) for k in np.arange(30.0)), rtol=1e-12)


def test_zeros_of_another_sign_are_another_array():
    zeros = np.zeros(70)

    def f(x):
        first = np.sum(np.copysign(x, zeros))
        zeros[:] = -0.0
        second = np.sum(np.copysign(x, zeros))
        zeros[:] = 0.0
        return first + 2.0 * second

    value, gradient, _ = run(f, ("auto", "statement"))
    assert value == f(U)
    np.testing.assert_array_equal(gradient, np.full(70, -1.0))


def test_copies_that_nobody_uses_go():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(codipy.Array(U))
        kept = [np.full(70, float(k)) for k in range(50)]
        for c in kept:
            x = x + c
        tape.register_output(np.sum(x))
    assert len(tape.constants) <= 20
    tape.reset()
    assert not tape.constants


@each_variant
def test_a_flag_that_forbids_writing_is_no_promise(variant):
    def f(x):
        owner = np.arange(70.0)
        older = owner[:]
        owner.flags.writeable = False
        total = np.sum(owner * np.sin(x))
        late = owner * x
        older[:] = 7.0
        total = total + np.sum(late * late)
        owner.flags.writeable = True
        owner[3:] = -1.0
        return total

    value, gradient, _ = run(f, variant)
    assert value == f(U)
    np.testing.assert_allclose(gradient, np.arange(70.0) * np.cos(U) + 2.0 * np.arange(70.0) ** 2 * U, rtol=1e-12)
