# SPDX-License-Identifier: Apache-2.0
"""The callables that define value and exceptions where neither `math` nor `operator` has one in every Python."""

import importlib
import math

import numpy

__all__ = ["python_callable"]


def _evaluate(expression, *arguments):
    """The value of an expression of the table; its helpers are imported with the first, not with `import codipy`."""
    from . import helpers

    return helpers.evaluate(expression, *arguments)


def square(x):
    """x * x."""
    return x * x


def reciprocal(x):
    """1 / x."""
    return 1.0 / x


def sign(x):
    """-1.0, 0.0 or 1.0, and NaN of NaN."""
    return _evaluate("sign(x)", x)


def signbit(x):
    """Whether the sign bit is set, of zeros and NaN too."""
    return math.copysign(1.0, x) < 0


def maximum(x, y):
    """The larger argument, the first of equals; NaN if one is NaN, as NumPy's."""
    return y if y > x or y != y else x


def minimum(x, y):
    """The smaller argument, the first of equals; NaN if one is NaN, as NumPy's."""
    return y if y < x or y != y else x


def fmax(x, y):
    """The larger argument, the first of equals; the other one if one is NaN."""
    return y if y > x or x != x else x


def fmin(x, y):
    """The smaller argument, the first of equals; the other one if one is NaN."""
    return y if y < x or x != x else x


def scale(x, y):
    """x * 2**y for a whole number y, `math.ldexp` with a float for the exponent."""
    return math.ldexp(x, int(y))


def mantissa(x):
    """The mantissa that `math.frexp` gives."""
    return math.frexp(x)[0]


def fraction(x):
    """The fractional part that `math.modf` gives."""
    return math.modf(x)[0]


def single(x):
    """x rounded to float32."""
    with numpy.errstate(all="ignore"):
        return float(numpy.float32(x))


def expit(x):
    """1 / (1 + exp(-x))."""
    return _evaluate("expit(x)", x)


def logaddexp(x, y):
    """log(exp(x) + exp(y))."""
    return _evaluate("logaddexp(x, y)", x, y)


def digamma(x):
    """The derivative of lgamma; -inf at 0 and NaN at the other poles, as SciPy's."""
    return _evaluate("digamma(x)", x)


def _fma(x, y, z):
    """x * y + z with one rounding, and the exceptions of Python 3.13's `math.fma`."""
    result = _evaluate("fma(x, y, z)", x, y, z)
    if math.isnan(result) and not any(map(math.isnan, (x, y, z))):
        raise ValueError("invalid operation in fma")
    if math.isinf(result) and all(map(math.isfinite, (x, y, z))):
        raise OverflowError("overflow in fma")
    return result


def _cbrt(x):
    """The cube root, for Pythons whose `math` has none."""
    return float(numpy.cbrt(x))


def _exp2(x):
    """2**x, for Pythons whose `math` has none."""
    return math.pow(2.0, x)


fma = getattr(math, "fma", _fma)
cbrt = getattr(math, "cbrt", _cbrt)
exp2 = getattr(math, "exp2", _exp2)


def python_callable(path):
    """Return the callable that a row's `python` names: a dotted path, or a name of this module."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name) if module else globals()[name]
