# SPDX-License-Identifier: Apache-2.0
"""The one table of elementary operations: each row is a name, its spellings, its value and its partials.

An expression is written once and read by both C and Python: arguments are `x`, `y`, `z`, the value is `w`, what needs
a branch or a longer formula is a function of `helpers.h` and `helpers.py`. Integers stand where C converts them
(`1 / x`, never `1 / 2`); conditions are joined by `&` and `|`, since `and` and `&&` are each foreign to one side.
"""

from typing import NamedTuple

__all__ = ["BY_NAME", "PASSIVE", "TABLE", "Operation", "PassiveOperation"]

REAL = (-4.0, 4.0)
POSITIVE = (1e-3, 8.0)
INF, NAN = float("inf"), float("nan")


class Operation(NamedTuple):
    """One elementary operation, differentiable in its arguments.

    Attributes
    ----------
    name : str
        The name in codipy; `OP_<NAME>` is its code in C.
    python : str
        Path of the callable that defines value and exceptions for floats.
    value : str
        The value as an expression in the arguments.
    partials : tuple of str
        First partial for each argument.
    second : tuple of str
        Second partials packed as xx, xy, yy, xz, yz, zz, as far as the arity goes.
    math_name, scipy : str or None
        The function of `math`, the ufunc of `scipy.special`.
    numpy : tuple of str
        The ufuncs of NumPy that mean this operation, aliases included.
    kink : str
        Which derivative is returned where there is none, or more than one.
    domain : tuple of (float, float)
        One interval per argument in which the derivatives are tested.
    edges : tuple of tuple
        Arguments at which the value is tested beside zeros, infinities and NaN.
    python_value : bool
        Whether the C value may differ from Python's, so that only `python` gives the value to record.
    total : bool
        Whether Python never raises and the C value is Python's also where it is not finite, so that nobody need look.
    sifts : str
        Where a partial that is zero lets nothing pass, not even an infinite derivative: ``"always"`` for a selection,
        ``"passive"`` where the factor does not depend on the inputs, so that neither does the value.
    constant : tuple of int
        Arguments that are never differentiated (the exponent of `scale`).
    code : int
        The place in the table.
    """

    name: str
    python: str
    value: str
    partials: tuple
    second: tuple
    math_name: str | None = None
    numpy: tuple = ()
    scipy: str | None = None
    kink: str = ""
    domain: tuple = (REAL, REAL, REAL)
    edges: tuple = ()
    python_value: bool = False
    total: bool = False
    sifts: str = ""
    constant: tuple = ()
    code: int = -1

    @property
    def arity(self):
        """The number of arguments."""
        return len(self.partials)


class PassiveOperation(NamedTuple):
    """An operation whose derivative is zero or that has no real value, so that its result is passive."""

    name: str
    python: str
    numpy: tuple = ()
    math_name: str | None = None


def _linear(name, python, value, *partials, **more):
    """A row whose second partials vanish."""
    return Operation(name, python, value, partials, ("0",) * (len(partials) * (len(partials) + 1) // 2), **more)


def _math(name, value, partial, second, *domain, numpy=None, **more):
    """A row of one argument that `math` has under the same name."""
    more = {"python": f"math.{name}", "math_name": name, "numpy": (name,) if numpy is None else numpy, **more}
    return Operation(name, value=value, partials=(partial,), second=(second,), domain=domain or (REAL,), **more)


_ARITHMETIC = (
    _linear("add", "operator.add", "x + y", "1", "1", numpy=("add",), total=True),
    _linear("subtract", "operator.sub", "x - y", "1", "-1", numpy=("subtract",), total=True),
    Operation("multiply", "operator.mul", "x * y", ("y", "x"), ("0", "1", "0"), numpy=("multiply",), total=True,
              sifts="passive"),
    Operation(
        "divide", "operator.truediv", "x / y", ("1 / y", "-w / y"), ("0", "-1 / y / y", "2 * w / y / y"),
        numpy=("divide", "true_divide"), domain=(REAL, POSITIVE),
    ),
    # pow(x, 2) is not x * x for 0.08 % of all x (glibc 2.36, 3e7 trials) and Python returns pow(x, 2), so the value
    # stays pow for every exponent; the partials take the short cuts.
    Operation(
        "power", "operator.pow", "pow(x, y)", ("power_x(x, y, w)", "power_y(x, y, w)"),
        ("power_xx(x, y, w)", "power_xy(x, y, w)", "power_yy(x, y, w)"),
        math_name="pow", numpy=("power", "float_power", "pow"), domain=(POSITIVE, REAL),
        edges=((-2.0, 3.0), (-2.0, -3.0), (-8.0, 1 / 3), (0.0, -1.0), (0.0, 0.5), (1e200, 2.0), (3.0, -1000.0)),
        kink="in x: inf where x = 0 and 0 < y < 1, 0 where y = 0; in y: 0 where x = 0, nan where x < 0",
    ),
    _linear("negative", "operator.neg", "-x", "-1", numpy=("negative",), total=True),
    _linear("positive", "operator.pos", "x", "1", numpy=("positive",), total=True),
    _linear("identity", "operator.pos", "x", "1", numpy=("conjugate", "conj"), total=True),
    _linear("absolute", "operator.abs", "fabs(x)", "sign(x)", numpy=("absolute", "abs"), kink="0 at 0", total=True,
            sifts="always"),
    _linear("fabs", "math.fabs", "fabs(x)", "sign(x)", math_name="fabs", numpy=("fabs",), kink="0 at 0", sifts="always"),
    Operation("square", "square", "x * x", ("2 * x",), ("2",), numpy=("square",)),
    Operation(
        "reciprocal", "reciprocal", "1 / x", ("-w * w",), ("2 * w * w * w",), numpy=("reciprocal",), domain=(POSITIVE,)
    ),
    _linear(
        "mod", "operator.mod", "floor_mod(x, y)", "1", "-rint((x - w) / y)", numpy=("remainder", "mod"),
        domain=(REAL, (0.7, 3.0)), edges=((-1e-20, 1.0), (4.0, 2.0), (-4.0, 2.0), (3.0, INF), (-3.0, INF), (1.0, 0.0)),
        kink="at whole quotients the derivative of the branch that gave the value",
    ),
    _linear(
        "fmod", "math.fmod", "fmod(x, y)", "1", "-rint((x - w) / y)", math_name="fmod", numpy=("fmod",),
        domain=(REAL, (0.7, 3.0)), edges=((-4.0, 2.0), (3.0, INF), (1.0, 0.0), (1e300, 3e-300)),
        kink="at whole quotients the derivative of the branch that gave the value",
    ),
    _linear(
        "remainder", "math.remainder", "nearest_mod(x, y)", "1", "-rint((x - w) / y)", math_name="remainder",
        domain=(REAL, (0.7, 3.0)), edges=((5.0, 2.0), (7.0, 2.0), (3.0, INF), (1.0, 0.0), (1e300, 3e-300)),
        kink="at half quotients the derivative of the branch that gave the value",
    ),
    Operation(
        "fma", "fma", "fma(x, y, z)", ("y", "x", "1"), ("0", "1", "0", "0", "0", "0"), math_name="fma",
        edges=((1e200, 1e200, -INF), (1e300, 1e10, -1e308), (INF, 0.0, 1.0), (0.1, 10.0, -1.0)),
    ),
)  # fmt: skip

_POWERS = (
    _math(
        "sqrt", "sqrt(x)", "0.5 / fabs(w)", "-0.25 / (fabs(w) * fabs(x))", POSITIVE,
        kink="inf at 0; a zero adjoint propagates nothing, so `where(x > 0, sqrt(x), 0)` is safe",
    ),
    _math(
        "cbrt", "cbrt(x)", "1 / (3 * w * w)", "-2 / (9 * w * w) / x", POSITIVE, python="cbrt", scipy="cbrt",
        kink="inf at 0",
    ),
    _math("exp", "exp(x)", "w", "w", edges=((710.0,), (-746.0,), (-740.0,))),
    _math("exp2", "exp2(x)", "w * LN2", "w * LN2 * LN2", python="exp2", scipy="exp2", edges=((1024.0,), (-1070.5,))),
    _math(
        "expm1", "expm1(x)", "expm1_slope(x, w)", "expm1_slope(x, w)", scipy="expm1",
        edges=((710.0,), (-50.0,), (1e-300,)),
    ),
    _math("log", "log(x)", "1 / x", "-1 / x / x", POSITIVE),
    _math("log2", "log2(x)", "1 / (x * LN2)", "-1 / (x * LN2) / x", POSITIVE),
    _math("log10", "log10(x)", "1 / (x * LN10)", "-1 / (x * LN10) / x", POSITIVE),
    _math(
        "log1p", "log1p(x)", "1 / (1 + x)", "-1 / (1 + x) / (1 + x)", (-0.99, 8.0), scipy="log1p",
        edges=((-1.0,), (1e-300,)),
    ),
)  # fmt: skip

_TRIGONOMETRIC = (
    _math("sin", "sin(x)", "slope_cos(x)", "-w", edges=((1e22,), (1e300,))),
    _math("cos", "cos(x)", "-slope_sin(x)", "-w", edges=((1e22,), (1e300,))),
    _math("tan", "tan(x)", "1 + w * w", "2 * w * (1 + w * w)", (-1.4, 1.4), edges=((1e22,),)),
    _math(
        "asin", "asin(x)", "1 / sqrt((1 - x) * (1 + x))", "x / ((1 - x) * (1 + x)) / sqrt((1 - x) * (1 + x))",
        (-0.99, 0.99), numpy=("arcsin", "asin"), kink="inf at -1 and 1",
    ),
    _math(
        "acos", "acos(x)", "-1 / sqrt((1 - x) * (1 + x))", "-x / ((1 - x) * (1 + x)) / sqrt((1 - x) * (1 + x))",
        (-0.99, 0.99), numpy=("arccos", "acos"), kink="-inf at -1 and 1",
    ),
    _math("atan", "atan(x)", "1 / (1 + x * x)", "-2 * x / (1 + x * x) / (1 + x * x)", numpy=("arctan", "atan")),
    Operation(
        "atan2", "math.atan2", "atan2(x, y)",
        ("ratio(ratio(y, hypot(x, y)), hypot(x, y))", "-ratio(ratio(x, hypot(x, y)), hypot(x, y))"),
        ("atan2_xx(x, y)", "atan2_xy(x, y)", "-atan2_xx(x, y)"), math_name="atan2", numpy=("arctan2", "atan2"),
        domain=(POSITIVE, REAL), edges=((1e300, -1e300), (1e-300, 1e300), (-0.0, -1.0)), kink="0 at (0, 0)",
    ),
    _math("sinh", "sinh(x)", "cosh(x)", "w", edges=((711.0,),)),
    _math("cosh", "cosh(x)", "sinh(x)", "w", edges=((711.0,),)),
    _math("tanh", "tanh(x)", "tanh_slope(x, w)", "-2 * w * tanh_slope(x, w)", edges=((800.0,), (-800.0,), (20.0,))),
    _math(
        "asinh", "asinh(x)", "1 / hypot(1, x)", "-x / hypot(1, x) / hypot(1, x) / hypot(1, x)",
        numpy=("arcsinh", "asinh"), edges=((1e200,),),
    ),
    _math(
        "acosh", "acosh(x)", "1 / (sqrt(x - 1) * sqrt(x + 1))", "-x / (sqrt(x - 1) * sqrt(x + 1)) / (x - 1) / (x + 1)",
        (1.01, 8.0), numpy=("arccosh", "acosh"), edges=((1.0,), (1e300,)), kink="inf at 1",
    ),
    _math(
        "atanh", "atanh(x)", "1 / ((1 - x) * (1 + x))", "2 * x / ((1 - x) * (1 + x)) / ((1 - x) * (1 + x))",
        (-0.99, 0.99), numpy=("arctanh", "atanh"),
    ),
    Operation(
        "hypot", "math.hypot", "hypot(x, y)", ("hypot_x(x, y, w)", "hypot_x(y, x, w)"),
        ("hypot_xx(x, y, w)", "-ratio(ratio(x, w) * ratio(y, w), w)", "hypot_xx(y, x, w)"), math_name="hypot",
        numpy=("hypot",), python_value=True, edges=((1e300, 1e300), (1e-320, 1e-320), (1.7e308, 1.7e308)),
        kink="0 at (0, 0)",
    ),
    _linear("degrees", "math.degrees", "x * DEGREES", "DEGREES", math_name="degrees", numpy=("degrees", "rad2deg")),
    _linear("radians", "math.radians", "x * RADIANS", "RADIANS", math_name="radians", numpy=("radians", "deg2rad")),
)  # fmt: skip

_SPECIAL = (
    _math("erf", "erf(x)", "erf_slope(x)", "-2 * x * erf_slope(x)", numpy=(), scipy="erf", edges=((6.5,), (30.0,))),
    _math("erfc", "erfc(x)", "-erf_slope(x)", "2 * x * erf_slope(x)", numpy=(), scipy="erfc", edges=((27.0,), (30.0,))),
    _math(
        "gamma", "tgamma(x)", "w * digamma(x)", "w * (digamma(x) * digamma(x) + trigamma(x))", (0.1, 8.0),
        numpy=(), scipy="gamma", python_value=True, edges=((-0.5,), (-1.5,), (-1.0,), (171.5,), (172.0,), (-180.5,)),
    ),
    _math(
        "lgamma", "lgamma(x)", "digamma(x)", "trigamma(x)", (0.1, 8.0), numpy=(), scipy="gammaln", python_value=True,
        edges=((-0.5,), (-1.5,), (-1.0,), (1.0,), (2.0,), (1e305,), (1e308,)),
    ),
    Operation(
        "digamma", "digamma", "digamma(x)", ("trigamma(x)",), ("tetragamma(x)",), scipy="digamma", domain=((0.1, 8.0),),
        edges=((-0.5,), (-1.0,), (1.4616321449683623,), (1e300,)), kink="nan at the poles -1, -2, ...",
    ),
    Operation(
        "expit", "expit", "expit(x)", ("expit_slope(x, w)",), ("-expit_slope(x, w) * tanh(0.5 * x)",), scipy="expit",
        edges=((-740.0,), (-1000.0,), (1000.0,), (40.0,)),
    ),
    Operation(
        "logaddexp", "logaddexp", "logaddexp(x, y)", ("expit(difference(x, y))", "expit(difference(y, x))"),
        (
            "logistic_density(difference(x, y))", "-logistic_density(difference(x, y))",
            "logistic_density(difference(x, y))",
        ),
        numpy=("logaddexp",), edges=((1000.0, 1000.5), (-1000.0, 800.0), (-INF, 1.0), (-INF, -INF)),
        kink="1/2 and 1/2 where both arguments are the same infinity",
    ),
)  # fmt: skip

_PIECEWISE = (
    _linear(
        "copysign", "math.copysign", "copysign(x, y)", "sign(x) * copysign(1, y)", "0", math_name="copysign",
        numpy=("copysign",), kink="0 where x = 0, like abs; 0 in y", sifts="always",
    ),
    _linear(
        "maximum", "maximum", "pick((y > x) | (y != y), y, x)", "pick((y > x) | (y != y), 0, 1)",
        "pick((y > x) | (y != y), 1, 0)", numpy=("maximum",), domain=(REAL, (-3.5, 3.5)), sifts="always",
        kink="a tie goes to the first argument; NaN wins",
    ),
    _linear(
        "minimum", "minimum", "pick((y < x) | (y != y), y, x)", "pick((y < x) | (y != y), 0, 1)",
        "pick((y < x) | (y != y), 1, 0)", numpy=("minimum",), domain=(REAL, (-3.5, 3.5)), sifts="always",
        kink="a tie goes to the first argument; NaN wins",
    ),
    _linear(
        "fmax", "fmax", "pick((y > x) | (x != x), y, x)", "pick((y > x) | (x != x), 0, 1)",
        "pick((y > x) | (x != x), 1, 0)", math_name="fmax", numpy=("fmax",), domain=(REAL, (-3.5, 3.5)), sifts="always",
        kink="a tie goes to the first argument; NaN loses",
    ),
    _linear(
        "fmin", "fmin", "pick((y < x) | (x != x), y, x)", "pick((y < x) | (x != x), 0, 1)",
        "pick((y < x) | (x != x), 1, 0)", math_name="fmin", numpy=("fmin",), domain=(REAL, (-3.5, 3.5)), sifts="always",
        kink="a tie goes to the first argument; NaN loses",
    ),
    _linear(
        "scale", "scale", "scale(x, y)", "scale(1, y)", "0", math_name="ldexp", numpy=("ldexp",), constant=(1,),
        domain=(REAL, (-3.0, 3.0)), edges=((1.0, 1024.0), (1.0, -1074.0), (1e-300, 1100.0), (0.0, 1e9), (1.0, -1e9)),
        kink="x * 2**y with a whole number y, which is never differentiated",
    ),
    _linear(
        "mantissa", "mantissa", "mantissa(x)", "mantissa_slope(x)", domain=((-3.9, 3.9),),
        edges=((1.0,), (5e-324,), (1.7e308,)),
        kink="`frexp(x)[0]`: the exponent is held fixed",
    ),
    _linear(
        "fraction", "fraction", "fraction(x)", "1", domain=((-3.9, 3.9),), edges=((-2.0,), (2.5,), (1e300,)),
        kink="`modf(x)[0]`: the whole part is held fixed",
    ),
    _linear(
        "single", "single", "single(x)", "1", total=True, edges=((0.1,), (1e39,), (-3.5e38,), (1e-46,), (1e-40,)),
        kink="x rounded to float32, which is no step as far as derivatives go",
    ),
)  # fmt: skip

_ROWS = _ARITHMETIC + _POWERS + _TRIGONOMETRIC + _SPECIAL + _PIECEWISE

TABLE = tuple(row._replace(code=code) for code, row in enumerate(_ROWS))
BY_NAME = {row.name: row for row in TABLE}

PASSIVE = (
    PassiveOperation("floor", "math.floor", ("floor",), "floor"),
    PassiveOperation("ceil", "math.ceil", ("ceil",), "ceil"),
    PassiveOperation("trunc", "math.trunc", ("trunc",), "trunc"),
    PassiveOperation("round", "builtins.round", ("rint",)),
    PassiveOperation("sign", "sign", ("sign",)),
    PassiveOperation("signbit", "signbit", ("signbit",), "signbit"),
    PassiveOperation("isnan", "math.isnan", ("isnan",), "isnan"),
    PassiveOperation("isfinite", "math.isfinite", ("isfinite",), "isfinite"),
    PassiveOperation("isinf", "math.isinf", ("isinf",), "isinf"),
    PassiveOperation("isclose", "math.isclose", (), "isclose"),
    PassiveOperation("floordiv", "operator.floordiv", ("floor_divide",)),
    PassiveOperation("equal", "operator.eq", ("equal",)),
    PassiveOperation("not_equal", "operator.ne", ("not_equal",)),
    PassiveOperation("less", "operator.lt", ("less",)),
    PassiveOperation("less_equal", "operator.le", ("less_equal",)),
    PassiveOperation("greater", "operator.gt", ("greater",)),
    PassiveOperation("greater_equal", "operator.ge", ("greater_equal",)),
)
