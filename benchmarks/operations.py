# SPDX-License-Identifier: Apache-2.0
"""Single operations in a program that repeats them: what the questions of slopes are asked about.

A program makes its values inside, so that the driver's copies of arguments do not count, and calls its operation
`uses` times. What has the shape of its argument is its next argument; else the results are added up.
"""
import numpy as np


def chained(operation):
    """The program in which each result is the next argument."""

    def program(x, uses):
        u = x * 1.0
        for _ in range(uses):
            u = operation(u)
        return np.sum(u)

    return program


def added(operation):
    """The program in which results are added up, to something that has a derivative without them.

    Else the program of no uses would have no sweep, and the uses would pay for that of the values made inside.
    """

    def program(x, uses):
        u = x * 1.0
        total = np.sum(u)
        for _ in range(uses):
            total = total + operation(u)
        return np.sum(total)

    return program


def matrix(n=4, seed=1):
    """A matrix that is neither singular nor symmetric, with all singular values near 1: its powers stay finite."""
    draw = np.random.default_rng(seed)
    return np.eye(n) + 0.3 * draw.standard_normal((n, n)) / np.sqrt(n)


def _definite(a):
    return a @ a.T


def _rotation(u):
    c, s = u[0, 0], u[0, 1]
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def kalman_filter(x, uses):
    """`uses` steps of a filter of four states and two measurements: prediction, gain, update, likelihood."""
    n = x.shape[0]
    transition = np.eye(n) + 0.1 * x
    observation = np.eye(2, n)
    state, covariance, total = np.ones(n), np.eye(n), 0.0
    for k in range(uses):
        state = transition @ state
        covariance = transition @ covariance @ transition.T + 0.1 * np.eye(n)
        innovation = np.array([np.sin(0.1 * k), 1.0]) - observation @ state
        spread = observation @ covariance @ observation.T + 0.2 * np.eye(2)
        gain = covariance @ observation.T @ np.linalg.inv(spread)
        half = np.linalg.solve(np.linalg.cholesky(spread), innovation)
        total = total + half @ half
        state = 0.5 * (state + gain @ innovation)
        covariance = covariance - gain @ observation @ covariance
    return total


# Each on a matrix of 4 x 4, `OTHER` beside it is passive.
OTHER = matrix(seed=2)
_INTERVAL = np.linspace(-2.0, 2.0, 7)
_CONDITION = OTHER > 0.1
SMALL = {
    "einsum": added(lambda a: np.einsum("ij,jk->ik", a, OTHER)),
    "trace": added(np.trace),
    "sort": chained(lambda a: np.sort(a, axis=-1)),
    "interp": added(lambda a: np.interp(a[0], _INTERVAL, _INTERVAL**2)),
    "norm": added(np.linalg.norm),
    "dot-of-rows": added(lambda a: a[0] @ a[1]),
    "product": added(lambda a: a @ a),
    "product-plain": added(lambda a: OTHER @ a),
    "det": added(np.linalg.det),
    "concatenate": added(lambda a: np.concatenate((a, a))),
    "stack": added(lambda a: np.stack((a[0], a[1]))),
    "diag": added(np.diag),
    "where": chained(lambda a: np.where(_CONDITION, a, 0.5 * a)),
    "clip": chained(lambda a: np.clip(a, -0.8, 0.8)),
    "maximum": added(np.max),
    "maximum-rows": added(lambda a: a.max(axis=1)),
    "solve": added(lambda a: np.linalg.solve(a, OTHER)),
    "inv": added(np.linalg.inv),
    "cholesky": added(lambda a: np.linalg.cholesky(_definite(a))),
    "matrix-power": added(lambda a: np.linalg.matrix_power(a, 3)),
    "prod": added(np.prod),
    "cumsum": chained(lambda a: np.cumsum(a, axis=1)),
    "outer": added(lambda a: np.outer(a[0], a[1])),
    "roll": chained(lambda a: np.roll(a, 1, axis=0)),
    "take": added(lambda a: a[[2, 0, 1]]),
    "median": added(np.median),
    "slogdet": added(lambda a: np.linalg.slogdet(a)[1]),
    "logaddexp-reduce": added(lambda a: np.logaddexp.reduce(a, axis=1)),
    "rotation": added(_rotation),
    "kalman": kalman_filter,
}

N = 100_000
_draw = np.random.default_rng(3)
_PLACES = _draw.integers(0, 1000, 200_000)
_ORDER = _draw.permutation(N)
_MASK = _draw.random(N) > 0.4
_KNOTS = np.linspace(-5.0, 5.0, 200)


def _add_at(u):
    total = np.zeros(1000)
    np.add.at(total, _PLACES, u)
    return total


# Each on a vector of N elements, but for those named in SIZES.
LARGE = {
    "add-at": added(_add_at),
    "clip-large": chained(lambda u: np.clip(u, -1.0, 1.0)),
    "interp-large": chained(lambda u: np.interp(u, _KNOTS, np.tanh(_KNOTS))),
    "diff-append": chained(lambda u: np.append(np.diff(u), u[0])),
    "roll-large": chained(lambda u: np.roll(u, 1)),
    "where-large": chained(lambda u: np.where(_MASK, u, 0.5 * u)),
    "pad": chained(lambda u: np.pad(u[1:-1], 1)),
    "concatenate-large": chained(lambda u: np.concatenate((u[1:], u[:1]))),
    "fancy-index": chained(lambda u: u[_ORDER]),
    "einsum-three": added(lambda u: np.einsum("ij,jk,kl->il", u, u, u, optimize=True)),
    "maximum-large": added(lambda u: u.max()),
}
SIZES = {"add-at": (200_000,), "einsum-three": (60, 60)}


def small(name):
    """The program and its argument."""
    return SMALL[name], matrix()


def large(name):
    """The program and its argument."""
    shape = SIZES.get(name, (N,))
    return LARGE[name], np.random.default_rng(4).standard_normal(shape) / (shape[-1] ** 0.5 if len(shape) == 2 else 1.0)
