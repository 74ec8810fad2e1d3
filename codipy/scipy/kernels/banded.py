# SPDX-License-Identifier: Apache-2.0
"""LAPACK's solvers that SciPy's interpolators call by their own names: of equations in bands, and of full ones."""

from __future__ import annotations

import functools

import numpy as np
import scipy.linalg
import scipy.linalg.lapack

from codipy.active.array import Array, call
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.primitive import Primitive
from codipy.scipy.kernels.calls import demand_real
from codipy.scipy.kernels.exact import with_values_of
from codipy.scipy.rules.solving import in_bands, solve_banded, times_bands, turned

__all__ = ["FUNCTIONS"]

_ORIGINAL = scipy.linalg.get_lapack_funcs


def _solved(below, above):
    solve = _ORIGINAL(("gbsv",), (np.zeros(1), np.zeros(1)))[0]

    def forward(ab, b):
        return solve(below, above, np.array(ab, order="F"), np.array(b, order="F"))[2]

    def vjp(g, out, args, kwargs, argnums):
        bands = args[0][below:]
        right = solve_banded((above, below), turned(bands, below, above), g)
        own = np.concatenate([np.zeros((below, np.shape(bands)[1])), -in_bands(right, out, below, above)])
        return [right if k else own for k in argnums]

    def jvp(tangents, out, args, kwargs):
        bands, right = args[0][below:], tangents.get(1, 0.0)
        if 0 in tangents:
            right = right - times_bands(tangents[0][below:], out, below, above)
        return solve_banded((below, above), bands, right)

    return Primitive("lapack gbsv", forward, vjp, jvp, linear=(1,))


def _gbsv(kl, ku, ab, b, **options):
    plain = [np.array(x.value if hasattr(type(x), "is_active") else x) for x in (ab, b)]
    lu, pivots, found, info = _ORIGINAL(("gbsv",), plain)[0](kl, ku, *plain)
    if info == 0 and holds_active((ab, b)):
        demand_real("the equations of a spline", ab, b)
        found = call(_solved(int(kl), int(ku)), (as_numbers(ab), as_numbers(b)))
    return lu, pivots, found, info


@functools.wraps(_ORIGINAL)
def get_lapack_funcs(names, arrays=(), *args, **kwargs):
    """Of Arrays the solver of equations in bands; all others are LAPACK's."""
    if tuple(np.atleast_1d(names)) == ("gbsv",) and any(type(x) is Array for x in arrays):
        return _gbsv if isinstance(names, str) else [_gbsv]
    return _ORIGINAL(names, [np.asarray(x.value) if type(x) is Array else x for x in arrays], *args, **kwargs)


_DGESV, _DSYSV = scipy.linalg.lapack.dgesv, scipy.linalg.get_lapack_funcs("sysv", dtype=np.float64, ilp64="preferred")


def _dgesv(a, b, overwrite_a=0, overwrite_b=0):
    lu, pivots, found, info = _DGESV(*map(np.array, value_tree([a, b])))
    return lu, pivots, _with_derivative("lapack gesv", _DGESV, a, b, found, info), info


def _dsysv(a, b, overwrite_a=0, overwrite_b=0):
    """Of the radial functions of SciPy from 1.18 on, which gives a whole symmetric matrix."""
    factor, pivots, found, info = _DSYSV(*map(np.array, value_tree([a, b])))
    return factor, pivots, _with_derivative("lapack sysv", _DSYSV, a, b, found, info), info


def _with_derivative(name, original, a, b, found, info):
    if info != 0 or not holds_active((a, b)):
        return found
    operands = as_numbers(a), as_numbers(b)
    return with_values_of(name, lambda a, b: original(a, b)[2], operands, np.linalg.solve(*operands))


FUNCTIONS = {"get_lapack_funcs": get_lapack_funcs, "dgesv": _dgesv, "dsysv": _dsysv}
