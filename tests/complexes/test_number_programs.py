# SPDX-License-Identifier: Apache-2.0
"""Programs of single complex numbers: the plain run's bits, warnings and errors, and differences of the plain run."""

import cmath
import itertools
import warnings

import numpy as np
import pytest

import codipy
from tests.strategies import AS_VALUES, BY_STATEMENT, COMPARED, VARIANTS, each_as_values, each_pair, new_tape

KINDS = {"complex": complex, "complex128": np.complex128, "complex64": np.complex64}
STATEMENTS = [
    "{a} = {b} * {c}",
    "{a} = {b} * {b}",
    "{a} = {b} + {c}",
    "{a} = {b} - {c} * 0.5",
    "{a} = {b} / {c}",
    "{a} = {b} / (2.0 - {c})",
    "{a} = 1.0 / {b}",
    "{a} = {b} / t",
    "{a} = t / {b}",
    "{a} = {b} * t + 1j",
    "{a} = t - {b}",
    "{a} = {a} * (0.6 - 0.3j)",
    "{a} = (0.4 + 0.7j) * {b} + k",
    "{a} = 1j * t + {b}",
    "{a} = t * (0.3 + 1j) - {b} * k",
    "{a} = {b} ** 2",
    "{a} = {b} ** 3 * 0.2",
    "{a} = {b} ** -2",
    "{a} = {b} ** 5 * 0.1",
    "{a} = {b} ** 1.5",
    "{a} = {b} ** {c} * 0.1",
    "{a} = 2.0 ** {b}",
    "{a} = abs({b}) + {c}",
    "{a} = {b} / abs({b})",
    "{a} = {b}.conjugate() * {c}",
    "{a} = -{b}",
    "{a} = +{b} * {c}.real",
    "{a} = {b} + {c}.imag",
    "{a} = s * {b}",
    "{a} = {b} - s",
    "{a} += {b}",
    "{a} *= {b}",
    "{a} /= {b} + 3",
    "t = abs({a}) * 0.5",
    "t = {a}.real * 0.3 + 0.7",
]
OF_PYTHON = [
    "{a} = cmath.exp({b} * 0.3)",
    "{a} = cmath.sqrt({b})",
    "{a} = cmath.log({b}) + 1",
    "{a} = cmath.log10({b}) + 1",
    "{a} = cmath.sin({b}) * 0.3",
    "{a} = cmath.cos({b}) * 0.3",
    "{a} = cmath.tan({b} * 0.3)",
    "{a} = cmath.sinh({b}) * 0.3",
    "{a} = cmath.cosh({b}) * 0.3",
    "{a} = cmath.tanh({b})",
    "{a} = cmath.atan({b} * 0.3)",
    "{a} = cmath.asin({b} * 0.3)",
    "{a} = cmath.rect(t, 0.4) + {b}",
    "{a} = cmath.rect(abs({b}), cmath.phase({b}) * 0.5)",
    "{a} = cmath.exp(1j * t) * {b}",
    "t = cmath.polar({a})[1] * 0.1 + cmath.polar({a})[0]",
]
OF_NUMPY = [
    "{a} = np.exp({b} * 0.3)",
    "{a} = np.sqrt({b})",
    "{a} = np.log({b}) + 1",
    "{a} = np.sin({b}) * 0.3",
    "{a} = np.tanh({b})",
    "{a} = np.conj({b}) * {c}",
    "{a} = np.square({b})",
    "t = np.abs({a})",
    "t = np.angle({a}) * 0.1 + 0.8",
    "{a} = np.complex128(0.3 - 0.8j) * {b}",
    "{a} = np.float64(0.8) * {b}",
    "{a} = {b} / np.complex128(0.3 - 0.8j)",
]


def program(seed, length=9):
    """The text of one program of four floats."""
    rng = np.random.default_rng(seed)
    lines = ["def f(p):", "    u, v, t = kind(p[0] + 1j * p[1]), kind(p[2] + 1j * p[3]), p[3]", "    w = u - v",
             "    s, k = kind(0.5 - 0.25j), 3"]  # fmt: skip
    for _ in range(length):
        a, b, c = rng.choice(["u", "v", "w"], 3)
        lines.append("    " + rng.choice(STATEMENTS + OF_PYTHON + OF_NUMPY).format(a=a, b=b, c=c))
        lines.append(f"    if not 1e-2 < abs({a}) < 1e1: {a} = {a} / (abs({a}) + 0.1) + 0.2")
    lines.append("    return (u * (1.0 - 0.5j)).real + (v * w).imag + abs(w) + t")
    return "\n".join(lines)


def function(seed, kind=complex):
    names = {"np": np, "cmath": cmath, "kind": kind}
    exec(compile(program(seed), "<program>", "exec"), names)
    return names["f"]


def point(seed):
    return [float(x) for x in np.random.default_rng([7, seed]).uniform(0.4, 1.3, 4)]


def differences(f, p, step):
    moved = [[x + h * (k == i) for i, x in enumerate(p)] for k in range(len(p)) for h in (step, -step)]
    return np.array([(f(x) - f(y)) / (2 * step) for x, y in zip(moved[::2], moved[1::2])])


def recorded(f, p, variant):
    tape = new_tape(variant)
    with tape:
        x = [tape.register_input(number) for number in p]
        y = tape.register_output(codipy.rebind(f)(x))
    return tape, x, y


def gradient(f, p, variant):
    if variant[0] == "forward":
        slopes = []
        for k in range(len(p)):
            with codipy.Tape(*variant) as tape:
                x = [tape.register_input(number) for number in p]
                x[k].tangent = 1.0
                y = codipy.rebind(f)(x)
                slopes.append(y.tangent)
        return y.value, np.array(slopes)
    tape, x, y = recorded(f, p, variant)
    y.gradient = 1.0
    tape.evaluate()
    return y.value, np.array([number.gradient for number in x])


@each_pair("variant", COMPARED)
@pytest.mark.parametrize("kind", list(KINDS))
def test_programs(kind, variant):
    single = kind == "complex64"
    for seed in range(25):
        f, wide, p = function(seed, KINDS[kind]), function(seed), point(seed)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value, slopes = gradient(f, p, variant)
            expected = differences(wide if single else f, p, 1e-6)
        assert type(value) in (float, np.float64, np.float32) and value == f(p), program(seed)
        bound = 1e-2 if single else 2e-6
        assert np.all(abs(slopes - expected) <= bound * (1.0 + np.max(abs(expected)))), program(seed)


@each_pair("variant", VARIANTS)
def test_strategies_agree(variant):
    for seed in range(25):
        f = function(seed)
        expected = gradient(f, point(seed), ("primal", "operation"))[1]
        np.testing.assert_allclose(gradient(f, point(seed), variant)[1], expected, rtol=1e-10, atol=1e-10)


# ---- values, warnings and errors of special numbers ------------------------------------------------------------------
PARTS = (0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e300, 1e-310, -3e-200)
OPERATORS = [
    lambda x, y: x + y,  # of the `operator` module NumPy's scalars know no operator, but a call of the ufunc
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / y,
    lambda x, y: x**y,
]
FUNCTIONS = [cmath.exp, cmath.log, cmath.sqrt, cmath.sin, cmath.tanh, cmath.phase, cmath.polar, np.exp, np.sqrt, np.log,
             np.abs, np.conj, abs]  # fmt: skip


def outcome(function, *args):
    """The value, the warnings and the error of a call."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
        warnings.simplefilter("always")
        try:
            found = function(*args)
        except (ArithmeticError, ValueError) as error:
            return type(error), str(error)
        found = tuple(map(codipy.value, found)) if isinstance(found, tuple) else codipy.value(found)
        return repr(found), sorted(str(warning.message) for warning in caught)


def others(kind):
    numbers = [kind(2.0 - 1.0j), kind(complex(-0.0, 0.0)), kind(complex(np.inf, 1.0)), kind(1e-200j), 3.0, -0.0, 2, 0]
    return numbers + [np.float64(1e300), 1j]


@pytest.mark.parametrize("strategy", ["jacobian", "primal", "forward"])
@pytest.mark.parametrize("kind", [complex, np.complex128])
def test_special_numbers(kind, strategy):
    for parts in itertools.product(PARTS, PARTS):
        z = kind(complex(*parts))
        for other in others(kind):
            for function in OPERATORS:
                expected = outcome(function, z, other), outcome(function, other, z)
                with codipy.Tape(strategy) as tape:
                    x = tape.register_input(z)
                    found = outcome(function, x, other), outcome(function, other, x)
                assert found == expected, (OPERATORS.index(function), z, other)


@pytest.mark.parametrize("strategy", ["jacobian", "primal", "forward"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_of_special_numbers(function, strategy):
    active = codipy.rebind(lambda z: function(z))
    for parts in itertools.product(PARTS, PARTS):
        z = complex(*parts)
        with codipy.Tape(strategy) as tape:
            found = outcome(active, tape.register_input(z))
        assert found == outcome(function, z), (function, z)


# ---- what is done with a recording -----------------------------------------------------------------------------------
QUOTIENTS = [lambda p: (p[0] + 1j * p[1]) / (p[2] + 1j * p[3]), lambda p: (p[0] - 1j * p[2]) ** 3 / (p[1] * 1j + p[3]),
             lambda p: 1.0 / (p[0] + 1j * p[1]) + abs(p[2] - 1j * p[3]), lambda p: (p[0] + 1j * p[1]) ** -2,
             lambda p: cmath.exp(p[0] + 1j * p[1]) * cmath.rect(p[2], p[3])]  # fmt: skip


@each_as_values
@pytest.mark.parametrize("number", range(len(QUOTIENTS)))
@pytest.mark.parametrize("kind", [float, np.float64])
def test_a_recording_is_run_again_where_quotients_take_the_other_branch(kind, number, strategy):
    def f(p):
        w = QUOTIENTS[number](p)
        return w.real + 2.0 * w.imag

    variant = next(pair for pair in BY_STATEMENT if pair[0] == strategy)
    tape, x, y = recorded(f, [kind(z) for z in (1.5, 0.2, -0.3, 2.0)], variant)
    for other in ([0.1, -2.0, 3.0, 0.4], [0.5, 0.0, 0.0, 1.0], [-1.0, 1.0, 1.0, -1.0], [0.0, 2.0, -1.0, 0.0]):
        for one, new in zip(x, other):
            tape.set_primal(one, new)
        tape.evaluate_primal()
        assert tape.get_primal(y) == pytest.approx(f(other), rel=1e-14, abs=1e-14)
        tape.clear_adjoints()
        y.gradient = 1.0
        tape.evaluate()
        found = [one.gradient for one in x]
        np.testing.assert_allclose(found, differences(f, other, 1e-6), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("strategy", AS_VALUES)
def test_hessians(strategy):
    for seed in range(8):
        f, p = function(seed), np.array(point(seed))
        found = codipy.hessian(f, strategy=strategy)(p)
        slope = codipy.grad(f)
        expected = np.array([(slope(p + h) - slope(p - h)) / 2e-6 for h in 1e-6 * np.eye(4)])
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * (1 + np.max(abs(expected))))


@each_pair("variant", BY_STATEMENT)
def test_nested_gradients(variant):
    def inner(z):
        w = z * z / (1.0 + z) + cmath.exp(z * 0.3)
        return abs(w) ** 2 + (w**3).real

    def outer(p):
        return abs(codipy.grad(inner)(p[0] + 1j * p[1])) ** 2

    found = gradient(outer, [0.7, 0.4], variant)[1]
    np.testing.assert_allclose(found, differences(outer, [0.7, 0.4], 1e-6), rtol=1e-7)


# ---- variables -------------------------------------------------------------------------------------------------------
def test_an_input_is_no_other_number():
    with codipy.Tape() as tape:
        z = tape.register_input(0.3 + 0.4j)
        w = z.conjugate()
        tape.register_input(w)
        y = tape.register_output((w * 2.0).real + z.real)
    y.gradient = 1.0
    tape.evaluate()
    assert z.gradient == 1.0 and w.gradient == 2.0


def test_numbers_are_collected():
    import weakref

    with codipy.Tape() as tape:
        z = tape.register_input(0.3 + 0.4j)
        w = z * z
        known = weakref.ref(w)
        assert known() is w
        del w
        assert known() is None
    assert complex(codipy.Complex.__new__(codipy.Complex).value) == 0
