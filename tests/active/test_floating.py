# SPDX-License-Identifier: Apache-2.0
"""Floating-point warnings: programs that warn in NumPy warn with Arrays, in the same words, and no others do."""

import warnings

import numpy as np
import pytest

import codipy
from codipy.active.array import Array
from tests.strategies import STRATEGIES, each_strategy

X = np.array([0.0, 1.0, -2.0, 3.0, 0.5, 1e-3, 2.0])
HUGE = np.array([1e308, -1e308, 1e200, 1.0, 2.0, 0.0, 5.0])
TINY = np.array([1e-308, 1e-200, 1.0, 2.0, 0.0, 3.0, 4.0])
NAN = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0, 2.0])
ONES = np.ones(7)

PROGRAMS = {
    "divide by zero": lambda x: 1.0 / x, "zero by zero": lambda x: x / x, "by a number": lambda x: x / 0.0,
    "log": lambda x: np.log(x), "log of zero alone": lambda x: np.log(np.abs(x)), "sqrt": lambda x: np.sqrt(x),
    "log1p": lambda x: np.log1p(-x), "log10": lambda x: np.log10(x), "log2": lambda x: np.log2(x),
    "arcsin": lambda x: np.arcsin(x), "arccos": lambda x: np.arccos(2.0 * x), "arctanh": lambda x: np.arctanh(x),
    "arccosh": lambda x: np.arccosh(x), "reciprocal": lambda x: np.reciprocal(x), "power": lambda x: x**-1.5,
    "power of an array": lambda x: x**x, "power -1": lambda x: x**-1, "power 0.5": lambda x: x**0.5,
    "square": lambda x: x**2,
    "exp": lambda x: np.exp(1000.0 * x), "expm1": lambda x: np.expm1(900.0 * x), "exp2": lambda x: np.exp2(2000.0 * x),
    "sinh": lambda x: np.sinh(900.0 * x), "cosh": lambda x: np.cosh(900.0 * x), "sin of inf": lambda x: np.sin(x / 0.0),
    "cos": lambda x: np.cos(x), "tan": lambda x: np.tan(x), "tanh": lambda x: np.tanh(1e5 * x),
    "inf - inf": lambda x: (x + np.inf) - np.inf, "0 * inf": lambda x: x * np.inf, "mod": lambda x: x % 0.0,
    "fmod": lambda x: np.fmod(x, 0.0), "mod of inf": lambda x: np.mod(x + np.inf, 3.0),
    "hypot": lambda x: np.hypot(x, 1e308), "divmod": lambda x: np.divmod(x, 0.0)[1],
    "divmod of itself": lambda x: np.divmod(x, x)[1] + 0.0, "quotient": lambda x: divmod(x, 0.0)[0] + x,
    "ldexp": lambda x: np.ldexp(x, 5000) - 1.0,
    "ldexp by elements": lambda x: np.ldexp(1.0 / x, np.arange(2000, 9000, 1000)),
    "overflow": lambda x: 1e308 * x * 10.0, "sum of huge": lambda x: (1e308 * x) + 1.5e308, "abs": lambda x: abs(x),
    "maximum": lambda x: np.maximum(1.0 / x, 0.0), "minimum": lambda x: np.minimum(np.log(x), 0.0),
    "maximum alone": lambda x: np.maximum(x, 0.0), "fmax": lambda x: np.fmax(x, 0.0), "negative": lambda x: -x,
    "before and after": lambda x: np.exp(np.maximum(1.0 / x, 0.0)) - 1.0, "arctan2": lambda x: np.arctan2(x, 0.0),
    "copysign": lambda x: np.copysign(1.0 / x, x), "logaddexp": lambda x: np.logaddexp(x, -np.inf),
    "degrees": lambda x: np.degrees(1e308 * x), "cbrt": lambda x: np.cbrt(x), "several": lambda x: np.log(x) + 1.0 / x,
    "a long one": lambda x: (x * 2.0 - 1.0) / (x - 0.5) + np.sqrt(x - 1.0) * 3.0,
    "where": lambda x: np.where(x > 0.0, 1.0 / x, 0.0),
    "mean": lambda x: x - (x / x).mean(), "sum": lambda x: (x / 0.0).sum() * x,
    "heaviside": lambda x: np.heaviside(x, 0.5),
    "nothing": lambda x: (x + 1.0) * (x - 2.0) / 3.0, "clip": lambda x: np.clip(x, 0.0, 1.0) * 2.0,
    "sign": lambda x: np.sign(x) * x,
    "in place": lambda x: in_place(x), "in place divide": lambda x: divided(x), "slices": lambda x: x[1:] / x[:-1],
    "strided": lambda x: np.log(x[::-2]),
    "two dimensions": lambda x: np.log(np.stack([x, x + 1.0])) / np.stack([x, x])[:, :1],
    "broadcast": lambda x: x[:, None] / x[None, :], "outer": lambda x: np.divide.outer(x, x),
    "floor_divide": lambda x: x // 0.0,
    "cancelled later": lambda x: (1.0 / x) * 0.0, "sinc": lambda x: np.sinc(x),
    "trapezoid": lambda x: np.trapezoid(1.0 / x),
}  # fmt: skip


def in_place(x):
    y = x.copy()
    y[1:] = 1.0 / x[:-1]
    y *= 2.0
    return y


def divided(x):
    y = x + 1.0
    y /= x
    return y


def said(function, x, **rules):
    """What was warned of, once each."""
    with warnings.catch_warnings(record=True) as found, np.errstate(**rules):
        warnings.simplefilter("always")
        result = function(x)
        value = result.value if isinstance(result, (Array, codipy.Real)) else result
    return {(w.category, str(w.message)) for w in found}, value


VALUES = {"x": X, "huge": HUGE, "tiny": TINY, "nan": NAN, "ones": ONES}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_warnings(name, value):
    for rules in ({}, {"all": "warn"}):
        expected, plain = said(PROGRAMS[name], VALUES[value], **rules)
        for strategy in STRATEGIES:
            tape = codipy.Tape(strategy=strategy)
            with tape:
                x = tape.register_input(VALUES[value])
                found, active = said(PROGRAMS[name], x, **rules)
            assert found == expected
            assert np.array_equal(active, plain, equal_nan=True)
        found, passive = said(PROGRAMS[name], Array(VALUES[value]), **rules)
        assert found == expected


def test_the_programs_say_something():
    counts = [bool(said(program, X)[0]) for program in PROGRAMS.values()]
    assert 25 < sum(counts) < len(counts) - 10


def test_the_rules_are_those_of_the_time_when_it_was_written():
    """Expressions wait; what was written under `np.errstate` is computed under it."""
    tape = codipy.Tape()
    with tape, warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        x = tape.register_input(X)
        with np.errstate(divide="ignore", invalid="ignore"):
            y = np.log(x)
            z = 1.0 / x
        silent = (y + 1.0).sum() + (z * 2.0).sum()
        assert found == [] and np.isnan(silent.value)
        loud = np.log(x)
        with np.errstate(all="ignore"):
            loud.value
        assert {str(w.message) for w in found} == {
            "divide by zero encountered in log", "invalid value encountered in log"
        }  # fmt: skip


@each_strategy
def test_raise_leaves_tape_and_values_whole(strategy):
    """Assignments write nothing then, operators in place have written, as in NumPy; and that is recorded."""
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(np.array([4.0, 2.0, 0.0]))
        y = x * x
        with np.errstate(all="raise"):
            with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
                y[1:] = 1.0 / x[1:]
            with pytest.raises(FloatingPointError, match="divide by zero"):
                (8.0 / x).value
            with pytest.raises(FloatingPointError, match="invalid value encountered in log"):
                (np.log(x - 3.0) * 2.0 + y).value
            whole = x.copy()
            with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
                whole[...] = 1.0 / x
            with pytest.raises(FloatingPointError, match="divide by zero encountered in reciprocal"):
                np.reciprocal(x).sum()
            single = x.copy()
            with pytest.raises(FloatingPointError):
                single /= x + 0.0
            with pytest.raises(FloatingPointError):
                np.divide(8.0, x, out=y)
            with pytest.raises(FloatingPointError, match="divide by zero encountered in log"):
                np.log(x, where=x < 3.0)
            np.log(x, where=x > 0.0)
        assert y.value.tolist() == [2.0, 4.0, np.inf]
        assert whole.value.tolist() == [4.0, 2.0, 0.0]
        assert np.array_equal(single.value, [1.0, 1.0, np.nan], equal_nan=True)
        z = tape.register_output(y[0] + y[1] + whole[1] + (x * 3.0).sum() + single[0])
    tape._check()
    z.gradient = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tape.evaluate()
    assert x.gradient.tolist() == [3.0 - 0.5, 3.0 - 2.0 + 1.0, 3.0]


def test_plain_arrays_that_are_filled_keep_what_numpy_would_have_written():
    """Passive writes, and writes into arrays with elements of their own."""
    tape = codipy.Tape()
    with tape, np.errstate(all="raise"):
        x = tape.register_input(np.array([4.0, 0.0]))
        y = Array(np.zeros(4))
        with pytest.raises(FloatingPointError):
            y[:2] = Array(np.array([1.0, 0.0])) / 0.0
        y[3] = x[0]
        with pytest.raises(FloatingPointError):
            y[:2] = 1.0 / x
        with np.errstate(divide="ignore"):
            y[:2] = 1.0 / x
        z = tape.register_output(y[0] + y[3])
    tape._check()
    z.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tolist() == [1.0 - 1.0 / 16.0, 0.0]


def test_calls_and_other_modes():
    heard = []
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(X)
        with np.errstate(all="call", call=lambda kind, flag: heard.append(kind)):
            (1.0 / x).value
        with np.errstate(all="raise", under="ignore"):
            assert np.exp(-800.0 * abs(x)).value[0] == 1.0
        with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="underflow"):
            np.exp(-800.0 * abs(x)).value
    assert heard == ["divide by zero"]


def test_sweeps_are_silent():
    """The partials at the edges are infinite or undefined, and nobody asked for them."""
    for strategy in STRATEGIES:
        tape = codipy.Tape(strategy=strategy)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with tape, np.errstate(all="warn"):
                x = tape.register_input(np.array([0.0, 1.0, 4.0]))
                y = tape.register_output(np.sqrt(x) + np.arcsin(x[1]) + np.cbrt(x) + np.hypot(x, 0.0))
                w = tape.register_output(np.abs(x) ** 0.25)
            y.gradient = w.gradient = 1.0
            tape.evaluate()
            tape.clear_adjoints()
            x.gradient = 1.0
            tape.evaluate_forward()
    assert not np.all(np.isfinite(y.gradient))


def test_flags_from_elsewhere_are_not_ours():
    """What the processor's flags say when an expression begins is somebody else's."""
    tape = codipy.Tape()
    with tape, warnings.catch_warnings():
        warnings.simplefilter("error")
        x = tape.register_input(np.array([1.0, 4.0]))
        with np.errstate(all="ignore"):
            np.log(np.zeros(2))
            float("1e300") * float("1e300")
        (x + 1.0).value
        np.exp(x).value


@each_strategy
def test_filters_that_meet_no_floating_point_warning_change_no_recording(strategy):
    """Modules that are imported while it records have some, so that a first recording was another than the next."""
    def recorded(*filters):
        tape = codipy.Tape(strategy=strategy)
        with warnings.catch_warnings(), tape:
            x = tape.register_input(ONES)
            for settings in filters:
                warnings.filterwarnings(**settings)
            y = tape.register_output(np.sin(x + 1.0) * x)
        return tape.statements, y.value.tolist()

    plain = recorded()
    assert recorded({"action": "always", "category": UserWarning},
                    {"action": "error", "message": "the matrix subclass is not"}) == plain
    concerned = recorded({"action": "ignore", "message": "divide by zero"})
    assert concerned[0] > plain[0] or strategy == "simple"      # which has a statement for each operation anyway
    assert concerned[1] == plain[1]


@pytest.mark.parametrize("settings", [{}, {"message": "divide by"}, {"message": ".*in (log|divide)"},
                                      {"category": RuntimeWarning}])
def test_a_filter_set_while_it_records_raises_where_the_program_does(settings):
    tape = codipy.Tape()
    with warnings.catch_warnings(), tape:
        x = tape.register_input(X)
        warnings.filterwarnings("always", category=UserWarning)
        warnings.filterwarnings("error", **settings)
        with pytest.raises(RuntimeWarning, match="divide by zero encountered"):
            np.log(np.abs(x))
