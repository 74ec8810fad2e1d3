# SPDX-License-Identifier: Apache-2.0
"""What the catalogue's functions run on: plain floats, Reals, and complex steps, the oracle for derivatives."""

import cmath
import math
from types import SimpleNamespace

from codipy.active import FUNCTIONS
from codipy.operations.callables import fma, maximum

NAMES = ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "atan", "erf", "hypot", "fma", "maximum")


def weighted_plain(values, weights):
    return sum(value * weight for value, weight in zip(values, weights, strict=True))


PLAIN = SimpleNamespace(
    **{name: getattr(math, name, None) for name in NAMES}, value=float, weighted=weighted_plain, mark=lambda: None
)
PLAIN.fma, PLAIN.maximum = fma, maximum


def active(tape, mark=lambda: None):
    """The namespace that records on a tape; `mark` is called where a function offers a place for a position."""

    def weighted(values, weights):
        plain = [getattr(value, "value", value) for value in values]
        return tape.push_statement(weighted_plain(plain, weights), values, weights)

    names = {name: FUNCTIONS[name] for name in NAMES}
    return SimpleNamespace(**names, value=lambda x: getattr(x, "value", x), weighted=weighted, mark=mark)


class Step(complex):
    """A complex number that compares by its real part; the imaginary part carries the derivative."""

    __slots__ = ()

    def __abs__(self):
        return -self if self.real < 0 else self

    def __mod__(self, other):
        return Step(self.real % other, self.imag)

    def __rmod__(self, other):
        return Step(other % self.real, -(other // self.real) * self.imag)

    def __floor__(self):
        return math.floor(self.real)

    def __pow__(self, exponent):
        if not isinstance(exponent, complex):  # complex.__pow__ goes through log, which is inexact and kills x**2 at 0
            partial = exponent * self.real ** (exponent - 1) if exponent else 0.0
            return Step(self.real**exponent, partial * self.imag)
        return Step(complex.__pow__(self, exponent))


def _lift(name):
    method = getattr(complex, name)

    def operate(*arguments):
        result = method(*arguments)
        return result if result is NotImplemented else Step(result)

    return operate


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "rpow", "neg", "pos"):
    setattr(Step, f"__{_name}__", _lift(f"__{_name}__"))


def _order(name):
    compare = getattr(float, name)
    return lambda self, other: compare(self.real, float(getattr(other, "real", other)))


for _name in ("lt", "le", "gt", "ge"):
    setattr(Step, f"__{_name}__", _order(f"__{_name}__"))


def _step(function):
    return lambda *arguments: Step(function(*arguments))


STEP = SimpleNamespace(
    **{name: _step(getattr(cmath, name)) for name in NAMES if hasattr(cmath, name)},
    erf=lambda x: Step(math.erf(x.real), 2 / math.sqrt(math.pi) * math.exp(-(x.real**2)) * x.imag),
    hypot=_step(lambda x, y: cmath.sqrt(x * x + y * y)),
    fma=_step(lambda x, y, z: x * y + z),
    maximum=lambda x, y: Step(y if y.real > x.real else x),
    value=lambda x: x.real,
    weighted=weighted_plain,
    mark=lambda: None,
)


def outputs_of(result):
    """The results of a catalogue function as a list."""
    return list(result) if isinstance(result, tuple) else [result]


def jacobian(f, point):
    """d output / d input by complex steps: one list per output."""
    columns = []
    for i in range(len(point)):
        results = outputs_of(f(STEP, *[Step(value, 1e-40 if i == j else 0.0) for j, value in enumerate(point)]))
        columns.append([complex(result).imag / 1e-40 for result in results])
    return [list(row) for row in zip(*columns, strict=True)]
