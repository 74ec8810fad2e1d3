# SPDX-License-Identifier: Apache-2.0
"""Sums of what waits: no statement of their own, the values and derivatives of NumPy's and of finite differences."""

import warnings

import numpy as np
import pytest

import codipy
import codipy.numpy as active_numpy
from tests.strategies import each_pair, new_tape

AXES = [None, 0, 1, 2, -1, (0, 2), (1, 2), (0, 1, 2), ()]
SHAPES = [(2, 3, 4), (3, 30, 7), (5, 1, 200), (1, 1, 1)]
STEP = 1e-40j


def points(shape):
    random = np.random.default_rng(3)
    return random.uniform(0.5, 2.0, shape), random.uniform(0.5, 2.0, shape[1:])


def weigh(total):
    """One number of sums, with other weights for all."""
    return np.sum(np.sin(np.arange(1.0, 1.0 + np.size(total))) * np.ravel(total))


def by_call(np, x, y, axis, keepdims):
    return weigh(np.sum(np.exp(x * y) - y, axis=axis, keepdims=keepdims))


def by_method(np, x, y, axis, keepdims):
    return weigh((np.exp(x * y) - y).mean(axis=axis, keepdims=keepdims))


def of_a_variable(np, x, y, axis, keepdims):
    z = np.exp(x * y) - y
    return weigh(np.sum(z, axis=axis, keepdims=keepdims) * np.sum(z)) + np.max(z)


def of_a_turned_one(np, x, y, axis, keepdims):
    return weigh(np.mean(x.T * y.T[..., None], axis=axis, keepdims=keepdims))


FUNCTIONS = [by_call, by_method, of_a_variable, of_a_turned_one]


def along(f, x, y, dx, dy):
    """The derivative along a direction: of what is analytic by a complex step."""
    return np.imag(f(x + STEP * dx, y + STEP * dy)) / 1e-40


@each_pair()
@pytest.mark.parametrize("doors", [np, active_numpy], ids=["numpy", "rebound"])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_values_are_numpys_and_slopes_those_along_directions(f, doors, variant):
    random = np.random.default_rng(4)
    for shape in SHAPES:
        x, y = points(shape)
        for axis in AXES:
            for keepdims in (False, True):
                tape = new_tape(variant)
                with tape:
                    u, v = tape.register_input(x.copy()), tape.register_input(y.copy())
                    z = tape.register_output(f(doors, u, v, axis, keepdims))
                value = f(np, x, y, axis, keepdims)
                assert codipy.value(z) == value
                z.gradient = 1.0
                tape.evaluate()
                dx, dy = random.normal(size=x.shape), random.normal(size=y.shape)
                slope = np.sum(u.gradient * dx) + np.sum(v.gradient * dy)
                if f is of_a_variable:      # np.max of complex numbers compares other parts
                    h = 1e-6
                    ends = [f(np, x + s * h * dx, y + s * h * dy, axis, keepdims) for s in (1, -1)]
                    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-5)
                else:
                    expected = along(lambda a, b, g=f, k=axis, d=keepdims: g(np, a, b, k, d), x, y, dx, dy)
                    np.testing.assert_allclose(slope, expected, rtol=1e-11, atol=1e-11)


def sums(x, y):
    return np.sum(x * y, axis=0), np.mean(np.sin(x) * y), (x * x - y).sum(axis=(0, 1))


@pytest.mark.parametrize("width", [1, 3])
def test_sweeps_in_several_directions_agree(width):
    """Forwards and back, with vectors of adjoints, and where adjoints are kept."""
    x, y = points((4, 9, 11))
    tape = codipy.Tape(strategy="auto")
    with tape:
        u, v = tape.register_input(x.copy()), tape.register_input(y.copy())
        outputs = [tape.register_output(z) for z in sums(u, v)]
    random = np.random.default_rng(5)
    tangents, adjoints = tape.new_adjoints(width=width), tape.new_adjoints(width=width)
    end = (width,) if width > 1 else ()
    directions = [random.normal(size=a.shape + end) for a in (x, y)]
    seeds = [random.normal(size=np.shape(codipy.value(z)) + end) for z in outputs]
    for a, direction in zip((u, v), directions, strict=True):
        tangents[a] = direction
    for z, seed in zip(outputs, seeds, strict=True):
        adjoints[z] = seed
    tape.evaluate_forward(adjoints=tangents)
    tape.evaluate(adjoints=adjoints)
    for k in range(width):
        def part(a, k=k):
            return a[..., k] if width > 1 else a

        dx, dy = map(part, directions)
        flows = [np.imag(z) / 1e-40 for z in sums(x + STEP * dx, y + STEP * dy)]
        for z, flow in zip(outputs, flows, strict=True):
            np.testing.assert_allclose(part(tangents[z]), flow, rtol=1e-11, atol=1e-11)
        there = sum(np.sum(part(seed) * flow) for seed, flow in zip(seeds, flows, strict=True))
        back = np.sum(part(adjoints[u]) * dx) + np.sum(part(adjoints[v]) * dy)
        np.testing.assert_allclose(back, there, rtol=1e-11)


def test_what_is_summed_at_once_takes_no_identifiers():
    tape = codipy.Tape(strategy="auto")
    with tape:
        x = tape.register_input(np.ones((50, 40)))
        y = tape.register_output(active_numpy.sum(x * x, axis=0))
        assert tape.statements == 2      # the input's and this
    y.gradient = np.ones(40)
    tape.evaluate()
    assert np.array_equal(x.gradient, np.full((50, 40), 2.0))
    assert tape.statistics().sections[0].counts["number of adjoints"] <= 1 + 2000 + 40


def test_a_sum_warns_once_and_where_it_stands():
    tape = codipy.Tape(strategy="auto")
    with tape, pytest.warns(RuntimeWarning, match="divide by zero") as found:
        x = tape.register_input(np.zeros((30, 40)))
        active_numpy.sum(1.0 / x, axis=0)
    assert len(found) == 1
    with tape, np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        active_numpy.sum(1.0 / tape.register_input(np.zeros((30, 40))), axis=0)


def test_a_wrong_axis_is_numpys_error():
    tape = codipy.Tape(strategy="auto")
    with tape:
        x = tape.register_input(np.ones((30, 40)))
        for f in (np.sum, active_numpy.sum):
            with pytest.raises(np.exceptions.AxisError):
                f(x * x, axis=2)
        assert tape.register_output(active_numpy.sum(x * x)).value == 1200.0


@pytest.mark.parametrize(("shape", "axis"), [((7, 90, 220), 1), ((7, 90, 220), -1), ((9, 2, 70, 111), -2),
                                             ((1801, 77), 1), ((40, 1, 4000), 1), ((33, 4000), -1)])
def test_sums_of_a_few_rows_after_the_other_are_numpys(shape, axis):
    """Bits, layout and slopes, of whole groups of rows and of what is left, with a broadcast operand and a number."""
    x, y = points(shape)
    for mean in (False, True):
        for keepdims in (False, True):
            plain, made = (f.mean if mean else f.sum for f in (np, active_numpy))
            tape = codipy.Tape(strategy="auto")
            with tape:
                u, v = tape.register_input(x.copy()), tape.register_input(y.copy())
                z = tape.register_output(made(np.pi * u * np.sin(v), axis=axis, keepdims=keepdims))
            expected = plain(np.pi * x * np.sin(y), axis=axis, keepdims=keepdims)
            assert np.array_equal(z.value, expected) and z.value.strides == expected.strides
            seed = np.random.default_rng(6).normal(size=expected.shape)
            z.gradient = seed
            tape.evaluate()
            flow = seed if keepdims else np.expand_dims(seed, axis)
            flow = flow * np.ones(shape) / (shape[axis] if mean else 1)
            np.testing.assert_allclose(u.gradient, np.pi * np.sin(y) * flow, rtol=1e-12)
            np.testing.assert_allclose(v.gradient, np.sum(np.pi * x * np.cos(y) * flow, axis=0), rtol=1e-10)


def test_sums_of_a_few_rows_warn_once():
    """Of overflows in the values, in the sums, and of both where the sums are finite."""
    x = np.full((1800, 77), 1.5)
    for start, f, message in [(np.where(x > 0, 1.7e308, x), lambda a: a * 1.0, "overflow encountered in reduce"),
                              (x * 0.0, lambda a: 1.0 / a, "divide by zero"),
                              (x * 0.0, lambda a: 1.0 / (1.0 / a), "divide by zero")]:
        with pytest.warns(RuntimeWarning, match=message) as expected:
            plain = np.sum(f(start), axis=1)
        tape = codipy.Tape(strategy="auto")
        with tape, pytest.warns(RuntimeWarning, match=message) as found:
            y = active_numpy.sum(f(tape.register_input(start)), axis=1)
        assert np.array_equal(y.value, plain)
        assert len(found) == len(expected)
        with np.errstate(all="raise"), codipy.Tape(strategy="auto") as tape, pytest.raises(FloatingPointError):
            active_numpy.sum(f(tape.register_input(start)), axis=1)


@pytest.mark.parametrize("total", [
    lambda x: x[0].sum(), lambda x: x[0].mean(), lambda x: np.sum(x[0]), lambda x: np.mean(x[0]), lambda x: x[:1].sum(),
    lambda x: np.add.reduce(x[0]), lambda x: np.add.reduce(x[:1]), lambda x: x[0].prod(), lambda x: x[::2].sum(),
])
def test_sum_of_a_negative_zero_has_numpys_sign(total):
    x = np.array([-0.0, 2.5, -0.0])
    value, slopes = codipy.value_and_grad(total)(x)
    assert np.signbit(value) == np.signbit(total(x)) and slopes[0] == 1.0


# ---- Means of nothing, which NumPy warns of --------------------------------------------------------------------------
MEANS = {
    "mean": lambda x: np.mean(x[x > 9.0]), "method": lambda x: x[x > 9.0].mean(),
    "of an expression": lambda x: np.mean(np.sin(x[:0]) * 2.0), "of constants": lambda x: np.mean(np.zeros(0)) + x[0],
    "axis": lambda x: np.sum(np.mean(x[:0].reshape(0, 2), axis=0)), "no axis": lambda x: x[:0].reshape(0, 2).mean(),
    "kept": lambda x: np.sum(np.mean(x[:0], axis=0, keepdims=True)),
    "other axis": lambda x: np.sum(np.mean(x[:0].reshape(0, 2), axis=1)) + x[0],
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("f", MEANS.values(), ids=MEANS)
def test_means_of_nothing_warn_as_in_numpy(f, dtype):
    def told(run):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            value = run(np.array([1.0, 2.0], dtype))
        return repr(value), [(each.category, str(each.message)) for each in found]

    assert told(lambda x: codipy.value_and_grad(f)(x)[0]) == told(f)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_means_of_nothing_raise_where_the_program_asks():
    def f(x):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="Mean of empty slice")
            try:
                return np.mean(x[x > 9.0])
            except RuntimeWarning:
                return 3.0 * x[0]

    value, gradient = codipy.value_and_grad(f)(np.array([1.0, 2.0]))
    assert value == 3.0
    assert gradient.tolist() == [3.0, 0.0]
