# SPDX-License-Identifier: Apache-2.0
"""Equations with a sparse matrix: `splu`, `spilu`, `factorized`, `spsolve`.

Of a passive matrix, with active right-hand sides; of active values see `solved.py`. The factors that a program has kept
from before are SciPy's own: in rebound code `Factors` stand for them.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from types import BuiltinFunctionType

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from codipy.active.array import call
from codipy.active.doors import door
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import fillable, holds_variables, value_tree
from codipy.numpy.primitive import Primitive
from codipy.numpy.sparse import kept
from codipy.scipy.calls import is_complex, numbers
from codipy.scipy.kernels.whole import is_active_matrix, plain_matrix
from codipy.scipy.solved import ActiveFactors, Equations, compressed

__all__ = ["FUNCTIONS", "STANDINS", "Factors", "method_of", "sort_in_place"]

_TRANSPOSED = {"N": "T", "T": "N", "H": "N"}
_SuperLU = scipy.sparse.linalg.SuperLU


def _linear(name, value, transposed):
    """The primitive of a map that is linear, of an ndarray or of something active, and has this transpose."""
    return Primitive(
        name,
        value,
        lambda g, out, args, kwargs, argnums: [np.reshape(transposed(g), np.shape(args[0]))],
        lambda tangents, out, args, kwargs: value(tangents[0]),
        keep_args=False,
        keep_out=False,
    )


def _recorded(rule, x, is_complex_map):
    """Apply a linear map, which is complex where it has complex coefficients."""
    if is_complex(x) or is_complex_map:
        return door("complexes")().recorded_as_lifted(rule, (x if is_complex(x) else as_numbers(x),))
    return fillable(call(rule, (as_numbers(x),)))


def _of_matrix(name, matrix, options):
    """The arguments without Arrays, of which none is active."""
    if is_active_matrix(matrix):
        what = f"scipy.sparse.linalg.{name} of a sparse matrix with active values"
        raise ActiveError(refusal(what, "write splu(A), or where it is a preconditioner, of which no derivative is "
                                        f"wanted, {name}(codipy.value(A))"))  # fmt: skip
    if holds_variables((matrix, options)):
        what = f"scipy.sparse.linalg.{name} of an active matrix"
        raise ActiveError(refusal(what, "write `np.linalg.solve(A, b)`; where it is not wanted, say codipy.value(A)"))
    sort_in_place(name, matrix)
    return value_tree((plain_matrix(matrix), *options))


# Functions that sort what they are given in place and add up elements at equal places, and of which formats.
_SORTING = {"factorized": ("csc",), "inv": ("csc", "csr"), "spilu": ("csc",), "splu": ("csc",),
            "spsolve": ("csc", "csr")}  # fmt: skip


def sort_in_place(name, matrix):
    """Do with a matrix what a function of SciPy does with it, which here is given a copy of its values."""
    if scipy.sparse.issparse(matrix) and matrix.format in _SORTING.get(name, ()):
        matrix.sum_duplicates()


class Factors:
    """What `splu` and `spilu` return, for active right-hand sides too.

    Parameters
    ----------
    lu : scipy.sparse.linalg.SuperLU
        SciPy's.
    """

    def __init__(self, lu):
        self._lu = lu

    def solve(self, rhs, trans="N"):
        """``lu.solve(rhs, trans)``."""
        if not holds_variables((rhs,)):
            return self._lu.solve(*value_tree((numbers(rhs),)), trans)
        return self._solved(rhs, trans)

    @functools.cached_property
    def _is_complex(self):
        """Whether the matrix is, which SciPy's factors do not say."""
        return np.iscomplexobj(self._lu.solve(np.zeros(self._lu.shape[0])))

    def _solved(self, rhs, trans):
        def value(x):
            if holds_variables((x,)):  # a rule that is differentiated itself
                return self._solved(x, trans)
            return self._lu.solve(np.ascontiguousarray(x) if np.ndim(x) == 1 else np.asarray(x), trans)

        def transposed(g):
            if trans == "H" and self._is_complex:
                return np.conjugate(self.solve(np.conjugate(g)))
            return self.solve(g, _TRANSPOSED[trans])

        return _recorded(_linear("sparse solve", value, transposed), rhs, self._is_complex)

    def __getattr__(self, name):
        return getattr(self._lu, name)

    def __repr__(self):
        return repr(self._lu)


def _factors(name):
    original = getattr(scipy.sparse.linalg, name)

    @functools.wraps(original)
    def function(A, *args, **kwargs):
        if name == "splu" and is_active_matrix(A):
            return _active_factors(A, *args, **kwargs)
        return Factors(original(*_of_matrix(name, A, args), **kwargs))

    return function


def _active_factors(A, *args, **kwargs):
    """`splu` of active values: SciPy's own of the plain ones, and what solves with the active ones."""
    if A.format != "csc":
        A = A.tocsc()
        warnings.warn("splu converted its input to CSC format", scipy.sparse.SparseEfficiencyWarning, stacklevel=3)
    A.sum_duplicates()
    structure, by_rows, values = compressed(A)
    lu = scipy.sparse.linalg.splu(plain_matrix(A), *args, **kwargs)
    options = inspect.signature(scipy.sparse.linalg.splu).bind(None, *args, **kwargs).arguments
    del options["A"]
    return ActiveFactors(Equations(structure, by_rows, options, numbers(values), lu), values.copy(), lu)


@functools.wraps(scipy.sparse.linalg.factorized)
def _factorized(A):
    if is_active_matrix(A):
        return _active_factors(A).solve
    solve = scipy.sparse.linalg.factorized(*_of_matrix("factorized", A, ()))
    return _solver(solve) or solve  # or that of another library, which takes ndarrays alone


def _solver(method):
    """What stands for the method `solve` of SciPy's factors; None for every other function that is built in."""
    if type(getattr(method, "__self__", None)) is _SuperLU and method.__name__ == "solve":
        return Factors(method.__self__).solve
    return None


def method_of(o):
    """``o.solve``: of SciPy's factors, or a method of such that `o` has by this name, what stands for it."""
    if type(o) is _SuperLU:
        return Factors(o).solve
    method = o.solve
    return method if type(method) is not BuiltinFunctionType else _solver(method) or method


def _active_spsolve(A, b, permc_spec=None, use_umfpack=True):
    """`spsolve` of active values, with SciPy's bits."""
    if A.format not in ("csc", "csr"):
        A = A.tocsc()
        warnings.warn("spsolve requires A be CSC or CSR matrix format", scipy.sparse.SparseEfficiencyWarning,
                      stacklevel=3)  # fmt: skip
    if scipy.sparse.issparse(b):
        if b.ndim == 2 and b.shape[1] != 1:
            raise ActiveError(refusal("scipy.sparse.linalg.spsolve of an active and a sparse right-hand side",
                                      "write spsolve(A, b.toarray())"))  # fmt: skip
        b = b.toarray()
    A.sum_duplicates()
    b = b if is_complex(b) else as_numbers(b)
    rows, columns = A.shape
    if rows != columns:
        raise ValueError(f"matrix must be square (has shape {(rows, columns)})")
    if rows != b.shape[0]:
        raise ValueError(f"matrix - rhs dimension mismatch ({A.shape} - {b.shape[0]})")
    structure, by_rows, values = compressed(A)
    equations = Equations(structure, by_rows, {"permc_spec": permc_spec}, for_spsolve=True)
    if is_complex(b) and not is_complex(values):
        values = values + 0j
    found = equations.solve(values.copy(), b)
    return fillable(found.ravel() if b.ndim == 2 and b.shape[1] == 1 else found)


@functools.wraps(scipy.sparse.linalg.spsolve)
def _spsolve(A, b, *args, **kwargs):
    original = scipy.sparse.linalg.spsolve
    if is_active_matrix(A) or is_active_matrix(b):
        return _active_spsolve(A, b, *args, **kwargs)
    sort_in_place("spsolve", A)
    A, b = plain_matrix(A), plain_matrix(b)
    if not holds_variables((b,)):
        A, *args = _of_matrix("spsolve", A, args)
        return original(A, *value_tree((numbers(b),)), *args, **kwargs)
    if not scipy.sparse.issparse(A):
        raise ActiveError(refusal("scipy.sparse.linalg.spsolve of a matrix that is not sparse",
                                  "write `np.linalg.solve(A, b)`"))  # fmt: skip
    matrix = kept(A)

    def value(x):
        if holds_variables((x,)):
            return _spsolve(matrix, x, *args, **kwargs)
        return original(matrix, np.asarray(x), *args, **kwargs)

    def transposed(g):
        return _spsolve(matrix.T.tocsc(), g, *args, **kwargs)

    return _recorded(_linear("spsolve", value, transposed), b, matrix.dtype.kind == "c")


FUNCTIONS = {"splu": _factors("splu"), "spilu": _factors("spilu"), "factorized": _factorized, "spsolve": _spsolve}
STANDINS = {_SuperLU: Factors, BuiltinFunctionType: _solver}
