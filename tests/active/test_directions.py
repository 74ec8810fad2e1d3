# SPDX-License-Identifier: Apache-2.0
"""Sweeps in several directions give in each what a sweep in that direction alone gives."""

import numpy as np
import pytest

import codipy
from codipy.tape.adjoints import _long_from
from codipy.tools.threads import set_num_threads
from tests.programs.widths import NEVER, compiling
from tests.programs.widths import WIDTHS as VECTORS
from tests.strategies import each_strategy

WIDTHS = [2, 3, 5, 8, 13, 16, 17, 40]
SIDE_BY_SIDE = 1 << 40           # identifiers for each step, which no tape has


@pytest.fixture(params=[(n, v) for n in (SIDE_BY_SIDE, 0) for v in (NEVER, *VECTORS)], ids=str)
def layout(request):
    """Directions side by side and in planes; loops one by one and compiled at once."""
    identifiers, vectors = request.param
    before = _long_from(identifiers)
    with compiling(vectors):
        yield
    _long_from(before)


def _functions(x, y, z):
    return np.exp(x) * np.log(y) + np.sin(z) / y


def _units(x, y, z):
    return x - y + z - x


def _selections(x, y, z):
    return np.maximum(x, y) * np.abs(z) + np.sqrt(np.maximum(x - 1.0, 0.0)) + np.where(x > y, z, x * y)


def _prepared(x, y, z):
    return np.arcsin(0.3 * x) + np.hypot(x, y) + np.tan(z) ** 2.5 - y**x


def _broadcast(x, y, z):
    return x * y[..., :1] + z[..., 0:1] * np.cos(y) - x.T.T / 3.0


def _shifts(x, y, z):
    return x[..., 1:] * y[..., :-1] + x[..., :-1] - 0.25 * x[..., 1:] * z[..., ::-1][..., 1:]


def _in_place(x, y, z):
    u = x.copy()
    u[..., 1:-1] = u[..., 1:-1] * y[..., :-2] - np.exp(-u[..., 2:])
    u *= z
    return u


def _sums(x, y, z):
    return np.sum(x * np.exp(y), axis=-1) + np.mean(z * x) * np.sum(y)


def _long(x, y, z):
    u = x
    for k in range(11):
        u = np.sin(u) * y + np.cos(z * u) / (2.0 + k)
    return u


def _products(x, y, z):
    return (x @ np.swapaxes(y, -1, -2)) @ z if x.ndim > 1 else x * (y @ z)


def _moves(x, y, z):
    return np.concatenate([x[..., ::2], np.sort(y, -1), np.cumsum(z, -1)], -1) * 1.5


FUNCTIONS = [_functions, _units, _selections, _prepared, _broadcast, _shifts, _in_place, _sums, _long, _products,
             _moves]
SHAPES = [(5,), (1,), (70,), (700,), (3, 5), (30, 70), (7, 600), (2, 3, 4)]


def _recorded(f, arguments, strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        inputs = [tape.register_input(a.copy()) for a in arguments]
        output = tape.register_output(f(*inputs))
    return tape, inputs, output


def _swept(tape, inputs, output, seeds, width, reverse):
    """The derivatives of what the sweep comes to."""
    sources, ends = ([output], inputs) if reverse else (inputs, [output])
    adjoints = tape.new_adjoints(width=width)
    for source, seed in zip(sources, seeds, strict=True):
        adjoints[source] = seed if width > 1 else seed[..., 0]
    (tape.evaluate if reverse else tape.evaluate_forward)(adjoints=adjoints)
    return [np.reshape(adjoints[end], (*end.shape, width)) for end in ends]


def _compare(f, arguments, strategy, width, holes):
    tape, inputs, output = _recorded(f, arguments, strategy)
    random = np.random.default_rng(width)
    for reverse in (True, False):
        seeds = [random.standard_normal((*a.shape, width)) for a in ([output] if reverse else inputs)]
        for seed in seeds:
            if holes:        # whole directions, single numbers
                seed[random.random(seed.shape) < 0.4] = 0.0
                seed[..., random.random(width) < 0.3] = 0.0
        found = _swept(tape, inputs, output, seeds, width, reverse)
        for k in range(width):
            alone = _swept(tape, inputs, output, [seed[..., k:k + 1] for seed in seeds], 1, reverse)
            for several, one in zip(found, alone, strict=True):
                np.testing.assert_allclose(several[..., k], one[..., 0], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("width", WIDTHS)
def test_each_direction_is_a_sweep_of_its_own(f, width):
    _compare_shapes(f, SHAPES, width)


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("width", [3, 8, 16])
def test_each_direction_in_every_layout(f, width, layout):
    _compare_shapes(f, [(5,), (70,), (30, 20), (4, 300)], width)


@pytest.mark.parametrize("f", [_functions, _selections, _shifts, _long])
@pytest.mark.parametrize("width", [3, 8, 16, 17, 27, 100, 150])
@pytest.mark.parametrize("vectors", VECTORS)
def test_compiled_loops_over_many_directions_give_the_same_bits(f, width, vectors):
    with compiling(vectors):
        _compare_shapes(f, [(5,), (16,), (70,), (300,)], width)
    random = np.random.default_rng(5)
    tape, inputs, output = _recorded(f, [random.uniform(0.5, 1.5, 70) for _ in range(3)], "auto")
    for reverse in (True, False):
        seeds = [random.standard_normal((*a.shape, width)) for a in ([output] if reverse else inputs)]
        found = []
        for way in (NEVER, vectors):
            with compiling(way):
                found.append(_swept(tape, inputs, output, seeds, width, reverse))
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one, other)


def _compare_shapes(f, shapes, width):
    random = np.random.default_rng(1)
    for shape in shapes:
        if f is _products and len(shape) > 1:
            shape = (*shape[:-2], shape[-1], shape[-1])
            if shape[-1] > 80:
                continue
        if f in (_shifts, _in_place) and shape[-1] < 3:
            continue
        arguments = [random.uniform(0.5, 1.5, shape) for _ in range(3)]
        _compare(f, arguments, "auto", width, holes=width % 2)


@each_strategy
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("identifiers", [SIDE_BY_SIDE, 0])
def test_each_direction_on_every_strategy(f, strategy, identifiers):
    random, before = np.random.default_rng(2), _long_from(identifiers)
    for shape in ((6, 6), (40,)):
        _compare(f, [random.uniform(0.5, 1.5, shape) for _ in range(3)], strategy, 6, holes=True)
    _long_from(before)


@pytest.mark.parametrize("width", [3, 8])
def test_variables_that_come_later_and_single_numbers(width, layout):
    """Seeds are there before the recording ends: what a vector holds moves to a larger one; elements, sums, scalars."""
    tape = codipy.Tape(strategy="jacobian")
    adjoints, seed = tape.new_adjoints(width=width), np.arange(1.0, width + 1.0)
    with tape:
        x = tape.register_input(np.linspace(0.5, 1.5, 90))
        first = tape.register_output(np.exp(x) * x)
        adjoints[first] = np.multiply.outer(np.linspace(1.0, 2.0, 90), seed)
        number = tape.register_output(x[3] * x[4] + np.sum(x * x))
        last = tape.register_output(x[::2] * number)
    adjoints[number] = seed
    adjoints[last] = np.ones((45, width))
    assert np.array_equal(adjoints[number], seed) and np.array_equal(adjoints[last][:, -1], np.ones(45))
    tape.evaluate(adjoints=adjoints)
    values, down = x.value, np.array([1.0 if k % 2 == 0 else 0.0 for k in range(90)])
    inner = 2.0 * values + np.where(np.arange(90) == 3, values[4], 0.0) + np.where(np.arange(90) == 4, values[3], 0.0)
    for k in range(width):
        bar = seed[k] + values[::2].sum()
        expected = (np.linspace(1.0, 2.0, 90) * seed[k] * np.exp(values) * (1.0 + values) + bar * inner
                    + down * (values[3] * values[4] + values @ values))
        np.testing.assert_allclose(adjoints[x][:, k], expected, rtol=1e-13)
    adjoints.clear()
    assert not adjoints[x].any()


def test_float32_and_threads(layout):
    random = np.random.default_rng(3)
    _compare(_functions, [random.uniform(0.5, 1.5, 300).astype(np.float32) for _ in range(3)], "auto", 8, holes=False)
    arguments = [random.uniform(0.5, 1.5, 200_000) for _ in range(3)]
    tape, inputs, output = _recorded(_functions, arguments, "auto")
    seeds = [random.standard_normal((*output.shape, 3))]
    alone = _swept(tape, inputs, output, seeds, 3, True)
    set_num_threads(2)
    try:
        for one, other in zip(alone, _swept(tape, inputs, output, seeds, 3, True), strict=True):
            assert np.array_equal(one, other)
    finally:
        set_num_threads(1)


@pytest.mark.parametrize("width", [2, 8, 11])
def test_nothing_flows_from_zero_in_any_direction(width, layout):
    """Through partials that are infinite or no numbers; what is not zero takes them."""
    x = np.concatenate([np.zeros(9), np.full(9, np.nan), np.ones(90)])
    tape = codipy.Tape(strategy="auto")
    with tape, np.errstate(all="ignore"):
        u = tape.register_input(x.copy())
        y = tape.register_output(np.sqrt(u) + np.log(u) * 2.0)
    adjoints = tape.new_adjoints(width=width)
    seed = np.zeros((x.size, width))
    seed[:, width - 1] = 1.0
    seed[20, 0] = 1.0
    adjoints[y] = seed
    tape.evaluate(adjoints=adjoints)
    found = adjoints[u]
    assert np.array_equal(found[:, 0], np.where(np.arange(x.size) == 20, 2.5, 0.0))
    assert np.isinf(found[:9, -1]).all() and np.isnan(found[9:18, -1]).all() and (found[18:, -1] == 2.5).all()
    assert not found[:, 1:-1].any()


def test_many_operands_take_several_turns(layout):
    """So many that a tile does not carry all directions at once."""
    random = np.random.default_rng(4)
    arguments = [random.uniform(0.5, 1.5, (9, 41)) for _ in range(14)]

    def f(*xs):
        u = xs[0]
        for x in xs[1:]:
            u = u * x + x / 3.0
        return u

    _compare(f, arguments, "auto", 37, holes=True)


_PRODUCTS = {
    "matrix and vector": ((9, 7), (7,)), "vector and matrix": ((9,), (9, 4)), "vectors": ((6,), (6,)),
    "matrices": ((3, 4), (4, 5)), "large": ((40, 30), (30, 50)), "large and a vector": ((70, 90), (90,)),
    "stacks": ((5, 3, 4), (5, 4, 2)), "a stack and a matrix": ((6, 3, 4), (4, 70)),
    "a matrix and a stack": ((3, 4), (2, 5, 4, 6)), "broadcast stacks": ((2, 1, 3, 4), (5, 4, 2)),
    "large stacks": ((3, 20, 30), (3, 30, 25)), "one column": ((80, 90), (90, 1)),
}  # fmt: skip


@pytest.mark.parametrize("width", [2, 7, 16])
@pytest.mark.parametrize("name", _PRODUCTS)
def test_products_in_several_directions(name, width):
    """Of variables, of one beside a plain array, of views that lie otherwise."""
    random = np.random.default_rng(5)
    a, b = (random.standard_normal(shape) for shape in _PRODUCTS[name])
    _compare(lambda x, y: (x @ y) * 1.5, [a, b], "auto", width, holes=True)
    _compare(lambda x: a @ x, [b], "auto", width, holes=True)
    _compare(lambda x: x @ b, [a], "auto", width, holes=False)
    if a.ndim > 1 and b.ndim > 1:
        _compare(lambda x, y: np.swapaxes(x, -1, -2) @ np.swapaxes(y, -1, -2)[..., ::-1],
                 [np.swapaxes(a, -1, -2).copy(), np.swapaxes(b, -1, -2).copy()], "primal", width, holes=True)


@pytest.mark.parametrize("n", [5, 60])
def test_nothing_flows_from_a_direction_of_zeros_through_a_product(n):
    """In one direction the product is left out; beside others an infinite factor must not make it a NaN."""
    plain = np.ones((n, n))
    plain[0, 0] = np.inf
    tape = codipy.Tape(strategy="auto")
    with tape, np.errstate(all="ignore"):
        x = tape.register_input(np.ones(n))
        y = tape.register_output(plain @ x)
    adjoints = tape.new_adjoints(width=3)
    seed = np.zeros((n, 3))
    seed[1:, 1] = 1.0
    adjoints[y] = seed
    with np.errstate(all="ignore"):
        tape.evaluate(adjoints=adjoints)
    assert not adjoints[x][:, 0].any() and not adjoints[x][:, 2].any()
    assert (adjoints[x][1:, 1] == n - 1).all()


@pytest.mark.parametrize(("rows", "columns"), [(3, 200), (200, 3), (60, 60)])
def test_jacobians_carry_more_directions_where_adjoints_are_few(rows, columns):
    random = np.random.default_rng(6)
    matrix, x = random.standard_normal((rows, columns)), random.standard_normal(columns)
    expected = np.cos(matrix @ x)[:, None] * matrix
    for width in (None, 1, 5, 16, 500):
        for mode in ("auto", "reverse", "forward"):
            found = codipy.jacobian(lambda x: np.sin(matrix @ x), mode=mode, width=width)(x)
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
