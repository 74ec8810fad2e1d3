# SPDX-License-Identifier: Apache-2.0
"""Messages about functions of SciPy that end in compiled code say what to write, and that works as it stands there."""

import math
import re

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.signal

import codipy
from codipy.active.instead import _INSTEAD
from codipy.errors import ActiveError

MATRIX = np.array([[3.0, 0.4, 0.2], [0.4, 2.0, 0.1], [0.2, 0.1, 4.0]])
POINT = np.array([0.7, 1.2, 0.4])
GRID = np.linspace(0.0, 1.0, 3)
NAMES = {"np": np, "math": math, "codipy": codipy, "CubicSpline": scipy.interpolate.CubicSpline,
         "lfilter": scipy.signal.lfilter, "solve_ivp": scipy.integrate.solve_ivp}  # fmt: skip


def matrix(x):
    """A symmetric matrix of the parameters."""
    return MATRIX + x[:, None] * x


def of_matrix(name):
    return (lambda names: getattr(scipy.linalg, name)(names["a"])), lambda x: {"a": matrix(x)}


# By name: what SciPy is asked for, of named arguments; those arguments; how accurate the other way is.
USES = {f"linalg.{name}": (*of_matrix(name), 1e-9)
        for name in ("inv", "det", "norm", "eigh", "eigvalsh", "svd", "svdvals", "pinv", "cholesky")}  # fmt: skip
USES |= {
    "linalg.solve": (lambda n: scipy.linalg.solve(n["a"], n["b"]), lambda x: {"a": matrix(x), "b": x}, 1e-9),
    "linalg.solve_triangular": (lambda n: scipy.linalg.solve_triangular(n["a"], n["b"]),
                                lambda x: {"a": matrix(x), "b": x}, 1e-9),
    "linalg.expm": (lambda n: scipy.linalg.expm(n["A"]), lambda x: {"A": matrix(x) / 4.0}, 1e-9),
    "interpolate.CubicSpline": (lambda n: scipy.interpolate.CubicSpline(n["x"], n["y"])(n["t"]),
                                lambda x: {"x": GRID, "y": x, "t": np.array([0.2, 0.9])}, 1e-9),
    "signal.lfilter": (lambda n: scipy.signal.lfilter(n["b"], n["a"], n["x"]),
                       lambda x: {"a": [1.0, 0.2], "b": [1.0, 0.5], "x": x * x}, 1e-9),
    "integrate.odeint": (lambda n: scipy.integrate.odeint(n["func"], n["y0"], n["t"]),
                         lambda x: {"func": lambda y, s: -y * x[0], "y0": x, "t": GRID}, 2e-2),
    "integrate.quad": (lambda n: scipy.integrate.quad(n["func"], n["a"], n["b"])[0],
                       lambda x: {"func": lambda s: np.exp(-x[0] * s * s), "a": 0.0, "b": 2.0}, 1e-9),
}  # fmt: skip
for step in ("cho", "lu"):
    factor, solve = (getattr(scipy.linalg, f"{step}_{what}") for what in ("factor", "solve"))
    USES[f"linalg.{step}_factor"] = (lambda n, factor=factor, solve=solve: solve(factor(n["a"]), n["b"]),
                                     lambda x: {"a": matrix(x), "b": x}, 1e-9)  # fmt: skip
    USES[f"linalg.{step}_solve"] = (lambda n, factor=factor, solve=solve: solve(factor(n["a"]), n["b"]),
                                    lambda x: {"a": MATRIX, "b": x}, 1e-9)  # fmt: skip


def total(result):
    """A number of all results: the sum of squares, so that the signs of eigenvectors do not matter."""
    if isinstance(result, (tuple, list)):
        return sum(total(part) for part in result)
    return np.sum(result * result)


def test_each_advice_is_tried():
    assert USES.keys() == _INSTEAD.keys()


@pytest.mark.parametrize("name", USES)
def test_the_advice_works(name):
    scipys, names_of, tolerance = USES[name]

    def refused(x):
        return total(scipys(names_of(x)))

    with pytest.raises(ActiveError, match=re.escape(f"scipy.{name.partition('.')[0]}.")) as caught:
        codipy.grad(refused)(POINT.copy())
    message = str(caught.value)
    advice = message.partition("): write ")[2]
    assert _INSTEAD[name] in advice, message
    *before, code = re.findall("`(.*?)`", _INSTEAD[name])

    def followed(x):
        names = {**NAMES, **names_of(x)}
        for line in before:
            exec(line, names)
        return total(eval(code, names))

    f = codipy.rebind(followed, modules=["scipy"]) if "codipy.rebind" in advice else followed
    value, gradient = codipy.value_and_grad(f)(POINT.copy())
    assert value == pytest.approx(refused(POINT), rel=tolerance)
    steps = 1e-5 * np.eye(POINT.size)
    expected = [(refused(POINT + step) - refused(POINT - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(gradient, expected, rtol=max(tolerance, 1e-6), atol=max(tolerance, 1e-6))
