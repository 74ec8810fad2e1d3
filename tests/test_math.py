# SPDX-License-Identifier: Apache-2.0
"""codipy.math has every name of Python's math: same values, same exceptions, and derivatives that are right."""

import inspect
import math
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import codipy
from codipy import math as cm
from codipy.operations import PASSIVE, TABLE
from tests.strategies import STRATEGIES, each_as_values, each_strategy

INF, NAN = math.inf, math.nan

# A call of every function of math that takes real numbers and gives one, at a smooth point: name -> arguments.
AT_04 = [
    "acos", "asin", "atan", "atanh", "cbrt", "cos", "cosh", "degrees", "erf", "erfc", "exp", "exp2", "expm1", "fabs",
]  # fmt: skip
AT_07 = [
    "gamma", "lgamma", "log", "log10", "log1p", "log2", "radians", "sin", "sinh", "sqrt", "tan", "tanh", "asinh",
]  # fmt: skip
SMOOTH = {
    "nextafter": (2.5, 3.0),
    **dict.fromkeys(AT_04, (0.4,)), **dict.fromkeys(AT_07, (0.7,)),
    "acosh": (1.6,), "atan2": (0.4, -1.3), "copysign": (0.8, -2.0), "dist": ([1.0, 2.0, -3.0], [0.5, 4.0, 1.0]),
    "fma": (1.5, -2.5, 0.3), "fmax": (1.0, 2.0), "fmin": (1.0, 2.0), "fmod": (7.3, 2.2), "fsum": ([0.1, 2.5, -0.7],),
    "hypot": (0.3, -0.4, 1.2, 2.0), "ldexp": (0.7, 5), "pow": (1.7, 2.3), "prod": ([1.5, -2.0, 0.3],),
    "remainder": (7.3, 2.2), "sumprod": ([1.0, 2.0, 3.0], [0.1, -0.4, 0.8]),
}  # fmt: skip
# More ways to call them.
CALLS = [
    *SMOOTH.items(),
    ("log", (3.0, 10)), ("log", (3.0, 0.5)), ("hypot", (0.3,)), ("hypot", (-0.3,)), ("hypot", (3.0, 4.0)),
    ("dist", ([1.5], [4.0])), ("dist", ([1.5, 2.0], [4.0, 7.0])), ("pow", (2.5, 3)), ("pow", (-2.0, 3)),
    ("frexp", (5.3,)), ("modf", (-5.3,)), ("square", (1.5,)), ("reciprocal", (1.5,)), ("digamma", (1.5,)),
    ("expit", (0.3,)), ("logaddexp", (0.3, 1.1)), ("maximum", (1.0, 2.0)), ("minimum", (1.0, 2.0)),
    ("mod", (-7.3, 2.2)),
]  # fmt: skip
PASSIVE_CALLS = {
    "ceil": (2.5,), "floor": (2.5,), "trunc": (-2.5,), "isnan": (2.5,), "isinf": (2.5,), "isfinite": (2.5,),
    "isclose": (2.5, 2.6), "ulp": (2.5,), "sign": (-2.5,), "signbit": (-2.5,),
}  # fmt: skip
OF_INTEGERS = {
    "comb": (7, 3), "factorial": (6,), "gcd": (12, 18), "isqrt": (17,), "lcm": (4, 6), "perm": (7, 3),
}  # fmt: skip
PAIRS = {"frexp", "modf"}


def public(module):
    return {name for name in dir(module) if not name.startswith("_")}


def flat(arguments):
    """The numbers of a call's arguments, lists opened."""
    return [x for a in arguments for x in (a if isinstance(a, list) else [a])]


def rebuilt(arguments, numbers):
    """The call's arguments with other numbers in them."""
    numbers = iter(numbers)
    return [[next(numbers) for _ in a] if isinstance(a, list) else next(numbers) for a in arguments]


def real_result(result):
    return next(iter(result)) if isinstance(result, tuple) else result


def same(a, b):
    return type(a) is type(b) and (a == b and math.copysign(1, a) == math.copysign(1, b) or a != a and b != b)


def record(name, arguments, strategy="auto", active=lambda k: True):
    """Value and gradient of one call; ints stay ints, so that they are passive."""
    tape = codipy.Tape(strategy=strategy)
    with tape:
        inputs = [
            tape.register_input(x) if isinstance(x, float) and active(k) else x for k, x in enumerate(flat(arguments))
        ]
        result = real_result(getattr(cm, name)(*rebuilt(arguments, inputs)))
        tape.register_output(result)
    tape._check()
    result.gradient = 1.0
    tape.evaluate()
    return result.value, [x.gradient if isinstance(x, codipy.Real) else 0.0 for x in inputs]


def difference(name, arguments, k):
    """The central difference in the k-th number, on plain floats."""
    numbers, step = flat(arguments), 1e-6
    if not isinstance(numbers[k], float):
        return 0.0
    values = []
    for sign in (1, -1):
        moved = [x + sign * step if i == k else x for i, x in enumerate(numbers)]
        values.append(real_result(getattr(cm, name)(*rebuilt(arguments, moved))))
    return (values[0] - values[1]) / (2 * step)


def test_every_name_of_math_is_there():
    assert public(math) <= public(cm)
    assert public(math) <= set(cm.__all__)
    assert all(hasattr(cm, name) for name in cm.__all__)
    assert {"cbrt", "exp2", "fma", "fmax", "fmin", "sumprod", "signbit"} <= set(cm.__all__), "in older Pythons too"


def test_every_function_of_math_is_tested_here():
    """A new Python's new function must be given its derivative, or be declared passive or of integers."""
    constants = {"e", "pi", "tau", "inf", "nan"}
    known = set(SMOOTH) | set(PASSIVE_CALLS) | set(OF_INTEGERS) | PAIRS | constants
    assert public(math) - known <= {"isnormal", "issubnormal", "integer"}, "these have no test"
    assert all(getattr(cm, name) == getattr(math, name) or name == "nan" for name in constants)
    assert math.isnan(cm.nan)


def test_rows_without_a_function_of_math_are_there():
    assert {row.math_name or row.name for row in TABLE} <= set(cm.__all__)
    assert {row.math_name for row in PASSIVE if row.math_name} <= set(cm.__all__)


@pytest.mark.parametrize("name", sorted(public(math) & set(SMOOTH) | set(PAIRS)))
def test_the_parameters_are_those_of_math(name):
    try:
        expected = inspect.signature(getattr(math, name))
    except ValueError:
        return  # math's own has none to compare: log, hypot in older Pythons
    found = inspect.signature(getattr(cm, name))
    if name in ("log", "hypot"):
        found = expected if any(p.kind is p.VAR_POSITIONAL for p in found.parameters.values()) else found
    kinds = [[(p.kind, p.default) for p in signature.parameters.values()] for signature in (found, expected)]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=str)
def test_value_and_gradient(name, arguments):
    expected = getattr(math, name, getattr(cm, name))(*arguments)
    assert same(real_result(getattr(cm, name)(*arguments)), real_result(expected)), "floats give math's own value"
    gradients = set()
    for strategy in STRATEGIES:
        value, gradient = record(name, arguments, strategy)
        assert same(value, real_result(expected)), strategy
        for k, partial in enumerate(gradient):
            assert partial == pytest.approx(difference(name, arguments, k), rel=1e-6, abs=1e-8), (strategy, k)
        gradients.add(tuple(gradient))
    assert len(gradients) == 1 or np.ptp(np.array(sorted(gradients)), axis=0).max() < 1e-14


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=str)
def test_each_argument_alone(name, arguments):
    numbers = flat(arguments)
    together = record(name, arguments)[1]
    for k, x in enumerate(numbers):
        if isinstance(x, float):
            value, gradient = record(name, arguments, active=lambda i, k=k: i == k)
            assert gradient[k] == pytest.approx(together[k], rel=1e-14)
            assert value == real_result(getattr(cm, name)(*arguments))


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=str)
def test_passive_reals_and_the_passive_context(name, arguments):
    expected = getattr(cm, name)(*arguments)
    reals = rebuilt(arguments, [codipy.Real(x) if isinstance(x, float) else x for x in flat(arguments)])
    result = getattr(cm, name)(*reals)
    assert isinstance(result, tuple) is isinstance(expected, tuple)
    assert isinstance(real_result(result), codipy.Real) and not real_result(result).is_active
    assert real_result(result).value == real_result(expected)
    tape = codipy.Tape()
    with tape:
        active = [tape.register_input(x) if isinstance(x, float) else x for x in flat(arguments)]
        before = tape.statements
        with codipy.passive():
            result = real_result(getattr(cm, name)(*rebuilt(arguments, active)))
        assert not result.is_active
        assert result.value == real_result(expected)
        assert tape.statements == before
    with pytest.raises(codipy.errors.TapeError, match="no tape is recording"):
        getattr(cm, name)(*rebuilt(arguments, active))


@pytest.mark.parametrize(("name", "arguments"), PASSIVE_CALLS.items(), ids=str)
def test_passive_functions(name, arguments):
    expected = getattr(math, name)(*arguments) if hasattr(math, name) else getattr(cm, name)(*arguments)
    with codipy.Tape() as tape:
        inputs = [tape.register_input(x) for x in arguments]
        before = tape.statements
        result = getattr(cm, name)(*inputs)
        assert type(result) is type(expected)
        assert result == expected
        assert tape.statements == before
        if name == "isclose":
            assert not cm.isclose(inputs[0], inputs[1], rel_tol=codipy.Real(1e-9))
            assert cm.isclose(inputs[0], inputs[1], abs_tol=0.2)


@pytest.mark.parametrize(("name", "arguments"), OF_INTEGERS.items(), ids=str)
def test_functions_of_integers(name, arguments):
    assert getattr(cm, name)(*arguments) == getattr(math, name)(*arguments)
    with pytest.raises(TypeError, match=r"int\(codipy\.value\(x\)\)"):
        getattr(cm, name)(*map(codipy.Real, arguments))


EDGES = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -8.0, 1 / 3, 1e-320, 1e308, -1e308, 710.0, -171.5, INF, -INF, NAN]
)
NUMBERS = EDGES | st.floats()
OF_ONE = sorted({*AT_04, *AT_07, "acosh", "frexp", "modf", "hypot"} & public(math))
OF_TWO = ["atan2", "copysign", "fmod", "hypot", "log", "pow", "remainder"]


def outcome(function, *arguments):
    """The value of a call, its sign told, or the type of its exception."""
    try:
        result = real_result(function(*arguments))
    except (ArithmeticError, ValueError, TypeError) as error:
        return type(error)
    result = result.value if isinstance(result, codipy.Real) else result
    return "nan" if result != result else (result, math.copysign(1, result))


@pytest.mark.parametrize("name", OF_ONE)
@given(x=NUMBERS)
def test_values_and_exceptions_of_one_argument(name, x):
    expected = outcome(getattr(math, name), x)
    assert outcome(getattr(cm, name), x) == expected
    with codipy.Tape() as tape:
        assert outcome(getattr(cm, name), tape.register_input(x)) == expected


@pytest.mark.parametrize("name", OF_TWO)
@given(x=NUMBERS, y=NUMBERS | st.integers(-5, 5))
def test_values_and_exceptions_of_two_arguments(name, x, y):
    expected = outcome(getattr(math, name), x, y)
    assert outcome(getattr(cm, name), x, y) == expected
    with codipy.Tape() as tape:
        real, other = tape.register_input(x), tape.register_input(y)
        assert outcome(getattr(cm, name), real, y) == expected
        assert outcome(getattr(cm, name), x, other) == expected
        assert outcome(getattr(cm, name), real, other) == expected


@given(numbers=st.lists(NUMBERS, min_size=1, max_size=6), more=st.lists(NUMBERS, min_size=6, max_size=6))
def test_values_and_exceptions_of_many_arguments(numbers, more):
    more = more[: len(numbers)]
    with codipy.Tape() as tape:
        reals = [tape.register_input(x) if k % 2 == 0 else x for k, x in enumerate(numbers)]
        others = [x if k % 3 else tape.register_input(x) for k, x in enumerate(more)]
        for name, plain, active in [
            ("fsum", [numbers], [reals]),
            ("prod", [numbers], [reals]),
            ("hypot", numbers, reals),
            ("dist", [numbers, more], [reals, others]),
            ("sumprod", [numbers, more], [reals, others]),
        ]:
            function = getattr(cm, name)
            assert outcome(function, *active) == outcome(getattr(math, name, function), *plain), name
    tape._check()


@pytest.mark.parametrize("i", [0, 3, -1074, 1100, -5000, 10**400, -(10**400), True])
@pytest.mark.parametrize("x", [0.0, 1.5, -3e300, 5e-324, INF, NAN])
def test_ldexp(x, i):
    with codipy.Tape() as tape:
        assert outcome(cm.ldexp, tape.register_input(x), i) == outcome(math.ldexp, x, i)


def test_wrong_arguments_get_the_errors_of_math():
    with codipy.Tape() as tape:
        x = tape.register_input(2.0)
        for name, arguments, expected in [
            ("sin", (), TypeError), ("sin", (x, 1.0), TypeError), ("atan2", (x,), TypeError), ("log", (), TypeError),
            ("log", (x, 2, 3), TypeError), ("log", (x, "2"), TypeError), ("log", (x, 1), ZeroDivisionError),
            ("log", (x, 0), ValueError), ("pow", (x, "2"), TypeError), ("pow", (0.0 * x, -1), ValueError),
            ("pow", (-x, 0.5), ValueError), ("atan2", (x, None), TypeError), ("atan2", (1j, x), TypeError),
            ("atan2", (x, "1"), TypeError), ("hypot", (x, "1", 2.0), TypeError), ("fsum", ([x, "1"],), TypeError),
            ("dist", ([x], [1.0, 2.0]), ValueError), ("dist", ([x], ["1"]), TypeError), ("fsum", (x,), TypeError),
            ("sumprod", ([x], [1.0, 2.0]), ValueError), ("sumprod", ([x], [1j]), TypeError),
            ("ldexp", (x, 2.0), TypeError), ("ldexp", (x, x), TypeError), ("ldexp", (1.0, x), TypeError),
            ("fma", (x, None, 1), TypeError),
            ("fma", (INF, x - 2.0, 1.0), ValueError), ("exp", (x * 1e4,), OverflowError),
            ("sqrt", (-x,), ValueError),
        ]:  # fmt: skip
            with pytest.raises(expected):
                getattr(cm, name)(*arguments)
        y = tape.register_output(cm.sin(x))
    tape._check()
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == math.cos(2.0), "the tape is whole after all these errors"


def test_arguments_that_math_converts():
    """Whatever has __float__ or __index__ is a number to math, beside a Real too."""
    with codipy.Tape() as tape:
        x = tape.register_input(2.0)
        for other in [
            1,
            True,
            Fraction(1, 3),
            Decimal("0.7"),
            np.float64(0.7),
            np.float32(0.7),
            np.int64(3),
            np.array(0.7),
        ]:
            assert cm.atan2(x, other).value == math.atan2(2.0, other)
            assert cm.atan2(other, x).value == math.atan2(other, 2.0)
            assert cm.hypot(x, other, other).value == math.hypot(2.0, other, other)
            assert cm.dist([x, other], [other, 1.0]).value == math.dist([2.0, other], [other, 1.0])
            assert cm.fsum([other, x, other]).value == math.fsum([other, 2.0, other])
    assert cm.log(10**400) == math.log(10**400)
    assert cm.log(10**400, 10) == math.log(10**400, 10)
    assert cm.pow(2, 3) == 8.0 and type(cm.pow(2, 3)) is float


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("hypot", (0.0, 0.0, 0.0), [0.0, 0.0, 0.0]), ("hypot", (0.0,), [0.0]),
        ("hypot", (1.0, INF, -1.0), [0.0, 1.0, 0.0]),
        ("hypot", (1.0, -INF, 1.0), [0.0, -1.0, 0.0]), ("hypot", (INF, INF, 1.0), [NAN, NAN, 0.0]),
        ("hypot", (3e-310, 4e-310, 0.0), [0.6, 0.8, 0.0]), ("dist", ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), [0.0] * 6),
        ("prod", ([0.0, 3.0, 2.0],), [6.0, 0.0, 0.0]), ("prod", ([0.0, 0.0, 2.0],), [0.0, 0.0, 0.0]),
        ("fsum", ([1e300, 1.0, -1e300],), [1.0, 1.0, 1.0]),
        ("sumprod", ([1e300, 1.0], [0.0, 2.0]), [0.0, 2.0, 1e300, 1.0]),
        ("frexp", (12.0,), [1 / 16]), ("modf", (-2.0,), [1.0]), ("ldexp", (1.0, 3), [8.0, 0.0]),
    ],
)  # fmt: skip
def test_derivatives_at_edges(name, arguments, expected):
    for strategy in STRATEGIES:
        gradient = record(name, arguments, strategy)[1]
        assert gradient == pytest.approx(expected, rel=1e-8, nan_ok=True), strategy


def test_hypot_keeps_its_direction_where_it_overflows():
    with codipy.Tape() as tape:
        x = [tape.register_input(v) for v in (1.5e308, -1.5e308, 0.0)]
        h = tape.register_output(cm.hypot(*x))
    h.gradient = 1.0
    tape.evaluate()
    assert h.value == INF
    assert [v.gradient for v in x] == pytest.approx([math.sqrt(0.5), -math.sqrt(0.5), 0.0])


@each_strategy
def test_the_same_variable_in_every_place(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(1.7)
        pending = x * 2.0
        y = (
            cm.fsum([x, x, pending, pending])
            + cm.sumprod([x, pending], [x, x])
            + cm.hypot(x, x, x)
            + cm.prod([x, x, x])
        )
        tape.register_output(y)
    tape._check()
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == pytest.approx(6 + 6 * 1.7 + math.sqrt(3) + 3 * 1.7**2, rel=1e-14)


@each_as_values
def test_which_statements_can_be_recomputed(strategy):
    composed = [
        lambda x: cm.log(x, 3), lambda x: cm.dist([x], [1.0]), lambda x: cm.dist([x, 1.0], [2.0, x]),
        lambda x: cm.hypot(x, 2.0),
        lambda x: cm.prod([x, 2, x]), lambda x: cm.frexp(x)[0], lambda x: cm.modf(x)[0], lambda x: cm.ldexp(x, 3),
        lambda x: cm.pow(x, 2.5),
    ]  # fmt: skip
    for function in composed:
        tape = codipy.Tape(strategy=strategy)
        with tape:
            x = tape.register_input(2.5)
            y = tape.register_output(function(x))
        tape.set_primal(x, 2.75)
        tape.evaluate_primal()
        assert tape.get_primal(y) == function(2.75)
    for function in [lambda x: cm.fsum([x]), lambda x: cm.sumprod([x], [x]), lambda x: cm.hypot(x, x, x)]:
        tape = codipy.Tape(strategy=strategy)
        with tape:
            x = tape.register_input(2.5)
            y = tape.register_output(function(x))
        with pytest.raises(codipy.errors.TapeError, match="push_statement"):
            tape.evaluate_primal()
        y.gradient = 1.0
        tape.evaluate()
        assert x.gradient != 0.0


def test_iterators_and_keywords():
    with codipy.Tape() as tape:
        x = tape.register_input(2.0)
        assert cm.fsum(iter([x, 1.0])).value == 3.0
        assert cm.prod(iter([x, 3]), start=2).value == 12.0
        assert cm.prod([2, 3], start=x).value == 12.0
        assert cm.sumprod(iter([x]), iter([3])).value == 6.0
        assert cm.dist((x, 1.0), (y for y in (5.0, 5.0))).value == 5.0
    assert cm.prod([]) == 1
    assert cm.fsum([]) == 0.0
    assert cm.hypot() == 0.0
    if sys.version_info >= (3, 12):
        assert cm.nextafter(codipy.Real(1.0), 2.0, steps=3) == math.nextafter(1.0, 2.0, steps=3)


@given(st.lists(st.tuples(st.floats(-1e150, 1e150), st.floats(-1e150, 1e150)), max_size=6))
def test_sumprod_for_older_pythons(pairs):
    p, q = [a for a, _ in pairs], [b for _, b in pairs]
    exact = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))
    assert cm._exact_sumprod(p, q) == float(exact)


def test_sumprod_for_older_pythons_at_edges():
    assert cm._exact_sumprod([2, 3], [4, 5]) == 23 and type(cm._exact_sumprod([2, 3], [4, 5])) is int
    assert cm._exact_sumprod([INF, 1.0], [1.0, 1.0]) == INF
    assert math.isnan(cm._exact_sumprod([NAN], [1.0]))
    assert cm._exact_sumprod([1e300], [1e300]) == INF
    assert cm._exact_sumprod([Fraction(1, 3)], [3]) == 1
    with pytest.raises(ValueError, match="same length"):
        cm._exact_sumprod([1.0], [])


@pytest.mark.parametrize("text", [
    "dist([y[0]], [0.1])", "dist(y, [0.1, 0.2, 0.3])", "dist([y[0]], [y[1]])", "hypot(*y)", "hypot(y[0], 0.1)",
    "fsum(y)", "fsum([y[0], 0.1])", "prod(y)", "prod(y, start=0.1)", "log(y[0], 3.0)", "pow(y[0], y[1])",
    "fmod(y[0], 0.7)",
])  # fmt: skip
def test_elements_of_single_precision_are_doubles(text):
    y = np.array([1.847627, 1.532984, 0.37], np.float32)
    f = eval(f"lambda y: math.{text}", {"math": math})
    value, _ = codipy.value_and_grad(f)(y)
    assert value == f(y)
