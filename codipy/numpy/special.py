# SPDX-License-Identifier: Apache-2.0
"""The ufuncs of `scipy.special` that have a derivative: partials by name, beside those of the operations table."""

from __future__ import annotations

import sys

import numpy as np

from codipy.active.array import add_row, is_active
from codipy.errors import UndifferentiableError
from codipy.operations import BY_NAME

from .elementary import elementwise_primitive

__all__ = ["NAMES", "lacking", "primitive_of", "row_of"]

# Partials in the arguments and the result w, one text per argument; "-" where there is none to be had. Texts see NumPy
# as np and scipy.special as sp.
_ONE = {
    "erfcx": "2 * x * w - 2 / np.sqrt(np.pi)",
    "erfi": "2 / np.sqrt(np.pi) * np.exp(x * x)",
    "erfinv": "np.sqrt(np.pi) / 2 * np.exp(w * w)",
    "erfcinv": "-np.sqrt(np.pi) / 2 * np.exp(w * w)",
    "dawsn": "1 - 2 * x * w",
    "loggamma": "sp.psi(x)",
    "rgamma": "-w * sp.psi(x)",
    "logit": "1 / (x * (1 - x))",
    "log_expit": "sp.expit(-x)",
    "exp10": "w * np.log(10)",
    "cosm1": "-np.sin(x)",
    "exprel": "at(np.abs(x) < 1e-4, 0.5 + x / 3, (np.exp(x) - w) / x)",
    "ndtr": "np.exp(-x * x / 2) / np.sqrt(2 * np.pi)",
    "log_ndtr": "np.exp(-x * x / 2 - w) / np.sqrt(2 * np.pi)",
    "ndtri": "np.sqrt(2 * np.pi) * np.exp(w * w / 2)",
    "ndtri_exp": "np.sqrt(2 * np.pi) * np.exp(x + w * w / 2)",
    "j0": "-sp.j1(x)",
    "j1": "(sp.j0(x) - sp.jv(2, x)) / 2",
    "y0": "-sp.y1(x)",
    "y1": "(sp.y0(x) - sp.yv(2, x)) / 2",
    "i0": "sp.i1(x)",
    "i1": "(sp.i0(x) + sp.iv(2, x)) / 2",
    "i0e": "sp.i1e(x) - np.sign(x) * w",
    "i1e": "(sp.i0e(x) + sp.ive(2, x)) / 2 - np.sign(x) * w",
    "k0": "-sp.k1(x)",
    "k1": "-(sp.k0(x) + sp.kv(2, x)) / 2",
    "k0e": "w - sp.k1e(x)",
    "k1e": "w - (sp.k0e(x) + sp.kve(2, x)) / 2",
    "entr": "-np.log(x) - 1",
    "ellipk": "at(x == 0, np.pi / 8, (sp.ellipe(x) / (1 - x) - w) / (2 * x))",
    "ellipe": "at(x == 0, -np.pi / 8, (w - sp.ellipk(x)) / (2 * x))",
    "ellipkm1": "-(sp.ellipe(1 - x) / x - w) / (2 * (1 - x))",
    "expi": "np.exp(x) / x",
    "exp1": "-np.exp(-x) / x",
    "spence": "at(x == 1, -1, np.log(x) / (1 - x))",
    "wrightomega": "w / (1 + w)",
    "sindg": "sp.cosdg(x) * np.pi / 180",
    "cosdg": "-sp.sindg(x) * np.pi / 180",
    "tandg": "(1 + w * w) * np.pi / 180",
    "cotdg": "-(1 + w * w) * np.pi / 180",
}
_TWO = {
    "beta": ("w * (sp.psi(x) - sp.psi(x + y))", "w * (sp.psi(y) - sp.psi(x + y))"),
    "betaln": ("sp.psi(x) - sp.psi(x + y)", "sp.psi(y) - sp.psi(x + y)"),
    "binom": ("w * (sp.psi(x + 1) - sp.psi(x - y + 1))", "w * (sp.psi(x - y + 1) - sp.psi(y + 1))"),
    "poch": ("w * (sp.psi(x + y) - sp.psi(x))", "w * sp.psi(x + y)"),
    "xlogy": ("np.log(y)", "x / y"),
    "xlog1py": ("np.log1p(y)", "x / (1 + y)"),
    "rel_entr": ("np.log(x / y) + 1", "-x / y"),
    "kl_div": ("np.log(x / y)", "1 - x / y"),
    "huber": ("np.maximum(np.abs(y) - x, 0)", "np.clip(y, -x, x)"),
    "pseudo_huber": (
        "2 * x * (np.hypot(1, y / x) - 1) - y * y / (x * np.hypot(1, y / x))",
        "y / np.hypot(1, y / x)",
    ),
    "jv": ("-", "(sp.jv(x - 1, y) - sp.jv(x + 1, y)) / 2"),
    "yv": ("-", "(sp.yv(x - 1, y) - sp.yv(x + 1, y)) / 2"),
    "yn": ("-", "(sp.yv(np.trunc(x) - 1, y) - sp.yv(np.trunc(x) + 1, y)) / 2"),  # SciPy cuts the order off
    "iv": ("-", "(sp.iv(x - 1, y) + sp.iv(x + 1, y)) / 2"),
    "ive": ("-", "(sp.ive(x - 1, y) + sp.ive(x + 1, y)) / 2 - np.sign(y) * w"),
    "kv": ("-", "-(sp.kv(x - 1, y) + sp.kv(x + 1, y)) / 2"),
    "kn": ("-", "-(sp.kv(np.trunc(x) - 1, y) + sp.kv(np.trunc(x) + 1, y)) / 2"),
    "kve": ("-", "w - (sp.kve(x - 1, y) + sp.kve(x + 1, y)) / 2"),
    "gammainc": ("-", "edge(y == 0, np.exp(sp.xlogy(x - 1, y) - y - sp.gammaln(x)))"),
    "gammaincc": ("-", "edge(y == 0, -np.exp(sp.xlogy(x - 1, y) - y - sp.gammaln(x)))"),
    "gammaincinv": ("-", "np.exp(sp.gammaln(x) + w - sp.xlogy(x - 1, w))"),
    "gammainccinv": ("-", "-np.exp(sp.gammaln(x) + w - sp.xlogy(x - 1, w))"),
    "expn": ("-", "-np.where(x >= 1, sp.expn(np.maximum(np.trunc(x) - 1, 0), y), w * (1 + 1 / y))"),
    "hyp0f1": ("-", "sp.hyp0f1(x + 1, y) / x"),
    "ellipkinc": (
        "1 / np.sqrt(1 - y * np.sin(x) ** 2)",
        "(sp.ellipeinc(x, y) / (1 - y) - w) / (2 * y)"
        " - np.sin(2 * x) / (4 * (1 - y) * np.sqrt(1 - y * np.sin(x) ** 2))",
    ),
    "ellipeinc": ("np.sqrt(1 - y * np.sin(x) ** 2)", "(w - sp.ellipkinc(x, y)) / (2 * y)"),
    "boxcox": ("x ** (y - 1)", "at(y == 0, np.log(x) ** 2 / 2, (x**y * (y * np.log(x) - 1) + 1) / y**2)"),
    "boxcox1p": (
        "(1 + x) ** (y - 1)",
        "at(y == 0, np.log1p(x) ** 2 / 2, ((1 + x) ** y * (y * np.log1p(x) - 1) + 1) / y**2)",
    ),
    "inv_boxcox": ("w ** (1 - y)", "at(y == 0, -w * x * x / 2, w * (x / (1 + x * y) - np.log(w)) / y)"),
    "owens_t": (
        "-np.exp(-x * x / 2) * sp.erf(x * y / np.sqrt(2)) / (2 * np.sqrt(2 * np.pi))",
        "np.exp(-x * x * (1 + y * y) / 2) / (2 * np.pi * (1 + y * y))",
    ),
    "stdtr": ("-", "np.exp(-(x + 1) / 2 * np.log1p(y * y / x) - sp.betaln(x / 2, 0.5)) / np.sqrt(x)"),
    "stdtrit": ("-", "np.exp((x + 1) / 2 * np.log1p(w * w / x) + sp.betaln(x / 2, 0.5)) * np.sqrt(x)"),
    "chdtr": ("-", "edge(y == 0, np.exp(sp.xlogy(x / 2 - 1, y / 2) - y / 2 - sp.gammaln(x / 2)) / 2)"),
    "chdtrc": ("-", "edge(y == 0, -np.exp(sp.xlogy(x / 2 - 1, y / 2) - y / 2 - sp.gammaln(x / 2)) / 2)"),
    "pdtr": ("-", "-np.exp(sp.xlogy(np.floor(x), y) - y - sp.gammaln(np.floor(x) + 1))"),
    "pdtrc": ("-", "np.exp(sp.xlogy(np.floor(x), y) - y - sp.gammaln(np.floor(x) + 1))"),
    "eval_legendre": ("-", "np.where(x == 0, 0, sp.eval_gegenbauer(x - 1, 1.5, y))"),
    "eval_chebyt": ("-", "np.where(x == 0, 0, x * sp.eval_chebyu(x - 1, y))"),
    "eval_chebyu": ("-", "np.where(x == 0, 0, 2 * sp.eval_gegenbauer(x - 1, 2, y))"),
    "eval_hermite": ("-", "np.where(x == 0, 0, 2 * x * sp.eval_hermite(np.maximum(x - 1, 0), y))"),
    "eval_hermitenorm": ("-", "np.where(x == 0, 0, x * sp.eval_hermitenorm(np.maximum(x - 1, 0), y))"),
    "eval_laguerre": ("-", "np.where(x == 0, 0, -sp.eval_genlaguerre(x - 1, 1, y))"),
}
_THREE = {
    "betainc": (
        "-", "-",
        "edge(z * (1 - z) == 0, np.exp(sp.xlogy(x - 1, z) + sp.xlog1py(y - 1, -z) - sp.betaln(x, y)))",
    ),
    "betaincc": (
        "-", "-",
        "edge(z * (1 - z) == 0, -np.exp(sp.xlogy(x - 1, z) + sp.xlog1py(y - 1, -z) - sp.betaln(x, y)))",
    ),
    "betaincinv": ("-", "-", "np.exp(sp.betaln(x, y) - sp.xlogy(x - 1, w) - sp.xlog1py(y - 1, -w))"),
    "hyp1f1": ("-", "-", "x / y * sp.hyp1f1(x + 1, y + 1, z)"),
    "hyperu": ("-", "-", "-x * sp.hyperu(x + 1, y + 1, z)"),
    "eval_genlaguerre": ("-", "-", "np.where(x == 0, 0, -sp.eval_genlaguerre(x - 1, y + 1, z))"),
    "eval_gegenbauer": ("-", "-", "np.where(x == 0, 0, 2 * y * sp.eval_gegenbauer(x - 1, y + 1, z))"),
}
_FOUR = {
    "hyp2f1": ("-", "-", "-", "x * y / z * sp.hyp2f1(x + 1, y + 1, z + 1, u)"),
    "eval_jacobi": ("-", "-", "-", "np.where(x == 0, 0, (x + y + z + 1) / 2 * sp.eval_jacobi(x - 1, y + 1, z + 1, u))"),
}
# Several results: a text for each.
_SEVERAL = {
    "sici": ("at(x == 0, 1, np.sin(x) / x)", "np.cos(x) / x"),
    "shichi": ("at(x == 0, 1, np.sinh(x) / x)", "np.cosh(x) / x"),
    "fresnel": ("np.sin(np.pi * x * x / 2)", "np.cos(np.pi * x * x / 2)"),
    "airy": ("w[1]", "x * w[0]", "w[3]", "x * w[2]"),
}

# Of the operations table, by the name there: they become part of an expression.
_ROWS = {"erf": "erf", "erfc": "erfc", "expit": "expit", "gamma": "gamma", "gammaln": "lgamma", "psi": "digamma"}

# Of the table too, but SciPy's values are others in the last bit than NumPy's: the partials alone are the table's.
_SLOPES = {name: BY_NAME[name].partials for name in ("cbrt", "exp2", "expm1", "log1p")}


def _at(points, limit, slope):
    """A slope, and at some points its limit, whose own slope is not known here."""
    if is_active(slope) and np.any(points):
        raise UndifferentiableError("the first derivative there is a limit whose derivative has no rule")
    return np.where(points, limit, slope)


def _edge(points, slope):
    """A slope, at some points of which the formula has no slope itself."""
    return _at(points, slope, slope)


_IN_SLOPES = {
    "at": _at,
    "edge": _edge,
    "LN2": np.log(2.0),
    "expm1_slope": lambda x, w: np.where(w > -0.5, w + 1, np.exp(x)),
}

NAMES = sorted({*_ONE, *_TWO, *_THREE, *_FOUR, *_SEVERAL, *_ROWS, *_SLOPES})
_LACKING: dict = {}  # the ufunc itself -> arguments in which it has no derivative
_PRIMITIVES: dict = {}  # the ufunc itself -> its primitive, as soon as somebody has imported scipy.special


def _partial(text, arity, special):
    """The function of a text."""
    if text == "-":
        return None
    names = ", ".join([*"xyzu"[:arity], "w"])
    return eval(f"lambda {names}: {text}", {"np": np, "sp": special} | _IN_SLOPES)


def _fill(special):
    rows = {name: (text,) for name, text in _ONE.items()} | _TWO | _THREE | _FOUR | _SLOPES
    for name, texts in rows.items():
        if ufunc := getattr(special, name, None):
            partials = [_partial(text, len(texts), special) for text in texts]
            _PRIMITIVES[ufunc] = elementwise_primitive(f"scipy.special.{name}", ufunc, partials)
            _LACKING[ufunc] = [k for k, partial in enumerate(partials) if partial is None]
    for name, texts in _SEVERAL.items():
        ufunc = getattr(special, name)
        partials = [(_partial(text, 1, special),) for text in texts]
        _PRIMITIVES[ufunc] = elementwise_primitive(f"scipy.special.{name}", ufunc, partials, several=True)


def primitive_of(ufunc):
    """The primitive of a ufunc of `scipy.special`, or None."""
    special = sys.modules.get("scipy.special")
    if special is not None and not _PRIMITIVES:
        _fill(special)
    return _PRIMITIVES.get(ufunc)


def row_of(ufunc):
    """The row of the operations table that a ufunc of `scipy.special` has, or None."""
    special = sys.modules.get("scipy.special")
    found = next((row for name, row in _ROWS.items() if getattr(special, name, None) is ufunc), None)
    if found:
        add_row(ufunc, found)  # the next call does not come this way
    return found


def lacking(ufunc):
    """The positions of arguments in which a ufunc of `scipy.special` has no derivative."""
    return _LACKING.get(ufunc, ())
