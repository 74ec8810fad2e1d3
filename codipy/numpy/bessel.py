# SPDX-License-Identifier: Apache-2.0
"""Derivatives of Bessel functions by their orders, for which SciPy has no function, at positive arguments.

Integrals of Schlaefli's and their like (NIST Digital Library of Mathematical Functions, 10.9 and 10.32) are derived
under the integral sign; where a function is small beside them, its ascending series (10.2, 10.25) term by term.
Rejected: differences, which keep half of the digits.
"""

from __future__ import annotations

import sys

import numpy as np

from codipy.active.array import call, is_active
from codipy.errors import UndifferentiableError

from .elementary import elementwise_primitive, not_differentiated

__all__ = ["FUNCTIONS"]

_ROWS = 256       # numbers whose integrals are computed together
_MOST = 4000      # nodes of an integral
_TERMS = 5000     # of a series
_FAR = 700.0      # where exp(-x) is nothing
_nodes: dict = {}


def _sp():
    return sys.modules["scipy.special"]


def _gauss(count):
    """Nodes and weights of Gauss and Legendre from 0 to 1."""
    if count not in _nodes:
        x, w = np.polynomial.legendre.leggauss(count)
        _nodes[count] = (x + 1) / 2, w / 2
    return _nodes[count]


def _orders(function):
    """A function of columns of orders and arguments, of arrays that are broadcast."""

    def of_arrays(v, x):
        v, x = np.broadcast_arrays(np.asarray(v, float), np.asarray(x, float))
        if np.any(x <= 0.0):
            raise UndifferentiableError("a Bessel function has a derivative by its order at positive arguments alone: "
                                        "pass codipy.value of the order")  # fmt: skip
        flat_v, flat_x, found = v.ravel(), x.ravel(), np.empty(v.size)
        with np.errstate(all="ignore"):
            for first in range(0, v.size, _ROWS):
                part = slice(first, first + _ROWS)
                found[part] = function(flat_v[part], flat_x[part])
        found[np.isnan(flat_v + flat_x)] = np.nan
        if np.any(np.isnan(found) & ~np.isnan(flat_v + flat_x)):
            raise UndifferentiableError("a Bessel function of so large an order or argument has no derivative by its "
                                        "order here: pass codipy.value of the order")  # fmt: skip
        return found.reshape(v.shape)[()]

    return of_arrays


def _angles(v, x):
    """Nodes from 0 to pi, and weights over pi, for integrands that turn as ``v t - x sin t``."""
    count = 200 + 50 * int(np.max(np.abs(v) + x) // 50)
    if count > _MOST:
        return None
    nodes, weights = _gauss(count)
    return np.pi * nodes, weights


def _decaying(v, x, grow):
    """Nodes from 0, and weights, for integrands that decay as ``exp(grow v t - x sinh t)``."""
    nodes, weights = _gauss(400)
    ends = np.arcsinh((_FAR + 45.0 * np.abs(v)) / x)[:, None]
    t = ends * nodes
    return t, weights * ends, [np.exp(sign * v[:, None] * t - x[:, None] * np.sinh(t)) for sign in grow]


def _series(v, x, sign, scale):
    """Of ``sum (sign x^2/4)^k (x/2)^v / (k! gamma(v+k+1))``, times exp(scale)."""
    sp, found, term = _sp(), np.zeros(v.shape), np.zeros(v.shape)
    half, square = np.log(x / 2), sign * x * x / 4
    powers = np.exp(v * half + scale)  # (x/2)^(v+2k) / k!, with its sign
    for k in range(_TERMS):
        z = v + k + 1.0
        above = np.where(z > 0, z, 1.0)
        begun = sign**k * np.exp((v + 2 * k) * half - sp.gammaln(k + 1.0) - sp.gammaln(above) + scale)
        term = np.where(z > 1.0, term * square / (k * (above - 1.0)), begun) if k else begun
        pole = z == np.floor(z)
        limit = np.where(pole, np.where(z % 2, 1.0, -1.0) * sp.gamma(1.0 - z),
                         sp.rgamma(z) * sp.psi(np.where(pole, 1.0, z)))  # fmt: skip
        below = powers * (sp.rgamma(z) * half - limit)
        part = np.where(z > 0, term * (half - sp.psi(above)), below)
        found = found + part
        if k > np.max(-v) + 2 and np.all(~(np.abs(part) > 1e-18 * np.abs(found))):
            return found
        powers = powers * square / (k + 1.0)
    return np.full(v.shape, np.nan)


@_orders
def _jv_by_v(v, x):
    found = np.empty(v.shape)
    small = (x * x / 4 < 4 * (np.abs(v) + 1)) | ((x < np.abs(v)) & (np.abs(_sp().jv(v, x)) < 1e-4))
    if small.any():
        found[small] = _series(v[small], x[small], -1.0, 0.0)
    v, x, rest = v[~small], x[~small], ~small
    if rest.any():
        nodes = _angles(v, x)
        if nodes is None:
            return np.full(found.shape, np.nan)
        t, w, (fall,) = _decaying(v, x, (-1,))
        turned = -np.sin(v[:, None] * nodes[0] - x[:, None] * np.sin(nodes[0])) @ (nodes[0] * nodes[1])
        found[rest] = (turned - np.cos(np.pi * v) * np.sum(w * fall, axis=1)
                       + np.sin(np.pi * v) / np.pi * np.sum(w * t * fall, axis=1))  # fmt: skip
    return found


@_orders
def _yv_by_v(v, x):
    nodes = _angles(v, x)
    if nodes is None:
        return np.full(v.shape, np.nan)
    t, w, (rise, fall) = _decaying(v, x, (1, -1))
    turned = -np.cos(x[:, None] * np.sin(nodes[0]) - v[:, None] * nodes[0]) @ (nodes[0] * nodes[1])
    cosine, sine = np.cos(np.pi * v)[:, None], np.sin(np.pi * v)
    return turned - np.sum(w * t * (rise - cosine * fall), axis=1) / np.pi + sine * np.sum(w * fall, axis=1)


def _kve(v, x):
    nodes, weights = _gauss(400)
    ends = np.arccosh(1.0 + (_FAR + 45.0 * np.abs(v)) / x)[:, None]
    t = ends * nodes
    lower = -2.0 * x[:, None] * np.sinh(t / 2) ** 2  # x (1 - cosh t)
    return np.sum(weights * ends * t * (np.exp(lower + v[:, None] * t) - np.exp(lower - v[:, None] * t)), axis=1) / 2


def _ive(v, x):
    found = np.full(v.shape, np.nan)
    near = x <= _FAR
    if near.any():
        found[near] = _series(v[near], x[near], 1.0, -x[near])
    far = ~near & (v * v < x)
    if far.any():
        v, x = v[far], x[far]
        nodes, weights = _gauss(200)
        ends = 2 * np.arcsin(np.minimum(1.0, np.sqrt(20.0 / x)))[:, None]
        t = ends * nodes
        decay = np.exp(-2.0 * x[:, None] * np.sin(t / 2) ** 2)
        found[far] = -np.sum(weights * ends * t * np.sin(v[:, None] * t) * decay, axis=1) / np.pi
    return found


_kve_by_v, _ive_by_v = _orders(_kve), _orders(_ive)
_kv_by_v = _orders(lambda v, x: _kve(v, x) * np.exp(-x))
_iv_by_v = _orders(lambda v, x: _ive(v, x) * np.exp(x))


def _function(name, plain, beside, scaled):
    """The slope by the order; its own by the argument is that of the slopes of the orders beside."""

    def by_argument(v, x, w):
        below, above = FUNCTIONS[name](v - 1, x), FUNCTIONS[name](v + 1, x)
        return beside(below, above) / 2 + scaled * w

    by_order = not_differentiated(f"the derivative of scipy.special.{name.removesuffix('_v')} by its order v")
    primitive = elementwise_primitive(f"the slope {name}", plain, [by_order, by_argument])
    return lambda *args: call(primitive, args) if any(map(is_active, args)) else plain(*args)


def _difference(below, above):
    return below - above


def _sum(below, above):
    return below + above


def _negative(below, above):
    return -(below + above)


# By the names that the texts of `special.py` use.
FUNCTIONS = {name: _function(name, *row) for name, row in {
    "jv_v": (_jv_by_v, _difference, 0.0), "yv_v": (_yv_by_v, _difference, 0.0),
    "iv_v": (_iv_by_v, _sum, 0.0), "ive_v": (_ive_by_v, _sum, -1.0),
    "kv_v": (_kv_by_v, _negative, 0.0), "kve_v": (_kve_by_v, _negative, 1.0),
}.items()}  # fmt: skip
