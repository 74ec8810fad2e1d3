# SPDX-License-Identifier: Apache-2.0
"""``polygamma``, ``multigammaln``, ``comb`` and ``perm`` of `scipy.special`: SciPy's values, and rules.

They are Python functions that make arrays of what they get before they call a ufunc.
"""

from __future__ import annotations

import numpy as np
import scipy.special

from codipy.active.array import call
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, refuse
from codipy.numpy.elementary import elementwise_primitive
from codipy.scipy.calls import kept, of_active

__all__ = ["FUNCTIONS"]

_SP = scipy.special


def _polygamma_by_x(n, x, w):
    return polygamma(n + 1, x)


def _multigammaln_by_a(a, d, w):
    return sum(_SP.psi(a - j / 2) for j in range(int(d)))


def _chosen(n, k, slope):
    """0 where there is nothing to choose."""
    return np.where((k <= n) & (n >= 0) & (k >= 0), slope, 0.0)


def _comb_by_n(n, k, w):
    return _chosen(n, k, w * (_SP.psi(n + 1) - _SP.psi(n - k + 1)))


def _comb_by_k(n, k, w):
    return _chosen(n, k, w * (_SP.psi(n - k + 1) - _SP.psi(k + 1)))


def _perm_by_k(n, k, w):
    return _chosen(n, k, w * _SP.psi(n - k + 1))


def _kept(function, *partials):
    return kept(elementwise_primitive(f"scipy.special.{function.__name__}", function, partials))


_POLYGAMMA = _kept(_SP.polygamma, None, _polygamma_by_x)
_MULTIGAMMALN = _kept(_SP.multigammaln, _multigammaln_by_a, None)
_COMB = _kept(_SP.comb, _comb_by_n, _comb_by_k)
_PERM = _kept(_SP.perm, _comb_by_n, _perm_by_k)


def _refuse_active(name, x, what):
    if holds_active((x,)):
        refuse(f"scipy.special.{name}", f"there is no derivative by {what}: pass `codipy.value` of it")


@of_active(_SP.polygamma)
def polygamma(n, x):
    """Of an active argument."""
    _refuse_active("polygamma", n, "the order")
    return call(_POLYGAMMA, (np.asarray(n), as_numbers(x)))


@of_active(_SP.multigammaln)
def multigammaln(a, d):
    """Of an active argument."""
    _refuse_active("multigammaln", d, "the dimension")
    return call(_MULTIGAMMALN, (as_numbers(a), d))


def _counted(primitive):
    original = primitive.forward

    @of_active(original)
    def function(N, k, exact=False, repetition=False):
        if exact or repetition:
            refuse(primitive.name, "of active values it has neither exact=True nor repetition=True: leave them out")
        return call(primitive, (as_numbers(N), as_numbers(k)))

    return function


FUNCTIONS = {"polygamma": polygamma, "multigammaln": multigammaln, "comb": _counted(_COMB), "perm": _counted(_PERM)}
