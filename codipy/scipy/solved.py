# SPDX-License-Identifier: Apache-2.0
"""Equations with a sparse matrix whose values are active: `spsolve`, `splu`, `factorized`.

Of x = inv(A) b the sweep solves once with the conjugate transpose, by the factors that SciPy has found: b_bar =
inv(A)^H x_bar, and A has the derivative ``-b_bar[i] * conj(x[j])`` where it has a value, nowhere else.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from codipy.active.array import call
from codipy.active.doors import door
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import fillable, holds_variables
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.matrices import conj
from codipy.scipy.calls import is_complex
from codipy.scipy.kernels.places import Compressed
from codipy.scipy.kernels.products import by_values, multiplied

__all__ = ["ActiveFactors", "Equations", "compressed"]

_TURNED = {"N": "T", "T": "N", "H": "N"}


class Equations:
    """A square matrix without its values, and SciPy's factors of the values that were there last.

    Rows are factored as the columns of the transpose, which is what `spsolve` does: its bits.

    Parameters
    ----------
    structure : Compressed
    by_rows : bool
    options : dict
        Of `scipy.sparse.linalg.splu`.
    lu : scipy.sparse.linalg.SuperLU, optional
        Of `values`.
    for_spsolve : bool
        Whether `spsolve` is meant, which gives no numbers with a warning where a matrix is singular.
    """

    def __init__(self, structure, by_rows, options, values=None, lu=None, *, for_spsolve=False):
        self._structure, self._by_rows, self._options = structure, by_rows, options
        self._values, self._lu, self._for_spsolve = values, lu, for_spsolve

    def factors(self, values):
        """Those of these plain values."""
        if self._lu is None or not np.array_equal(values, self._values):
            shape, parts = self._structure.shape, (self._structure.indices, self._structure.indptr)
            columns = scipy.sparse.csc_array((np.array(values), *parts), shape=shape)
            self._lu, self._values = scipy.sparse.linalg.splu(columns, **self._options), np.array(values)
        return self._lu

    def solve(self, values, b, trans="N"):
        """``inv(A) b``, of plain or active values."""
        if holds_variables((values, b)):
            return self._recorded(self._rule(trans), values, b)
        try:
            return self._found(np.asarray(values), np.asarray(b), trans)
        except RuntimeError:  # it is singular, of which `spsolve` has warned
            if not self._for_spsolve:
                raise
            return np.full(np.shape(b), np.nan)

    def _recorded(self, rule, *operands):
        if any(map(is_complex, operands)):
            return door("complexes")().recorded_once(rule, operands)
        return call(rule, tuple(map(as_numbers, operands)))

    def _found(self, values, b, trans):
        if self._by_rows and trans == "H" and is_complex(values):      # the factors are those of the transpose
            return np.conjugate(self._found(values, np.conjugate(b), "T"))
        turned = _TURNED[trans] if self._by_rows else trans
        return self.factors(values).solve(np.ascontiguousarray(b) if np.ndim(b) == 1 else b, turned)

    def _first(self, values, b):
        """As `spsolve` solves: by factors, which are kept, but for options that `splu` reads in another way."""
        if self._options.get("permc_spec") != "NATURAL":
            try:
                return self._found(values, b, "N")
            except RuntimeError:  # it is singular
                pass
        return scipy.sparse.linalg.spsolve(self._structure.matrix(values), b, **self._options, use_umfpack=False)

    def _rule(self, trans):
        is_turned = trans != "N"

        def of_values(bar, out):
            left, right = (conj(bar), out) if trans == "H" else (bar, conj(out))
            return -by_values(self._structure, left, right, is_turned)

        def vjp(g, out, args, kwargs, argnums):
            if trans == "T" and is_complex(args[0]):
                bar = np.conjugate(self.solve(args[0], np.conjugate(g)))
            else:
                bar = self.solve(args[0], g, "N" if is_turned else "H" if is_complex(args[0]) else "T")
            return [of_values(bar, out) if k == 0 else bar for k in argnums]

        def jvp(tangents, out, args, kwargs):
            right = tangents.get(1, 0.0)
            if 0 in tangents:
                moved = conj(tangents[0]) if trans == "H" else tangents[0]
                right = right - multiplied(self._structure, moved, out, is_turned)
            return self.solve(args[0], right, trans)

        def forward(values, b):
            return self._first(values, b) if self._for_spsolve and not is_turned else self._found(values, b, trans)

        return Primitive("sparse solve", forward, vjp, jvp, linear=(1,))


class ActiveFactors:
    """What `splu` returns of a matrix with active values.

    Parameters
    ----------
    equations : Equations
    values : Array
    lu : scipy.sparse.linalg.SuperLU
        SciPy's, of the plain values.
    """

    def __init__(self, equations, values, lu):
        self._equations, self._values, self._lu = equations, values, lu

    def solve(self, rhs, trans="N"):
        """``lu.solve(rhs, trans)``."""
        return fillable(self._equations.solve(self._values, rhs if is_complex(rhs) else as_numbers(rhs), trans))

    def __getattr__(self, name):
        if name not in ("shape", "nnz", "perm_r", "perm_c"):
            raise AttributeError(f"the factors of a sparse matrix with active values have no {name!r}, but solve, "
                                 "shape, nnz, perm_r, perm_c; of plain values take splu(codipy.value(A))")  # fmt: skip
        return getattr(self._lu, name)

    def __repr__(self):
        return repr(self._lu)


def compressed(matrix):
    """The structure of a matrix in CSR or CSC as Compressed, whether by rows, and its values."""
    by_rows = matrix.format == "csr"
    return Compressed(matrix.shape, matrix.indptr, matrix.indices, by_rows), by_rows, matrix.data
