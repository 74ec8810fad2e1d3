# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues and eigenvectors of general matrices: SciPy computes the values, the rules are numpy.linalg's.

Eigenvalues are complex numbers to SciPy. The eigenvectors of a real matrix are real where all eigenvalues are, so SciPy
is called before anybody knows which rule records it, and its result is kept for that rule.
"""

import numpy as np
import scipy.linalg

from codipy.active.doors import door
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import bind, refuse
from codipy.scipy.calls import LOOP, FoundFirst, of_active

__all__ = ["FUNCTIONS", "REAL_VECTORS", "found_or_eig"]

REAL_VECTORS = "scipy.linalg.eig of real vectors"  # the name of the rule where vectors are real and values are complex


found_or_eig = FoundFirst(scipy.linalg.eig)


def _demand_plain_problem(name, a, **others):
    for key, value in others.items():
        if value is not None and value is not False:
            refuse(f"scipy.linalg.{name}", f"of active values it has no derivative with {key}=: leave {key} out; "
                                           "eigenvalues of two matrices are those of `np.linalg.solve(b, a)`")
    if np.ndim(a) != 2:
        refuse(f"scipy.linalg.{name}", LOOP)


@of_active(scipy.linalg.eig)
def eig(a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False, check_finite=True,
        homogeneous_eigvals=False):
    """Of an active matrix."""
    _demand_plain_problem("eig", a, b=b, left=left, homogeneous_eigvals=homogeneous_eigvals)
    if not right:
        return eigvals(a, check_finite=check_finite)
    a, options = as_numbers(a), {"check_finite": check_finite}
    found = found_or_eig.first(a, options)
    name = "scipy.linalg.eig" if np.iscomplexobj(found[1]) else REAL_VECTORS
    return door("complexes")().recorded(name, (a,), options)


@of_active(scipy.linalg.eigvals)
def eigvals(*args, **kwargs):
    """Of an active matrix. SciPy 1.18 has `overwrite_b` in the place of `check_finite`."""
    given = bind(scipy.linalg.eigvals, args, kwargs)
    _demand_plain_problem("eigvals", given["a"], b=given.get("b"), homogeneous_eigvals=given.get("homogeneous_eigvals"))
    options = {"check_finite": given.get("check_finite", True)}
    return door("complexes")().recorded("scipy.linalg.eigvals", (as_numbers(given["a"]),), options)


FUNCTIONS = {"eig": eig, "eigvals": eigvals}
