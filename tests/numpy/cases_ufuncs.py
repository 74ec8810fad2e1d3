# SPDX-License-Identifier: Apache-2.0
"""Expressions for the ufuncs of NumPy and for their methods; `tests.numpy.table` says what the names mean."""

from tests.numpy.newer import runs

UNARY = {
    "x": "absolute arcsinh arctan cbrt conjugate cos cosh deg2rad degrees exp exp2 expm1 fabs negative positive "
    "rad2deg radians reciprocal sin sinh square tan tanh",
    "p": "log log10 log1p log2 sqrt",
    "x / 2.5": "arccos arcsin arctanh",
    "p + 1": "arccosh",
}
BINARY = "add subtract multiply divide maximum minimum fmax fmin arctan2 hypot logaddexp logaddexp2 copysign"
PASSIVE_UNARY = "ceil floor trunc rint sign signbit isnan isinf isfinite logical_not spacing"
PASSIVE_BINARY = (
    "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor floor_divide"
)

CALLS = [f"np.{name}({argument})" for argument, names in UNARY.items() for name in names.split()]
CALLS += [f"np.{name}({pair})" for name in BINARY.split() for pair in ("x, y", "m, b", "m, 0.7", "1.3, x", "r, m",
"o, v")]
CALLS += [
    "np.nextafter(x, y)", "np.nextafter(m, 2.0)", "np.nextafter(1.0, r)",
    "np.power(p, y)", "np.power(x, 2)", "np.power(x, -1.0)", "np.power(2.0, x)", "np.float_power(p, w)",
    "np.remainder(x, w)", "np.mod(x, 0.7)", "np.fmod(x, w)", "np.divmod(x, w)", "np.modf(m)", "np.frexp(m)",
    "np.ldexp(x, 3)", "np.ldexp(x, [1, 2, 0, -1, 3])", "np.heaviside(x, y)", "np.heaviside([0.0, 1, -1, 0, 0], y)",
    "np.matmul(m, n.T)", "np.matmul(t, n.T)", "m @ x[:4]", "v @ m", "x @ y", "a @ n.T", "np.matmul(m, a.T)",
    "np.vecdot(m, n)", "np.matvec(q, v)", "np.vecmat(v, q)", "np.vecdot(m, n, axis=0)",
    "np.add(x, [1, 2, 3, 4, 5])", "np.multiply([1.0, r, 2, 3, 4], x)", "np.add(m, 1, dtype=float)",
    "np.multiply(x, y, casting='same_kind', order='K')", "x ** 3 + p ** 0.5",
    "np.where(p > 0.5, np.sqrt(p), 0.0)",
]  # fmt: skip
CALLS = [text for text in CALLS if runs(text)]

METHODS = [
    "np.add.reduce(m)", "np.add.reduce(m, axis=1, keepdims=True)", "np.add.reduce(m, None)",
    "np.add.reduce(m, initial=r)",
    "np.add.reduce(m, where=mask)", "np.multiply.reduce(m, 0)", "np.multiply.reduce(x)", "np.maximum.reduce(m, axis=1)",
    "np.minimum.reduce(x, initial=-3.0)", "np.fmax.reduce(np.where(m > 1, np.nan, m), axis=0)", "np.fmin.reduce(x)",
    "np.logaddexp.reduce(m, axis=1)", "np.hypot.reduce(m)", "np.hypot.accumulate(m)",
    "np.subtract.reduce(m, axis=1)", "np.divide.reduce(p)",
    "np.add.accumulate(m, 1)", "np.multiply.accumulate(x)",
    "np.maximum.accumulate(m, axis=1)", "np.minimum.accumulate(x)", "np.subtract.accumulate(x)",
    "np.divide.accumulate(p)",
    "np.add.reduceat(x, [0, 2, 1, 4])", "np.add.reduceat(x, [0.5, 2.0])", "np.add.reduceat(m, [0, 2], axis=1)",
    "np.multiply.reduceat(x, [0, 3])", "np.maximum.reduceat(m, [0, 2], 1)",
    "np.subtract.reduceat(m, [0, 1], axis=1)", "np.multiply.outer(x, v)", "np.add.outer(m, v)",
    "np.subtract.outer(v, 1.0)",
    "np.arctan2.outer(p, [1.0, 2.0])", "np.maximum.outer(x, m)",
]  # fmt: skip

PASSIVE = [f"np.{name}(m)" for name in PASSIVE_UNARY.split()] + [f"np.{name}(m, b)" for name in PASSIVE_BINARY.split()]
PASSIVE += ["np.logical_and.reduce(m > 0)", "np.greater.outer(x, v)", "np.logical_or.accumulate(x)",
"np.floor_divide(x, 0.3)",
            "np.equal(x, x)"]  # fmt: skip
