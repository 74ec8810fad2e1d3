# SPDX-License-Identifier: Apache-2.0
"""Messages about functions of SciPy that end in compiled code say what to write, and that works as it stands there."""

import math
import re
import statistics

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.integrate
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.sparse.linalg
import scipy.spatial
import scipy.special
import scipy.stats
import scipy.stats.contingency

import codipy
from codipy.active.messages.instead import _INSTEAD, _REBUILT
from codipy.errors import ActiveError

MATRIX = np.array([[3.0, 0.4, 0.2], [0.4, 2.0, 0.1], [0.2, 0.1, 4.0]])
POINT = np.array([0.7, 1.2, 0.4])
GRID = np.linspace(0.0, 1.0, 3)
NAMES = {"np": np, "math": math, "codipy": codipy, "scipy": scipy}


def matrix(x):
    """A symmetric matrix of the parameters."""
    return MATRIX + x[:, None] * x


# By name: what SciPy is asked for, of named arguments; those arguments; how accurate the other way is.
USES = {
    "stats.expect": (
        lambda n: n["dist"].expect(n["func"], args=n["args"], lb=n["lb"], ub=n["ub"]),
        lambda x: {"dist": scipy.stats.beta, "func": np.sin, "args": (x[0] + 1.0, x[1]), "lb": 0.1, "ub": 0.9}, 1e-7),
    "stats.fit": (lambda n: n["dist"].fit(n["data"]),
                  lambda x: {"dist": scipy.stats.norm, "data": x, "start": np.array([0.8, 0.3])}, 1e-3),
}  # fmt: skip


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


@pytest.mark.parametrize("system", [lambda x: scipy.signal.lti(x, [1.0, 2.0]).num,
                                    lambda x: scipy.signal.StateSpace(np.diag(x), MATRIX, MATRIX, MATRIX).A])
def test_systems_say_that_they_are_passive(system):
    def f(x):
        return np.sum(system(x))

    try:
        gradient = codipy.grad(f)(POINT.copy())
    except ActiveError as error:
        assert "which are passive, or scipy" in str(error)
    else:  # as SciPy until 1.15 keeps a matrix
        steps = 1e-5 * np.eye(POINT.size)
        np.testing.assert_allclose(gradient, [(f(POINT + h) - f(POINT - h)) / 2e-5 for h in steps], rtol=1e-7)


REBUILT = {
    "stats.contingency.expected_freq": lambda x: np.sum(
        scipy.stats.contingency.expected_freq(np.outer(x + 2.0, x * x) + 1.0) ** 2),
    "optimize.rosen": lambda x: scipy.optimize.rosen(x),
}


@pytest.mark.parametrize("name", REBUILT)
def test_scipy_rebuilt_where_it_is_advised(name):
    f = REBUILT[name]
    with pytest.raises(ActiveError, match=re.escape(f"scipy.{name.partition('.')[0]}.")) as caught:
        codipy.grad(f)(POINT.copy())
    assert 'codipy.rebind(f, modules=["scipy"])' in str(caught.value) and f"scipy.{name}" in str(caught.value)
    gradient = codipy.grad(codipy.rebind(f, modules=["scipy"]))(POINT.copy())
    expected = [(f(POINT + step) - f(POINT - step)) / 2e-5 for step in 1e-5 * np.eye(POINT.size)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_it_is_advised_nowhere_else():
    tried = {f"{name.split('.')[0]}.{name.split('.')[-1]}" for name in REBUILT}
    listed = {f"{module}.{name}" for module, names in _REBUILT.items() for name in names.split()}
    assert listed <= tried

    def f(x):
        return scipy.cluster.vq.vq(x[:, None], GRID[:, None])[1][0]

    with pytest.raises(ActiveError, match=r"scipy\.cluster\..*compiled code.*codipy\.Primitive") as caught:
        codipy.grad(f)(POINT.copy())
    assert "codipy.rebind" not in str(caught.value)


def test_what_scipys_python_does_with_reals_stays():
    slope = codipy.grad(lambda x: scipy.optimize.minimize_scalar(lambda z: (z - x[0]) ** 2).x)(POINT)[0]
    assert slope == pytest.approx(1.0)
    slope = codipy.grad(lambda x: scipy.optimize.newton(lambda z: z * z - x[0], 1.0))(POINT)[0]
    assert slope == pytest.approx(0.5 / np.sqrt(POINT[0]))


def test_linear_algebra_that_is_not_rebuilt():
    """Rebound code finds codipy's functions by itself; the message names them for other code, and they work there."""
    def f(x, linalg=scipy.linalg):
        return total(linalg.cho_solve(linalg.cho_factor(matrix(x)), x)) + linalg.toeplitz(x)[0, 1]

    with pytest.raises(ActiveError, match=r"write `codipy\.scipy\.linalg\.cho_factor` in its place"):
        codipy.grad(f, rebind=False)(POINT.copy())
    expected = [(f(POINT + step) - f(POINT - step)) / 2e-5 for step in 1e-5 * np.eye(POINT.size)]
    for found in (codipy.grad(f)(POINT.copy()),
                  codipy.grad(lambda x: f(x, codipy.scipy.linalg), rebind=False)(POINT.copy())):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def harmonic(n, m, theta, phi):      # as the message says it
    scale = np.sqrt((2 * n + 1) / (4 * np.pi) * scipy.special.poch(n + m + 1, -2 * m))
    return scipy.special.lpmv(m, n, np.cos(theta)) * np.exp(1j * m * phi) * scale


@pytest.mark.parametrize("refused, instead, words", [
    (lambda x: statistics.NormalDist(x[0], x[1]).cdf(0.2), lambda x: scipy.stats.norm.cdf(0.2, x[0], x[1]),
     "scipy.stats.norm.cdf"),
    (lambda x: statistics.NormalDist().cdf(x[0]), lambda x: scipy.stats.norm.cdf(x[0], 0.0, 1.0),
     "scipy.stats.norm.cdf"),
    (lambda x: scipy.special.sph_harm_y(3, -2, x[0], x[1]).real, lambda x: harmonic(3, -2, x[0], x[1]).real, "lpmv"),
    (lambda x: scipy.optimize.approx_fprime(np.ones(2), lambda z: np.sum(z**2 * x))[0],
     lambda x: codipy.grad(lambda z, x: np.sum(z**2 * x))(np.ones(2), x)[0], "codipy.grad"),
])  # fmt: skip
def test_words_that_say_what_to_write(refused, instead, words):
    x, step = np.array([0.4, 0.7]), 1e-5
    with pytest.raises(ActiveError, match=f"write .*{words}"):
        codipy.grad(refused)(x)
    known = [(refused(x + e) - refused(x - e)) / (2.0 * step) for e in step * np.eye(2)]
    np.testing.assert_allclose(codipy.grad(instead)(x), known, atol=2e-3 if words == "codipy.grad" else 1e-8)
