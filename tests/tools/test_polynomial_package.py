# SPDX-License-Identifier: Apache-2.0
"""`np.polynomial` in rebound code: all its functions and classes, values of the plain run and slopes of the source."""

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Polynomial
from numpy.polynomial.legendre import legval

import codipy
from codipy.errors import ActiveError

FAMILIES = {
    "polynomial": ("poly", "Polynomial"),
    "chebyshev": ("cheb", "Chebyshev"),
    "legendre": ("leg", "Legendre"),
    "hermite": ("herm", "Hermite"),
    "hermite_e": ("herme", "HermiteE"),
    "laguerre": ("lag", "Laguerre"),
}
POINT = np.array([0.3, -1.2, 0.45, 0.8])  # with four simple roots of its products, and no leading zero
XS = np.linspace(-0.9, 0.9, 7)
FUNCTIONS = {
    "add": "{m}.{p}add(c, c[:2])",
    "sub": "{m}.{p}sub(c, [1.0, 2.0, 0.5])",
    "mulx": "{m}.{p}mulx(c)",
    "mul": "{m}.{p}mul(c, c[1:])",
    "div": "{m}.{p}div(c, c[:2])[0]",
    "rest": "{m}.{p}div(c, c[:3])[1]",
    "pow": "{m}.{p}pow(c, 3)",
    "val": "{m}.{p}val(XS, c)",
    "val at a number": "{m}.{p}val(c[0], c)",
    "val of passive ones": "{m}.{p}val(c, [1.0, 2.0, 3.0])",
    "val of columns": "{m}.{p}val(XS, c.reshape(2, 2))",
    "val2d": "{m}.{p}val2d(XS, XS, c.reshape(2, 2))",
    "val3d": "{m}.{p}val3d(XS, c[0] * XS, XS, c.reshape(2, 2, 1))",
    "grid2d": "{m}.{p}grid2d(XS, c, c.reshape(2, 2))",
    "grid3d": "{m}.{p}grid3d(XS, XS[:2], c, c.reshape(2, 2, 1))",
    "der": "{m}.{p}der(c, 2)",
    "int": "{m}.{p}int(c, 2, k=[c[0], 1.0], lbnd=0.2)",
    "fromroots": "{m}.{p}fromroots(c)",
    "vander": "{m}.{p}vander(c, 3)",
    "vander2d": "{m}.{p}vander2d(c, c, [1, 2])",
    "vander3d": "{m}.{p}vander3d(c, c, c, [1, 1, 2])",
    "fit": "{m}.{p}fit(XS, np.outer(XS, c).sum(axis=1) + c[0] * XS ** 2, 3)",
    "fit at": "{m}.{p}fit(c, np.sin(c), 2)",
    "trim": "{m}.{p}trim(c)",
    "line": "{m}.{p}line(c[0], c[1])",
    "roots": "{m}.{p}roots({m}.{p}fromroots(c))",
    "companion": "{m}.{p}companion(c)",
}
CONVERSIONS = {
    f"{family} {way}": f"{family}.{way}(c)"
    for family, (p, _) in FAMILIES.items() if p != "poly" for way in (f"{p}2poly", f"poly2{p}")
}  # fmt: skip
CLASSES = {
    "call": "P(c)(XS)",
    "call at a number": "P(c)(c[0])",
    "domain": "P(c, domain=[-2, 1], window=[-1, 1])(XS)",
    "arithmetic": "(P(c) + P(c[:2]) * 2.0 - P([1.0, 2.0]) * P(c) + c[0]).coef",
    "division": "(P(c) // P(c[:2])).coef + (P(c) % P([1.0, 2.0])).coef[0]",
    "power": "(P(c) ** 2).coef",
    "deriv": "P(c).deriv(2)(XS)",
    "integ": "P(c).integ(2, k=[1.0, c[1]])(XS)",
    "roots": "P.fromroots(c).roots()",
    "fit": "P.fit(XS, np.exp(c[0] * XS), 3)(XS)",
    "convert": "P(c).convert(kind=np.polynomial.Chebyshev).coef",
    "cast": "np.polynomial.Legendre.cast(P(c)).coef",
    "cut": "P(c).cutdeg(2).truncate(2).trim().coef",
    "linspace": "P(c).linspace(5)[1]",
    "made by itself": "(P.basis(2) * c[0] + P.identity())(XS)",
    "elements": "np.array([t * t for t in P(c)])",
}
CASES = {
    **{f"{m}: {name}": text.format(m=m, p=p) for m, (p, _) in FAMILIES.items() for name, text in FUNCTIONS.items()},
    **{f"{kind}: {name}": text for _, kind in FAMILIES.values() for name, text in CLASSES.items()},
    **CONVERSIONS,
}  # fmt: skip


def weighted(a):
    return np.sum(a * np.cos(np.arange(np.size(a))).reshape(np.shape(a)))


def agrees(f, x=POINT):
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x)
    steps = np.eye(x.size) * 1e-6
    slopes = [(f(x + h) - f(x - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6 * max(1.0, np.max(np.abs(slopes))))


@pytest.mark.parametrize("case", CASES)
def test_every_function_and_class(case):
    modules = {family: getattr(np.polynomial, family) for family in FAMILIES}
    variables = {"np": np, "XS": XS, "weighted": weighted, **modules}
    variables["P"] = getattr(np.polynomial, case.partition(":")[0], None)
    f = eval(f"lambda c: weighted({CASES[case]})", variables)
    if case.endswith(": roots") and np.iscomplexobj(f(POINT)):  # those of most families, from NumPy 2.5 on
        with pytest.raises((ActiveError, TypeError), match="complex"):
            codipy.grad(f)(POINT)
        return
    agrees(f)


MADE_OUTSIDE = Chebyshev([1.0, -0.5, 0.25])


def test_what_the_user_imported_or_made():
    def f(c, p):
        assert isinstance(p, Polynomial) and isinstance(Polynomial(c), np.polynomial.Polynomial)
        return legval(c[0], c) + MADE_OUTSIDE(c[1]) * p(c[2]) + (p * MADE_OUTSIDE.convert(kind=Polynomial))(c[3])

    agrees(lambda c: f(c, Polynomial([1.0, 2.0, -0.3])))
    with pytest.raises(TypeError, match="Domains differ"):
        codipy.grad(f)(POINT, Polynomial([1.0, 2.0, -0.3], domain=[0, 2]))
    assert type(MADE_OUTSIDE) is Chebyshev and type(MADE_OUTSIDE.coef) is np.ndarray


def test_numpy_is_what_it_was():
    assert codipy.grad(lambda c: np.polynomial.Polynomial(c)(0.5))(POINT)[1] == 0.5
    assert type(np.polynomial.Polynomial(POINT)(XS)) is np.ndarray
    assert np.polynomial.Polynomial is Polynomial and Polynomial.__subclasses__ is not None


OUTSIDE = {  # what asks whether an argument is an array, and goes on to another value if not
    "from roots": lambda p, x: p.polyvalfromroots(x, 1.0),
    "from many roots": lambda p, x: p.polyvalfromroots(x, [1.0, 2.0]),
    "from columns of roots": lambda p, x: p.polyvalfromroots(x, ROOTS),
    "from columns at columns": lambda p, x: p.polyvalfromroots(x, ROOTS, tensor=False),
    "of one coefficient": lambda p, x: p.polyval(x, [2.0]) + x,
}
ROOTS = np.array([[0.3, 1.1, -2.0, 0.4], [1.5, 0.2, 0.6, 0.9]])
TABLE = np.array([[1.0, 2.0, -1.0, 0.3], [0.4, 0.5, 0.6, -0.2], [0.1, -0.7, 0.3, 1.9]])


@pytest.mark.parametrize("rebind", [True, False])
@pytest.mark.parametrize("case", [*OUTSIDE, *FAMILIES])
@pytest.mark.parametrize("pick", [lambda x: x, lambda x: x.reshape(2, 2), lambda x: x[1], lambda x: x[:1]])
def test_values_at_arrays_are_right_or_refused_also_where_nothing_is_rebuilt(case, rebind, pick):
    def f(x):
        x = pick(x)
        if case in OUTSIDE:
            return np.sum(OUTSIDE[case](np.polynomial.polynomial, x) ** 2)
        val = getattr(getattr(np.polynomial, case), FAMILIES[case][0] + "val")
        apart = val(x, TABLE, tensor=False) if np.shape(x) in ((4,), (1,)) else 0.0
        return np.sum(val(x, TABLE) ** 2) + np.sum(val(x, [1.0, -0.3, 0.2]) ** 2) + np.sum(apart)

    try:
        plain = f(POINT)
    except ValueError:  # the shapes do not fit
        return
    try:
        value, gradient = codipy.value_and_grad(f, rebind=rebind)(POINT)
    except ActiveError:
        assert not rebind
        return
    slopes = [(f(POINT + h) - f(POINT - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
    assert value == plain
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-7)
