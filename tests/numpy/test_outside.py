# SPDX-License-Identifier: Apache-2.0
"""Operators with objects of the user's that are neither numbers nor arrays: NumPy says who computes, and with what."""

import math
import operator
import statistics

import numpy as np
import pytest

import codipy
from tests.strategies import each_strategy

X = np.array([1.5, 2.5])
OPERATORS = {
    name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "pow", "mod", "floordiv", "matmul")
}
OPERATORS |= {"divmod": divmod}
IN_PLACE = {
    name: getattr(operator, name) for name in ("iadd", "isub", "imul", "itruediv", "ipow", "ifloordiv", "imatmul")
}
LINEAR = ("add", "sub", "mul", "truediv")


class Reflected:
    """It says what it was given, so that an array and its elements give different results."""

    def __init__(self, seen=None):
        self.seen = [] if seen is None else seen

    def of(self, other, sign=1.0):
        self.seen.append((np.shape(other), isinstance(other, np.floating), isinstance(other, float)))
        return other * 3.0 + sign * np.size(other)

    def __radd__(self, other):
        return self.of(other)

    __rsub__ = __rmul__ = __rtruediv__ = __rpow__ = __rmod__ = __rfloordiv__ = __rmatmul__ = __radd__

    def __rdivmod__(self, other):
        return self.of(other), self.of(other, -1.0)


class Both(Reflected):
    def __add__(self, other):
        return self.of(other, -1.0)

    __sub__ = __mul__ = __truediv__ = __pow__ = __mod__ = __floordiv__ = __matmul__ = __add__

    def __divmod__(self, other):
        return self.of(other), self.of(other, -1.0)


class Asks(Both):
    __array_ufunc__ = None


class Prior(Both):
    __array_priority__ = 10.0


class Given(Both):
    def __array__(self, dtype=None, copy=None):
        return np.array([2.0, 0.5], dtype=dtype)


class Sequence(Reflected):
    def __len__(self):
        return 2

    def __getitem__(self, k):
        return [2.0, 0.5][k]


class Float(Both):
    def __float__(self):
        return 2.0


class Dispatched:
    """NumPy asks it by its ufuncs, also for what it leaves to Python or has an operator for."""

    def __init__(self, seen=None):
        self.seen = [] if seen is None else seen

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, axes=None):
        self.seen.append((ufunc, method, [np.shape(x) for x in inputs if x is not self], out is not None))
        found = ufunc(*(2.0 if x is self else x for x in inputs)) if ufunc is not np.matmul else 3.0
        if out is not None:
            out[0][...] = inputs[0] * 5.0
        return found


class DispatchedBoth(Dispatched, Both):
    pass


class Nothing:
    pass


CLASSES = (Reflected, Both, Asks, Prior, Given, Sequence, Float, Dispatched, DispatchedBoth, Nothing)


def outcome(function, x):
    """What it gives as plain numbers, or that it raises a TypeError or a ValueError."""
    try:
        result = function(x)
    except (TypeError, ValueError):
        return "error"
    if type(result) is tuple:
        return [outcome(lambda _, part=part: part, None) for part in result]
    values = codipy.value(result)
    if isinstance(values, np.ndarray) and values.dtype == object:
        return values.shape, [float(codipy.value(part)) for part in values.flat]
    return np.shape(values), np.ravel(values).tolist()


@pytest.mark.parametrize("of_element", [False, True], ids=["array", "element"])
@pytest.mark.parametrize("reflected", [False, True], ids=["left", "right"])
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("kind", CLASSES)
def test_numpy_says_who_computes_and_with_what(kind, name, reflected, of_element):
    seen = []

    def function(x):
        operand = x[0] * 1.0 if of_element else x * 1.0
        other = kind() if kind is Nothing else kind(seen)
        return OPERATORS[name](other, operand) if reflected else OPERATORS[name](operand, other)

    expected, expected_seen = outcome(function, X), list(seen)
    seen.clear()
    assert recorded(function) == expected
    assert seen == expected_seen


def recorded(function):
    with codipy.Tape() as tape:
        return outcome(codipy.rebind(function), tape.register_input(X))


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize("kind", CLASSES)
def test_operators_in_place_are_numpys(kind, name):
    def function(x):
        operand = x * 1.0
        found = IN_PLACE[name](operand, kind())
        return operand, found

    assert recorded(function) == outcome(function, X)


@each_strategy
@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("kind", [Reflected, Both, Asks, Prior, DispatchedBoth])
def test_what_they_give_has_its_derivative(strategy, kind, name):
    def function(x):
        return np.sum(OPERATORS[name](x * x, kind()) * x) + OPERATORS[name](x[0], kind()) * x[1]

    value, gradient = codipy.value_and_grad(function, strategy=strategy)(X)
    step = 1e-30
    slopes = [function(X + 1j * step * row).imag / step for row in np.eye(2)]
    assert value == function(X)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-14)


class Soft:
    """Comparisons that are not true or false but a number."""

    __array_priority__ = 10.0

    def __lt__(self, other):
        return other * 2.0

    def __eq__(self, other):
        return other * other

    __hash__ = None


def test_a_comparison_that_the_object_asks_for_keeps_its_derivative():
    def function(x):
        return np.sum(x > Soft()) + np.sum(x == Soft()) + x[0].item() * (x[1].item() > Soft())

    value, gradient = codipy.value_and_grad(function)(X)
    assert value == function(X)
    np.testing.assert_allclose(gradient, 2.0 + 2.0 * X + 2.0 * X[::-1], rtol=1e-15)


class Penalty:
    """Comparisons that give a number, and are not asked for by a priority."""

    def __gt__(self, other):
        return other * 2.0

    def __eq__(self, other):
        return other * other

    __hash__ = None


class DispatchedPenalty(Dispatched):
    def __array_ufunc__(self, ufunc, method, *inputs):
        return inputs[0] * (3.0 if ufunc is np.less else 5.0)

    def __gt__(self, other):
        return other * 7.0


@each_strategy
@pytest.mark.parametrize("kind", [Penalty, DispatchedPenalty])
def test_what_a_comparison_of_an_element_gives_has_its_derivative(strategy, kind):
    def function(x):
        small = x[1].astype(np.float32)
        return (x[0] < kind()) + (x[1] == kind()) + (x[0].item() < kind()) + (small < kind()) * x[0]

    value, gradient = codipy.value_and_grad(function, strategy=strategy)(X)
    slopes = [(function(X + h) - function(X - h)) / 0.25 for h in 0.125 * np.eye(2)]  # quadratic: exact, also in single
    assert value == function(X)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-14)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.astype(object),
        lambda x: x[:, ::-1].astype(object),
        lambda x: x.T.astype(object),
        lambda x: np.array(x, dtype=object),
        lambda x: np.frompyfunc(lambda v: v * 2.0, 1, 1)(x),
    ],
)
def test_objects_of_arrays_are_floats_of_python(make):
    def function(x):
        objects = make(x)
        kinds.append((objects.shape, objects.strides, [type(v) is float for v in objects.flat]))
        return np.sum(objects * objects)

    kinds, x = [], np.arange(1.0, 7.0).reshape(2, 3)
    value, gradient = codipy.value_and_grad(function)(x)
    assert value == function(x)
    assert kinds[0] == kinds[1]
    np.testing.assert_allclose(gradient, 2.0 * x * np.max(function(x) / np.sum(x * x)), rtol=1e-15)


@pytest.mark.parametrize("options", [{}, {"cache": True}, {"otypes": [float]}])
def test_vectorize_calls_the_function_as_often_and_with_what_numpy_calls_it(options):
    def function(x):
        def g(v):
            calls.append((isinstance(v, np.floating), isinstance(v, float)))
            return v * len(calls)

        calls = []
        y = np.vectorize(g, **options)(x)
        seen.append(calls)
        return np.sum(y * np.array([1.0, 10.0]))

    seen = []
    value, gradient = codipy.value_and_grad(function)(X)
    assert value == function(X)
    assert seen[0] == seen[1]
    np.testing.assert_allclose(gradient, [function(row) for row in np.eye(2)])


class Handled:
    """It knows the functions of NumPy that it takes, by identity and in a table that was made before."""

    TABLE = {np.sum: 3.0, np.multiply: 7.0}

    def __init__(self, values):
        self.values = values

    def __array_function__(self, function, types, args, kwargs):
        factor = 2.0 if function is np.mean else self.TABLE.get(function, 100.0)
        return factor * function(*(x.values if type(x) is Handled else x for x in args), **kwargs)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        factor = 5.0 if ufunc is np.add else self.TABLE.get(ufunc, 100.0)
        return factor * ufunc(*(x.values if type(x) is Handled else x for x in inputs), **kwargs)


TABLE = {np.sum: 2.0, np.linalg.norm: 3.0, np.sin: 5.0, np.zeros: 7.0, math.exp: 11.0, sum: 13.0}
TABLE |= {np.random.normal: 17.0}
FEW = {np.mean, np.fft.fft, statistics.fmean, isinstance}


class Holder:
    zeros, total = np.zeros, np.sum

    def __len__(self):
        return 1

    def __getitem__(self, k):
        return [3.0][k]


def by_function(x):
    work = Holder().zeros(2)
    work[0] = x[0]
    return (TABLE[np.sum] * np.sum(x) + TABLE.get(np.linalg.norm, 0.0) * np.linalg.norm(x) + (np.mean in FEW) * x[1]
            + (np.fft.fft in FEW) * x[0] + TABLE[np.sin] * x[0] + TABLE.get(np.zeros, 0.0) * x[1] + (np.prod in FEW)
            + np.sum(work) + Holder().total() * x[1] + TABLE[math.exp] * math.exp(x[0]) + TABLE[sum] * sum(x)
            + TABLE[np.random.normal] * (statistics.fmean in FEW) * x[0] + (isinstance in FEW) * x[1])  # fmt: skip


def by_protocols(x):
    found = np.add(x, Handled(2.0)) + x * Handled(x)
    return np.sum(Handled(x)) + np.mean(Handled(x)) + np.max(Handled(x * x)) + np.sum(found) + np.sin(Handled(x[0]))


@pytest.mark.parametrize("function", [by_function, by_protocols])
def test_functions_of_numpy_are_found_in_tables_and_known_by_identity(function):
    value, gradient = codipy.value_and_grad(function)(X)
    steps = 1e-6 * np.eye(2)
    assert value == function(X)
    np.testing.assert_allclose(gradient, [(function(X + h) - function(X - h)) / 2e-6 for h in steps], rtol=1e-7)
