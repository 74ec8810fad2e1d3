# SPDX-License-Identifier: Apache-2.0
"""``lambertw`` and ``zeta`` of `scipy.special`: SciPy's values, derivatives by the argument and the exponent.

That of Hurwitz's zeta by its exponent is the derivative of the Euler-Maclaurin formula (NIST Digital Library of
Mathematical Functions, 25.11.5): sums of powers, which NumPy differentiates to any order.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy.special

from codipy.active.array import is_complex_variable
from codipy.active.array import plain as value_of
from codipy.active.doors import door
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, refuse, value_tree
from codipy.numpy.lists import listed
from codipy.scipy.calls import of_active
from codipy.scipy.kernels.exact import with_values_of

__all__ = ["FUNCTIONS"]

_SP = scipy.special
_TERMS, _LOWEST = 20, -2.0  # terms that are added one by one; the lowest exponent
# B(2k) / (2k)!, for k from 1.
_BERNOULLI = [float(b) / float(_SP.factorial(2 * k)) for k, b in enumerate(_SP.bernoulli(24)[2::2], start=1)]
_ZETA = listed(_SP._ufuncs._zeta)  # of q alone


def _formula(s, q):
    total = sum((q + n) ** -s for n in range(_TERMS))
    a = q + _TERMS
    total = total + a ** (1.0 - s) / (s - 1.0) + 0.5 * a**-s
    rising, power = s, a ** (-s - 1.0)
    for k, factor in enumerate(_BERNOULLI, start=1):
        total = total + factor * rising * power
        rising, power = rising * (s + (2 * k - 1)) * (s + 2 * k), power / (a * a)
    return total


@of_active(_SP.zeta)
def zeta(x, q=None, out=None):
    """Of active arguments."""
    if out is not None:
        refuse("scipy.special.zeta", "of active values it has no out=: leave out= out")
    if not holds_active((x,)):
        return _ZETA(x, q)
    if np.any(np.asarray(value_of(x) if q is None else 1.0) < _LOWEST):
        refuse("scipy.special.zeta", f"below {_LOWEST} there is no derivative by the exponent: take the functional "
               "equation")  # fmt: skip
    operands = (x,) if q is None else (x, q)
    with np.errstate(all="ignore"):
        formula = _formula(*np.broadcast_arrays(*map(as_numbers, (x, 1.0 if q is None else q))))
    values = _SP.zeta(*value_tree(list(operands)))
    return with_values_of("scipy.special.zeta", lambda *given: _SP.zeta(*given), operands,
                          np.reshape(formula, np.shape(values))[()])  # fmt: skip


@functools.wraps(_SP.lambertw)
def lambertw(z, k=0, tol=1e-8):
    """Of real and complex arguments."""
    is_complex = is_complex_variable(z)
    if not (z.is_active if is_complex else holds_active((z,))):
        return _SP.lambertw(z.value if is_complex else value_tree([z])[0], *value_tree([k, tol]))
    if np.ndim(k):
        refuse("scipy.special.lambertw", "of active values it has one branch: loop over k")
    options = {"k": int(k), "tol": float(tol)}
    return door("complexes")().recorded("scipy.special.lambertw", (z if is_complex else as_numbers(z),), options)


FUNCTIONS = {"zeta": zeta, "lambertw": lambertw}
