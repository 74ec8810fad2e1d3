# SPDX-License-Identifier: Apache-2.0
"""Reals in NumPy: ufuncs on a Real, object arrays of Reals, and what is refused since it would lose the derivative."""

import math

import numpy as np
import pytest

import codipy
from codipy import Real
from codipy.errors import ActiveError
from codipy.operations import PASSIVE, TABLE
from tests.strategies import STRATEGIES, each_strategy

# Every ufunc of NumPy that a row of the table names: (ufunc, row).
UFUNCS = [(getattr(np, name), row) for row in TABLE for name in row.numpy if hasattr(np, name)]
# Those that NumPy itself refuses for arrays of objects.
NO_OBJECT_LOOP = {np.copysign, np.float_power, np.logaddexp, np.ldexp}


def point(row):
    """Arguments inside the row's domain, away from kinks and ties."""
    middle = [0.4 * low + 0.6 * high for low, high in row.domain[: row.arity]]
    return [x + 0.01 * k for k, x in enumerate(middle)]


def plain(ufunc, row, arguments):
    """NumPy's own value; the exponent of ldexp is an integer."""
    arguments = [int(x) if k in row.constant else x for k, x in enumerate(arguments)]
    return float(ufunc(*arguments))


def central_difference(function, arguments, k, step=1e-6):
    moved = [[x + sign * step if i == k else x for i, x in enumerate(arguments)] for sign in (1, -1)]
    return (function(*moved[0]) - function(*moved[1])) / (2 * step)


def gradient(function, values, strategy="auto", **options):
    """Value and gradient of a function of a list of Reals."""
    tape = codipy.Tape(strategy=strategy, **options)
    with tape:
        inputs = [tape.register_input(x) for x in values]
        y = tape.register_output(function(inputs))
    tape._check()
    y.gradient = 1.0
    tape.evaluate()
    return y.value, [x.gradient for x in inputs]


def unique(ufuncs):
    return list({ufunc: (ufunc, row) for ufunc, row in ufuncs}.values())


# ---- Ufuncs on a Real ----


@pytest.mark.parametrize(("ufunc", "row"), unique(UFUNCS), ids=lambda p: getattr(p, "__name__", ""))
def test_every_ufunc_with_a_row(ufunc, row):
    arguments = [float(int(x)) if k in row.constant else x for k, x in enumerate(point(row))]
    expected = plain(ufunc, row, arguments)
    for strategy in STRATEGIES:
        active = [k for k in range(row.arity) if k not in row.constant]
        tape = codipy.Tape(strategy=strategy)
        with tape:
            inputs = [tape.register_input(x) if k in active else int(x) for k, x in enumerate(arguments)]
            y = ufunc(*inputs)
            assert type(y) is Real and y.is_active and y.value == expected
            tape.register_output(y)
        y.gradient = 1.0
        tape.evaluate()
        for k in active:
            difference = central_difference(lambda *u: plain(ufunc, row, u), arguments, k)
            assert inputs[k].gradient == pytest.approx(difference, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(("ufunc", "row"), unique(UFUNCS), ids=lambda p: getattr(p, "__name__", ""))
def test_mixed_with_plain_numbers(ufunc, row):
    if row.arity != 2 or row.constant:
        return
    a, b = point(row)
    with codipy.Tape() as tape:
        x, y = tape.register_input(a), tape.register_input(b)
        for arguments in [(x, b), (x, np.float64(b)), (x, np.array(b)), (a, y), (np.float64(a), y), (np.array(a), y)]:
            result = ufunc(*arguments)
            assert type(result) is Real and result.is_active
            assert result.value == float(ufunc(a, b))
    passive = ufunc(Real(a), b)
    assert type(passive) is Real and not passive.is_active


PASSIVE_UFUNCS = {getattr(np, name) for row in PASSIVE for name in row.numpy if hasattr(np, name)}


@pytest.mark.parametrize("ufunc", sorted(PASSIVE_UFUNCS, key=lambda u: u.__name__), ids=lambda u: u.__name__)
def test_passive_ufuncs(ufunc):
    with codipy.Tape() as tape:
        arguments = [tape.register_input(x) for x in [-2.5, 1.25][: ufunc.nin]]
        before = tape.statements
        result = ufunc(*arguments)
        assert not isinstance(result, Real) and result == ufunc(*[-2.5, 1.25][: ufunc.nin])
        assert tape.statements == before


@pytest.mark.parametrize(
    ("ufunc", "values", "active"), [(np.modf, [-2.75], 0), (np.frexp, [2.75], 0), (np.divmod, [7.3, 2.2], 1)]
)
def test_ufuncs_of_two_results(ufunc, values, active):
    expected = ufunc(*values)
    for k in range(len(values)):
        value, slope = gradient(lambda x: ufunc(*x)[active], values)
        assert value == expected[active]
        difference = central_difference(lambda *u: float(ufunc(*u)[active]), values, k)
        assert slope[k] == pytest.approx(difference, rel=1e-6)
    with codipy.Tape() as tape:
        results = ufunc(*[tape.register_input(x) for x in values])
        assert results[1 - active] == expected[1 - active] and not isinstance(results[1 - active], Real)


def test_single_precision_beside_a_real():
    """The value is of double precision whichever side the Real is on."""
    with codipy.Tape() as tape:
        x = tape.register_input(0.1)
        assert (np.float32(0.7) * x).value == float(np.float32(0.7)) * 0.1 == (x * np.float32(0.7)).value


def test_division_by_zero_is_numpy_s_in_numpy():
    with codipy.Tape() as tape, np.errstate(all="ignore"):
        x = tape.register_input(0.0)
        assert np.divide(1.0, x).value == math.inf and np.isnan(np.log(x - 1.0).value)
        assert (np.float64(1.0) / x).value == math.inf
    with codipy.Tape() as tape, pytest.warns(RuntimeWarning, match="divide by zero"):
        np.log(tape.register_input(0.0))


@pytest.mark.parametrize(
    "name", ["erf", "erfc", "gamma", "gammaln", "digamma", "psi", "expit", "cbrt", "exp2", "expm1", "log1p"]
)
def test_ufuncs_of_scipy(name):
    special = pytest.importorskip("scipy.special")
    function = getattr(special, name)
    value, (slope,) = gradient(lambda x: function(x[0]), [1.3])
    assert value == function(1.3)
    assert slope == pytest.approx(central_difference(lambda x: float(function(x)), [1.3], 0), rel=1e-6)


def test_a_ufunc_without_a_derivative_is_refused():
    def square(x):
        return x * x

    other = np.frompyfunc(square, 1, 1)
    with codipy.Tape() as tape:
        x = tape.register_input(2.0)
        for ufunc, arguments in [(np.gcd, (x, 2)), (np.bitwise_and, (x, 1)), (np.packbits, (x,))]:
            with pytest.raises(TypeError, match=r"codipy\.value\(x\)"):
                ufunc(*arguments)
        with codipy.passive():
            assert np.spacing(x) == np.spacing(2.0)
        assert np.spacing(Real(2.0)) == np.spacing(2.0)
        assert other(x).is_active and other(x).value == 4.0, "Python code that sees the Real"
    tape._check()


def test_a_ufunc_is_known_by_itself_not_by_its_name():
    special = pytest.importorskip("scipy.special")
    stranger = special.zetac
    assert stranger.__name__ not in {row.name for row in TABLE}
    with codipy.Tape() as tape, pytest.raises(ActiveError, match="no derivative"):
        stranger(tape.register_input(1.0))


# ---- Arrays of plain numbers and Reals ----


def test_arrays_on_either_side():
    a = np.array([1.0, 2.0, 4.0])
    for function, expected in [
        (lambda x: (x[0] * a).sum(), 7.0), (lambda x: (a * x[0]).sum(), 7.0), (lambda x: (a / x[0]).sum(), -7 / 9),
        (lambda x: (x[0] / a).sum(), 1.75), (lambda x: np.power(x[0], a).sum(), 1 + 6 + 108),
        (lambda x: (x[0] - a).prod(), -1.0), (lambda x: np.add.outer(a, x[0]).sum(), 3.0),
        (lambda x: np.add([1.0, 2.0], x[0]).sum(), 2.0), (lambda x: np.power(x[0], a)[1], 6.0),
        (lambda x: np.maximum(a, x[0]).sum(), 2.0), (lambda x: np.full(3, x[0]) @ a, 7.0),
    ]:  # fmt: skip
        value, (slope,) = gradient(function, [3.0])
        assert slope == pytest.approx(expected, rel=1e-14)
        assert value == float(function([3.0]))
    with codipy.Tape() as tape:
        x = tape.register_input(2.0)
        assert (a < x).tolist() == [True, False, False] and (x == a).tolist() == [False, True, False]
        assert type(a * x) is codipy.Array and (a * x).dtype == np.float64 and (x // a).tolist() == [2.0, 1.0, 0.0]


def test_out_is_refused_unless_it_can_hold_reals():
    a = np.ones(2)
    with codipy.Tape() as tape:
        x = tape.register_input(2.0)
        with pytest.raises(ActiveError, match="`a` is a plain array of NumPy and would lose a derivative"):
            a *= x
        with pytest.raises(ActiveError, match="out="):
            np.sin(x, out=np.empty(()))
        with pytest.raises(ActiveError, match="`a` is a plain array of NumPy"):
            a[0] = x
        for convert in [lambda: np.asarray(x, dtype=float), lambda: np.float64(x)]:
            with pytest.raises(ActiveError, match=r"codipy\.value\(x\)"):
                convert()
        with pytest.raises(ActiveError, match="of an array of objects write"):
            np.array([x, x]).astype(float)
        with pytest.raises(TypeError, match="where"):
            np.sin(x, where=False)
        b = np.ones(2, dtype=object)
        b *= x
        assert b[0].is_active
        box = np.add(x, x, out=np.empty((), dtype=object))
        assert box[()].is_active
        with codipy.passive():
            a *= x
        assert a.tolist() == [2.0, 2.0]
        a *= Real(3.0)
        assert a.tolist() == [6.0, 6.0]
    tape._check()


@pytest.mark.parametrize("other", ["2", None, [None]], ids=repr)
def test_operands_that_are_no_real_numbers(other):
    with codipy.Tape() as tape:
        x = tape.register_input(2.0)
        for arguments in [(x, other), (other, x)]:
            with pytest.raises(TypeError):
                np.multiply(*arguments)
    tape._check()


# ---- Object arrays ----


def objects(x):
    return np.array(x, dtype=object)


@each_strategy
@pytest.mark.parametrize(("ufunc", "row"), unique(UFUNCS), ids=lambda p: getattr(p, "__name__", ""))
def test_ufuncs_on_object_arrays(ufunc, row, strategy):
    if ufunc in NO_OBJECT_LOOP:
        return
    values = point(row)
    value, slope = gradient(lambda x: np.sum(ufunc(*[objects([a, a]) for a in x])), values, strategy)
    assert value == pytest.approx(2 * plain(ufunc, row, values), rel=1e-15)
    for k in range(row.arity):
        difference = 2 * central_difference(lambda *u: plain(ufunc, row, u), values, k)
        assert slope[k] == pytest.approx(difference, rel=1e-6, abs=1e-8)


POINT = [0.7, -1.3, 2.1]
MATRIX = np.array([[1.0, 2.0, 0.5], [-1.0, 0.3, 0.8], [0.2, 0.1, -2.0]])
ON_ARRAYS = {
    "sum": lambda a: (a * a).sum(), "dot": lambda a: np.dot(a, MATRIX @ a), "matmul": lambda a: a @ MATRIX @ a,
    "mean": lambda a: np.mean(a * a), "var": lambda a: np.var(a), "std": lambda a: a.std(), "prod": lambda a: a.prod(),
    "norm": lambda a: np.linalg.norm(a), "cumsum": lambda a: np.cumsum(a)[1] * a[0], "max": lambda a: np.max(a * 2.0),
    "where": lambda a: np.where(a > 0, a * a, -a).sum(), "clip": lambda a: np.clip(a, -1.0, 3.0).sum(),
    "outer": lambda a: np.outer(a, a).sum(), "diff": lambda a: (np.diff(a) ** 2).sum(),
    "trace": lambda a: np.trace(np.outer(a, a)),
    "einsum": lambda a: np.einsum("i,i->", a, a), "concatenate": lambda a: np.concatenate([a, a * a]).sum(),
    "fancy": lambda a: (a[[0, 0, 2]] * a[[1, 0, 1]]).sum(), "sort": lambda a: np.sort(a)[0] * 3.0,
    "vectorize": lambda a: np.vectorize(lambda u: u * u, otypes=[object])(a).sum(),
    "dot of lists": lambda a: np.dot(a, [1, 2, 3]),
    "in place": lambda a: _in_place(a), "interpolated": lambda a: np.average(a, weights=[1.0, 2.0, 3.0]),
    "exp": lambda a: np.exp(np.sin(a)).sum(), "tanh": lambda a: np.tanh(a @ MATRIX).prod(),
    "abs": lambda a: np.abs(a).sum(),
}  # fmt: skip


def _in_place(a):
    a = a.copy()
    a[0] = a[1] * a[2]
    a += 1.0
    a *= a
    return a.sum()


@pytest.mark.filterwarnings("error")
@each_strategy
@pytest.mark.parametrize("name", ON_ARRAYS)
def test_functions_on_object_arrays(name, strategy):
    function = ON_ARRAYS[name]
    value, slope = gradient(lambda x: function(objects(x)), POINT, strategy)
    assert value == pytest.approx(float(function(np.array(POINT))), rel=1e-15)
    for k in range(3):
        difference = central_difference(lambda *u: float(function(np.array(u))), POINT, k)
        assert slope[k] == pytest.approx(difference, rel=1e-7, abs=1e-8), name


@each_strategy
@pytest.mark.parametrize("granularity", ["statement", "operation"])
def test_elements_that_only_an_array_holds(strategy, granularity):
    """NumPy passes borrowed references: pending elements with one reference are no temporaries, and are used twice."""
    if strategy == "simple" and granularity == "statement":
        return

    def function(x):
        pending = np.empty(2, dtype=object)
        pending[0], pending[1] = x[0] * x[1], x[0] + 2.0 * x[1]
        twice = pending * pending + np.sin(pending) * pending
        pending[:] = twice + pending[::-1] * pending
        return (pending * twice).sum() + pending[0] * pending[1]

    def on_values(*x):
        return float(function([Real(v) for v in x]))

    for chunk_size in (4, None):
        value, slope = gradient(function, [0.7, 1.3], strategy, granularity=granularity, chunk_size=chunk_size)
        assert value == pytest.approx(on_values(0.7, 1.3), rel=1e-14)
        for k in range(2):
            assert slope[k] == pytest.approx(central_difference(on_values, [0.7, 1.3], k), rel=1e-7)


def test_rounding_of_object_arrays_is_passive():
    with codipy.Tape() as tape:
        a = objects([tape.register_input(-1.5), tape.register_input(2.5)])
        for function in [np.floor, np.ceil, np.trunc, np.rint, np.sign, np.round]:
            assert [float(v) for v in function(a)] == function(np.array([-1.5, 2.5])).tolist()
        assert (a > 0).tolist() == [False, True] and np.argmax(a) == 1
    assert np.round(Real(2.6)) == 3.0


def test_functions_as_methods():
    with codipy.Tape() as tape:
        x = tape.register_input(2.0)
        assert x.log(10).value == math.log(2.0, 10) and x.log().value == math.log(2.0)
        assert x.hypot(3.0, 6.0).value == 7.0 and x.atan2(1.0).value == math.atan2(2.0, 1.0) and x.arctan().is_active
        assert x.fma(3.0, 1.0).value == 7.0 and Real.sin is codipy.math.sin
        with pytest.raises(TypeError, match="expected 2 arguments, got 1"):
            x.atan2()
