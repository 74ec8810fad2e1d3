# SPDX-License-Identifier: Apache-2.0
"""The table's rows on series: what the texts of its partials call, where an operand is a series."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from codipy.nested import formulas
from codipy.nested.polygamma import POLYGAMMA
from codipy.operations import BY_NAME, TABLE
from codipy.series.nodes import Given, Node, Row, chosen, value_of
from codipy.series.recurrences import KNOWN

__all__ = ["of_row"]


def of_row(code, operands):
    """A row of the table of operands of which one is a series."""
    short = _SHORT.get(code)
    if short is not None:
        return short(*operands)
    known = _whole(code, operands)
    if known is not None:
        return known
    key = (code, *map(id, operands))
    memo = next(x for x in operands if isinstance(x, Node)).memo
    if key not in memo:
        memo[key] = Row(TABLE[code], operands, formulas.VALUES[code], functools.partial(_partial, code)), operands
    return memo[key][0]      # with the operands, whose numbers nobody else may get


def _whole(code, operands):
    """The series by a recurrence, where there is one for operands that are known."""
    x = operands[0]
    if code not in KNOWN or type(x) is not Given or x.memo.gated or any(map(np.ndim, operands[1:])):
        return None
    if len(operands) > 1 and isinstance(operands[1], Node):
        return None      # a power of a series
    recurrence, place = KNOWN[code]
    key = recurrence, id(x), *operands[1:]
    if key not in x.memo:
        x.memo[key] = recurrence(x.upto(x.order), *operands[1:]), x
    found = x.memo[key][0]
    return None if found is None else Given(x.memo, found if place is None else found[place])


_SHORT = {
    BY_NAME["add"].code: lambda x, y: x + y, BY_NAME["subtract"].code: lambda x, y: x - y,
    BY_NAME["multiply"].code: lambda x, y: x * y, BY_NAME["divide"].code: lambda x, y: x / y,
    BY_NAME["negative"].code: lambda x: -x, BY_NAME["positive"].code: lambda x: x,
    BY_NAME["identity"].code: lambda x: x, BY_NAME["square"].code: lambda x: x * x,
}  # fmt: skip


_FILE = str(Path(__file__).with_name("<partial>"))  # no line of the user's


@functools.cache
def _compiled(text):
    return compile(text, _FILE, "eval")


def _partial(code, k, operands, w):
    return eval(_compiled(formulas.PARTIALS[code][k]), NAMES, {**dict(zip("xyz", operands)), "w": w})


def _any(operands):
    return any(isinstance(x, Node) for x in operands)


def _named(name):
    code = BY_NAME[name].code
    return lambda *operands: of_row(code, operands) if _any(operands) else formulas.VALUES[code](*operands)


_exp, _log, _sqrt, _cosh = map(_named, ("exp", "log", "sqrt", "cosh"))


def _passive(name):
    f = formulas.NAMES[name]
    return lambda *operands: f(*map(value_of, operands))


def _ratio(x, y):
    zero = value_of(y) == 0
    if not np.any(zero):
        return x / y
    return chosen(zero, 0.0, x / chosen(zero, 1.0, y))


def _difference(x, y):
    same = np.isinf(value_of(x)) & (value_of(x) == value_of(y))
    return chosen(same, 0.0, x - y) if np.any(same) else x - y


def _logistic_density(x):
    far = np.abs(value_of(x)) >= 1400.0      # it is 0, and cosh would overflow
    if not np.any(far):
        half = 0.5 / _cosh(0.5 * x)
        return half * half
    half = 0.5 / _cosh(0.5 * chosen(far, 0.0, x))
    return chosen(far, 0.0, half * half)


def _unit_gap(x):
    size = np.abs(value_of(x))
    return chosen((size < 0.5) | (size == 1), 1.0 - x * x, (1.0 - x) * (1.0 + x))


def _unit_excess_root(x):
    return chosen(value_of(x) == 1, _sqrt(2.0 * (x - 1.0)), _sqrt(x - 1.0) * _sqrt(x + 1.0))


def _plane(x, y, flat, steep):
    wide = np.abs(value_of(x)) > np.abs(value_of(y))
    large = chosen(wide, x, y)
    origin = value_of(large) == 0
    large = chosen(origin, 1.0, large)
    quotient = chosen(origin, 0.0, chosen(wide, y, x) / large)
    return chosen(origin, 0.0, chosen(wide, flat(quotient, large), steep(quotient, large)))


def _hypot_x(x, y, w):
    if np.any(np.isinf(value_of(x)) & np.isinf(value_of(y))):
        return _ratio(x, w)
    return _plane(x, y, lambda q, large: np.sign(value_of(large)) / _sqrt(1.0 + q * q),
                  lambda q, large: np.sign(value_of(large)) * (q / _sqrt(1.0 + q * q)))


def _atan2_x(x, y):
    return _plane(x, y, lambda q, large: q / (1.0 + q * q) / large, lambda q, large: 1.0 / (1.0 + q * q) / large)


def _power_x(x, y, w):
    base, exponent = value_of(x), value_of(y)
    if not isinstance(y, Node) and np.ndim(exponent) == 0 and float(exponent) in formulas.SHORT:
        return formulas.SHORT[float(exponent)](x, w)
    exact = formulas.is_exact_power(base, value_of(w))
    if np.all(exact & (np.abs(exponent - 1.0) > 0.25)):      # near 1 the quotient's slopes cancel
        return y * w / x
    # Powers of lower and lower degree, as far as coefficients are asked for: of 0 they are a polynomial or have
    # infinite slopes, and elsewhere they are numbers that have their digits where this power is too small or too large.
    nothing = (exponent == 0) & ((base == 0) | (not isinstance(y, Node)))
    slope = chosen(nothing, 0.0, y * of_row(BY_NAME["power"].code, (x, y - 1.0)))
    # Of small exponents these may be infinite, which the exponent makes finite.
    small = formulas.is_small_power(base, exponent, value_of(w))
    return chosen(small, y * w / chosen(small, x, 1.0), slope) if np.any(small) else slope


def _power_y(x, y, w):
    base = value_of(x)
    zero = (base == 0) | ((value_of(w) == 0) & (base > 0))
    return chosen(zero, 0.0, w * _log(chosen(zero, 1.0, x))) if np.any(zero) else w * _log(x)


def _polygamma(order, x):
    if not isinstance(x, Node):
        return POLYGAMMA.forward(x, float(order))
    key = "polygamma", order, id(x)
    if key not in x.memo:
        x.memo[key] = Row(BY_NAME["digamma"], (x,), lambda x: POLYGAMMA.forward(x, float(order)),
                          lambda k, operands, w: _polygamma(order + 1, operands[0])), x
    return x.memo[key][0]


NAMES = {
    **{name: formulas.NAMES[name] for name in ("LN2", "LN10", "DEGREES", "RADIANS")},
    **{name: _passive(name) for name in ("sign", "rint", "mantissa_slope", "copysign", "scale")},
    **{name: _named(name) for name in ("cosh", "exp", "hypot", "log", "sinh", "sqrt", "fabs", "expit", "digamma")},
    "slope_cos": _named("cos"), "slope_sin": _named("sin"), "pick": chosen, "ratio": _ratio,
    "difference": _difference, "logistic_density": _logistic_density, "power_x": _power_x, "power_y": _power_y,
    "hypot_x": _hypot_x, "atan2_x": _atan2_x, "unit_gap": _unit_gap, "unit_excess_root": _unit_excess_root,
    "expm1_slope": lambda x, w: _exp(x),
    "tanh_slope": lambda x, w: 4.0 * _logistic_density(2.0 * x), "expit_slope": lambda x, w: _logistic_density(x),
    "erf_slope": lambda x: 2.0 / np.sqrt(np.pi) * _exp(-(x * x)), "trigamma": lambda x: _polygamma(1, x),
}  # fmt: skip
