# SPDX-License-Identifier: Apache-2.0
"""scipy.interpolate in rebound code: SciPy's bits, derivatives by values and by points against differences."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError
from tests.scipy.test_sparse import differences

si = pytest.importorskip("scipy.interpolate")

X = np.array([0.0, 0.7, 1.5, 2.6, 3.1, 4.0, 5.2, 6.0])
Y = np.sin(X) + 0.1 * X + 0.2
POINT = np.concatenate([Y, [0.3, 1.2, 2.9, 5.5, 0.8, 4.4]])
KNOTS = si.make_interp_spline(X, Y).t
GRID = np.linspace(0.0, 1.0, 4)
DIRECTIONS = np.random.default_rng(6).uniform(-1.0, 1.0, (2, 14))


def moved(p):
    """Places of values that grow with all of the first eight numbers."""
    return np.cumsum(p[:8] ** 2 + 0.3)


CASES = {
    "of columns": lambda p: si.CubicSpline(X, np.stack([p[:8], p[:8] ** 2], axis=1))(p[8:]),
    "natural": lambda p: si.CubicSpline(X, p[:8], bc_type="natural")(p[8:]),
    "clamped": lambda p: si.CubicSpline(X, p[:8], bc_type=((1, p[8]), (2, p[9])))(p[8:]),
    "periodic": lambda p: si.CubicSpline(X, np.append(p[:7], p[0]), bc_type="periodic")(p[8:] * 3),
    "inside alone": lambda p: np.nan_to_num(si.CubicSpline(X, p[:8], extrapolate=False)(p[8:] * 2)),
    "Hermite": lambda p: si.CubicHermiteSpline(X, p[:8], p[:8] * 0.3)(p[8:]),
    "PPoly": lambda p: si.PPoly(p[:8].reshape(2, 4), X[:5])(p[8:]),
    "BPoly": lambda p: si.BPoly(p[:8].reshape(2, 4), X[:5])(p[8:]),
    "BPoly of a constant": lambda p: si.BPoly(p[:4].reshape(1, 4), X[:5])(p[8:]),
    "BPoly by x": lambda p: si.BPoly(np.outer([1.0, 0.3, 2.0, -1.0, 0.5], Y[1:]), moved(p))(p[8:] + 1.0),
    "BPoly derivatives": lambda p: si.BPoly(p[:8].reshape(4, 2), X[:3])(p[8:] * 0.25, 2) * 1e-3 * (
        si.BPoly(p[:8].reshape(4, 2), X[:3]).derivative()(p[8:] * 0.25)),
    "BPoly antiderivative": lambda p: si.BPoly(p[:8].reshape(4, 2), X[:3]).antiderivative()(p[8:] * 0.25),
    "BPoly of derivatives": lambda p: si.BPoly.from_derivatives(X[:4], p[:8].reshape(4, 2))(p[8:] * 0.5),
    "BPoly inside alone": lambda p: np.nan_to_num(si.BPoly(p[:8].reshape(4, 2), X[:3], False)(p[8:] * 0.5)),
    "BSpline": lambda p: si.BSpline(KNOTS, p[:8], 3)(p[8:]),
    "BSpline derivative": lambda p: si.BSpline(KNOTS, p[:8], 3).derivative()(p[8:]),
    "BSpline antiderivative": lambda p: si.BSpline(KNOTS, p[:8], 3).antiderivative()(p[8:]),
    "BSpline integral": lambda p: si.BSpline(KNOTS, p[:8], 3).integrate(0.5, 2.0),
    "from_spline": lambda p: si.PPoly.from_spline(si.BSpline(KNOTS, p[:8], 3))(p[8:]),
    "splev": lambda p: si.splev(p[8:], (KNOTS, p[:8], 3)),
    "splev derivative": lambda p: si.splev(p[8:], (KNOTS, p[:8], 3), der=1),
    "splev zeros": lambda p: si.splev(p[8:] * 1.3, (KNOTS, p[:8], 3), ext=1),
    "splev clamped": lambda p: si.splev(p[8:] * 1.3, (KNOTS, p[:8], 3), ext=3),
    "splev of a BSpline": lambda p: si.splev(p[8:], si.BSpline(KNOTS, p[:8], 3)),
    "barycentric": lambda p: si.BarycentricInterpolator(X, p[:8], rng=0)(p[8:]),
    "Krogh": lambda p: si.KroghInterpolator(X, p[:8])(p[8:]),
    "natural B-spline": lambda p: si.make_interp_spline(X, p[:8], bc_type="natural")(p[8:]),
    "grid": lambda p: si.RegularGridInterpolator((X, X), np.outer(p[:8], p[:8] ** 2))(
        np.stack([p[8:], p[8:] * 0.9], axis=1)),
    "grid of moved points": lambda p: si.RegularGridInterpolator((moved(p), X), np.outer(Y, Y))(
        (p[8:] * 0.5 + 1.0, p[8:] * 0.9)),
    "grid of one axis": lambda p: si.RegularGridInterpolator((X,), p[:8])(p[8:, None]),
    "grid of three axes": lambda p: si.interpn((GRID, GRID, GRID), p[:4, None, None] * p[:4] * p[:4, None],
        (p[8:] * 0.1, p[8:] * 0.09, p[8:] * 0.05)),
    "interpn": lambda p: si.interpn((X, X), np.outer(p[:8], p[:8] ** 2), (p[8:], p[8:] * 0.9)),
}  # fmt: skip
for _name in ("CubicSpline", "PchipInterpolator", "Akima1DInterpolator"):
    _kind = getattr(si, _name)
    CASES |= {
        f"{_name}": lambda p, kind=_kind: kind(X, p[:8])(p[8:]),
        f"{_name} by x": lambda p, kind=_kind: kind(moved(p), Y)(np.array([1.0, 2.0, 3.3])),
        f"{_name} derivative": lambda p, kind=_kind: kind(X, p[:8])(p[8:], 1) * kind(X, p[:8]).derivative()(p[8:]),
        f"{_name} antiderivative": lambda p, kind=_kind: kind(X, p[:8]).antiderivative()(p[8:]),
    }
for _how in ("linear", "zero", "slinear", "quadratic", "cubic", "previous", "next"):
    CASES[f"interp1d {_how}"] = lambda p, how=_how: si.interp1d(X, p[:8], kind=how)(p[8:])
for _k in (1, 2, 3, 5):
    CASES[f"make_interp_spline {_k}"] = lambda p, k=_k: si.make_interp_spline(X, p[:8], k=k)(p[8:])
for _name, _case in {
    "": lambda s, p: s(np.stack([p[8:11], p[9:12]], axis=1)),
    ", its slope": lambda s, p: s(np.stack([p[8:11], p[9:12]], axis=1), (1, 0)),
    " derivative": lambda s, p: s.derivative((0, 1))(np.stack([p[8:11], p[9:12]], axis=1)),
    " antiderivative": lambda s, p: s.antiderivative((1, 0))(np.stack([p[8:11], p[9:12]], axis=1)),
    " outside": lambda s, p: s(np.stack([p[8:11] + 3.0, -p[9:12]], axis=1)),
}.items():
    CASES[f"NdPPoly{_name}"] = lambda p, case=_case: case(si.NdPPoly(
        np.multiply.outer(p[:6].reshape(3, 2), p[2:8].reshape(2, 3)).transpose(0, 2, 1, 3),
        (np.array([0.0, 1.4, 4.0]), np.array([0.0, 0.9, 2.1, 4.0]) + 0.01 * p[7])), p)
INTEGRALS = {
    f"{name}{of}": (lambda p, name=name, by=by: getattr(si, name)(*by(p)).integrate(p[8], p[11]))
    for name in ("CubicSpline", "PchipInterpolator", "Akima1DInterpolator")
    for of, by in (("", lambda p: (X, p[:8])), (" by x", lambda p: (moved(p) - 0.3, Y)))
}


def number(case):
    """Squares of the results of a case, summed with fixed weights."""

    def f(p):
        result = case(p)
        return np.sum(result * np.cos(np.arange(np.size(result))).reshape(np.shape(result)) * result)

    return f


def check(f):
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    for direction in DIRECTIONS:
        slope = (f(POINT + 1e-6 * direction) - f(POINT - 1e-6 * direction)) / 2e-6
        assert gradient @ direction == pytest.approx(slope, rel=2e-6, abs=1e-6)
    direction = np.cos(np.arange(len(POINT)))
    _, slope = codipy.jvp(f, (POINT,), (direction,))
    np.testing.assert_allclose(slope, gradient @ direction, rtol=1e-8)
    return direction


@pytest.mark.parametrize("name", CASES)
def test_interpolators(name):
    f = number(CASES[name])
    direction = check(f)
    (product,) = codipy.hvp(f, (POINT,), (direction,))
    change = codipy.grad(f)(POINT + 1e-6 * direction) - codipy.grad(f)(POINT - 1e-6 * direction)
    np.testing.assert_allclose(product, change / 2e-6, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", INTEGRALS)
def test_integrals(name):
    check(INTEGRALS[name])


@pytest.mark.parametrize("name", ["CubicSpline", "make_interp_spline 3", "splev", "grid"])
def test_every_strategy_and_direction(name):
    codipy.check_derivatives(number(CASES[name]), POINT)


@pytest.mark.parametrize(
    "refused",
    [
        lambda p: si.PPoly(p[:8].reshape(2, 4), X[4::-1])(p[8:]),
    ],
)
def test_what_has_no_rule_raises(refused):
    with pytest.raises(ActiveError):
        codipy.grad(lambda p: np.sum(refused(p)))(POINT)


@pytest.mark.parametrize(("name", "said"), [("grid", "cells"), ("BPoly", "BPoly")])
def test_a_replay_in_other_cells_of_a_grid_raises(name, said):
    tape, f = codipy.Tape("primal"), codipy.rebind(number(CASES[name]))
    with tape:
        p = tape.register_input(POINT.copy())
        y = tape.register_output(f(p))
    tape.set_primal(p, POINT * 1.001)
    tape.evaluate_primal()
    np.testing.assert_allclose(tape.get_primal(y), number(CASES[name])(POINT * 1.001), rtol=1e-14)
    tape.set_primal(p, np.append(POINT[:-1], 1.0))
    with pytest.raises(TapeError, match=said):
        tape.evaluate_primal()


def test_without_rebinding():
    from codipy.scipy import interpolate

    gradient = codipy.grad(lambda p: interpolate.CubicSpline(X, p[:8])(p[8:]).sum(), rebind=False)(POINT)
    np.testing.assert_allclose(gradient, differences(lambda p: np.sum(CASES["CubicSpline"](p)), POINT), rtol=1e-6,
                               atol=1e-7)  # fmt: skip
