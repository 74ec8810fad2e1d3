# SPDX-License-Identifier: Apache-2.0
"""A Real is the number that the plain run has there, a float or NumPy's scalar: the same source is the oracle.

Values are compared to the last bit, with their types, warnings and exceptions.
"""

import fractions
import functools
import logging
import math
import pickle
import random
import warnings
import weakref

import numpy as np
import pytest

import codipy
from codipy import Array, Real
from codipy.errors import ActiveError
from tests.strategies import AS_VALUES, STRATEGIES, each_strategy

POINTS = [0.0, -0.0, 1.0, -3.0, 0.1, 2.675, 1e-3, 7.5, 1e30, -1e39, 3e-39, 1e200, 1e308, 5e-324, math.inf, -math.inf,
          math.nan]  # fmt: skip


def signature(result):
    """Type and bits."""
    if isinstance(result, (tuple, list)):
        return type(result), [signature(part) for part in result]
    if type(result) is Real:
        result = result.value
    if type(result) is Array:
        result = result.value
    if isinstance(result, np.ndarray):
        return np.ndarray, result.dtype.str, result.shape, result.tobytes() if result.dtype.kind != "O" else None
    if isinstance(result, float) and result != result or isinstance(result, np.floating) and np.isnan(result):
        return type(result), "nan"
    if isinstance(result, (float, np.floating)):
        return type(result), float(result).hex()
    return type(result), result


def run(function, *args):
    """What a call gives: the signature or the exception's type, and its warnings in order."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            outcome = signature(function(*args))
        except Exception as error:
            outcome = type(error)
    # NumPy says "scalar divide" where it takes no ufunc.
    return outcome, [
        str(warning.message).replace("scalar ", "") for warning in heard if warning.category is RuntimeWarning
    ]


def recorded(function, *args, strategy="auto"):
    """The same with every argument an input; rebound, as drivers do it."""
    with codipy.Tape(strategy=strategy) as tape:
        return run(codipy.rebind(function), *map(tape.register_input, args))


# Each is a function of two elements of one array, whatever its dtype.
CASES = [
    lambda x: x[0] + x[1],
    lambda x: x[0] - x[1],
    lambda x: x[0] * x[1],
    lambda x: x[0] / x[1],
    lambda x: x[0] ** x[1],
    lambda x: x[0] % x[1],
    lambda x: x[0] // x[1],
    lambda x: divmod(x[0], x[1]),
    lambda x: x[0] / 0.0,
    lambda x: 1 / x[0],
    lambda x: x[0] ** 0.5,
    lambda x: x[0] ** 2,
    lambda x: 0.0 ** x[0],
    lambda x: 2 ** x[0],
    lambda x: x[0] * 10,
    lambda x: x[0] * 1e300,
    lambda x: x[0] + True,
    lambda x: x[0] * np.float64(0.1),
    lambda x: x[0] * np.float32(0.1),
    lambda x: np.int16(3) * x[0],
    lambda x: np.int64(3) - x[0],
    lambda x: x[0] + np.bool_(True),
    lambda x: x[0] * np.array(0.1),
    lambda x: np.array(0.1, np.float32) * x[0],
    lambda x: (-x[0], +x[0], abs(x[0])),
    lambda x: (x[0] < x[1], x[0] == 0.1, x[0] >= x[1], x[0] != np.float64(0.1), x[0] > 3, 1e39 > x[0]),
    lambda x: (round(x[0], 2), round(x[0], -1)),
    lambda x: (round(x[0]), int(x[0]), math.floor(x[0]), math.ceil(x[0])),
    lambda x: math.trunc(x[0]),
    lambda x: (float(x[0]), float(x[0]) / 3.0, float(x[0]) * float(x[1])),
    lambda x: 1.0 / float(x[0]),
    lambda x: float(x[0]) ** 0.5 if x[0] >= 0.0 else None,
    lambda x: (np.float64(x[0]), np.float64(x[0]) / 3),
    lambda x: (np.float32(x[0]), np.float32(x[0]) / 3),
    lambda x: (x[0].item(), x.item(1), x[0].tolist(), x.tolist()),
    lambda x: x.tolist()[0] / x.tolist()[1],
    lambda x: x[0] * [1.0, 2.0],
    lambda x: [0.1, 2] - x[0],
    lambda x: x[0] * [x[1], 2.0],
    lambda x: (3, 4) / x[0],
    lambda x: (x[0].dtype, x[0].itemsize, x[0].shape, x[0].astype(np.float32), x[0].astype(float), x[0].imag),
    lambda x: x[0].is_integer(),
    lambda x: (isinstance(x[0], float), isinstance(x[0], np.floating), isinstance(x[0], np.float32)),
    lambda x: (isinstance(float(x[0]), np.floating), isinstance(x[0].item(), np.float64)),
    lambda x: (type(x[0]) is np.float64, type(x[0]) in (float, np.float32), type(x.item(0)) is float),
    lambda x: (hasattr(x[0], "shape"), hasattr(float(x[0]), "shape"), hasattr(x[0], "hex")),
    lambda x: [str(x[0]), f"{x[0]}", f"{x[0]:.4f}", f"{float(x[0])}", str(x[0].item())],
    lambda x: (np.sum(x), np.sum(x) + np.sum(x * x), np.mean(x) / 3, np.max(x) * np.min(x), x.sum() / 0),
    lambda x: (np.sqrt(x[0]), np.exp(x[0]), np.sin(float(x[0])), np.maximum(x[0], 0.0), np.hypot(x[0], x[1])),
    lambda x: (np.add(x[0], 0.1), np.multiply(x[0], np.float64(0.1)), np.power(x[0], 2), np.divide(x[0], 3.0)),
    lambda x: (np.floor(x[0]), np.sign(x[0]), np.isnan(x[0])),
    lambda x: math.exp(min(x[0], 1.0)),
    lambda x: (math.sqrt(abs(x[0])), math.hypot(x[0], x[1]), math.copysign(1.0, x[0])),
    lambda x: math.log(x[0]),
    lambda x: (x * x[0], x[0] * x, x + float(x[0]), float(x[0]) * x),
    lambda x: (x.astype(np.float32) * x[0], x[0] + x.astype(np.float64), x[0] - np.arange(2)),
    lambda x: (np.array([x[0], x[1]]), np.array([x[0], 1.0]), np.array([float(x[0])]), np.stack([x[0], x[1]])),
    lambda x: (np.where(x[0] > 0, x[0], x[1]), np.dot(x, x), np.dot(x, x) / 3, x[0] * np.ones(2)),
    lambda x: (min(x[0], x[1]), max(x[0], 0.5), sorted([x[0], x[1], 0.5])),
    lambda x: [(x[0] > 0) + (x[1] > 0), ~(x[0] > 0)],
    lambda x: (x[0].conjugate(), x[0].real, x[0].T),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "single"])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_an_element_is_the_scalar_of_numpy(case, dtype):
    rng = random.Random(case)
    for _ in range(6):
        with np.errstate(all="ignore"):
            x = np.array([rng.choice(POINTS), rng.choice(POINTS)]).astype(dtype)
        expected = run(CASES[case], x)
        assert recorded(CASES[case], x) == expected, x


@each_strategy
@pytest.mark.parametrize("x", [[0.7, -1.3], [2.0, 3.25]], ids=str)
def test_on_every_tape(strategy, x):
    for case in CASES:
        for dtype in (np.float64, np.float32):
            point = np.array(x, dtype)
            assert recorded(case, point, strategy=strategy) == run(case, point)


# ---- Random programs ----

LEAVES = ["a", "b", "x[0]", "x[1]", "w[0]", "w[1]", "2", "3.0", "0.1", "True", "np.float64(0.3)", "np.float32(0.7)",
          "np.int8(2)", "np.int64(5)", "inf", "nan", "0.0", "-1", "x.sum()", "w.mean()", "1e300", "3e38"]  # fmt: skip
FORMS = ["({} + {})", "({} - {})", "({} * {})", "({} / {})", "({} % {})", "({} // {})", "({} ** {})", "min({}, {})",
         "max({}, {})", "({} if {} > 0.5 else 2.0)", "np.add({}, {})", "np.hypot({}, {})", "np.maximum({}, {})",
         "[{}, {}][1]", "divmod({}, {})[1]"]  # fmt: skip
ONES = ["(-{})", "abs({})", "float({})", "np.sqrt({})", "np.sin({})", "np.float32({})", "np.float64({})",
        "round({}, 3)", "math.atan({})"]  # fmt: skip


def program(rng, lines=8):
    names, text = [], "def f(a, b, x, w):\n"
    for line in range(lines):
        first, second = (rng.choice(LEAVES + 3 * names) for _ in range(2))
        form = rng.choice(FORMS) if rng.random() < 0.75 else rng.choice(ONES)
        names.append(f"v{line}")
        text += f"    v{line} = {form.format(first, second)}\n"
    return text + f"    return [{', '.join(names)}]\n"


def plain_run(function, args):
    """None where a value is one that no Real stands for."""
    outcome, heard = run(function, *args)
    kinds = [part[0] for part in outcome[1]] if isinstance(outcome, tuple) else [outcome]
    refused = (complex, np.complexfloating, np.float16, np.longdouble)
    return None if any(kind is TypeError or issubclass(kind, refused) for kind in kinds) else (outcome, heard)


@each_strategy
def test_random_programs(strategy):
    rng, compared = random.Random(STRATEGIES.index(strategy)), 0
    for _ in range(250):
        text = program(rng)
        scope = {"np": np, "math": math, "inf": math.inf, "nan": math.nan}
        exec(text, scope)
        args = (rng.uniform(-3, 3), rng.choice(POINTS), np.array([rng.uniform(-2, 2), rng.choice(POINTS)]),
                np.array([rng.uniform(-2, 2), 1.5], np.float32))  # fmt: skip
        expected = plain_run(scope["f"], args)
        found = recorded(scope["f"], *args, strategy=strategy)
        if expected is not None and found[0] is not ValueError:  # at once, of a complex number
            compared += 1
            assert found == expected, (text, args)
    assert compared > 150


# ---- Derivatives ----


def smooth(a, x, w):
    t = w[0] * w[1] + a * w[0] / 3 - x[0] * 0.5 + w[1] ** 2
    s = np.sum(w * w) * a + np.exp(w[0]) - w.sum() / x[1]
    u = float(s) * a + x[0] ** 3 / (1.0 + t * t)
    return t * s + u - abs(w[1]) * 2 ** x[0]


@each_strategy
def test_gradients_are_those_of_the_double_program(strategy):
    a, x, w = 0.7, np.array([0.4, 1.9]), np.array([0.3, -1.1], np.float32)
    value, (da, dx, dw) = codipy.value_and_grad(smooth, argnums=(0, 1, 2), strategy=strategy)(a, x, w)
    assert signature(value) == signature(smooth(a, x, w))
    wide, step = w.astype(float), 1e-20j
    numbers = np.array([a, *x, *wide], complex)
    expected = []
    for k in range(5):
        z = numbers.copy()
        z[k] += step
        expected.append(analytic(z).imag / 1e-20)
    np.testing.assert_allclose([da, *dx, *dw], expected, rtol=2e-6)


def analytic(z):
    """`smooth` for complex numbers, whose float() and abs() are not analytic."""
    a, x, w = z[0], z[1:3], z[3:]
    t = w[0] * w[1] + a * w[0] / 3 - x[0] * 0.5 + w[1] ** 2
    s = np.sum(w * w) * a + np.exp(w[0]) - w.sum() / x[1]
    return t * s + s * a + x[0] ** 3 / (1.0 + t * t) + w[1] * 2 ** x[0]


def exact(a, w):
    """What is rounded correctly, on a float of Python and a float32 array."""
    t = w[0] * w[1] + a * w[0] / 3 - w[1]
    s = (t - a) * (0.1 + w[0]) - abs(t) / w[1]
    return -s * t + a


@pytest.mark.parametrize("strategy", AS_VALUES)
@pytest.mark.parametrize("granularity", ["statement", "operation"])
def test_a_replay_rounds_to_float32(strategy, granularity):
    w, other = np.array([0.3, -1.1], np.float32), np.array([1.7, 0.9], np.float32)
    tape = codipy.Tape(strategy=strategy, granularity="operation" if strategy == "simple" else granularity)
    with tape:
        a, array = tape.register_input(0.7), tape.register_input(w)
        y = tape.register_output(exact(a, array))
    assert y.value == exact(0.7, w)
    tape.set_primal(a, -0.1)
    tape.set_primal(array, other)
    tape.evaluate_primal()
    assert tape.get_primal(y) == exact(-0.1, other)


def test_a_loss_of_two_sums_is_single():
    def loss(w):
        return np.sum(w * w) + 0.1 * np.sum(np.abs(w))

    w = np.random.default_rng(1).normal(size=50).astype(np.float32)
    for strategy in STRATEGIES:
        value, gradient = codipy.value_and_grad(loss, strategy=strategy)(w)
        assert signature(value) == signature(loss(w))
        assert gradient.dtype == np.float32


# ---- Where kinds come from, and where they go ----


def test_arguments_keep_their_type():
    seen = []

    def f(a, b, c, d):
        seen.append([type(v) for v in (a, b, c, d)])
        return a * b * c * float(d)

    args = 2.0, np.float64(3.0), np.float32(0.5), np.array(2.0)
    values = codipy.grad(f, argnums=(0, 1, 2, 3))(*args)
    f(2.0, np.float64(3.0), np.float32(0.5), np.array(2.0))
    assert seen[0] == seen[1]
    assert values == (3.0, 2.0, 12.0, 3.0)
    assert [type(v) for v in values[:2]] == [float, float]


def test_registered_numbers_keep_their_type():
    with codipy.Tape() as tape:
        for number in (1.5, np.float64(1.5), np.float32(1.5), 3):
            x = tape.register_input(number)
            assert type(x.value) is (float if type(number) is int else type(number))
            assert type((x + 1).value) is type(x.value)
    assert type(Real(np.float32(0.1)).value) is np.float32
    assert type(pickle.loads(pickle.dumps(Real(np.float32(0.1)))).value) is np.float32


def test_what_float64_cannot_hold_is_refused():
    with codipy.Tape() as tape:
        x = tape.register_input(2.0)
        for other in (np.longdouble(2), np.float16(2)):
            for function in (lambda y: x * y, lambda y: y - x):
                with pytest.raises(ActiveError, match=r"float\(\)"):
                    function(other)
        assert type((tape.register_input(np.float32(2)) * np.float16(2)).value) is np.float32


def test_underflow_is_told_where_it_is_asked_for():
    def f(x):
        return x[0] * x[1], x[0] / x[2], x[0] * 0.0

    x = np.array([1e-200, 1e-200, 1e200])
    with np.errstate(under="warn"):
        assert recorded(f, x) == run(f, x)
        assert len(run(f, x)[1]) == 2
    with np.errstate(all="raise"):
        assert recorded(f, x)[0] is run(f, x)[0] is FloatingPointError


FORMAT, PAIR, NAMED = "%.3f", "%s %d", "%(v)g"


def test_texts():
    """What is printed is the value, by ``%`` and lazy logging too; a call of float() is refused."""
    with codipy.Tape() as tape:
        x = tape.register_input(np.array([0.5, 2.25]))
        for real in (x[1], tape.register_input(2.25)):
            assert FORMAT % real == "2.250" and PAIR % (real, real) == "2.25 2" and NAMED % {"v": real} == "2.25"
            record = logging.LogRecord("name", logging.INFO, "path", 1, "x = %.2f", (real,), None)
            assert record.getMessage() == "x = 2.25"
            for leaves in (float, math.fabs, "%.3f".__mod__):
                with pytest.raises(ActiveError):
                    leaves(real)


def test_weak_references():
    with codipy.Tape() as tape:
        x = tape.register_input(2.0)
        for _ in range(3):  # the memory of dead ones serves again
            y = x * x
            seen = []
            first, second = weakref.ref(y), weakref.ref(y, seen.append)
            assert first() is second() is y
            del y
            assert first() is second() is None and seen == [second]
            del first, second
        table = weakref.WeakValueDictionary(a=x)
        assert table["a"] is x


def test_an_active_real_is_no_key():
    with codipy.Tape() as tape:
        x = tape.register_input(2.0)
        for function in (hash, lambda v: {v: 1}, lambda v: {v}, lambda v: v in {2.0: 1}, lambda v: hash((v, 1))):
            with pytest.raises(ActiveError, match=r"codipy\.value"):
                function(x)
        assert {codipy.value(x): 1} == {2.0: 1} and x in [2.0]
        with codipy.passive():
            assert hash(x) == hash(2.0)
    assert hash(Real(2.0)) == hash(2.0) and Real(np.float32(0.5)) in {0.5: 1}


def test_exact_digits_are_those_of_a_number_that_is_not_active():
    """A number that is read from them again would have no derivative."""
    with codipy.Tape() as tape:
        x = tape.register_input(0.1)
        with pytest.raises(ActiveError, match=r"codipy\.value\(x\)\.hex"):
            x.hex()
        assert codipy.value(x).hex() == Real(0.1).hex() == (0.1).hex()


class Model:
    def __init__(self, k):
        self.k = k

    def rate(self, v):
        return self.k * np.ones(1)[0] * v


TABLE = {Model: 2.0, float: 3.0, np.float64: 4.0, np.float32: 5.0, np.ndarray: 6.0}


@functools.singledispatch
def kind_of(v):
    return "other"


@kind_of.register
def _(v: float):
    return "float"


@kind_of.register
def _(v: np.ndarray):
    return "array"


@kind_of.register(np.floating)
def _(v):
    return "numpy"


def classes(a, x, w):
    model = Model(a)
    found = [v.__class__ is np.ndarray for v in (a, x, w)] + [v.__class__ is float for v in (a, x[0], w[0])]
    found += [x[0].__class__ == np.float64, w[0].__class__ is np.float32, a.__class__.__name__, x.__class__.__name__]
    found += [TABLE[type(v)] for v in (model, a, x[0], w[0], x)] + [TABLE[v.__class__] for v in (model, a, x, w[0])]
    found += [kind_of(v) for v in (a, w[0], x, 1, "a")] + [isinstance(v, np.floating) for v in (a, x[0], w[0])]
    return found, model.rate(x[0])


def test_classes_are_those_of_the_plain_run():
    args = 2.0, np.array([0.5, 2.0]), np.array([0.5, 2.0], np.float32)
    with codipy.Tape() as tape:
        found = codipy.rebind(classes)(*map(tape.register_input, args))
        x = tape.register_input(1.0)
        assert x.__class__ is Real and type(x) is Real
        assert tape.register_input(args[1]).__class__ is Array
    assert found[0] == classes(*args)[0]


def test_arrays_without_axes_in_rebound_code():
    """What C asks of a class is told the type, also while rebound code runs."""

    def f(x):
        y = np.copy(x)
        y[0] += x[..., 1]
        return y[0] * x[..., 0] + np.minimum(x[..., 1], y[1])

    x = np.array([0.5, 2.0])
    assert recorded(f, x) == run(f, x)


def test_no_scalar_shares_memory():
    with codipy.Tape() as tape:
        x = tape.register_input(np.array([0.5, 2.0]))
        for function in (np.shares_memory, np.may_share_memory):
            assert not function(x[0], x) and not function(x, x[0]) and not function(x[0], x[0]) and function(x, x[1:])


def test_the_class_of_plain_numbers_beside_active_ones():
    plain = np.ones(3)

    def f(x):
        values = (x, x[0], x.sum(), plain, plain[0], 1.0, 2, np.float32(1.0), float(x[0]), np.zeros(2), f, values_of)
        kinds = (np.ndarray, float, np.float64, np.float32, int, type)
        seen.append([[v.__class__ is kind for kind in kinds] for v in values] + [v.__class__ in (float, np.float64)
                    for v in values] + [v.__class__.__name__ for v in values])  # fmt: skip
        return x.sum()

    def values_of():
        return ()

    seen: list = []
    f(plain.copy())
    codipy.grad(f)(plain.copy())
    assert seen[0] == seen[1]


OTHERS = [[1.0, 2.0], (0.7, 3.0), np.array([1, 2]), np.array([0.7, 3.0]), np.array([0.7, 3.0], np.float32),
          np.array([[2.0, 3.0]])]
DIVMODS = [
    lambda x, other: divmod(x[0], other),
    lambda x, other: divmod(other, x[0]),
    lambda x, other: divmod(float(x[0]), np.asarray(other)),
    lambda x, other: divmod(np.asarray(other), float(x[0])),
    lambda x, other: np.divmod(x[0], other),
    lambda x, other: np.divmod(other, x[0]),
    lambda x, other: np.divmod(x[0], range(2, 4)),
    lambda x, other: np.divmod(range(2, 4), x[0]),
]


@pytest.mark.parametrize("other", OTHERS, ids=str)
@pytest.mark.parametrize("function", DIVMODS)
def test_divmod_of_a_number_and_numbers(function, other):
    """The remainder has a derivative, beside an array and a list as well."""
    seen = []

    def f(x, other):
        quotients, remainders = function(x, other)
        seen.append((quotients, remainders))
        return np.sum(remainders * np.arange(2.0, 4.0))

    x, h = np.array([1.3]), 1e-6
    if isinstance(other, np.ndarray) and other.dtype == np.float32:
        x, h = x.astype(np.float32), 2.0**-10
    value, gradient = codipy.value_and_grad(f)(x, other)
    plain = f(x, other)
    assert signature(seen[0]) == signature(seen[1]) and float(value) == float(plain)
    expected = (float(f(x + x.dtype.type(h), other)) - float(f(x - x.dtype.type(h), other))) / (2 * h)
    assert expected and gradient[0] == pytest.approx(expected, rel=1e-6 if x.dtype == float else 1e-2)
    if x.dtype == float:
        assert codipy.jvp(lambda x: f(x, other), (x,), (np.ones(1),))[1] == pytest.approx(gradient[0])


def test_divmod_by_what_cannot_be_differentiated_is_refused():
    with pytest.raises(ActiveError, match="float16"):
        codipy.grad(lambda a: divmod(a, np.float16(0.7))[1])(1.3)


@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.power, np.maximum, np.hypot, np.arctan2])
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("size", [0, 2])
def test_ranges_are_operands_of_ufuncs(ufunc, swap, size):
    def f(x):
        operands = (x[:2] if size else x[0], range(1, 3))
        return np.sum(ufunc(*operands[:: -1 if swap else 1]) * np.arange(2.0, 4.0))

    x, h = np.array([1.3, 0.6]), 1e-6
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x)
    expected = [(f(x + d) - f(x - d)) / (2 * h) for d in h * np.eye(2)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("a", "b"), [(-0.4, 1.9), (-2.0, 0.5), (-1.5, -0.3)])
def test_powers_of_negative_floats_are_complex(strategy, a, b):
    """As in Python; the derivative is that of Python's complex power, by both arguments."""
    def parts(z):
        return abs(z) + 2.0 * z.real + 3.0 * z.imag

    def f(a, b):
        z = a**b
        return parts(z) if isinstance(z, complex) else 100.0 * z

    value, slopes = codipy.value_and_grad(f, argnums=(0, 1), strategy=strategy)(a, b)
    assert value == f(a, b)
    h = 1e-6
    expected = (f(a + h, b) - f(a - h, b)) / (2 * h), (f(a, b + h) - f(a, b - h)) / (2 * h)
    assert slopes == pytest.approx(expected, rel=1e-8)
    first = codipy.grad(lambda a: f(a, b), strategy=strategy)
    assert codipy.hessian(lambda a: f(a, b))(a) == pytest.approx((first(a + h) - first(a - h)) / (2 * h), rel=1e-6)


def test_powers_take_the_branch_of_the_plain_run():
    def f(a):
        try:
            return (a**0.5).imag * 3.0
        except ValueError:
            return a * 100.0

    assert codipy.value_and_grad(f)(-4.0) == pytest.approx((f(-4.0), -0.75))


FRACTIONS = [
    lambda x: x[0] + fractions.Fraction(1, 3),
    lambda x: fractions.Fraction(1, 3) + x[0],
    lambda x: x[0] * fractions.Fraction(1, 3),
    lambda x: fractions.Fraction(7, 3) - x[0],
    lambda x: x[0] / fractions.Fraction(-1, 3),
    lambda x: fractions.Fraction(1, 3) / x[0],
    lambda x: x[0] % fractions.Fraction(1, 3),
    lambda x: x[0] ** fractions.Fraction(5, 2),
    lambda x: fractions.Fraction(1, 3) ** x[0],
    lambda x: sum([x[0], fractions.Fraction(1, 3)]),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "single"])
@pytest.mark.parametrize("function", FRACTIONS)
def test_fractions_make_floats_of_python(function, dtype):
    """Where NumPy leaves the operator to Python; the type says what dividing by zero does."""
    for value in (1.3, 0.3):
        x = np.array([value], dtype)
        assert recorded(function, x) == run(function, x)
    plain = [float(function(np.array([1.3 + h]))) for h in (1e-6, -1e-6)]
    assert codipy.grad(function)(np.array([1.3]))[0] == pytest.approx((plain[0] - plain[1]) / 2e-6, rel=1e-7)
