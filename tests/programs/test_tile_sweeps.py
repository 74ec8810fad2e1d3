# SPDX-License-Identifier: Apache-2.0
"""Array programs over tiles: reverse, tangents and Jacobians are those of the table's rows, element by element."""

import math

import numpy as np
import pytest

from codipy._testing.tiles import Call
from codipy.operations import BY_NAME, TABLE
from codipy.operations.codegen import AUXILIARY
from tests.programs.layouts import (
    RNG,
    alone,
    backwards,
    code,
    contiguous,
    draw,
    expected,
    layout_name,
    partials,
    plane,
    rows_of_three,
    same_bits,
    strided,
)  # fmt: skip

OPERANDS, STEPS, DIMENSIONS = 32, 48, 8


@pytest.mark.parametrize("layout", [contiguous, strided, backwards, rows_of_three, plane], ids=layout_name)
@pytest.mark.parametrize("row", TABLE, ids=layout_name)
def test_derivatives_are_those_of_the_table(row, layout):
    arguments = [layout(lambda shape, k=k: draw(row, k, shape)) for k in range(row.arity)]
    shape = arguments[0].shape
    slopes = partials(row, arguments).reshape(*shape, row.arity)
    slopes[..., list(row.constant)] = 0.0
    call = Call(alone(row), arguments, shape)
    seed = RNG.normal(size=shape)
    start = [RNG.normal(size=shape) for _ in arguments]
    adjoints = [layout(np.zeros) for _ in arguments]
    for adjoint, value in zip(adjoints, start, strict=True):
        adjoint[...] = value
    lhs = layout(np.zeros)
    lhs[...] = seed
    call.reverse(adjoints, lhs, keep=True)
    assert same_bits(lhs, seed)
    for k, adjoint in enumerate(adjoints):
        np.testing.assert_allclose(adjoint, start[k] + seed * slopes[..., k], rtol=1e-13, atol=1e-15)
    tangents = [layout(lambda shape: RNG.normal(size=shape)) for _ in arguments]
    out = layout(np.zeros)
    call.tangent(tangents, out)
    terms = [tangent * slopes[..., k] for k, tangent in enumerate(tangents)]
    np.testing.assert_allclose(out, sum(terms), rtol=1e-12, atol=1e-13 * max(abs(term).max() for term in terms))
    for k, jacobian in enumerate(call.jacobians([True] * row.arity)):
        np.testing.assert_allclose(jacobian, slopes[..., k], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", AUXILIARY)
def test_auxiliary_partials_hold_far_out(name):
    row = BY_NAME[name]
    x = np.array([-700.0, -40.0, -20.0, -1.0, -1e-9, 0.0, 1e-300, 1e-9, 0.3, 5.0, 20.0, 40.0, 700.0])
    arguments = [x, x[::-1].copy()][: row.arity]
    found = Call(alone(row), arguments, x.shape).jacobians([True] * row.arity)
    np.testing.assert_allclose(np.transpose(found), partials(row, arguments), rtol=2e-14, atol=5e-324)


def test_slopes_in_the_plane_neither_overflow_nor_cancel():
    axis = np.array([0.0, -0.0, 1e-200, -2.5, 1e-5, 3.0, 1e200, -1e300])
    row = BY_NAME["atan2"]
    arguments = [a.ravel() for a in np.meshgrid(axis, axis)]
    found = Call(alone(row), arguments, arguments[0].shape).jacobians([True, True])
    np.testing.assert_allclose(np.transpose(found), partials(row, arguments), rtol=2e-15, atol=5e-324)


def random_program(rng, operands, steps):
    """A program that uses every register and stays within tame values, as steps and as a NumPy function."""
    unary = ["sin", "tanh", "negative", "atan", "cos", "asinh", "positive", "expit"]
    binary = ["add", "subtract", "multiply", "maximum", "atan2", "logaddexp", "hypot"]
    program, unused = [], list(range(operands))
    for s in range(steps):
        left = unused.pop(0)
        pair = rng.random() < 0.7 or steps - s <= len(unused)
        if pair:
            right = unused.pop(0) if unused and rng.random() < 0.8 else int(rng.integers(operands + s))
            program.append((str(rng.choice(binary)), left, right))
        else:
            program.append((str(rng.choice(unary)), left))
        unused.append(operands + s)
    return program


def run_numpy(program, operands, tangents=None):
    """Values, and tangents if asked for, one NumPy call for each step."""
    registers, flows = list(operands), None if tangents is None else list(tangents)
    for name, *sources in program:
        row = BY_NAME[name]
        arguments = np.broadcast_arrays(*[registers[source] for source in sources])
        registers.append(expected(row, arguments))
        if flows is not None:
            slopes = np.moveaxis(partials(row, arguments).reshape(*arguments[0].shape, row.arity), -1, 0)
            flows.append(sum(np.where(flows[s] == 0, 0.0, flows[s] * p) for s, p in zip(sources, slopes, strict=True)))
    return registers[-1], None if flows is None else flows[-1]


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed):
    rng = np.random.default_rng(seed)
    operands = int(rng.integers(1, 6))
    program = random_program(rng, operands, int(rng.integers(operands, 20)))
    shape = [(7,), (300,), (601,), (9, 4), (3, 100), (40, 5, 3), (2, 3, 70)][seed % 7]
    shapes = [
        [shape, shape[1:], (), shape[:-1] + (1,)][int(rng.integers(4)) if seed % 2 else 0] for _ in range(operands)
    ]
    arrays = [rng.uniform(0.6, 1.4, s) for s in shapes]
    tangents = [np.broadcast_to(rng.normal(size=s), shape).copy() for s in shapes]
    active = [rng.random() < 0.8 for _ in arrays]
    tangents = [t if a else np.zeros(shape) for t, a in zip(tangents, active, strict=True)]
    call = Call([(BY_NAME[name].code, *sources) for name, *sources in program], arrays, shape)
    with np.errstate(all="ignore"):
        values, tangent = run_numpy(program, [np.broadcast_to(a, shape) for a in arrays], tangents)
    assert same_bits(call.values(np.empty(shape)), values)
    out = call.tangent([t if a else None for t, a in zip(tangents, active, strict=True)], np.empty(shape))
    np.testing.assert_allclose(out, tangent, rtol=1e-9, atol=1e-9)
    lhs = rng.normal(size=shape)
    left = (lhs * out).sum()
    adjoints = [np.zeros(shape) if a else None for a in active]
    call.reverse(adjoints, lhs)
    assert not lhs.any()
    right = sum((a * t).sum() for a, t in zip(adjoints, tangents, strict=True) if a is not None)
    scale = sum(abs(a * t).sum() for a, t in zip(adjoints, tangents, strict=True) if a is not None)
    assert math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-11 * (1 + scale))


def burgers(u):
    """Operands, steps and adjoints' places of a stencil whose operands overlap each other."""
    views = [slice(1, -1), slice(2, None), slice(None, -2), slice(1, -1)]
    steps = [
        (code("multiply"), 0, 1), (code("subtract"), 4, 2), (code("sin"), 3), (code("multiply"), 5, 6),
        (code("add"), 7, 3), (code("add"), 8, 0),
    ]  # fmt: skip
    return views, steps, lambda u: (u[1:-1] * u[2:] - u[:-2]) * np.sin(u[1:-1]) + u[1:-1] + u[1:-1]


@pytest.mark.parametrize("n", [5, 60, 1000])
def test_operands_may_overlap(n):
    u = RNG.uniform(0.5, 1.5, n + 2)
    views, steps, f = burgers(u)
    call = Call(steps, [u[view] for view in views], (n,))
    assert same_bits(call.values(np.empty(n)), f(u))
    lhs, gradient = RNG.normal(size=n), np.zeros(n + 2)
    expected_gradient = np.array([(lhs * f(u + 1e-30j * np.eye(n + 2)[k])).imag.sum() / 1e-30 for k in range(n + 2)])
    call.reverse([gradient[view] for view in views], lhs, keep=True)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-12, atol=1e-13)
    direction = RNG.normal(size=n + 2)
    tangent = call.tangent([direction[view] for view in views], np.empty(n))
    np.testing.assert_allclose(tangent, f(u + 1e-30j * direction).imag / 1e-30, rtol=1e-12, atol=1e-13)


def test_one_array_may_be_every_operand():
    x, gradient = RNG.uniform(1, 2, 500), np.zeros(500)
    call = Call([(code("multiply"), 0, 1), (code("multiply"), 3, 2)], [x, x, x], (500,))
    call.reverse([gradient] * 3, np.ones(500))
    np.testing.assert_allclose(gradient, 3 * x * x, rtol=1e-15)


@pytest.mark.parametrize("shape", [(7,), (600,), (50, 3), (40, 90), (6, 5, 4), (3, 4, 70)])
def test_what_is_broadcast_is_summed(shape):
    shapes = [shape, (), shape[1:], shape[:-1] + (1,)]
    arrays = [RNG.uniform(0.5, 2.0, s) for s in shapes]
    steps = [(code("multiply"), 0, 1), (code("multiply"), 4, 2), (code("divide"), 5, 3)]
    adjoints = [np.zeros(s) for s in shapes]
    lhs = RNG.normal(size=shape)
    full = [np.broadcast_to(a, shape) for a in arrays]
    value = Call(steps, arrays, shape).values(np.empty(shape))
    assert same_bits(value, full[0] * full[1] * full[2] / full[3])
    call = Call(steps, arrays, shape)
    places = [np.lib.stride_tricks.as_strided(a, shape, np.broadcast_to(a, shape).strides) for a in adjoints]
    call.reverse(places, lhs, keep=True)
    for array, adjoint, sign in zip(arrays, adjoints, (1, 1, 1, -1), strict=True):
        flow = lhs * value / np.broadcast_to(array, shape) * sign
        axes = tuple(range(len(shape) - array.ndim))
        flow = flow.sum(axis=axes)
        if array.ndim and array.shape[-1] == 1 and flow.shape[-1] != 1:
            flow = flow.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(adjoint, flow, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (2, 0, 1), (2, 1, 0)])
@pytest.mark.parametrize("short", [1, 2, 5, 70])
def test_what_is_broadcast_in_any_layout_is_summed(order, short):
    """Rows of `short` elements in memory, one array the same for all rows of a plane: tiles end at any row of it."""
    back = np.argsort(order)
    for n in (2, 7, *range(95, 110), 511 // short, 512 // short + 1, 513 // short + 1):
        x = RNG.normal(size=(3, n, short)).transpose(order)
        planes = np.broadcast_to(RNG.normal(size=(3, 1, short)), (3, n, short)).transpose(order)
        bars = np.zeros((3, 1, short))
        lhs = RNG.normal(size=(3, n, short)).transpose(order)
        out = np.empty((3, n, short)).transpose(order)
        steps = [(code("multiply"), 0, 1), (code("subtract"), 2, 1)]
        assert same_bits(Call(steps, [x, planes], x.shape).values(out), x * planes - planes)
        place = np.lib.stride_tricks.as_strided(bars, (3, n, short), (bars.strides[0], 0, 8)).transpose(order)
        active, seed = np.zeros((3, n, short)).transpose(order), lhs.copy()
        Call(steps, [x, planes], x.shape).reverse([active, place], lhs)
        np.testing.assert_allclose(active, seed * planes, rtol=1e-15)
        flow = (seed * (x - 1)).transpose(back).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(bars, flow, rtol=1e-11, atol=1e-11)
        assert not lhs.any()


@pytest.mark.parametrize("n", [3, 100, 1000])
def test_a_zero_adjoint_propagates_nothing(n):
    """Through an infinite partial, a NaN, an infinite factor, and in every mode."""
    x = np.zeros(n)
    x[n // 2] = 4.0
    steps = [(code("sqrt"), 0), (code("log"), 0), (code("multiply"), 2, 3), (code("multiply"), 4, 1)]
    factor = np.where(x > 0, 1.0, np.inf)
    lhs = np.where(x > 0, 1.0, -0.0)
    call = Call(steps, [x, factor], (n,))
    adjoints = [np.zeros(n), np.zeros(n)]
    call.reverse(adjoints, lhs)
    slope = np.log(4.0) / 4 + 2.0 / 4
    np.testing.assert_allclose(adjoints[0], np.where(x > 0, slope, 0.0), rtol=1e-15)
    np.testing.assert_allclose(adjoints[1], np.where(x > 0, 2 * np.log(4.0), 0.0), rtol=1e-15)
    assert not lhs.any()
    tangent = call.tangent([np.where(x > 0, 1.0, 0.0), np.zeros(n)], np.empty(n))
    np.testing.assert_allclose(tangent, np.where(x > 0, slope, 0.0), rtol=1e-15)
    with_nan = np.zeros(n)
    call.reverse([with_nan, None], np.full(n, np.nan))
    assert np.isnan(with_nan).all()


def test_the_adjoint_of_the_result_is_zeroed_where_it_is_read():
    whole = np.ones((30, 40))
    lhs = whole[3:-3, 2:9]
    Call([(code("sin"), 0)], [np.ones(lhs.shape)], lhs.shape).reverse([np.zeros(lhs.shape)], lhs)
    assert not lhs.any()
    assert whole.sum() == whole.size - lhs.size


def test_passive_operands_are_left_alone():
    x = RNG.normal(size=20)
    lhs = np.ones(20)
    call = Call([(code("multiply"), 0, 1)], [x, x + 1], (20,))
    call.reverse([None, None], lhs)
    assert not lhs.any()
    assert not call.tangent([None, None], np.full(20, np.nan)).any()
    assert call.jacobians([False, True])[0] is None
    np.testing.assert_array_equal(call.jacobians([False, True])[1], x)


@pytest.mark.parametrize(
    ("steps", "active", "needed"),
    [
        ([("add", 0, 1), ("subtract", 2, 0)], 0b11, 0),
        ([("multiply", 0, 1)], 0b01, 0b10),
        ([("multiply", 0, 1)], 0b11, 0b11),
        ([("multiply", 0, 1), ("add", 2, 0)], 0b10, 0b01),
        ([("exp", 0)], 0b01, 0b01),
        ([("tanh", 0)], 0b01, 0b01),
        ([("divide", 0, 1)], 0b01, 0b10),
        ([("divide", 0, 1)], 0b10, 0b11),
        ([("add", 0, 1), ("sin", 2), ("multiply", 3, 1)], 0b01, 0b11),
        ([("copysign", 0, 1)], 0b10, 0),
        ([("scale", 0, 1)], 0b11, 0b10),
    ],
)
def test_needed_operands(steps, active, needed):
    steps = [(code(name), *sources) for name, *sources in steps]
    x = np.ones(3)
    assert Call(steps, [x, x], (3,)).needed(active) == needed


@pytest.mark.parametrize("shape", [(10,), (500,), (20, 3), (9, 63), (9, 64)])
def test_the_longest_program(shape):
    arrays = [RNG.uniform(0.5, 1.5, shape)[..., ::-1] for _ in range(OPERANDS)]
    steps = [(code("multiply" if s % 3 else "add"), OPERANDS + s - 1 if s else 0, s % OPERANDS) for s in range(STEPS)]
    call = Call(steps, arrays, shape)
    value, flow = arrays[0], np.zeros(shape)
    tangents = [RNG.normal(size=shape) for _ in arrays]
    flow = tangents[0]
    for s in range(STEPS):
        other, slope = arrays[s % OPERANDS], tangents[s % OPERANDS]
        value, flow = (value * other, flow * other + value * slope) if s % 3 else (value + other, flow + slope)
    assert same_bits(call.values(np.empty(shape)), value)
    np.testing.assert_allclose(call.tangent(tangents, np.empty(shape)), flow, rtol=1e-11, atol=1e-11)
    lhs, adjoints = RNG.normal(size=shape), [np.zeros(shape)[..., ::-1] for _ in arrays]
    left = (lhs * flow).sum()
    call.reverse(adjoints, lhs)
    assert math.isclose(left, sum((a * t).sum() for a, t in zip(adjoints, tangents, strict=True)), rel_tol=1e-9)
    with pytest.raises(ValueError, match="too many"):
        Call([*steps, steps[0]], arrays, shape)
    with pytest.raises(ValueError, match="too many"):
        Call(steps, [*arrays, arrays[0]], shape)


def test_as_many_dimensions_as_there_may_be():
    x = RNG.uniform(0.5, 1.5, (2,) * DIMENSIONS)
    x = np.moveaxis(x, 0, -1)[..., :1, :]
    assert same_bits(Call([(code("exp"), 0)], [x], x.shape).values(np.empty(x.shape)), np.exp(x))
    adjoint, lhs = np.zeros(x.shape), RNG.normal(size=x.shape)
    Call([(code("square"), 0)], [x], x.shape).reverse([adjoint], lhs, keep=True)
    np.testing.assert_allclose(adjoint, 2 * x * lhs, rtol=1e-15)
    with pytest.raises(ValueError, match="too many"):
        Call([(code("exp"), 0)], [x[None]], (1, *x.shape))


def test_a_register_may_be_read_often_and_a_step_not_at_all():
    x = RNG.uniform(0.5, 1.5, 300)
    steps = [
        (code("square"), 0),
        (code("exp"), 0),
        (code("multiply"), 1, 1),
        (code("add"), 3, 1),
        (code("fma"), 4, 1, 3),
    ]
    value = Call(steps, [x], (300,)).values(np.empty(300))
    x2 = x * x
    np.testing.assert_allclose(value, (x2 * x2 + x2) * x2 + x2 * x2, rtol=1e-15)
    found = Call(steps, [x], (300,)).jacobians([True])[0]
    np.testing.assert_allclose(found, 6 * x**5 + 8 * x**3, rtol=1e-14)
