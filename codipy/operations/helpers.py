# SPDX-License-Identifier: Apache-2.0
"""The functions that the table's expressions use, as `math.h` and `helpers.h` define them: the table's readable twin.

Nothing here raises: what is out of a function's domain is an infinity or NaN, as in C. Numbers are `numpy.float64`,
whose division knows zeros. `exp` and its like are those of `math`, since NumPy's own may differ in the last bit.
"""

import functools
import math

import numpy

from .polygamma import digamma, tetragamma, trigamma  # noqa: F401 (the expressions use them)
from .trigonometry import slope_cos, slope_sin  # noqa: F401

__all__ = ["evaluate"]

LN2, LN10, PI = math.log(2.0), math.log(10.0), math.pi
DEGREES, RADIANS = 180.0 / math.pi, math.pi / 180.0
TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)


def _ieee(name, ufunc=None):
    """The function of `math` where it does not raise, and NumPy's infinity or NaN where it does."""
    exact, special = getattr(math, name, None), getattr(numpy, ufunc or name)

    def function(*arguments):
        try:
            return numpy.float64(exact(*arguments) if exact else special(*arguments))
        except (ValueError, OverflowError):
            return special(*arguments)

    return function


exp, exp2, expm1, log, log2, log10, log1p, sqrt, cbrt, pow = map(
    _ieee, ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "pow"],
    ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "power"],
)  # fmt: skip
sin, cos, tan, sinh, cosh, tanh = map(_ieee, ["sin", "cos", "tan", "sinh", "cosh", "tanh"])
asin, acos, atan, atan2 = map(_ieee, ["asin", "acos", "atan", "atan2"], ["arcsin", "arccos", "arctan", "arctan2"])
asinh, acosh, atanh = map(_ieee, ["asinh", "acosh", "atanh"], ["arcsinh", "arccosh", "arctanh"])
fabs, fmod, hypot, copysign, ldexp = map(_ieee, ["fabs", "fmod", "hypot", "copysign", "ldexp"])
rint, erf, erfc = numpy.rint, math.erf, math.erfc


def tgamma(x):
    """Euler's gamma function; inf of its sign at 0, NaN at the other poles."""
    try:
        return numpy.float64(math.gamma(x))
    except OverflowError:
        return numpy.float64(math.inf if x > 0 or math.floor(x) % 2 == 0 else -math.inf)
    except ValueError:
        return 1 / x if x == 0 else numpy.float64(math.nan)


def lgamma(x):
    """The logarithm of |gamma(x)|, inf at the poles."""
    try:
        return numpy.float64(math.lgamma(x))
    except (ValueError, OverflowError):
        return numpy.float64(math.inf)


def nearest_mod(x, y):
    """x - n * y for the whole n nearest to x / y."""
    try:
        return numpy.float64(math.remainder(x, y))
    except ValueError:
        return numpy.float64(math.nan)


def fma(x, y, z):
    """x * y + z with one rounding."""
    if not (numpy.isfinite(x) and numpy.isfinite(y) and numpy.isfinite(z)):
        return z if numpy.isfinite(x) and numpy.isfinite(y) else x * y + z
    from fractions import Fraction  # here: nothing else needs it, and it is slow to import

    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    if exact == 0:  # only a zero product keeps the sign that IEEE 754 gives the sum of two zeros
        return x * y + z if x == 0 or y == 0 else numpy.float64(0.0)
    try:
        return numpy.float64(math.copysign(exact.numerator / exact.denominator, exact))
    except OverflowError:
        return numpy.float64(math.inf if exact > 0 else -math.inf)


def pick(condition, yes, no):
    """C's conditional expression, both branches computed."""
    return yes if condition else no


def sign(x):
    """-1, 0 or 1, and NaN of NaN."""
    return 1.0 if x > 0 else -1.0 if x < 0 else 0.0 if x == 0 else x


def ratio(x, y):
    """x / y, and 0 where y is 0."""
    return 0.0 if y == 0 else x / y


def difference(x, y):
    """x - y, and 0 where both are the same infinity."""
    return 0.0 if x == y else x - y


def floor_mod(x, y):
    """Python's x % y: the sign is that of y, also of a zero."""
    return numpy.float64(float(x) % float(y)) if y != 0 else numpy.float64(math.nan)


def power_x(x, y, w):
    """The partial of x**y in x."""
    if y in (0.5, 0, 1, 2, 3, -1):
        return {0.5: 0.5 / fabs(w), 0: 0.0, 1: 1.0, 2: 2 * x, 3: 3 * x * x, -1: -w * w}[float(y)]
    return y * (w / x) if 1e-290 < abs(w) < 1e300 else y * pow(x, y - 1)


def power_y(x, y, w):
    """The partial of x**y in y, 0 where x**y stays 0."""
    return 0.0 if x == 0 or (w == 0 and x > 0) else w * log(x)


def power_xx(x, y, w):
    """The second partial of x**y in x."""
    if y in (0, 1, 2, 3):
        return {0: 0.0, 1: 0.0, 2: 2.0, 3: 6 * x}[float(y)]
    below = pow(x, y - 2)
    if numpy.isinf(below) and x != 0 and not numpy.isinf(x):
        return y * (w / x) * ((y - 1) / x)
    return 0.0 if below == 0 else y * (y - 1) * below


def power_xy(x, y, w):
    """The mixed partial of x**y, 0 where x**(y - 1) stays 0, which may have digits where w is 0."""
    return 0.0 if x == 0 or (pow(x, y - 1) == 0 and x > 0) else pow(x, y - 1) * (1 + y * log(x))


def power_yy(x, y, w):
    """The second partial of x**y in y, 0 where x**y stays 0."""
    return 0.0 if x == 0 or (w == 0 and x > 0) else w * log(x) * log(x)


def expm1_slope(x, w):
    """exp(x), from w = expm1(x) where nothing cancels."""
    return w + 1 if w > -0.5 else exp(x)


def logistic_density(x):
    """exp(-|x|) / (1 + exp(-|x|))**2."""
    return exp(-fabs(x)) / ((1 + exp(-fabs(x))) * (1 + exp(-fabs(x))))


def tanh_slope(x, w):
    """1 - w**2 for w = tanh(x), exact where that cancels."""
    return (1 - w) * (1 + w) if fabs(w) < 0.9 else 4 * logistic_density(2 * x)


def expit(x):
    """1 / (1 + exp(-x))."""
    e = exp(-fabs(x))
    return e / (1 + e) if x < 0 else 1 / (1 + e)


def expit_slope(x, w):
    """w * (1 - w) for w = expit(x), exact where that cancels."""
    return w * (1 - w) if w < 0.9 else logistic_density(x)


def logaddexp(x, y):
    """log(exp(x) + exp(y))."""
    if x == y:
        return x + LN2
    return x + log1p(exp(y - x)) if x > y else y + log1p(exp(x - y))


def erf_slope(x):
    """The derivative of erf."""
    return 0.0 if fabs(x) > 30 else TWO_OVER_SQRT_PI * exp(-x * x)


def hypot_x(x, y, w):
    """x / w for w = hypot(x, y), also where w overflows."""
    if w == 0:
        return 0.0
    if not numpy.isinf(w):
        return x / w
    if numpy.isinf(x):
        return math.nan if numpy.isinf(y) else sign(x)
    return 0.0 if numpy.isinf(y) else 0.25 * x / hypot(0.25 * x, 0.25 * y)


def hypot_xx(x, y, w):
    """The second partial of w = hypot(x, y) in x."""
    return ratio(ratio(y, w), w) * ratio(y, w)


def atan2_xx(x, y):
    """The second partial of atan2(x, y) in x."""
    h = hypot(x, y)
    return -2 * ratio(ratio(ratio(x, h) * ratio(y, h), h), h)


def atan2_xy(x, y):
    """The mixed partial of atan2(x, y)."""
    h = hypot(x, y)
    return ratio(ratio((ratio(x, h) - ratio(y, h)) * (ratio(x, h) + ratio(y, h)), h), h)


def scale(x, y):
    """x * 2**y for a whole number y."""
    return ldexp(x, 4200 if y > 4200 else int(y) if y > -4200 else -4200)


def mantissa(x):
    """The mantissa of x, in [1/2, 1)."""
    return numpy.float64(math.frexp(x)[0])


def mantissa_slope(x):
    """The power of two that makes the mantissa of x."""
    return ldexp(1.0, -math.frexp(x)[1]) if numpy.isfinite(x) else 1.0


def fraction(x):
    """The fractional part of x, with its sign."""
    return numpy.float64(math.modf(x)[0])


def single(x):
    """x rounded to float32."""
    with numpy.errstate(all="ignore"):
        return numpy.float64(numpy.float32(x))


_NAMES = dict(globals())
_compiled = functools.lru_cache(maxsize=None)(functools.partial(compile, filename="<table>", mode="eval"))


def evaluate(expression, x, y=0.0, z=0.0, w=0.0):
    """Return one of the table's expressions at these arguments, as C computes it."""
    with numpy.errstate(all="ignore"):
        arguments = dict(zip("xyzw", map(numpy.float64, (x, y, z, w)), strict=True))
        return float(eval(_compiled(expression), _NAMES, arguments))
