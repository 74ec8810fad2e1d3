# SPDX-License-Identifier: Apache-2.0
"""Array programs over tiles: values are NumPy's bit for bit, whatever the memory looks like."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from codipy._testing.tiles import Call
from codipy.operations import BY_NAME, TABLE, codegen
from tests.programs.layouts import LAYOUTS, RNG, alone, code, draw, expected, layout_name, same_bits

SPECIALS = np.array([0.0, -0.0, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1.7e308, 0.5, -2.5])


@pytest.mark.parametrize("row", TABLE, ids=layout_name)
def test_values_are_numpys(row):
    for layout in LAYOUTS:
        arguments = [layout(lambda shape, k=k: draw(row, k, shape)) for k in range(row.arity)]
        out = np.full(arguments[0].shape, np.nan)
        Call(alone(row), arguments, out.shape).values(out)
        assert same_bits(out, expected(row, arguments)), layout_name(layout)


@pytest.mark.parametrize("row", TABLE, ids=layout_name)
def test_values_of_special_numbers_are_numpys(row):
    grid = list(np.meshgrid(*[SPECIALS] * row.arity))
    if row.name == "scale":
        grid[1] = np.where(abs(grid[1]) < 1e9, np.floor(grid[1]), 3.0)  # whole numbers, and NaN is none
    arguments = [np.tile(axis.ravel(), 2) for axis in grid]
    out = np.empty(arguments[0].shape)
    Call(alone(row), arguments, out.shape).values(out)
    assert same_bits(out, expected(row, arguments))


@pytest.mark.parametrize(
    "shapes",
    [[(), (90, 70)], [(70,), (90, 70)], [(90, 1), (70,)], [(5, 1, 3), (4, 1)], [(2, 9000), (2, 1)], [(40, 3), (40, 1)]],
)
@pytest.mark.parametrize("row", [row for row in TABLE if row.arity == 2], ids=layout_name)
def test_values_are_broadcast(row, shapes):
    arguments = [draw(row, k, shape) for k, shape in enumerate(shapes)]
    if row.name == "power":
        arguments[1] = np.round(arguments[1])  # NumPy's loop looks for 2 where the exponent does not move
    shape = np.broadcast_shapes(*shapes)
    out = np.empty(shape)
    Call(alone(row), arguments, shape).values(out)
    assert same_bits(out, expected(row, arguments))


@pytest.mark.parametrize("exponent", [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("shape", [(1,), (5,), (1000,), (400, 3)])
def test_a_constant_exponent_takes_numpys_short_cut(shape, exponent):
    x = RNG.uniform(0.1, 9.0, shape)
    out = np.empty(shape)
    Call(alone(BY_NAME["power"]), [x, np.array(exponent)], shape).values(out)
    assert same_bits(out, np.power(x, exponent))


@pytest.mark.parametrize("length", [3, 70, 6000, 9000])
def test_an_exponent_for_each_row_is_seen_as_numpy_sees_it(length):
    x, exponents = RNG.uniform(0.1, 9.0, (4, length)), np.array([[2.0], [3.0], [0.5], [-1.0]])
    out = np.empty(x.shape)
    Call(alone(BY_NAME["power"]), [x, exponents], x.shape).values(out)
    assert same_bits(out, np.power(x, exponents))


BACK = [(2, 40), (12, 1000), (4, 6000), (2, 3, 30), (2, 2, 6100), (5, 2, 3000)]


@pytest.mark.parametrize("shape", BACK)
@pytest.mark.parametrize("other", ["the same", "a row", "a column", "forwards"])
@pytest.mark.parametrize("name", ["atan2", "power", "exp"])
def test_rows_that_go_back_are_seen_as_numpy_sees_them(name, other, shape):
    """NumPy copies them, or not: that depends on their length and on how many arguments it would have to copy."""
    row = BY_NAME[name]
    shapes = {"the same": shape, "a row": shape[-1:], "a column": (*shape[:-1], 1), "forwards": shape}
    arguments = [draw(row, k, shapes[other] if k else shape)[..., ::-1] for k in range(row.arity)]
    if other == "forwards":
        arguments[1:] = [a[..., ::-1] for a in arguments[1:]]
    if name == "power" and other == "a column":
        arguments[1] = np.round(arguments[1])
    out = np.empty(shape)
    Call(alone(row), arguments, shape).values(out)
    assert same_bits(out, expected(row, arguments))


@pytest.mark.parametrize("layout", LAYOUTS, ids=layout_name)
def test_the_result_may_be_a_view(layout):
    x = layout(lambda shape: RNG.uniform(0.5, 2.0, shape))
    out = layout(lambda shape: np.zeros(shape))
    whole = out if out.base is None else out.base
    code = {name: BY_NAME[name].code for name in ("multiply", "exp", "subtract")}
    Call([(code["multiply"], 0, 0), (code["exp"], 1), (code["subtract"], 2, 0)], [x], x.shape).values(out)
    assert same_bits(out, np.exp(x * x) - x)
    assert np.count_nonzero(whole) == np.count_nonzero(out)


def test_without_scipy_the_scalar_kernel_gives_the_value():
    program = """
import sys
sys.modules["scipy"] = sys.modules["scipy.special"] = None
import numpy as np
from codipy._testing import kernels
from codipy.operations import TABLE
from codipy._testing.tiles import Call
x = np.linspace(0.1, 3.0, 300)
for row in (row for row in TABLE if row.scipy and not row.numpy):
    found = Call([(row.code, 0)], [x], x.shape).values(np.empty(300))
    assert found.tolist() == [kernels.value(row.code, float(v)) for v in x], row.name
"""
    subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parents[2], check=True)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("outer", codegen.PAIRED)
@pytest.mark.parametrize("inner", codegen.PAIRED)
def test_two_steps_in_one_loop(inner, outer, side):
    """Also where the first step is read again later, or twice by the next, and where pairs follow each other."""
    x, y, z = (RNG.uniform(-2.0, 2.0, 333) for _ in range(3))
    first, second = getattr(np, inner), getattr(np, outer)
    value = second(z, first(x, y)) if side else second(first(x, y), z)
    pair = [(code(inner), 0, 1), (code(outer), 2, 3) if side else (code(outer), 3, 2)]
    assert same_bits(Call(pair, [x, y, z], (333,)).values(np.empty(333)), value)
    again = [*pair, (code("multiply"), 4, 3), (code(inner), 5, 4), (code(outer), 6, 6)]
    both = first(value * first(x, y), value)
    assert same_bits(Call(again, [x, y, z], (333,)).values(np.empty(333)), second(both, both))
    more = [(code(inner), 4, 0), (code(outer), 5, 1), (code(inner), 6, 2), (code("exp"), 7), (code("add"), 8, 4)]
    long = first(second(first(value, x), y), z)
    assert same_bits(Call([*pair, *more], [x, y, z], (333,)).values(np.empty(333)), np.exp(long) + value)


def test_threads_share_nothing():
    arrays = [RNG.uniform(0.5, 1.5, (40, 70, 3)) for _ in range(8)]
    steps = [(code("sin"), 0), (code("multiply"), 1, 0), (code("exp"), 2)]

    def work(x):
        return [Call(steps, [x], x.shape).values(np.empty(x.shape)) for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        for x, results in zip(arrays, pool.map(work, arrays), strict=True):
            assert all(same_bits(result, np.exp(np.sin(x) * x)) for result in results)


def test_auxiliary_and_exact_rows_are_rows():
    assert set(codegen.AUXILIARY) | codegen.EXACT <= set(BY_NAME)
    for name, entries in codegen.AUXILIARY.items():
        assert len(entries) == BY_NAME[name].arity


def test_what_is_no_array_of_doubles_is_refused():
    with pytest.raises(TypeError, match="float64"):
        Call([(code("exp"), 0)], [np.ones(3, np.float32)], (3,))
    with pytest.raises(ValueError, match="shape of the result"):
        Call([(code("exp"), 0)], [np.ones(3)], (3,)).values(np.empty(4))
    with pytest.raises(ValueError, match="no step"):
        Call([], [np.ones(3)], (3,))
