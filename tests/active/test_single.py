# SPDX-License-Identifier: Apache-2.0
"""float32 Arrays: NumPy's values and dtypes bit for bit, derivatives in double."""

import operator

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import codipy
from codipy.active.arrays.elementwise_door import elementwise
from codipy.operations import TABLE
from codipy.programs.tiles import ufunc_of
from tests.active.catalogue import CASES
from tests.active.programs import State, programs
from tests.active.recording import (
    EVERY,
    dot,
    each_variant,
    is_active,
    new_tape,
    outputs_of,
    record,
    seeds_for,
    value,
)

pytestmark = pytest.mark.filterwarnings("ignore")
RNG = np.random.default_rng(8)
ROWS = [row for row in TABLE if ufunc_of(row) is not None and row.name != "scale"]


def assert_same(found, expected, what=""):
    """The dtype, the shape and the bits; a Real has a Python float, and is compared as one."""
    if isinstance(found, codipy.Real):
        assert np.array_equal(found.value, float(expected), equal_nan=True), what
        return
    found = found.value if isinstance(found, codipy.Array) else found
    assert np.asarray(found).dtype == np.asarray(expected).dtype, what
    assert np.shape(found) == np.shape(expected), what
    assert np.array_equal(found, expected, equal_nan=True), what
    if np.asarray(expected).dtype.kind == "f":
        where = ~np.isnan(expected)
        assert np.array_equal(np.signbit(found)[where], np.signbit(expected)[where]), what


def sample(row, k, shape):
    low, high = row.domain[k]
    return RNG.uniform(low, high, shape).astype(np.float32)


LAYOUTS = {
    "one": lambda x: x.reshape(-1)[:1],
    "short": lambda x: x.reshape(-1)[:5],
    "row": lambda x: x.reshape(-1),
    "backwards": lambda x: x.reshape(-1)[::-1],
    "steps": lambda x: x.reshape(-1)[::3],
    "matrix": lambda x: x,
    "transposed": lambda x: x.T,
    "part": lambda x: x[3:40, 2:-5],
    "flipped": lambda x: x[::-1, ::-2],
    "narrow": lambda x: x[:, :7],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_rows_of_the_table(row, layout):
    ufunc = ufunc_of(row)
    xs = [sample(row, k, (60, 150)) for k in range(row.arity)]
    views = [LAYOUTS[layout](x) for x in xs]
    with codipy.Tape() as tape:
        ys = [tape.register_input(codipy.Array(x)) for x in xs]
        found = ufunc(*[LAYOUTS[layout](y) if layout != "broadcast" else np.broadcast_to(y[:1], y.shape) for y in ys])
        assert_same(found, ufunc(*views), row.name)
    if row.arity == 2:
        for number in (2.0, 0.5, -1.0, 3, 1e-3, np.float32(0.3), np.array(1.7, np.float32)):
            if row.domain[1][0] > 0 and number < 0:
                continue
            assert_same(ufunc(codipy.Array(xs[0]), number), ufunc(xs[0], number), (row.name, number))
            assert_same(ufunc(number, codipy.Array(xs[1])), ufunc(number, xs[1]), (row.name, number))


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 1e-45, 3e-39, 3.4e38, -3.4e38, 1e20, 7.0,
                    0.1, 1 / 3, 88.8, -104.0], np.float32)  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_edges_of_the_table(row):
    grids = [x.ravel().copy() for x in np.meshgrid(*[SPECIAL] * row.arity)]
    ufunc = ufunc_of(row)
    assert_same(ufunc(*map(codipy.Array, grids)), ufunc(*grids))
    for element in zip(*grids):
        assert_same(ufunc(*[codipy.Array(x) for x in element]), ufunc(*element), element)      # arrays without axes


@pytest.mark.parametrize("row", [row for row in TABLE if ufunc_of(row) is None], ids=lambda row: row.name)
def test_rows_without_a_ufunc_are_rounded(row):
    xs = [sample(row, k, 50) for k in range(row.arity)]
    wide = elementwise(row.name, *[codipy.Array(x.astype(float)) for x in xs])
    assert_same(elementwise(row.name, *map(codipy.Array, xs)), wide.value.astype(np.float32))


def test_many_elements_and_long_expressions():
    x, y = sample(TABLE[0], 0, 40000), sample(TABLE[0], 1, 40000)

    def f(x, y):
        z = x * y + x - y * 0.1 + x * x * x - (y - 0.3) * (x + y)
        return z / (1.5 + x * x) - np.sin(z) * np.exp(-x * x) + np.sqrt(np.abs(y)) ** 3

    for shape in [(40000,), (200, 200), (20000, 2), (8, 5000)]:
        a, b = x.reshape(shape), y.reshape(shape)
        assert_same(f(codipy.Array(a), codipy.Array(b)), f(a, b))
        assert_same(f(codipy.Array(a).T, codipy.Array(b).T), f(a.T, b.T))
        assert_same(f(codipy.Array(a), codipy.Array(b)[:1]), f(a, b[:1]))


# ---- The dtype of a result ----

SIDES = {
    "float32": np.array([0.3, 1.7, 2.9], np.float32),
    "float64": np.array([0.3, 1.7, 2.9]),
    "float16": np.array([0.3, 1.7, 2.9], np.float16),
    **{f"{sign}int{bits}": np.array([1, 2, 3], f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "bool array": np.array([True, False, True]),
    "float": 0.3,
    "int": 3,
    "bool": True,
    "float32 scalar": np.float32(0.3),
    "float64 scalar": np.float64(0.3),
    "int8 scalar": np.int8(3),
    "int64 scalar": np.int64(3),
    "bool scalar": np.bool_(True),
    "float32 0-d": np.array(0.3, np.float32),
    "float64 0-d": np.array(0.3),
    "int64 0-d": np.array(3),
    "list of floats": [0.3, 1.7, 2.9],
    "list of ints": [1, 2, 3],
    "column": np.array([[0.3], [1.7]], np.float32),
    "wide column": np.array([[0.3], [1.7]]),
}
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod, operator.floordiv,
             operator.lt, operator.eq, np.maximum, np.fmin, np.hypot, np.arctan2, np.logaddexp, np.copysign,
             np.float_power, np.power, np.fmod, np.logaddexp2, np.heaviside, divmod]  # fmt: skip


def both(f, x, y):
    try:
        return f(x, y)
    except TypeError as error:
        return type(error)


@pytest.mark.parametrize("f", OPERATORS, ids=lambda f: f.__name__)
def test_dtypes_of_binary_operations(f):
    for side in SIDES:
        x, other = np.array([0.7, 1.1, 2.3], np.float32), SIDES[side]
        for active in (False, True):
            with codipy.Tape() as tape:
                a = tape.register_input(x) if active else codipy.Array(x)
                for found, expected in [(both(f, a, other), both(f, x, other)), (both(f, other, a), both(f, other, x))]:
                    if expected is TypeError:
                        assert found is TypeError, side
                        continue
                    for one, two in zip(outputs_of(found), outputs_of(expected), strict=True):
                        assert_same(one, two, (f, side))


@pytest.mark.parametrize("side", [side for side, x in SIDES.items() if np.shape(x) == (3,) and "list" not in side])
def test_dtypes_beside_arrays_without_axes(side):
    x, other = np.array(0.7, np.float32), SIDES[side]
    for number in (x, x.astype(float)):
        a = codipy.Array(number)
        for f in (np.multiply, np.arctan2, np.power):
            assert_same(f(a, other) if other.dtype != np.float16 else f(a, codipy.Array(other.astype(np.float32))),
                        f(number, other) if other.dtype != np.float16 else f(number, other.astype(np.float32)))
            if other.dtype.kind == "f" and other.dtype != np.float16:
                assert_same(f(a, codipy.Array(other)), f(number, other))
                assert_same(f(codipy.Array(other), a), f(other, number))


@each_variant
def test_a_real_of_a_python_float_is_weak(variant):
    x = np.array([0.7, 1.1, 2.3], np.float32)
    with new_tape(variant) as tape:
        a, r = tape.register_input(x), tape.register_input(0.1)
        y = tape.register_output(a * r + r)
        e = a[1]
        assert type(e) is codipy.Real and e.value == x[1]
        assert (e * 0.1).value == x[1] * 0.1 and type((e * r).value) is np.float32
        assert (e.item() * 0.1).value == float(x[1]) * 0.1    # not rounded: a float of Python
        assert_same(a * r, x * 0.1)
        assert_same(r * x, 0.1 * x)                           # beside a plain array too
        assert_same(r + codipy.Array(x.astype(float)), 0.1 + x.astype(float))
    assert_same(y, x * 0.1 + 0.1)
    y.gradient = 1.0
    tape.evaluate()
    assert np.array_equal(a.gradient, np.full(3, float(np.float32(0.1))))
    assert r.gradient == x.astype(float).sum() + 3.0


# ---- Writing ----

WRITES = {
    "all": lambda a, b: operator.setitem(a, ..., b * 1.1 + 0.1),
    "part": lambda a, b: operator.setitem(a, slice(1, -1), b[1:-1] * 1.1 - b[2:]),
    "steps": lambda a, b: operator.setitem(a, slice(None, None, 2), b[::2] / 3.0),
    "element": lambda a, b: operator.setitem(a, 2, b[1]),
    "elements": lambda a, b: [operator.setitem(a, k, b[k]) for k in range(len(b))],
    "number": lambda a, b: operator.setitem(a, slice(1, 3), 0.1),
    "big": lambda a, b: operator.setitem(a, slice(1, 3), 1e300),
    "mask": lambda a, b: operator.setitem(a, np.array([True, False, True, False, True, True]), b[:4]),
    "indices": lambda a, b: operator.setitem(a, [3, 1], b[:2] * 0.7),
    "nested": lambda a, b: operator.setitem(a, slice(0, 2), [0.1, 1 / 3]),
    "add": lambda a, b: operator.iadd(a, b),
    "subtract": lambda a, b: operator.isub(a, b * 0.3),
    "multiply part": lambda a, b: operator.imul(a[1:4], b[:3]),
    "divide": lambda a, b: operator.itruediv(a, b),
    "power": lambda a, b: operator.ipow(a, 2),
    "power of array": lambda a, b: operator.ipow(a, b),
    "modulo": lambda a, b: operator.imod(a, b),
    "floor": lambda a, b: operator.ifloordiv(a, b),
    "number in place": lambda a, b: operator.iadd(a, 0.1),
    "out": lambda a, b: np.multiply(b, b, out=a),
    "out of exp": lambda a, b: np.exp(b, out=a),
    "out of both": lambda a, b: np.add(a, b, out=a),
    "where": lambda a, b: np.multiply(b, 2.1, out=a, where=b > 1.0),
    "copyto": lambda a, b: np.copyto(a, b),
    "put": lambda a, b: np.put(a, [1, 2], b[:2]),
    "putmask": lambda a, b: np.putmask(a, b > 1.0, b if a.dtype == np.float64 else b.astype(np.float32)),
    "fill": lambda a, b: a.fill(0.1),
    "itself": lambda a, b: operator.setitem(a, slice(1, None), a[:-1] * b[1:]),
    "mixed then whole": lambda a, b: [operator.setitem(a, 0, b[0]), operator.setitem(a, slice(2, 5), b[:3] * 0.1)],
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("dtypes", ["fd", "df", "ff"])
@pytest.mark.parametrize("active", [0, 1, 2])
def test_writes_round_as_numpy(name, dtypes, active):
    x, y = (RNG.uniform(0.4, 1.9, 6).astype(kind) for kind in dtypes)
    for variant in EVERY:
        expected, other = x.copy(), y.copy()
        WRITES[name](expected, other)
        with new_tape(variant) as tape:
            a = tape.register_input(x) * 1.0 if active == 2 else codipy.Array(x)
            b = tape.register_input(y) if active else codipy.Array(y)
            WRITES[name](a, b)
            assert_same(a, expected, (name, dtypes, variant))
            assert_same(a + 0, expected + 0, (name, dtypes, variant))
            if not is_active(a):
                continue
            c = tape.register_output(a.copy())
        c.gradient = seeds_for([x])[0]
        tape.evaluate()
        assert np.all(np.isfinite(b.gradient))
        tape._check()


@each_variant
def test_one_expression_in_both_precisions(variant):
    x = np.array([0.1, 1.7, 2.9], np.float32)
    with new_tape(variant) as tape:
        a, b = tape.register_input(x), tape.register_input(x.astype(float))
        y, z = (tape.register_output(np.exp(v * v * 0.1) * v) for v in (a, b))
    y.gradient = z.gradient = 1.0
    tape.evaluate()
    e, f = np.exp(x * x * 0.1).astype(float), np.exp(b.value * b.value * 0.1)
    tenth = float(np.float32(0.1))
    np.testing.assert_allclose(a.gradient, e + 2.0 * tenth * b.value**2 * e, 3e-7)
    np.testing.assert_allclose(b.gradient, f + 0.2 * b.value**2 * f, 1e-14)


# ---- Whole programs ----

# Arithmetic among elements, Python floats here and float32 numbers in NumPy: the last bits differ.
ELEMENTS = {
    "zero_dimensional", "sums", "single_elements", "same_expression_many_times", "rows_of_elements",
    "iterated_and_stacked", "element_read_then_overwritten", "double_loop", "cumulative_by_element"
}  # fmt: skip


def singles(arrays):
    return tuple(np.asarray(x).astype(np.float32) for x in arrays)


@each_variant
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_catalogue(case, variant):
    inputs = singles(case.inputs)
    expected = [np.array(y) for y in outputs_of(case.f(*[x.copy() for x in inputs]))]
    recording = record(new_tape(variant), case.f, inputs)
    assert [x.dtype for x in recording.inputs] == [np.float32] * len(inputs)
    for found, wanted in zip(recording.outputs, expected, strict=True):
        if case.name in ELEMENTS:
            np.testing.assert_allclose(value(found), wanted, 1e-5, 1e-5)
        else:
            assert_same(found, wanted, case.name)
    wide = record(new_tape(variant), case.f, [x.astype(float) for x in inputs])
    seeds, tangents = seeds_for(expected), seeds_for(inputs, 3)
    gradients, precise = recording.reverse(seeds), wide.reverse(seeds)
    for one, two in zip(gradients, precise, strict=True):
        assert one.dtype == np.float64
        np.testing.assert_allclose(one, two, 1e-3, 1e-3 * max(1.0, np.max(np.abs(two), initial=0.0)))
    # A scalar statement's value is rounded where it is recorded, and not where a primal sweep computes it again.
    close = 1e-6 if case.name in ELEMENTS else 1e-10
    assert np.isclose(dot(seeds, recording.forward(tangents)), dot(gradients, tangents), rtol=close, atol=close)
    recording.tape._check()


def run_all(program, inputs):
    v = State(inputs)
    for step, *arguments in program:
        step(v, *arguments)
    return (*v.arrays, *v.numbers)


@settings(max_examples=150)
@given(programs(), st.lists(st.booleans(), min_size=3, max_size=3), st.sampled_from(EVERY))
def test_random_programs_of_mixed_dtypes(drawn, singles, variant):
    program, inputs = drawn
    assume(all(x.ndim for x in inputs))      # an operation on an array without axes gives a Real
    inputs = [np.asarray(x, np.float32 if single else np.float64) for x, single in zip(inputs, singles)]
    expected = [np.array(y) for y in run_all(program, [x.copy() for x in inputs])]
    recording = record(new_tape(variant), lambda *xs: run_all(program, xs), inputs)
    for found, wanted in zip(recording.outputs, expected, strict=True):
        assert_same(found, wanted)
    seeds, tangents = seeds_for(expected), seeds_for(inputs, 3)
    gradients = recording.reverse(seeds)
    assert np.isclose(dot(seeds, recording.forward(tangents)), dot(gradients, tangents), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("of", [np.float64, np.float32, np.int64, np.int32, np.int16, np.int8, np.array, float, int])
@pytest.mark.parametrize("exponent", [2, 1, 0, -1, 0.5, 3])
def test_powers_have_the_dtype_that_numpy_gives_them(of, exponent):
    power, x = of(exponent), np.array([0.1, 1.7, 7.3], np.float32)

    def powers(x):
        y = x * np.float32(1.0)
        y **= power
        return x**power, x.reshape(3, 1).T ** power, x[1] ** power, x[:1].reshape(()) ** power, y

    values, _ = codipy.vjp(powers, x)
    for found, plain in zip(values, powers(x)):
        assert found.dtype == plain.dtype and found.tobytes() == plain.tobytes()


def test_float16_beside_a_number_is_refused():
    half = np.array([1.5, 2.0], np.float16)
    with pytest.raises(codipy.errors.ActiveError, match=r"float16.*astype\(np.float32\)"):
        codipy.grad(lambda x: np.sum(float(x[0]) * half))(np.ones(2))
    for f in (lambda x: np.sum(x * half), lambda x: np.sum(x[0] * half)):
        assert codipy.value_and_grad(f)(np.full(2, 0.1))[0] == f(np.full(2, 0.1))
