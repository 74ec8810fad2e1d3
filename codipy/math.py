# SPDX-License-Identifier: Apache-2.0
"""Every function of Python's ``math``, on floats and active Reals alike, and a few more.

Values and exceptions are those of ``math``; names that a newer Python's ``math`` has (``cbrt``, ``exp2``, ``fma``,
``fmax``, ``fmin``, ``sumprod``, ...) are here in every Python. A result is active where it depends on an active
argument; plain numbers give plain numbers.

* The functions of one row of the operations table are built-ins: see ``docs/operations.md`` for their derivatives.
* ``dist``, ``log(x, base)``, ``modf``, ``frexp``, ``ldexp``, ``pow`` and ``prod`` are made of table operations.
* ``fsum``, ``sumprod`` and ``hypot`` of more than two arguments are statements made by hand, since no chain of
  operations gives their exactly rounded values: ``tape.evaluate_primal()`` refuses a tape that holds one.
* ``floor``, ``ceil``, ``trunc``, ``ulp`` and the predicates give plain values.
* The functions of integers (``comb``, ``factorial``, ``gcd``, ...) are those of ``math``.

Examples
--------
>>> import codipy
>>> from codipy import math
>>> tape = codipy.Tape()
>>> with tape:
...     x, y = tape.register_input(3.0), tape.register_input(4.0)
...     z = tape.register_output(math.hypot(x, y) + math.log(x, 10))
>>> z.gradient = 1.0
>>> tape.evaluate()
>>> y.gradient, math.hypot(3.0, 4.0), math.floor(x)
(0.8, 5.0, 3)
"""

from __future__ import annotations

import functools
import math
import operator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from codipy.active import FUNCTIONS, Real
from codipy.active.recordings.recognised import note_equal
from codipy.active.scalar.functions import extend
from codipy.active.scalar.given import number_of
from codipy.active.scalar.kinds import converted
from codipy.operations import PASSIVE, TABLE
from codipy.operations.callables import python_callable
from codipy.tape import active_tape

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


_NUMBERS = frozenset((Real, float, int))


def _number(x):
    """What `math` takes for a float of Python, an array without axes for one, as a Real where it is active."""
    return x if type(x) in _NUMBERS else number_of(x)


def _value(x):
    """The plain value of a Real or of what is taken for one, anything else as it is."""
    x = _number(x)
    return x.value if type(x) is Real else x


def _on_values(function):
    """Let a function whose result is passive take Reals by their values."""

    @functools.wraps(function)
    def passive(*arguments, **options):
        return function(*map(_value, arguments), **{name: _value(option) for name, option in options.items()})

    return passive


def _handmade(value, arguments, jacobians, again=None):
    """The Real of a statement made by hand, with the checks and the passive results of an operator.

    Where the derivative may be differentiated again, inside of another recording or by sweeps, it is `again` of the
    arguments: the same function made of operations, to which the difference in rounding is added.

    Rejected: the value as a chain of additions and a passive correction. It would be recomputed by
    `evaluate_primal`, but the correction is only right for the recorded values.
    """
    active = [(x, d) for x, d in zip(arguments, jacobians) if type(x) is Real and x.is_active]
    tape = active_tape()
    if tape is None:
        for x, _ in active:
            operator.pos(x)  # raises what an operator does, unless inside codipy.passive()
    if tape is None or not active:
        return Real(value)
    if (tape.loans is not None or tape.twice) and again is not None:
        made = again(*arguments)
        return made if made.value == value else made + (value - made.value)
    return tape.push_statement(value, *zip(*active))


def _hypot(*coordinates):
    """``math.hypot`` of any number of coordinates; partials x_i / h, all 0 at the origin."""
    coordinates = tuple(map(_number, coordinates))
    if len(coordinates) == 1:
        return FUNCTIONS["fabs"](*coordinates)
    values = [_value(x) for x in coordinates]
    h = math.hypot(*values)
    if not any(type(x) is Real for x in coordinates):
        return h
    return _handmade(h, coordinates, _hypot_partials([float(x) for x in values], h),
                     lambda *xs: functools.reduce(FUNCTIONS["hypot"], xs))


def _hypot_partials(values, h):
    if h == 0.0:
        return [0.0] * len(values)
    if not math.isinf(h):
        return [x / h for x in values]
    infinite = [math.isinf(x) for x in values]
    if not any(infinite):  # the root overflows, the direction does not
        values = [0.25 * x / len(values) for x in values]
        return _hypot_partials(values, math.hypot(*values))
    return [
        0.0 if not is_infinite else math.copysign(1.0, x) if sum(infinite) == 1 else math.nan
        for x, is_infinite in zip(values, infinite)
    ]


def _log(*arguments):
    """``math.log(x, base)``: log(x) / log(base)."""
    arguments = tuple(map(_number, arguments))
    if not any(type(x) is Real for x in arguments) or len(arguments) != 2:
        return math.log(*arguments)
    x, base = arguments
    return FUNCTIONS["log"](x) / FUNCTIONS["log"](base)


extend("hypot", _hypot)
extend("log", _log)

_ROWS = {row.math_name or row.name: FUNCTIONS[row.name] for row in TABLE}
_PASSIVE = {row.math_name or row.name: row.python for row in PASSIVE if row.math_name or row.name == "sign"}
globals().update(_ROWS)
globals().update({name: _on_values(python_callable(path)) for name, path in _PASSIVE.items()})


@functools.wraps(math.isclose)
def isclose(a, b, **tolerances):
    found = math.isclose(_value(a), _value(b), **{name: _value(tolerance) for name, tolerance in tolerances.items()})
    note_equal(found, True, [type(x) is Real and x.is_active for x in (a, b)])
    return found




def pow(x, y, /):
    """``math.pow``: x raised to the power y, with the ValueError of `math` where ``x ** y`` would divide by 0."""
    x, y = _number(x), _number(y)
    value = math.pow(_value(x), _value(y))  # raises what `math` does, where ** would raise something else
    return FUNCTIONS["power"](x, y) if type(x) is Real or type(y) is Real else value


def ldexp(x, i, /):
    """``math.ldexp``: x * 2**i for an int i, the inverse of `frexp`."""
    x = _number(x)
    if type(x) is not Real:
        return math.ldexp(x, i)
    math.ldexp(x.value, i)
    return FUNCTIONS["scale"](x, max(-9999, min(i, 9999)))  # beyond, every x is 0 or, as above, an error


def frexp(x, /):
    """``math.frexp``: mantissa and exponent, of which the exponent is a plain int and held fixed."""
    x = _number(x)
    mantissa, exponent = math.frexp(_value(x))
    return (FUNCTIONS["mantissa"](x) if type(x) is Real else mantissa), exponent


def modf(x, /):
    """``math.modf``: fractional and whole part, of which the whole part is a plain float and held fixed."""
    x = _number(x)
    fraction, whole = math.modf(_value(x))
    return (FUNCTIONS["fraction"](x) if type(x) is Real else fraction), whole


def dist(p, q, /):
    """``math.dist``: the Euclidean distance of two points, given as sequences of coordinates."""
    p, q = tuple(map(_number, p)), tuple(map(_number, q))
    distance = math.dist([_value(x) for x in p], [_value(x) for x in q])
    if not any(type(x) is Real for x in p + q):
        return distance
    p, q = ([converted(x, float) if type(x) is Real else float(x) for x in point] for point in (p, q))
    return FUNCTIONS["hypot"](*map(operator.sub, p, q))


def fsum(seq, /):
    """``math.fsum``: the sum, rounded once; each partial is 1."""
    terms = tuple(map(_number, seq))
    total = math.fsum(map(_value, terms))
    if not any(type(x) is Real for x in terms):
        return total
    return _handmade(total, terms, [1.0] * len(terms), lambda *xs: functools.reduce(operator.add, xs))


def prod(iterable, /, *, start=1):
    """``math.prod``: the product, `start` times each element."""
    return math.prod(iterable, start=start)


def sumprod(p, q, /):
    """``math.sumprod`` of Python 3.12: the sum of products of two sequences, in extended precision."""
    p, q = tuple(p), tuple(q)
    values = [_value(x) for x in p], [_value(x) for x in q]
    total = _sumprod(*values)
    if not any(type(x) is Real for x in p + q):
        return total
    products = lambda *xs: functools.reduce(operator.add, map(operator.mul, xs[:len(p)], xs[len(p):]))  # noqa: E731
    return _handmade(total, p + q, values[1] + values[0], products)


def _exact_sumprod(p, q):
    """The sum of products for Pythons whose `math` has none: of finite floats and ints rounded once."""
    if len(p) != len(q):
        raise ValueError("Inputs are not the same length")
    if all(isinstance(x, (float, int)) for x in p + q) and any(isinstance(x, float) for x in p + q):
        try:
            return float(sum(map(operator.mul, map(Fraction, p), map(Fraction, q))))
        except (OverflowError, ValueError):  # an infinity, NaN, or a sum beyond all floats
            pass
    return sum(map(operator.mul, p, q))


_sumprod = getattr(math, "sumprod", _exact_sumprod)
ulp = _on_values(math.ulp)


@functools.wraps(math.nextafter)
def nextafter(x, y, /, **steps):
    """``math.nextafter``: x moved by a few units in the last place, so that the derivative is 1 in x and 0 in y."""
    x, y = _number(x), _number(y)
    value = math.nextafter(_value(x), _value(y), **steps)
    return _handmade(value, (x, y), (1.0, 0.0), lambda x, y: x + 0.0) if type(x) is Real or type(y) is Real else value


# What is left: constants, functions of integers, and what a newer Python adds, which refuses an active Real.
globals().update({name: getattr(math, name) for name in dir(math) if name[0] != "_" and name not in globals()})

__all__ = sorted({*_ROWS, *_PASSIVE, "sumprod", *(name for name in dir(math) if name[0] != "_")})
