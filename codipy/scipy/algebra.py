# SPDX-License-Identifier: Apache-2.0
"""``scipy.linalg`` as `codipy.scipy` and rebound code have it."""

from __future__ import annotations

from types import FunctionType

import scipy.linalg

from codipy.numpy.modules import module_for
from codipy.scipy.calls import refused
from codipy.scipy.rules import (
    decompositions,
    equations,
    factors,
    functions,
    indefinite,
    schur,
    solving,
    spectra,
    structured,
)

__all__ = ["COMPLEX", "FUNCTIONS", "PASSIVE", "REFUSED", "linalg"]

# What says nothing of the values, or has a slope of zero everywhere.
PASSIVE = {"find_best_blas_type", "get_blas_funcs", "get_lapack_funcs", "bandwidth", "ishermitian", "issymmetric",
           "dft", "hadamard", "helmert", "hilbert", "invhilbert", "invpascal", "pascal"}  # fmt: skip

_EIGH = "take `scipy.linalg.eigh(a)` of the whole matrix"
_UNSYMMETRIC = "take `np.linalg.eigvals(a)` or `np.linalg.eig(a)`"
REFUSED = {
    "cdf2rdf": _UNSYMMETRIC,
    "cho_solve_banded": "take `scipy.linalg.solveh_banded(ab, b)`",
    "cholesky_banded": "take `scipy.linalg.solveh_banded(ab, b)`, or `scipy.linalg.cholesky` of the whole matrix",
    "clarkson_woodruff_transform": "multiply with the sketch itself, `S @ a`",
    "convolution_matrix": "take `scipy.linalg.toeplitz`, or `np.convolve` in the place of the product",
    "cossin": "take `scipy.linalg.svd` of the blocks",
    "diagsvd": "take `np.diag(s)`, with rows or columns of zeros where the matrix is not square",
    "eig_banded": _EIGH,
    "eigh_tridiagonal": _EIGH,
    "eigvals_banded": _EIGH,
    "eigvalsh_tridiagonal": _EIGH,
    "expm_cond": "take its condition number for `codipy.value(a)`",
    "fiedler": "take `np.abs(a[:, None] - a)`",
    "fiedler_companion": "take `scipy.linalg.companion(a)`",
    "funm": "take the function by name, `scipy.linalg.expm`, `logm`, `sqrtm`, `sinm`, ...",
    "hessenberg": _UNSYMMETRIC,
    "kron": "take `np.kron`, which stands for it from SciPy 1.17 on",
    "leslie": "write the two diagonals into `np.zeros((n, n))`",
    "matmul_toeplitz": "take `scipy.linalg.toeplitz(c, r) @ x`",
    "matrix_balance": "take the matrix itself",
    "null_space": "any basis of it is right, so it has no derivative",
    "ordqz": _UNSYMMETRIC,
    "orth": "any basis is right, so it has no derivative; take `scipy.linalg.qr(a, mode='economic')[0]`",
    "orthogonal_procrustes": "take `u, _, vt = np.linalg.svd(a.T @ b)`, and `u @ vt`",
    "pinvh": "take `scipy.linalg.pinv(a)`",
    "polar": "take `w, s, vh = np.linalg.svd(a, full_matrices=False)`, and `w @ vh`, `(vh.T * s) @ vh`",
    "qr_delete": "take `scipy.linalg.qr` of the new matrix",
    "qr_insert": "take `scipy.linalg.qr` of the new matrix",
    "qr_multiply": "take `q, r = scipy.linalg.qr(a, mode='economic')`, and the product with q",
    "qr_update": "take `scipy.linalg.qr` of the new matrix",
    "qz": _UNSYMMETRIC,
    "rq": "take `q, r = scipy.linalg.qr(a[::-1].T, mode='economic')`, and `r.T[::-1, ::-1]`, `q.T[::-1]`",
    "rsf2csf": _UNSYMMETRIC,
    "signm": "it is constant but where an eigenvalue crosses the imaginary axis: say `codipy.value(a)`",
    "solve_circulant": "take `scipy.linalg.solve(scipy.linalg.circulant(c), b)`",
    "subspace_angles": "take the singular values of `qa.T @ qb`, with bases from `scipy.linalg.qr`",
}

# What takes complex matrices, by rules of the layer of complex arrays or by movements alone.
COMPLEX = {"block_diag", "cho_factor", "cho_solve", "cholesky", "circulant", "companion", "coshm", "cosm", "det",
           "eig", "eigh", "eigvals", "eigvalsh", "expm", "expm_frechet", "fractional_matrix_power", "hankel", "inv",
           "khatri_rao", "ldl", "logm", "lstsq", "lu", "lu_factor", "lu_solve", "norm", "pinv", "qr", "schur",
           "sinhm", "sinm", "solve", "solve_banded", "solve_continuous_are", "solve_continuous_lyapunov",
           "solve_discrete_are", "solve_discrete_lyapunov", "solve_sylvester", "solve_toeplitz", "solve_triangular",
           "solveh_banded", "sqrtm", "svd", "svdvals", "tanhm", "tanm", "toeplitz"}  # fmt: skip

_FAMILIES = (solving, factors, indefinite, decompositions, spectra, schur, equations, functions, structured)
FUNCTIONS = {name: function for family in _FAMILIES for name, function in family.FUNCTIONS.items()
             if hasattr(scipy.linalg, name)}  # fmt: skip
FUNCTIONS |= {name: refused(getattr(scipy.linalg, name), f"scipy.linalg.{name}", why)
              for name, why in REFUSED.items() if hasattr(scipy.linalg, name)}  # fmt: skip


def _unknown(name):
    """Whether SciPy has a function that no table here names: one of a later version."""
    return type(getattr(scipy.linalg, name)) is FunctionType and name not in FUNCTIONS and name not in PASSIVE


FUNCTIONS |= {name: refused(getattr(scipy.linalg, name), f"scipy.linalg.{name}", "it is newer than this table")
              for name in scipy.linalg.__all__ if _unknown(name)}  # fmt: skip
linalg = module_for(scipy.linalg, FUNCTIONS)
