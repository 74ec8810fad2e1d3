# SPDX-License-Identifier: Apache-2.0
"""Arrays and Reals inside of pandas, xarray and SciPy: what works has its derivative, what does not raises."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

VALUES = np.array([[0.3, 1.4, -0.7], [0.2, 0.8, 2.5]])


def slopes(function, value, step=1e-6):
    """Central differences of a scalar function of an array."""
    found = np.zeros(value.shape)
    for index in np.ndindex(value.shape):
        ends = []
        for h in (step, -step):
            moved = value.copy()
            moved[index] += h
            ends.append(function(moved))
        found[index] = (ends[0] - ends[1]) / (2 * step)
    return found


def check(function, value=VALUES):
    """Value and gradient of a scalar function of an array, recorded as it stands."""
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(value)
        y = tape.register_output(function(x))
    assert type(y) is codipy.Real
    assert y.value == pytest.approx(function(value), rel=1e-15)
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == pytest.approx(slopes(function, value), rel=1e-6, abs=1e-8)


def raises(function, value=VALUES, kinds=ActiveError):
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(value)
        with pytest.raises(kinds) as caught:
            function(x)
        with codipy.passive():
            function(x.value)
    return caught.value


# ---- pandas: columns of objects


def column(x):
    import pandas

    return pandas.Series(x[0].tolist(), dtype=object if isinstance(x, codipy.Array) else float)


PANDAS = {
    "sum": lambda x: column(x).sum(), "max": lambda x: column(x).max(), "prod": lambda x: column(x).prod(),
    "arithmetic": lambda x: (2.0 * column(x) + column(x) ** 2 - 1.0).sum(), "ufunc": lambda x: np.exp(column(x)).sum(),
    "apply": lambda x: column(x).apply(lambda v: v * v).sum(), "cumsum": lambda x: column(x).cumsum().iloc[1],
    "diff": lambda x: (column(x).diff().iloc[1:] ** 2).sum(), "index": lambda x: column(x).loc[1] * column(x).iloc[-1],
    "groupby": lambda x: (column(x).groupby([0, 0, 1]).sum() ** 2).sum(),
    "dot": lambda x: column(x).dot(np.array([1.0, 2.0, 3.0])), "shift": lambda x: column(x).shift(1).iloc[1:].sum(),
    "frame": lambda x: column(x).to_frame("a").assign(b=lambda d: d["a"] * 2.0)["b"].sum(),
    "mask": lambda x: column(x)[column(x) > 0.0].sum(), "back": lambda x: (np.stack(list(column(x))) ** 2).sum(),
}  # fmt: skip


@pytest.mark.parametrize("name", PANDAS)
def test_pandas(name):
    pytest.importorskip("pandas")
    check(PANDAS[name])


PANDAS_REFUSED = {
    "Series": lambda p, x: p.Series(x[0]), "DataFrame": lambda p, x: p.DataFrame(x),
    "column": lambda p, x: p.DataFrame({"a": x[0]}), "times an Array": lambda p, x: p.Series([1.0, 2.0, 3.0]) * x[0],
    "an Array times": lambda p, x: x[0] * p.Series([1.0, 2.0, 3.0]),
    "times a Real": lambda p, x: p.Series([1.0, 2.0, 3.0]) * x[0, 0],
    "astype": lambda p, x: p.Series(list(x[0])).astype(float),
    "mean": lambda p, x: p.Series(list(x[0]), dtype=object).mean() if isinstance(x, codipy.Array) else None,
    "std": lambda p, x: p.Series(list(x[0]), dtype=object).std() if isinstance(x, codipy.Array) else None,
    "rolling": lambda p, x: column(x).rolling(2).sum(),
}  # fmt: skip


@pytest.mark.parametrize("name", PANDAS_REFUSED)
def test_pandas_refuses(name):
    pandas = pytest.importorskip("pandas")
    raises(lambda x: PANDAS_REFUSED[name](pandas, x), kinds=(TypeError, ValueError, pandas.errors.DataError))


# ---- xarray: an Array is its data


def labelled(x):
    import xarray

    return xarray.DataArray(x, dims=("t", "i"), coords={"t": [0.0, 1.5], "i": [0, 1, 2]})


XARRAY = {
    "sum": lambda d: d.sum(), "mean": lambda d: d.mean("t") ** 2, "std": lambda d: d.std("i"), "var": lambda d: d.var(),
    "max": lambda d: d.max(), "min": lambda d: d.min("i") ** 2, "prod": lambda d: d.prod("t"),
    "median": lambda d: d.median("i") ** 2, "quantile": lambda d: d.quantile(0.3),
    "cumsum": lambda d: d.cumsum("i") ** 2,
    "arithmetic": lambda d: (2.0 * d + d / 3.0 - 1.0) * d, "alignment": lambda d: d * d.mean("t") - d.isel(t=0),
    "ufunc": lambda d: np.exp(d) + np.sin(d), "power": lambda d: abs(d) ** 1.5 + (-d), "transpose": lambda d: d.T @ d,
    "dot": lambda d: d.dot(d), "isel": lambda d: d.isel(t=0) * d.isel(i=1),
    "sel": lambda d: d.sel(t=1.4, method="nearest"),
    "index": lambda d: d[0, 1] * d[1, 2], "loc": lambda d: d.loc[1.5] ** 2,
    "where": lambda d: d.where(d > 0.25, 0.0) ** 2,
    "clip": lambda d: d.clip(0.25, 1.0) * d, "shift": lambda d: d.shift(i=1, fill_value=0.0) * d,
    "roll": lambda d: d.roll(i=1) * d, "diff": lambda d: d.diff("i") ** 2,
    "stack": lambda d: d.stack(k=("t", "i")) ** 2,
    "rolling": lambda d: d.rolling(i=2).sum().isel(i=slice(1, None)) ** 2,
    "groupby": lambda d: d.groupby("t").sum() ** 2,
    "integrate": lambda d: d.integrate("t") ** 2, "differentiate": lambda d: d.differentiate("t") ** 2,
    "coarsen": lambda d: d.coarsen(i=3).mean() ** 2, "copy": lambda d: d.copy(deep=True) ** 2,
    "dataset": lambda d: d.rename("a").to_dataset().mean()["a"],
    "broadcast": lambda d: d.isel(t=0).broadcast_like(d) * d,
    "sortby": lambda d: d.sortby("i", ascending=False) * d.isel(i=0), "astype": lambda d: d.astype(float) ** 2,
    "fillna": lambda d: d.fillna(0.0) ** 2, "expand": lambda d: d.expand_dims("z").squeeze("z") ** 2,
    "reduce": lambda d: d.reduce(np.sum, "t") ** 2,
}  # fmt: skip


@pytest.mark.parametrize("name", XARRAY)
def test_xarray(name):
    pytest.importorskip("xarray")

    def function(x):
        total = XARRAY[name](labelled(x)).sum().item()
        return total if isinstance(x, codipy.Array) else float(total)

    check(function)


def test_xarray_joins():
    xarray = pytest.importorskip("xarray")
    check(lambda x: (xarray.concat([labelled(x), labelled(2.0 * x)], "t") ** 2).sum().item())
    check(lambda x: (xarray.where(labelled(x) > 0.25, labelled(x), 0.0) ** 2).sum().item())
    check(lambda x: xarray.dot(labelled(x), labelled(x), dim="i").sum().item())
    check(lambda x: (xarray.apply_ufunc(np.tanh, labelled(x)) * x[0, 0]).sum().item())


XARRAY_REFUSED = {
    "values": lambda d: d.values, "to_numpy": lambda d: d.to_numpy(), "to_pandas": lambda d: d.to_pandas(),
    "interp": lambda d: d.interp(t=0.5), "float": lambda d: float(d.sum()), "to_dict": lambda d: np.asarray(d),
}  # fmt: skip


@pytest.mark.parametrize("name", XARRAY_REFUSED)
def test_xarray_refuses(name):
    pytest.importorskip("xarray")
    raises(lambda x: XARRAY_REFUSED[name](labelled(x)))


# ---- SciPy: rebuilt where it is asked for, refused elsewhere


def test_integrals_of_samples():
    """SciPy converts what it gets; rebuilt for codipy it need not, and has its own values to the last bit."""
    integrate = pytest.importorskip("scipy.integrate")

    def f(x):
        area = integrate.trapezoid(x * x, dx=0.3) + integrate.trapezoid([1.0, 2.0, 4.0], x)
        return area + integrate.simpson(x) + integrate.cumulative_trapezoid(x)[1]

    value = np.array([0.3, 1.4, 2.5])
    for modules in ([], ["scipy"]):
        found, gradient = codipy.value_and_grad(codipy.rebind(f, modules=modules))(value)
        assert found == f(value)
        assert gradient == pytest.approx(slopes(f, value), rel=1e-7)
    with pytest.raises(ActiveError, match="codipy.scipy.integrate.trapezoid"):
        codipy.grad(f, rebind=False)(value)
    check(lambda x: np.trapezoid(x * x, dx=0.3), value)


def rosenbrock(x):
    return ((1.0 - x[:-1]) ** 2 + 100.0 * (x[1:] - x[:-1] ** 2) ** 2).sum()


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG", "SLSQP", "trust-constr"])
def test_minimize(method):
    optimize = pytest.importorskip("scipy.optimize")
    start = np.array([-1.2, 1.0, 0.8])
    both, options = codipy.value_and_grad(rosenbrock), {"maxiter": 2000}
    found = optimize.minimize(both, start, jac=True, method=method, options=options)
    assert found.x == pytest.approx(np.ones(3), abs=2e-3)
    apart = optimize.minimize(rosenbrock, start, jac=codipy.grad(rosenbrock), method="BFGS")
    assert apart.x == pytest.approx(np.ones(3), abs=1e-4)


def residuals(x, scale=1.0):
    return np.stack([scale * (x[0] ** 2 + x[1] - 3.0), x[0] - x[1] ** 3])


def test_roots_and_least_squares():
    optimize = pytest.importorskip("scipy.optimize")
    jacobian = codipy.jacobian(residuals)
    start = np.array([1.0, 1.0])
    for method in ("hybr", "lm"):
        found = optimize.root(residuals, start, jac=jacobian, method=method)
        assert found.success and residuals(found.x) == pytest.approx(np.zeros(2), abs=1e-8)
    fitted = optimize.least_squares(residuals, start, jac=jacobian)
    assert residuals(fitted.x) == pytest.approx(np.zeros(2), abs=1e-8)
    assert optimize.fsolve(residuals, start, fprime=jacobian) == pytest.approx(found.x)
    slope = codipy.grad(lambda x: x**3 - 2.0)
    assert optimize.newton(lambda x: x**3 - 2.0, 1.0, fprime=slope) == pytest.approx(2.0 ** (1 / 3))
    assert optimize.check_grad(rosenbrock, codipy.grad(rosenbrock), np.array([0.3, 0.4, 0.5])) < 1e-5


def test_newtons_steps_are_recorded():
    """`newton` is arithmetic on what it gets, so its last steps carry the derivative of the root."""
    optimize = pytest.importorskip("scipy.optimize")

    def root(c):
        return optimize.newton(lambda x: x**3 - c, 1.0, fprime=lambda x: 3.0 * x**2)

    slope = codipy.grad(root, rebind=False)(2.0)
    assert slope == pytest.approx(2.0 ** (-2 / 3) / 3.0, rel=1e-9)


SCIPY_REFUSED = {
    "solve_ivp": lambda s, x: s.integrate.solve_ivp(lambda t, y: -x[0, 0] * y, (0.0, 1.0), [1.0]),
    "solve_ivp from": lambda s, x: s.integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), x[0]),
    "odeint": lambda s, x: s.integrate.odeint(lambda y, t: -x[0, 0] * y, 1.0, [0.0, 1.0]),
    "quad": lambda s, x: s.integrate.quad(lambda u: u * x[0, 0], 0.0, 1.0),
    "quad to": lambda s, x: s.integrate.quad(np.sin, 0.0, x[0, 0]),
    "CubicSpline": lambda s, x: s.interpolate.CubicSpline([0.0, 1.0, 2.0], x[0]),
    "CubicSpline at": lambda s, x: s.interpolate.CubicSpline([0.0, 1.0, 2.0], [1.0, 2.0, 4.0])(x[0]),
    "CubicSpline at one": lambda s, x: s.interpolate.CubicSpline([0.0, 1.0, 2.0], [1.0, 2.0, 4.0])(x[0, 0]),
    "interp1d": lambda s, x: s.interpolate.interp1d([0.0, 1.0, 2.0], x[0]),
    "interp1d at": lambda s, x: s.interpolate.interp1d([0.0, 1.0, 2.0], [1.0, 2.0, 4.0])(x[0, 0]),
    "PchipInterpolator": lambda s, x: s.interpolate.PchipInterpolator([0.0, 1.0, 2.0], x[0]),
    "RegularGridInterpolator": lambda s, x: s.interpolate.RegularGridInterpolator(([0.0, 1.0, 2.0],), x[0])([[0.5]]),
    "minimize": lambda s, x: s.optimize.minimize(lambda p: (p[0] - x[0, 0]) ** 2, [0.0]),
    "minimize from": lambda s, x: s.optimize.minimize(lambda p: (p**2).sum(), x[0]),
    "brentq": lambda s, x: s.optimize.brentq(lambda p: p - x[0, 0], 0.0, 5.0),
    "curve_fit": lambda s, x: s.optimize.curve_fit(lambda u, a: u * a, [1.0, 2.0, 3.0], x[0]),
    "linalg": lambda s, x: s.linalg.inv(x[:, :2]), "signal": lambda s, x: s.signal.convolve(x[0], x[1]),
    "fft": lambda s, x: s.fft.fft(x[0]), "stats": lambda s, x: s.stats.norm.pdf(x[0]),
}  # fmt: skip


@pytest.mark.parametrize("name", SCIPY_REFUSED)
def test_scipy_refuses(name):
    scipy = pytest.importorskip("scipy")
    for module in ("integrate", "interpolate", "optimize", "linalg", "signal", "fft", "stats"):
        pytest.importorskip(f"scipy.{module}")
    error = raises(lambda x: SCIPY_REFUSED[name](scipy, x), kinds=(TypeError, ValueError, SystemError))
    # The C loops of brentq before SciPy 1.16 call on with an error set: Python shows ours, then one of its own.
    assert type(error) is not SystemError or isinstance(error.__cause__, ActiveError)
