# SPDX-License-Identifier: Apache-2.0
"""Distributions of several variables in `scipy.stats`: their methods are rebuilt, and what SciPy takes from `eigh` of a
covariance is differentiated without eigenvectors.

SciPy whitens with a matrix U of eigenvectors and eigenvalues, ``U U^T = inverse of M``. Eigenvectors have no derivative
where eigenvalues are equal, as in ``sigma**2 * np.eye(n)``; densities depend on ``U U^T`` alone, and any other U with
that product has the same derivatives of all orders. So the values are SciPy's, and the derivatives those of
``inverse of L^T, times Q`` for the Cholesky factor L of M and the rotation Q that makes this SciPy's U, which is held.
Of a singular matrix there is no such factor, and eigenvectors are differentiated.
"""

from __future__ import annotations

import functools
import inspect

import numpy as np
import scipy.stats
from scipy.stats import Covariance, _multivariate
from scipy.stats._multivariate import _PSD

from codipy.active.array import plain
from codipy.errors import TapeError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, refuse, value_tree
from codipy.scipy.kernels.exact import with_values_of
from codipy.tools.rebinding.rebuilt import Rebuilt, translated
from codipy.tools.rebinding.single import where_active

__all__ = ["FUNCTIONS", "MULTIVARIATE", "STANDINS"]

_WHAT = "scipy.stats, of a covariance matrix"
# Methods that are rebuilt.
_METHODS = {
    "multivariate_normal": ("pdf", "logpdf", "entropy"), "multivariate_t": ("pdf", "logpdf"),
    "matrix_normal": ("pdf", "logpdf", "entropy"), "dirichlet": ("pdf", "logpdf", "entropy"),
    "wishart": ("pdf", "logpdf", "entropy"),
}  # fmt: skip


def _refuse(kind, label):
    refuse(label, f"of active values there are {', '.join(_METHODS[kind])}: say codipy.value(x) of them")


def _without_rule(found, kind, label):
    """What a distribution has beside the methods that are rebuilt: a method says so when it is called."""
    is_public = inspect.ismethod(found) and not found.__name__.startswith("_")
    return where_active(found, label, lambda: _refuse(kind, label)) if is_public else found


def _mirrored(matrix, lower):
    """The symmetric matrix of which SciPy reads one half."""
    half = np.tril(matrix, -1) if lower else np.triu(matrix, 1)
    return half + half.T + np.diag(np.diag(matrix))


class _Spectrum:
    """What SciPy takes from a matrix, which is computed once for each."""

    def __init__(self, options, first):
        self._options, self._matrix, self._found = options, first, _PSD(np.array(first), **options)
        self.is_full = self._found.rank == len(first)

    def of(self, matrix):
        if not np.array_equal(matrix, self._matrix):
            self._found, self._matrix = _PSD(np.array(matrix), **self._options), np.array(matrix)
            if self._found.rank != len(matrix):
                raise TapeError(f"{_WHAT}: it is singular at these inputs, and was not at those of the recording: "
                                "record again")  # fmt: skip
        return self._found

    def rotation(self, matrix):
        return np.linalg.cholesky(_mirrored(matrix, self._options["lower"])).T @ self.of(matrix).U


class Whitening(_PSD):
    """What stands for SciPy's class of a symmetric matrix with its inverse and the logarithm of its determinant."""

    def __init__(self, M, cond=None, rcond=None, lower=True, check_finite=True, allow_singular=True):
        options = {"cond": cond, "rcond": rcond, "lower": lower, "check_finite": check_finite,
                   "allow_singular": allow_singular}  # fmt: skip
        spectrum = _Spectrum(options, np.array(plain(M))) if holds_active((M,)) else None
        if spectrum is None or not spectrum.is_full:
            translated(_PSD.__init__)(self, M, **options)
            return
        M = as_numbers(M)
        known = spectrum.of(plain(M))
        factor = np.linalg.cholesky(_mirrored(M, lower))
        turn = with_values_of(_WHAT, spectrum.rotation, (M,), np.zeros(np.shape(known.U)))
        self._M, self._pinv = M, None
        self.eps, self.V, self.rank = known.eps, known.V, known.rank
        self.U = with_values_of(_WHAT, lambda m: spectrum.of(m).U, (M,), np.linalg.solve(factor.T, turn))
        self.log_pdet = with_values_of(_WHAT, lambda m: spectrum.of(m).log_pdet, (M,),
                                       2.0 * np.sum(np.log(np.diag(factor))))  # fmt: skip


def _of_covariance(rebuilt, name):
    """A rebuilt method, which calls rebuilt methods of the covariances that it is given too."""
    method = getattr(rebuilt, name)
    return lambda *args, **kwds: method(*map(_whitening, args), **{key: _whitening(x) for key, x in kwds.items()})


def _whitening(x):
    return Rebuilt(x) if isinstance(x, Covariance) else x


class Multivariate:
    """What stands for a distribution of several variables."""

    def __init__(self, name):
        self._name, self._original = name, getattr(scipy.stats, name)
        rebuilt = Rebuilt(self._original)
        for method in _METHODS[name]:
            setattr(self, method, where_active(getattr(self._original, method), f"scipy.stats.{name}.{method}",
                                               functools.partial(_of_covariance, rebuilt, method)))  # fmt: skip

    @property  # type: ignore[misc]
    def __class__(self):
        return type(self._original)

    def __getattr__(self, name):
        return _without_rule(getattr(self._original, name), self._name, f"scipy.stats.{self._name}.{name}")

    def __call__(self, *args, **kwds):
        if holds_active(args) or holds_active(kwds):
            return _Frozen(self._name, args, kwds)
        return _Thawed(self._original(*value_tree(args), **value_tree(kwds)))


class _Frozen(Rebuilt):
    """What stands for one with active parameters."""

    def __init__(self, name, args, kwds):
        kind = getattr(_multivariate, f"{name}_frozen")
        super().__init__(kind.__new__(kind))
        self._name = name
        translated(kind.__init__)(self, *map(_whitening, args), **{key: _whitening(x) for key, x in kwds.items()})

    def __getattr__(self, name):
        if name in _METHODS[self._name]:
            return super().__getattr__(name)
        _refuse(self._name, f"scipy.stats.{self._name}(...).{name}")


class _Thawed(Rebuilt):
    """What stands for one with passive parameters, which SciPy has made."""

    def __init__(self, made):
        super().__init__(made)
        self._rebuilt = Rebuilt.__new__(Rebuilt)
        parts = {name: _whitening(x) for name, x in vars(made).items()}
        vars(self._rebuilt).update(parts, _original=type(made).__new__(type(made)), _dist=Rebuilt(made._dist))

    def __getattr__(self, name):
        found, kind = getattr(self._original, name), type(self._original).__name__.removesuffix("_frozen")
        label = f"scipy.stats.{kind}(...).{name}"
        if name not in _METHODS[kind]:
            return _without_rule(found, kind, label)
        return where_active(found, label, functools.partial(getattr, self._rebuilt, name))


def _rebuilt_kind(kind):
    @functools.wraps(kind, updated=())
    def made(*args, **kwds):
        return Rebuilt(kind(*args, **kwds))

    return made


MULTIVARIATE = {name: Multivariate(name) for name in _METHODS}
FUNCTIONS = {"_PSD": Whitening} | {
    kind.__name__: _rebuilt_kind(kind) for kind in (type(new._original) for new in MULTIVARIATE.values())}
STANDINS = {getattr(_multivariate, f"{name}_frozen"): _Thawed for name in _METHODS}
