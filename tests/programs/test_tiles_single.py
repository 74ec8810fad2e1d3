# SPDX-License-Identifier: Apache-2.0
"""Array programs whose steps are rounded to float32: NumPy's float32 values bit for bit, derivatives in double."""

import numpy as np
import pytest

from codipy._testing.tiles import Call
from codipy.operations import BY_NAME, TABLE
from codipy.programs.tiles import ufunc_of
from tests.programs.layouts import LAYOUTS, RNG, alone, draw, layout_name, same_bits

STEPS, RESULT = 1, 2
ROWS = [row for row in TABLE if ufunc_of(row) is not None and row.name != "scale"]
SHAPES = [(1,), (5,), (300,), (9000,), (7, 3), (40, 70), (3, 9000)]


def rounded(shape, low=0.2, high=3.0):
    """Doubles that float32 holds."""
    return RNG.uniform(low, high, shape).astype(np.float32).astype(float)


@pytest.mark.parametrize("row", ROWS, ids=layout_name)
def test_values_are_numpys(row):
    for layout in LAYOUTS:
        wide, narrow = [], []
        for k in range(row.arity):
            made = []

            def make(shape, k=k, made=made):
                made.append(draw(row, k, shape).astype(np.float32))
                return made[-1].astype(float)

            wide.append(layout(make))
            narrow.append(layout(lambda shape, made=made: made.pop(0)))
        out = np.full(wide[0].shape, np.nan)
        with np.errstate(all="ignore"):
            expected = ufunc_of(row)(*narrow)
        assert expected.dtype == np.float32
        Call(alone(row), wide, out.shape, single=STEPS).values(out)
        assert same_bits(out, expected.astype(float)), layout_name(layout)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("inner", ["add", "subtract", "multiply"])
@pytest.mark.parametrize("outer", ["add", "subtract", "multiply"])
def test_pairs_round_twice(inner, outer, shape):
    x, y, z = (rounded(shape) for _ in range(3))
    steps = [(BY_NAME[inner].code, 0, 1), (BY_NAME[outer].code, 2, 3)]
    narrow = [v.astype(np.float32) for v in (x, y, z)]
    expected = getattr(np, outer)(narrow[2], getattr(np, inner)(*narrow[:2]))
    out = Call(steps, [x, y, z], shape, single=STEPS).values(np.empty(shape))
    assert same_bits(out, expected.astype(float))
    wide = getattr(np, outer)(z, getattr(np, inner)(x, y))
    out = Call(steps, [x, y, z], shape, single=RESULT).values(np.empty(shape))
    assert same_bits(out, wide.astype(np.float32).astype(float))
    assert same_bits(Call(steps, [x, y, z], shape).values(np.empty(shape)), wide)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("number", [0.1, 1 / 3, 1e300, 1e-300, -0.0])
def test_numbers_are_rounded_first(shape, number):
    x = rounded(shape)
    for name in ("add", "multiply", "divide"):
        for order in (1, -1):
            operands = [x, np.array(number)][::order]
            with np.errstate(all="ignore"):
                expected = getattr(np, name)(*[v.astype(np.float32) for v in operands])
            out = Call([(BY_NAME[name].code, 0, 1)], operands, shape, single=STEPS).values(np.empty(shape))
            assert same_bits(out, expected.astype(float)), name
    assert x.tobytes() == x.astype(np.float32).astype(float).tobytes()


@pytest.mark.parametrize("exponent", [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 0.3])
@pytest.mark.parametrize("shape", [(1,), (5,), (1000,), (400, 3), (3, 9000)])
def test_a_constant_exponent_takes_numpys_short_cut(shape, exponent):
    x = rounded(shape)
    out = Call([(BY_NAME["power"].code, 0, 1)], [x, np.array(exponent)], shape, single=STEPS).values(np.empty(shape))
    assert same_bits(out, np.power(x.astype(np.float32), np.float32(exponent)).astype(float))


@pytest.mark.parametrize("shape", SHAPES)
def test_sweeps_see_the_rounded_values(shape):
    x, y = rounded(shape), rounded(shape)
    steps = [(BY_NAME["multiply"].code, 0, 1)]
    steps += [(BY_NAME[name].code, k + 2) for k, name in enumerate(["exp", "log", "square"])]
    narrow = x.astype(np.float32) * y.astype(np.float32)
    e = np.exp(narrow)
    slope = 2.0 * np.log(e).astype(float) * (1.0 / e.astype(float)) * e.astype(float)
    call = Call(steps, [x, y], shape, single=STEPS)
    adjoints = [np.zeros(shape), np.zeros(shape)]
    call.reverse(adjoints, np.ones(shape))
    np.testing.assert_allclose(adjoints, [slope * y, slope * x], 1e-13)
    np.testing.assert_allclose(call.jacobians([True, True]), [slope * y, slope * x], 1e-13)
    tangent = call.tangent([np.ones(shape), np.full(shape, 2.0)], np.empty(shape))
    np.testing.assert_allclose(tangent, slope * y + 2.0 * slope * x, 1e-13)


def test_the_number_of_a_step_is_its_rounded_value_in_a_sweep():
    x = rounded((50,))
    adjoint, number = np.zeros(50), np.zeros(())
    call = Call([(BY_NAME["multiply"].code, 0, 1)], [x, np.array(0.1)], (50,), single=STEPS)
    call.reverse([adjoint, number], np.ones(50))
    assert np.all(adjoint == float(np.float32(0.1))) and np.isclose(number, x.sum(), 1e-14)
