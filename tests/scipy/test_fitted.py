# SPDX-License-Identifier: Apache-2.0
"""Splines that FITPACK fits, active knots, radial functions and scattered points: SciPy's bits, every derivative."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError
from tests.scipy.test_interpolate import GRID, KNOTS, POINT, X, Y, moved, number

si = pytest.importorskip("scipy.interpolate")

SITES = np.random.default_rng(3).uniform(0.0, 1.0, (14, 2))
AT = np.random.default_rng(4).uniform(0.35, 0.6, (5, 2))
INNER = np.array([2.0, 3.5])
THREE = np.random.default_rng(5).uniform(-1.0, 1.0, (14, 3))
WEIGHTS = 1.0 + 0.1 * X


def shifted(p):
    """Sites that move a little."""
    return SITES + 0.01 * np.stack([p, p**2], axis=1)


def tck(p, k=3):
    """Knots, coefficients and degree, which all move."""
    s = si.make_interp_spline(moved(p), Y, k=k)
    return s.t, s.c, s.k


CASES = {
    "splrep": lambda p: si.splev(p[8:], si.splrep(X, p[:8])),
    "splrep by x": lambda p: si.splev(p[8:] * 0.3, si.splrep(moved(p), Y)),
    "splrep of even degree": lambda p: si.splev(p[8:] * 0.3, si.splrep(moved(p), p[:8], k=2)),
    "splrep of degree 5": lambda p: si.splev(p[8:] * 0.3, si.splrep(moved(p), Y, k=5), der=2),
    "splrep between bounds": lambda p: si.splev(p[8:], si.splrep(X, p[:8], xb=-0.5, xe=6.5)),
    "splrep of given knots": lambda p: si.splev(p[8:], si.splrep(X, p[:8], t=INNER, w=WEIGHTS)),
    "a polynomial": lambda p: si.splev(p[8:] * 0.3, si.splrep(moved(p), p[:8], s=1e3)),
    "splev of moved knots": lambda p: si.splev(p[8:] * 0.4, tck(p), der=1),
    "splev zeros": lambda p: si.splev(p[8:], tck(p), ext=1),
    "splev clamped": lambda p: si.splev(p[8:], tck(p), ext=3),
    "slopes where values are clamped": lambda p: si.splev(p[8:] * 2.0, (KNOTS, p[:8], 3), der=1, ext=3),
    "slopes of moved knots where values are clamped": lambda p: si.splev(p[8:] * 2.0, tck(p), der=1, ext=3),
    "slopes of a class that clamps values": lambda p: si.InterpolatedUnivariateSpline(X, p[:8], ext=3)(p[8:] * 2.0, 2),
    "splint": lambda p: si.splint(p[8], p[9], si.splrep(X, p[:8])),
    "splint by knots": lambda p: si.splint(p[8], p[9] - 9.0, tck(p, 2)),
    "spalde": lambda p: si.spalde(p[9], (KNOTS, p[:8], 3)),
    "spalde by knots": lambda p: si.spalde(p[9], tck(p)),
    "splder": lambda p: si.splev(p[8:] * 0.4, si.splder(si.splrep(moved(p), p[:8]))),
    "splantider": lambda p: si.splev(p[8:] * 0.4, si.splantider(si.splrep(moved(p), p[:8]))),
    "insert_knot": lambda p: si.BSpline(KNOTS, p[:8], 3).insert_knot(2.2)(p[8:]),
    "interpolated": lambda p: si.InterpolatedUnivariateSpline(moved(p), p[:8])(p[8:] * 0.3),
    "interpolated, derivative": lambda p: si.InterpolatedUnivariateSpline(X, p[:8]).derivative()(p[8:]),
    "interpolated, integral": lambda p: si.InterpolatedUnivariateSpline(X, p[:8]).integral(p[8], p[10]),
    "interpolated, antiderivative": lambda p:
        si.InterpolatedUnivariateSpline(moved(p), Y).antiderivative()(p[8:] * 0.3),
    "interpolated, derivatives": lambda p: si.InterpolatedUnivariateSpline(moved(p), Y).derivatives(p[9]),
    "univariate, through all": lambda p: si.UnivariateSpline(X, p[:8], s=0)(p[8:]),
    "univariate, a polynomial": lambda p: si.UnivariateSpline(moved(p), p[:8], s=1e3, k=2)(p[8:] * 0.3),
    "univariate, residual": lambda p: si.UnivariateSpline(X, p[:8], s=1e3).get_residual(),
    "univariate, by points": lambda p: si.UnivariateSpline(X, Y, s=0.3)(p[8:]),
    "of given knots": lambda p: si.LSQUnivariateSpline(X, p[:8], INNER, w=p[:8] ** 2 + 0.5)(p[8:]),
    "of moved knots": lambda p: si.LSQUnivariateSpline(X, Y, 1.0 + p[8:10], w=WEIGHTS)(p[8:]),
    "of given knots, coefficients": lambda p: si.LSQUnivariateSpline(X, p[:8], INNER).get_coeffs(),
    "make_interp_spline by x": lambda p: si.make_interp_spline(moved(p), Y)(p[8:] * 0.4),
    "make_interp_spline 2 by x": lambda p: si.make_interp_spline(moved(p), p[:8], k=2)(p[8:] * 0.4),
    "natural by x": lambda p: si.make_interp_spline(moved(p), p[:8], bc_type="natural")(p[8:] * 0.4),
    "clamped by x": lambda p: si.make_interp_spline(moved(p), Y, bc_type=([(1, p[8])], [(2, 0.3)]))(p[8:] * 0.4),
    "interp1d by x": lambda p: si.interp1d(moved(p), Y, kind="cubic")(p[8:] * 0.3 + 0.6),
    "BSpline by knots": lambda p:
        si.BSpline(np.concatenate([np.zeros(4), moved(p)[2:6], np.full(4, 9.0)]), Y, 3)(p[8:]),
    "BSpline by knots, integral": lambda p: si.BSpline(
        np.concatenate([np.zeros(4), moved(p)[2:6], np.full(4, 9.0)]), p[:8], 3).integrate(0.3, p[9]),
    "make_lsq_spline": lambda p: si.make_lsq_spline(
        moved(p), p[:8], np.r_[(moved(POINT)[0] - 0.3,) * 4, 3.0, (moved(POINT)[-1] + 0.3,) * 4],
        w=WEIGHTS)(p[8:] * 0.4),
    "a surface": lambda p: si.RectBivariateSpline(X, X, np.outer(p[:8], p[:8]))(p[8:], p[8:][::-1], grid=False),
    "a surface by axes": lambda p: si.RectBivariateSpline(moved(p), X, np.outer(Y, Y), kx=2)(
        np.sort(p[8:]), np.array([0.5, 2.0]), dx=1),
    "a surface at a point": lambda p: si.RectBivariateSpline(X, X, np.outer(p[:8], Y))(p[8], 2.0),
    "a surface beyond": lambda p: si.RectBivariateSpline(X, X, np.outer(p[:8], Y)).ev(p[8:] + 1.0, p[8:], dx=1, dy=2),
    "bisplev": lambda p: si.bisplev(np.sort(p[8:]), X[:3], (KNOTS, KNOTS, np.outer(p[:8], p[:8]).ravel(), 3, 3), dx=1),
    "a surface, integral": lambda p:
        si.RectBivariateSpline(X, moved(p), np.outer(p[:8], Y)).integral(0.2, p[9], p[8], 2.0),
    "cubic grid": lambda p: si.RegularGridInterpolator(
        (X, X), np.outer(p[:8], p[:8]), method="cubic", solver_args={"rtol": 1e-14, "atol": 1e-14})(
        np.stack([p[8:], p[8:] * 0.9], axis=1)),
    "NdBSpline": lambda p: si.NdBSpline((KNOTS, KNOTS), np.outer(p[:8], p[:8] + 1.0), 3)(
        np.stack([p[8:], p[8:] * 0.9], axis=1), nu=(1, 0)),
    "linear": lambda p: si.LinearNDInterpolator(SITES, p)(AT),
    "linear by sites": lambda p: si.LinearNDInterpolator(shifted(p), np.stack([p, p**2], axis=1))(AT),
    "linear by points": lambda p: si.LinearNDInterpolator(SITES, Y[0] + np.arange(14.0) ** 2)(AT + 0.01 * p[8:10]),
    "linear by coordinates": lambda p:
        si.LinearNDInterpolator(SITES, p, rescale=True)(AT[:, 0], AT[:, 1] + 0.01 * p[8]),
    "linear, outside": lambda p: si.LinearNDInterpolator(SITES, p, fill_value=2.0)(np.concatenate([AT, AT + 9.0])),
    "linear, of triangles": lambda p: si.LinearNDInterpolator(TRIANGLES, p)(AT + 0.01 * p[8:10]),
    "linear, of three axes": lambda p: si.LinearNDInterpolator(THREE, p)(0.05 * p[:3]),
    "linear, made before": lambda p: MADE(AT + 0.01 * p[8:10]),
    "nearest": lambda p: si.NearestNDInterpolator(SITES, p)(AT),
    "griddata": lambda p:
        si.griddata(shifted(p), p, AT) + si.griddata((SITES[:, 0], SITES[:, 1]), p, (AT[:, 0], AT[:, 1])),
    "griddata, nearest": lambda p: si.griddata(shifted(p), p, AT, method="nearest"),
    "griddata of one axis": lambda p: si.griddata(moved(p), p[:8], np.array([1.0, 3.0])),
    "radial neighbours": lambda p: si.RBFInterpolator(shifted(p), p, neighbors=7)(AT + 0.01 * p[8:10]),
    "radial, of columns": lambda p: si.RBFInterpolator(SITES, np.stack([p, p**2], axis=1), smoothing=0.1)(AT),
    "radial, by smoothing": lambda p: si.RBFInterpolator(SITES, np.cos(7.0 * SITES[:, 0]), smoothing=p**2 * 0.1)(AT),
    "radial, by epsilon": lambda p: si.RBFInterpolator(SITES, p, kernel="gaussian", epsilon=5.0 + p[0])(AT),
    "radial, at a site": lambda p: si.RBFInterpolator(SITES, p, kernel="cubic")(SITES[:3]),
    "radial of degree 2": lambda p: si.RBFInterpolator(shifted(p), p, degree=2)(AT + 0.01 * p[8:10]),
    "grid of one cell": lambda p: si.interpn((GRID, GRID), p[:4, None] * p[4:8], (p[8:] * 0.1, p[8:] * 0.09)),
}  # fmt: skip
for _kernel in ("linear", "thin_plate_spline", "cubic", "quintic", "multiquadric", "inverse_multiquadric",
                "inverse_quadratic", "gaussian"):  # fmt: skip
    CASES[f"radial, {_kernel}"] = lambda p, kernel=_kernel: si.RBFInterpolator(
        shifted(p), p, kernel=kernel, epsilon=6.0)(AT + 0.01 * p[8:10])  # fmt: skip
TRIANGLES = si.LinearNDInterpolator(SITES, Y[0] + np.zeros(14)).tri
MADE = si.LinearNDInterpolator(SITES, np.arange(14.0) ** 2)


DIRECTIONS = np.random.default_rng(6).uniform(-1.0, 1.0, (2, 14))


def slope(f, direction, h=1e-4):
    """By four differences."""
    near, far = (f(POINT + s * h * direction) - f(POINT - s * h * direction) for s in (1.0, 2.0))
    return (8.0 * near - far) / (12.0 * h)


@pytest.mark.parametrize("name", CASES)
def test_interpolators(name):
    f = number(CASES[name])
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    for direction in DIRECTIONS:
        near = 3e-8 * max(1.0, np.max(np.abs(gradient)))
        assert gradient @ direction == pytest.approx(slope(f, direction), rel=1e-7, abs=near)
    direction = np.cos(np.arange(14))
    assert codipy.jvp(f, (POINT,), (direction,))[1] == pytest.approx(gradient @ direction, rel=1e-9)
    (product,) = codipy.hvp(f, (POINT,), (direction,))
    change = slope(codipy.grad(f), direction)
    np.testing.assert_allclose(product, change, rtol=1e-7, atol=1e-7 * max(1.0, np.max(np.abs(product))))


@pytest.mark.parametrize("name", [name for name in CASES if name != "radial, at a site"])
def test_at_other_inputs(name):
    tape, f = codipy.Tape("primal"), codipy.rebind(number(CASES[name]))
    other = POINT * 1.0001
    with tape:
        p = tape.register_input(POINT.copy())
        y = tape.register_output(f(p))
    tape.set_primal(p, other)
    tape.evaluate_primal()
    assert tape.get_primal(y) == pytest.approx(number(CASES[name])(other), rel=1e-12)


@pytest.mark.parametrize("name", ["splrep by x", "radial, gaussian", "linear by sites", "a surface"])
def test_every_strategy_and_direction(name):
    codipy.check_derivatives(number(CASES[name]), POINT)


@pytest.mark.parametrize("name, far", [("linear by points", 20.0), ("splrep by x", 9.0), ("nearest", 0.0)])
def test_a_replay_that_decides_otherwise_raises(name, far):
    tape, f = codipy.Tape("primal"), codipy.rebind(number(CASES[name]))
    with tape:
        p = tape.register_input(POINT.copy())
        y = tape.register_output(f(p))
    tape.set_primal(p, POINT + far * (np.arange(14) >= 8))
    if far:
        with pytest.raises(TapeError):
            tape.evaluate_primal()
    else:
        tape.evaluate_primal()
        assert tape.get_primal(y) == number(CASES[name])(POINT)


@pytest.mark.parametrize("refused, text", [
    (lambda p: si.UnivariateSpline(X, p[:8], s=1e-3)(p[8:]), "no derivative: say s=0"),
    (lambda p: si.splev(X, si.splrep(X, p[:8], s=1e-3)), "no derivative: say s=0"),
    (lambda p: si.UnivariateSpline(X, p[:8], s=0.0).set_smoothing_factor(0.1), "s=0 or given knots"),
    (lambda p: si.RectBivariateSpline(X, X, np.outer(p[:8], p[:8]), s=0.1)(p[8:], p[8:], grid=False), "say s=0"),
    (lambda p: si.sproot((KNOTS, p[:8] - 0.7, 3)), "brentq"),
    (lambda p: si.insert(2.2, (KNOTS, p[:8], 3))[1], "insert_knot"),
    (lambda p: si.splprep([p[:8], Y])[0][1][0], "make_interp_spline"),
    (lambda p: si.griddata(SITES, p, AT, method="cubic"), "RBFInterpolator"),
    (lambda p: si.CloughTocher2DInterpolator(SITES, p)(AT), "RBFInterpolator"),
    (lambda p: si.make_splrep(X, p[:8], s=1e-3)(p[8:]), "would lose its derivative"),
    (lambda p: si.make_splrep(X, p[:8], s=1e-3, t=KNOTS)(p[8:]), "would lose its derivative"),
    (lambda p: si.bisplrep(SITES[:, 0], SITES[:, 1], p, s=99.0, kx=2, ky=2)[2], "RectBivariateSpline"),
    (lambda p: si.make_smoothing_spline(moved(p), Y, lam=0.1)(p[8:]), "would lose its derivative"),
    (lambda p: si.make_lsq_spline(X, p[:8], KNOTS, method="norm-eq")(p[8:]), "would lose its derivative"),
    (lambda p: si.griddata(SITES, p, AT + 9.0, fill_value=p[0]), "fill_value="),
    (lambda p: si.LinearNDInterpolator(SITES, p * 1j)(AT).real, "the imaginary part"),
])  # fmt: skip
def test_what_has_no_derivative_says_so(refused, text):
    with pytest.raises(ActiveError, match=text):
        codipy.grad(lambda p: np.sum(refused(p)))(POINT)


def test_where_nothing_is_active_it_is_scipys():
    def f(p):
        made = si.LinearNDInterpolator(SITES, np.arange(14.0))
        assert isinstance(made, si.LinearNDInterpolator) and made.values.shape == (14, 1) and made.tri.ndim == 2
        spline = si.splrep(X, Y)
        assert np.array_equal(spline[0], KNOTS)
        return p[0] * made(AT)[0] * si.splev(1.0, spline) * si.RBFInterpolator(SITES, np.arange(14.0))(AT)[0]

    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT) and np.count_nonzero(gradient) == 1


PASSIVE = {
    "splrep periodic": lambda: si.splrep(X, np.append(Y[:-1], Y[0]), per=1, s=0.01)[1],
    "splrep smoothed": lambda: si.splrep(X, Y, s=0.1)[1],
    "splprep": lambda: si.splprep([X, Y])[0][1][1],
    "sproot": lambda: si.sproot((KNOTS, Y - np.mean(Y), 3)),
    "insert": lambda: si.insert(2.2, (KNOTS, Y, 3))[1][:9],  # what is behind is not set
    "bisplrep": lambda: si.bisplrep(SITES[:, 0], SITES[:, 1], SITES[:, 0] ** 2, s=99.0, kx=2, ky=2)[2],
    "UnivariateSpline": lambda: si.UnivariateSpline(X, Y, s=0.1)(SITES[:, 0]),
    "set_smoothing_factor": lambda: continued(0.1),
    "LSQUnivariateSpline": lambda: si.LSQUnivariateSpline(X, Y, INNER).get_coeffs(),
    "RectBivariateSpline": lambda: si.RectBivariateSpline(X, X, np.outer(Y, Y), s=0.1).get_coeffs(),
    "SmoothBivariateSpline": lambda: si.SmoothBivariateSpline(*SITES.T, SITES[:, 0] ** 2, kx=2, ky=2).get_coeffs(),
    "LSQBivariateSpline": lambda: si.LSQBivariateSpline(*SITES.T, SITES[:, 0] ** 2, [0.5], [0.5], kx=1,
                                                        ky=1).ev(0.4, 0.6),
}  # fmt: skip


def continued(s):
    spline = si.UnivariateSpline(X, Y, s=0.5)
    spline.set_smoothing_factor(s)
    return spline.get_coeffs()


@pytest.mark.parametrize("name", PASSIVE)
def test_fitpack_of_plain_values_in_rebound_code(name):
    def f(p):
        return p[0] * PASSIVE[name]()

    value, slopes = codipy.jvp(f, (POINT,), (np.eye(14)[0],))
    np.testing.assert_array_equal(value, f(POINT))
    np.testing.assert_array_equal(slopes, PASSIVE[name]())
