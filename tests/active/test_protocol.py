# SPDX-License-Identifier: Apache-2.0
"""A Real behaves as a float: every operator, conversion and method against float itself as the oracle."""

import copy
import functools
import math
import numbers
import operator
import pickle
import statistics
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import codipy
from codipy import Real
from codipy.errors import ActiveError, TapeError
from tests.strategies import each_strategy

INF, NAN = math.inf, math.nan
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -8.0, 1 / 3, 5e-324, -1e-310, 1e308, -1e308, 1e16, INF, -INF, NAN]
FLOATS = st.sampled_from(EDGES) | st.floats()
INTEGERS = st.integers(-9, 9) | st.sampled_from([10**17 + 1, -(2**53) - 1, 10**400, -(10**400)])
# Kinds of plain operands that combine with a float to a float.
PLAIN = FLOATS | INTEGERS | st.booleans() | st.fractions(-9, 9, max_denominator=9)
NUMPY = st.builds(np.float64, FLOATS) | st.builds(np.array, FLOATS) | st.integers(-9, 9).map(np.int64)
NUMPY |= st.sampled_from([0.0, -0.5, 3.0, INF, NAN]).map(np.float32) | st.booleans().map(np.bool_)
COMPLEX = [1j, 2 + 0j]
OTHERS = [None, "2", b"2", Decimal(2), [1.0], (1.0,), {}, pytest.param(object(), id="object"), len]

ACTIVE_RESULT = [operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, operator.pow]
COMPARISONS = [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]
UNARY = [operator.neg, operator.pos, operator.abs]
LEAVING = [int, round, math.floor, math.ceil, math.trunc, bool, str, hash, float.is_integer]
CONVERSIONS = [
    float,
    complex,
    math.sqrt,
    math.fabs,
    np.float64,
    math.isfinite,
    functools.partial(operator.mod, "%.2f"),
    float.as_integer_ratio,
    float.hex,
]


def outcome(function, *arguments):
    """What a call gives, the sign of zeros and the kind of NaN told, or the type of its exception."""
    try:
        result = function(*arguments)
    except (ArithmeticError, ValueError, TypeError) as error:
        return type(error)
    return signature(result)


def signature(result):
    if isinstance(result, tuple):
        return tuple(signature(r) for r in result)
    if isinstance(result, (codipy.Complex, complex)):  # a power of a negative number
        z = complex(codipy.value(result))
        return "complex", signature(z.real), signature(z.imag)
    if isinstance(result, (Real, float)):
        x = result.value if isinstance(result, Real) else float(result)
        return "nan" if x != x else (x, math.copysign(1.0, x))
    return result


def of_real(function):
    """The method of Real that has the name of a method of float; any other function as it is."""
    return getattr(Real, function.__name__) if hasattr(float, getattr(function, "__name__", "")) else function


@pytest.fixture
def tape():
    with codipy.Tape() as tape:
        yield tape


# ---- Operators ----


@pytest.mark.parametrize(
    "function", ACTIVE_RESULT + COMPARISONS + [operator.floordiv, divmod], ids=lambda f: f.__name__
)
@given(x=FLOATS, y=PLAIN)
@example(x=-8.0, y=1 / 3)
@example(x=0.0, y=-1)
@example(x=2.0, y=Fraction(-1, 3))
def test_two_operands(function, x, y):
    forward, backward = outcome(function, x, y), outcome(function, y, x)
    with codipy.Tape() as tape:
        active = tape.register_input(x)
        for real in [active, Real(x)]:
            assert outcome(function, real, y) == forward
            assert outcome(function, y, real) == backward
            if isinstance(y, float):
                other = tape.register_input(y)
                assert outcome(function, real, other) == forward
                assert outcome(function, other, real) == backward
                assert outcome(function, real, Real(y)) == forward
        if not isinstance(forward, type):
            result = function(active, y)
            if function in ACTIVE_RESULT:
                assert type(result) is (codipy.Complex if forward[0] == "complex" else Real) and result.is_active
                assert not getattr(function(Real(x), y), "is_active", False)  # a plain complex number has none
            elif function is divmod:
                assert type(result[0]) is float and result[1].is_active
            else:
                assert type(result) is (bool if function in COMPARISONS else float)


@pytest.mark.parametrize("function", ACTIVE_RESULT + COMPARISONS, ids=lambda f: f.__name__)
@given(x=FLOATS, y=NUMPY)
def test_numbers_of_numpy(function, x, y):
    """Beside them a Real is what a float is: the result has NumPy's type, values and infinities."""
    with codipy.Tape() as tape, np.errstate(all="ignore"):
        real = tape.register_input(x)
        for given, plain in [((real, y), (x, y)), ((y, real), (y, x))]:
            found, expected = function(*given), function(*plain)
            if function in COMPARISONS:
                assert type(found) is type(expected) and found == expected
                continue
            assert type(found) is Real and found.is_active
            assert type(found.value) is type(expected)
            if function is operator.pow and plain[0] is y:  # called by name it is the ufunc's, in the last bit
                tolerance = 1e-15 if expected.dtype == float else 1e-6
                assert found.value == pytest.approx(expected, rel=tolerance, nan_ok=True)
            else:
                assert signature(float(found.value)) == signature(float(expected))


@pytest.mark.parametrize("y", [0, 0.0, False], ids=repr)
@pytest.mark.parametrize(
    "function", [operator.truediv, operator.floordiv, operator.mod, divmod], ids=lambda f: f.__name__
)
def test_division_by_zero_of_any_kind(tape, function, y):
    with pytest.raises(ZeroDivisionError):
        function(tape.register_input(1.0), y)


@pytest.mark.parametrize("other", OTHERS, ids=repr)
@pytest.mark.parametrize("function", [*ACTIVE_RESULT, operator.floordiv, divmod], ids=lambda f: f.__name__)
def test_operands_that_are_no_real_numbers(tape, function, other):
    x = tape.register_input(3.0)
    before = tape.statements
    for arguments in [(x, other), (other, x)]:
        if function is operator.mod and other in ("2", b"2") and arguments[0] == other:
            # A text to be formatted, which takes what has items, as NumPy's scalars have, for a mapping.
            assert outcome(function, *arguments) == outcome(function, other, np.float64(3.0)) == other
            continue
        with pytest.raises(TypeError):
            function(*arguments)
    assert tape.statements == before
    tape._check()


@pytest.mark.parametrize("other", OTHERS + COMPLEX, ids=repr)
@pytest.mark.parametrize("function", COMPARISONS, ids=lambda f: f.__name__)
def test_comparison_with_anything(tape, function, other):
    x = tape.register_input(2.0)
    assert outcome(function, x, other) == outcome(function, 2.0, other)
    assert outcome(function, other, x) == outcome(function, other, 2.0)


@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
@given(x=FLOATS)
def test_one_operand(function, x):
    with codipy.Tape() as tape:
        result = function(tape.register_input(x))
        assert signature(result) == outcome(function, x)
        assert result.is_active and not function(Real(x)).is_active


def test_power_with_a_modulus(tape):
    x = tape.register_input(2.0)
    for arguments in [(x, 3, 5), (2, x, 5), (2, 3, x)]:
        with pytest.raises(TypeError, match="3rd argument"):
            pow(*arguments)
    assert pow(x, 3).value == 8.0 and pow(x, 3, None).value == 8.0


def test_in_place_operators_make_new_variables(tape):
    x = y = tape.register_input(2.0)
    expected = {operator.iadd: 5.0, operator.imul: 6.0, operator.isub: -1.0, operator.ipow: 8.0}
    for function, value in expected.items():
        assert function(x, 3).value == value
    y += 1.0
    assert x.value == 2.0 and y.value == 3.0 and y is not x


# ---- What leaves as a plain value ----


@pytest.mark.parametrize("function", LEAVING, ids=lambda f: f.__name__)
@given(x=FLOATS)
def test_results_that_are_plain(function, x):
    if function is hash and x != x:
        return
    with codipy.Tape() as tape:
        # An active Real is hashed by identity: see test_hash_and_containers.
        for real in [Real(x)] if function is hash else [Real(x), tape.register_input(x)]:
            assert outcome(of_real(function), real) == outcome(function, x)


@given(x=FLOATS, digits=st.integers(-400, 400) | st.none())
def test_round_to_digits(x, digits):
    expected = outcome(round, x, digits)
    with codipy.Tape() as tape:
        assert outcome(round, tape.register_input(x), digits) == expected
        if not isinstance(expected, type):
            assert type(round(tape.register_input(x), digits)) is type(round(x, digits))


@pytest.mark.parametrize("function", CONVERSIONS, ids=str)
@pytest.mark.parametrize("x", [2.0, -0.0, 0.1, 1e300, INF, NAN])
def test_conversions_lose_the_derivative(function, x):
    expected = outcome(function, x)
    assert outcome(of_real(function), Real(x)) == expected, "a passive one converts"
    with codipy.Tape() as tape:
        active = tape.register_input(x)
        for real in [active, active * 1.0]:
            with pytest.raises(ActiveError, match="would lose its derivative"):
                of_real(function)(real)
        with codipy.passive():
            assert outcome(of_real(function), active) == expected
    assert outcome(of_real(function), active) == expected, "nothing records, so nothing is lost"


@pytest.mark.parametrize("function", [operator.index, range, hex, bin, math.gcd, math.isqrt, [1, 2].__getitem__])
def test_a_real_is_no_integer(tape, function):
    for real in [Real(1.0), tape.register_input(1.0)]:
        with pytest.raises(TypeError, match=r"int\(codipy\.value\(x\)\)"):
            function(real)


def test_hash_and_containers(tape):
    x, y, nan = tape.register_input(2.0), tape.register_input(2.5), Real(NAN)
    passive = Real(2.0)
    assert {passive: "two"}[2] == "two" and {2.0: "two"}[passive] == "two" and passive in {2, 3}
    assert 2.0 in [y, x] and [x, y].index(2.5) == 1 and x in (Fraction(2),)
    filler = [float(k) for k in range(100)]
    assert {nan: 1}[nan] == 1 and hash(nan) == hash(nan) and len({nan, Real(NAN)}) == 2 and filler
    assert max(x, y) is y and min([y, x]) is x and sorted([y, x]) == [2.0, 2.5]


@pytest.mark.parametrize("x", [0.0, -0.0, 1 / 3, -1234567.891, 1e300, INF, NAN])
@pytest.mark.parametrize(
    "spec", ["", ".3f", "10.2e", "+g", "012.4f", "%", "n", "<20", "{width}.{digits}f", "d", "q", "s"]
)
def test_format(tape, x, spec):
    spec = spec.format(width=15, digits=2) if "{" in spec else spec
    for real in [Real(x), tape.register_input(x), tape.register_input(x) * 1.0]:
        assert outcome(format, real, spec) == outcome(format, x, spec)
    assert f"{Real(x):{12}.{3}f}" == f"{x:{12}.{3}f}"
    assert f"{Real(x)}" == str(Real(x)) == str(x)
    assert "{0:.2f} {0!s}".format(Real(x)) == f"{x:.2f} {x!s}"


def test_repr_says_value_activity_and_tape():
    tape = codipy.Tape(strategy="primal")
    x = Real(0.1)
    assert repr(x) == "Real(0.1)"
    with tape:
        tape.register_input(x)
        assert repr(x).startswith("Real(0.1, active on primal tape ") and repr(x * 2.0).startswith(
            "Real(0.2, active on"
        )
    tape.reset()
    assert repr(x) == "Real(0.1, active before a reset of its tape)"
    del tape
    assert repr(x) == "Real(0.1, active on a tape that is gone)"


# ---- The rest of float ----


def test_it_is_a_real_number_to_python(tape):
    x = tape.register_input(2.5)
    assert isinstance(x, numbers.Real) and not isinstance(x, (numbers.Rational, float))
    assert x.real is x and x.imag == 0.0 and x.conjugate() is x
    missing = {name for name in dir(float) if not hasattr(Real, name)}
    assert missing <= {"__getformat__", "__setformat__", "__getnewargs__", "fromhex", "from_number"}


def test_making_one():
    assert Real().value == 0.0 and Real("1e3").value == 1000.0 and Real(value=Fraction(1, 4)).value == 0.25
    assert Real(Real(2.0)).value == 2.0 and type(Real(np.float32(0.5)).value) is np.float32
    assert math.isnan(Real("nan").value)
    for wrong, error in [
        (None, TypeError),
        (1j, TypeError),
        ([], TypeError),
        ("x", ValueError),
        (10**400, OverflowError),
    ]:
        with pytest.raises(error):
            Real(wrong)
    with codipy.Tape() as tape, pytest.raises(ActiveError, match=r"codipy\.value\(x\)"):
        Real(tape.register_input(1.0))


def test_it_is_final_and_immutable(tape):
    x = tape.register_input(2.0)
    with pytest.raises(TypeError, match="base type"):
        type("Sub", (Real,), {})
    for name in ["value", "real", "imag", "is_active", "identifier", "anything"]:
        with pytest.raises(AttributeError):
            setattr(x, name, 1.0)
    with pytest.raises(TypeError):
        Real.extra = 1
    assert not hasattr(x, "__dict__") and x.value == 2.0


@each_strategy
def test_copies_share_the_adjoint(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(3.0)
        pending = x * x
        values = {"a": [pending, copy.copy(x)], "b": copy.copy(pending)}
        again = copy.deepcopy(values)
        y = again["a"][0] * again["a"][1] + again["b"] + copy.deepcopy(pending)
        del values, again
        tape.register_output(y)
    tape._check()
    y.gradient = 1.0
    tape.evaluate()
    assert y.value == 45.0 and x.gradient == 3 * 9 + 2 * 6
    assert copy.copy(Real(2.0)).value == 2.0 and not copy.deepcopy(Real(2.0)).is_active


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(tape, protocol):
    for x in EDGES:
        again = pickle.loads(pickle.dumps(Real(x), protocol))
        assert type(again) is Real and signature(again) == signature(x)
    active = tape.register_input(2.0)
    with pytest.raises(ActiveError, match=r"codipy\.value\(x\)"):
        pickle.dumps(active, protocol)
    with codipy.passive():
        assert pickle.loads(pickle.dumps(active, protocol)).value == 2.0


def test_python_s_own_tools_keep_the_derivative(tape):
    x, y = tape.register_input(2.0), tape.register_input(-3.0)
    for function, partials in [
        (lambda: sum([x, y, x]), (2, 1)), (lambda: functools.reduce(operator.mul, [x, y, x]), (-12, 4)),
        (lambda: math.prod([x, y], start=2), (-6, 4)), (lambda: statistics.median([x, y]), (0.5, 0.5)),
        (lambda: max(x, y, key=abs), (0, 1)), (lambda: math.prod([x]), (1, 0)),
        (lambda: abs(y) + operator.neg(x), (-1, -1)),
    ]:  # fmt: skip
        z = tape.register_output(function() * 1.0)
        tape.clear_adjoints()
        z.gradient = 1.0
        tape.evaluate()
        assert (x.gradient, y.gradient) == partials
        assert z.value == float(np.float64(z.value))


def test_what_would_lose_the_derivative_in_the_standard_library(tape):
    x = tape.register_input(2.0)
    calls = [
        statistics.mean,
        statistics.fmean,
        statistics.stdev,
        math.fsum,
        lambda v: Fraction(v[0]),
        lambda v: Decimal(v[0]),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call([x, x * 2.0])
    assert sys.getrefcount(x) < 10
    assert statistics.mean([Real(1.0), Real(2.0)]) == 1.5


# ---- Outside a recording ----


def test_active_values_outside_a_recording():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(2.0)
        y = tape.register_output(x * x)
    for call in [
        lambda: x + 1,
        lambda: -x,
        lambda: 2.0**x,
        lambda: x % 2,
        lambda: divmod(x, 2),
        lambda: abs(x),
        lambda: x.sin(),
    ]:
        with pytest.raises(TapeError, match="no tape is recording"):
            call()
    assert x > 1 and x // 2 == 1.0 and round(x) == 2 and f"{x:.1f}" == "2.0"
    with codipy.passive():
        z = x * 3.0 + y
        assert z.value == 10.0 and not z.is_active and float(x) == 2.0
        with codipy.passive():
            assert not (x + x).is_active
        with tape:
            assert (x + x).is_active, "a recording inside records"
        assert not (x + x).is_active
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 4.0
