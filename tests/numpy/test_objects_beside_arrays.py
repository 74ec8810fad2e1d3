# SPDX-License-Identifier: Apache-2.0
"""Arrays of objects that hold arrays, or objects of the user's, beside active arrays: element by element, or refused.

NumPy computes with each element of an array of objects as it is, and so an array of two arrays has one axis of two
elements, not the axes of a matrix. The oracle is the same source on NumPy: values bit for bit, and central differences.
"""

from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from codipy.numpy.functions import SETS
from codipy.numpy.names import of_name
from tests.strategies import VARIANTS, each_pair

X = np.array([0.7, 1.1, 0.9])


class Quantity:
    """A number that NumPy does not know, as of a package of units."""

    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return Quantity(self.v + getattr(other, "v", other))

    def __sub__(self, other):
        return Quantity(self.v - getattr(other, "v", other))

    def __rsub__(self, other):
        return Quantity(getattr(other, "v", other) - self.v)

    def __mul__(self, other):
        return Quantity(self.v * getattr(other, "v", other))

    def __truediv__(self, other):
        return Quantity(self.v / getattr(other, "v", other))

    def __rtruediv__(self, other):
        return Quantity(getattr(other, "v", other) / self.v)

    def __pow__(self, other):
        return Quantity(self.v ** getattr(other, "v", other))

    def __abs__(self):
        return Quantity(abs(self.v))

    def __neg__(self):
        return Quantity(-self.v)

    def __lt__(self, other):
        return self.v < getattr(other, "v", other)

    def __gt__(self, other):
        return self.v > getattr(other, "v", other)

    def conjugate(self):
        return self

    def sqrt(self):
        return Quantity(np.sqrt(self.v))

    __radd__, __rmul__ = __add__, __mul__


def objects(*items):
    made = np.empty(len(items), dtype=object)
    for k, item in enumerate(items):
        made[k] = item
    return made


MODULE = objects(Quantity(3.0), Quantity(2.0))
KINDS = {
    "arrays of one shape": lambda x: objects(x[:2] * 1, x[:2] * 2),
    "arrays of several shapes": lambda x: objects(x[:2] * 1, x * 2),
    "arrays and numbers": lambda x: objects(x[:2] * 1, x[2]),
    "passive arrays": lambda x: objects(np.array([1.0, 2.0]), np.array([3.0, 4.5])),
    "quantities": lambda x: objects(Quantity(1.0), Quantity(x[2])),
    "quantities of a module": lambda x: MODULE.copy(),
    "quantities of arrays": lambda x: objects(Quantity(x[:2] * 1), Quantity(x[1:] * 2)),
    "fractions": lambda x: objects(Fraction(1, 2), Fraction(3, 4)),
    "a fraction and a number": lambda x: objects(Fraction(1, 2), x[0]),
    "plain numbers": lambda x: np.array([1.5, 2], dtype=object),
    "decimals": lambda x: objects(Decimal("1.5"), x[1]),
    "numbers": lambda x: objects(x[0], x[1]),
    "floats of Python": lambda x: np.frompyfunc(lambda a: a * a, 1, 1)(x[:2]),
    "none": lambda x: objects(x[0], None),
    "text": lambda x: objects("ab", x[0]),
    "lists": lambda x: objects([x[0], 1.0], [2.0, x[1]]),
    "no axis": lambda x: objects(x[:2] * 1).reshape(()),
}
OTHERS = [lambda x: x[:2], lambda x: np.array([2.0, 5.0]), lambda x: x[0], lambda x: [x[1], 3.0],
          lambda x: x[:2] * (1 + 0.5j), lambda x: np.array([1j, 2.0])]  # fmt: skip
OPERATIONS = [
    lambda o, w: o * w,
    lambda o, w: w * o,
    lambda o, w: o - w,
    lambda o, w: w / o,
    lambda o, w: o ** np.array([2.0, 3.0]) * w,
    lambda o, w: o @ w,
    lambda o, w: w @ o,
    lambda o, w: o.dot(w),
    lambda o, w: o[0] + o * w,
    lambda o, w: o.__imul__(w),
    lambda o, w: (o < w) * w,
    lambda o, w: np.dot(w, o),
    lambda o, w: np.vdot(o, w),
    lambda o, w: np.inner(w, o),
    lambda o, w: np.outer(w, o),
    lambda o, w: np.kron(o, w),
    lambda o, w: np.convolve(o, w),
    lambda o, w: np.correlate(w, o),
    lambda o, w: np.tensordot(o, w, 1),
    lambda o, w: np.einsum("i,i", w, o),
    lambda o, w: np.multiply(o, w, out=np.empty(2, object)),
    lambda o, w: np.add(w, o, where=[True, False], out=np.array([0.0, 1.0], object)),
    lambda o, w: np.multiply.outer(w, o),
    lambda o, w: [o, np.multiply.at(o, [0, 0, 1], np.outer(w, w)[0, :1] * np.ones(3))],
    lambda o, w: np.add.reduce(o * w),
    lambda o, w: np.cumsum(o * w),
    lambda o, w: np.frompyfunc(lambda a, b: a * b, 2, 1)(o, w),
    lambda o, w: np.vectorize(lambda a, b: a * b, otypes=[object])(o, w),
    lambda o, w: np.concatenate(o) * np.arange(1.0, len(np.concatenate(o)) + 1) * w[0],
    lambda o, w: np.concatenate([o, w]),
    lambda o, w: np.stack(o, axis=1) * w,
    lambda o, w: np.vstack(o)[1] * w,
    lambda o, w: np.hstack(o)[1] * w,
    lambda o, w: np.r_[o, w],
    lambda o, w: np.where([True, False], o, w),
    lambda o, w: np.array(o) * w,
    lambda o, w: np.array([o, o]) * w,
    lambda o, w: np.fromiter(o, object) * w,
    lambda o, w: np.full_like(np.ones(2), o) * w,
    lambda o, w: [a * b for a, b in zip(*np.broadcast_arrays(o, w))],
    lambda o, w: [a * w for a in np.split(o, 2)],
    lambda o, w: np.meshgrid(o, w),
    lambda o, w: np.average(o, weights=w),
    lambda o, w: np.polyval(o, w),
    lambda o, w: np.sqrt(o) * w,
]


def total(found, weight=1.0):
    """A sum over all numbers of a result, each with a weight of its own."""
    if isinstance(found, Quantity):
        return total(found.v, weight)
    if isinstance(found, np.ndarray) and (found.dtype == object or found.ndim):
        found = list(found.ravel())
    if isinstance(found, (list, tuple)):
        return sum((total(part, weight * (1 + 0.3 * k)) for k, part in enumerate(found)), 0.0)
    if found is None or isinstance(found, str):
        return 0.0
    return float(found) * weight if isinstance(found, Decimal) else (found.real + 2.0 * found.imag) * weight


def differences(f):
    return np.array([(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)])


def outcome(function, kind, other):
    """"right", "wrong: ..." or "refused: ..." of a function of objects and an array; None where NumPy raises."""

    def f(x):
        return total(function(KINDS[kind](x), other(x)))

    with np.errstate(all="ignore"):
        try:
            expected = f(X.copy())
            slopes = differences(f)
        except Exception:
            return None
        if not (np.isfinite(expected) and np.all(np.isfinite(slopes))):
            return None
        try:
            value, gradient = codipy.value_and_grad(f)(X.copy())
        except Exception as error:
            return f"refused: {type(error).__name__} {error}"
    if float(value) != expected or not np.allclose(gradient, slopes, rtol=1e-6, atol=1e-6):
        return f"wrong: {value} {gradient}, not {expected} {slopes}"
    return "right"


@pytest.mark.parametrize("kind", KINDS)
def test_operations_are_those_of_the_elements_or_refused(kind):
    found = {(i, k): outcome(function, kind, other)
             for i, function in enumerate(OPERATIONS) for k, other in enumerate(OTHERS)}  # fmt: skip
    assert {key: said for key, said in found.items() if said and said.startswith("wrong")} == {}
    known = [said for said in found.values() if said]
    assert known.count("right") > 0.5 * len(known) > 5, known
    assert found[0, 0] in ("right", None)


FUNCTIONS = {name: of_name(name) for kind in ("differentiable", "movement") for name in SETS[kind]}
FUNCTIONS |= {name: ufunc for name, ufunc in vars(np).items() if isinstance(ufunc, np.ufunc) and ufunc.__name__ == name}
UNSETTLED = {"empty_like", "histogram", "histogram2d", "histogramdd", "histogram_bin_edges", "copyto"}
CALLS = [lambda f, o, w: f(o, w), lambda f, o, w: f(w, o), lambda f, o, w: f([o, w]), lambda f, o, w: f(w, w, o)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", [
    "arrays of one shape", "arrays and numbers", "quantities", "quantities of a module", "floats of Python"])
def test_no_function_is_wrong(kind):
    found = {}
    for name, function in FUNCTIONS.items():
        for k, call in enumerate(CALLS):
            if name not in UNSETTLED:
                found[name, k] = outcome(partial(call, function), kind, OTHERS[0])
    assert {key: said for key, said in found.items() if said and said.startswith("wrong")} == {}
    assert list(found.values()).count("right") > 100


@each_pair(pairs=VARIANTS)
def test_each_strategy(variant):
    def f(x):
        modes = np.empty(3, dtype=object)
        for k in range(3):
            modes[k] = np.sin((k + 1) * np.linspace(0.0, 1.0, 3) * x[0])
        amplitudes = np.exp(-x[1] * np.arange(3))
        return np.sum(np.sum(modes * amplitudes) ** 2) * np.dot(x[:2], objects(Quantity(1.0), Quantity(x[2]))).v

    gradient = codipy.grad(f, strategy=variant[0], granularity=variant[1])(X)
    np.testing.assert_allclose(gradient, differences(f), rtol=1e-8)


def test_a_refusal_says_what_to_write():
    for function in (lambda x: np.average(MODULE, weights=x[:2]), lambda x: np.polyval(list(MODULE), x[:2])):
        with pytest.raises(ActiveError, match="objects that are no numbers.*loop over them"):
            codipy.grad(function)(X)
    with pytest.raises(ActiveError, match="out= of numbers cannot hold"):
        codipy.grad(lambda x: np.outer(x[:2], MODULE, out=np.zeros((2, 2)))[0, 0])(X)


def test_truths_go_into_arrays_of_objects():
    def f(x):
        flags = np.empty((), object)
        np.logical_and(x[0], x[1], out=flags)
        return x[0] * flags[()]

    assert f(X) == codipy.value_and_grad(f)(X)[0] == 0.7


@pytest.mark.parametrize("call", [
    lambda o, w: (o * w)[0], lambda o, w: (w - o)[1], lambda o, w: np.multiply.outer(o, w)[0],
    lambda o, w: np.frompyfunc(lambda a, b: b, 2, 1)(o, w)[0], lambda o, w: np.frompyfunc(lambda a: a, 1, 1)(w),
])  # fmt: skip
@pytest.mark.parametrize("kind", [float, np.float32])
def test_a_scalar_beside_objects_is_a_float_of_python_s(call, kind):
    seen = []

    def f(x):
        found = call(np.array([3.0, 2], dtype=object), x.astype(kind)[0])
        seen.append(type(found))
        return found * 1.0

    f(X.copy())
    codipy.grad(f)(X)
    assert seen == [float, float]
