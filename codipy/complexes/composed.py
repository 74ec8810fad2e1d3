# SPDX-License-Identifier: Apache-2.0
"""NumPy's Python functions on complex arrays: the operations that NumPy runs, in its order, on active elements."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from codipy.active.messages.dropped import refuse_left_out
from codipy.complexes.creation import array, as_complex
from codipy.complexes.movement import holds, move, pairs_for, plain, value_tree
from codipy.complexes.pairs import complex_of_pairs, pairs_of_complex
from codipy.complexes.record import record
from codipy.complexes.reductions import laid_out_as
from codipy.numpy import padding
from codipy.numpy.arguments import copied, refuse
from codipy.numpy.composite import apply_over_axes, element_of, placed_along, rows_along
from codipy.numpy.movement import pieces
from codipy.numpy.order import bounds, trim_zeros
from codipy.numpy.registry import COMPOSITES
from codipy.numpy.rules.building import axes_of
from codipy.numpy.ufunc_methods import in_turn
from codipy.scipy.kernels.exact import with_values_of

__all__ = ["FUNCTIONS", "as_array", "at"]


def as_array(x):
    """An array of what may be a list, a number or an array, active or plain."""
    if hasattr(x, "shape"):
        return x
    return array(np.array, x, None) if holds(x) else np.asarray(x)


def _vector(x):
    return np.atleast_1d(as_array(x))


def _leave_out(*parts):
    """Refuse to leave out zeros that have a derivative."""
    refuse_left_out([part for part in parts if np.size(plain(part))])


# ---- polynomials: the highest power first ----------------------------------------------------------------------------
def _stripped(p):
    """The coefficients without leading zeros, of which one stays; NumPy leaves them out."""
    p = _vector(p)
    if not p.size:
        return np.zeros(1, p.dtype)
    (filled,) = np.nonzero(plain(p))
    first = int(filled[0]) if filled.size else p.size - 1
    if first:
        _leave_out(p[:first])
    return p[first:]


def roots(p):
    """The eigenvalues of the companion matrix."""
    p = _vector(p)
    (filled,) = np.nonzero(plain(p))
    if p.ndim != 1 or not filled.size:
        return np.roots(plain(p))
    behind = p.size - filled[-1] - 1
    _leave_out(p[: filled[0]], p[filled[-1] + 1 :])
    p = p[filled[0] : filled[-1] + 1]
    if p.size < 2:
        return np.roots(plain(p))
    companion = np.concatenate([(-p[1:] / p[0])[None, :], np.eye(p.size - 2, p.size - 1, dtype=plain(p).dtype)])
    found = np.linalg.eigvals(companion)
    return np.concatenate([found, np.zeros(behind, plain(found).dtype)]) if behind else found


def poly(seq_of_zeros):
    """The coefficients of the polynomial with these roots; real where NumPy gives real ones."""
    zeros = np.linalg.eigvals(seq_of_zeros) if np.ndim(plain(as_array(seq_of_zeros))) == 2 else _vector(seq_of_zeros)
    found = record("poly", (as_complex(zeros),))
    return found.real if np.isrealobj(np.poly(plain(zeros))) else found


def _sum(a1, a2, combine):
    a1, a2 = _vector(a1), _vector(a2)
    missing = len(a2) - len(a1)
    zeros = np.zeros(abs(missing), (a1 if missing > 0 else a2).dtype)
    if missing > 0:
        a1 = np.concatenate((zeros, a1))
    elif missing < 0:
        a2 = np.concatenate((zeros, a2))
    return combine(a1, a2)


def polyadd(a1, a2):
    """The sum, aligned at the constants."""
    return _sum(a1, a2, np.add)


def polysub(a1, a2):
    """The difference, aligned at the constants."""
    return _sum(a1, a2, np.subtract)


def polymul(a1, a2):
    """The convolution of the coefficients."""
    return np.convolve(_stripped(a1), _stripped(a2))


def _one_polynomial(name, p):
    p = _vector(p)
    if p.ndim > 1:
        refuse(name, "coefficients with more than one dimension are known to nobody: take them row by row")
    return p


def polydiv(u, v):
    """Quotient and remainder, by long division."""
    u, v = (_one_polynomial("polydiv", x) + 0.0 for x in (u, v))
    m, n = u.size - 1, v.size - 1
    scale = 1.0 / v[0]
    r = as_complex((u + 0 * v[0]).copy())
    quotient = []
    for k in range(m - n + 1):
        d = scale * r[k]
        quotient.append(d)
        r[k : k + n + 1] -= d * v
    first = 0
    while first < r.size - 1 and np.allclose(plain(r[first]), 0, rtol=1e-14):
        first += 1
    exact = min(max(m - n + 1, 0), r.size - 1)  # division makes so many zero, whatever the coefficients are
    if first > exact:
        _leave_out(r[exact:first])
    return array(np.array, quotient, None) if quotient else np.zeros_like(plain(r[:1])), r[first:]


def polyder(p, m=1):
    """The coefficients of the m-th derivative."""
    np.polyder(plain(as_array(p)), m)  # which raises of what it cannot take
    p = _one_polynomial("polyder", p)
    for _ in range(int(m)):
        p = p[:-1] * np.arange(p.size - 1, 0, -1)
    return p


def polyint(p, m=1, k=None):
    """The coefficients of the m-th integral, with the constants `k`."""
    np.polyint(plain(as_array(p)), m, k if k is None else plain(as_array(k)))  # which raises of what it cannot take
    m, p = int(m), as_array(p)
    len(p)  # which raises of a number
    constants = np.zeros(m) if k is None else _vector(k)
    if constants.size == 1 and m > 1:
        constants = constants[0] * np.ones(m)
    for c in range(m):
        p = np.concatenate((p / np.arange(p.size, 0, -1), constants[c : c + 1]))
    return p


# ---- statistics ------------------------------------------------------------------------------------------------------
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """The matrix of covariances, of which the second factor is conjugate."""
    if fweights is not None or aweights is not None or dtype is not None:
        refuse("cov", "of complex arrays no derivative is known with fweights=, aweights= or dtype=: leave them away")
    x = np.atleast_2d(as_array(m)).astype(complex)  # covariances are of double precision
    if not rowvar and np.ndim(plain(as_array(m))) != 1:
        x = x.T
    if y is not None:
        y = np.atleast_2d(as_array(y))
        x = np.concatenate((x, y.T if not rowvar and y.shape[0] != 1 else y), axis=0)
    if not x.shape[0]:
        return np.array([]).reshape(0, 0)
    free = x.shape[1] - ((0 if bias else 1) if ddof is None else ddof)
    x = x - np.average(x, axis=1)[:, None]
    if free <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
    return np.squeeze(np.dot(x, x.T.conj()) * np.true_divide(1, max(free, 0)))


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """Covariances over the deviations."""
    c = cov(x, y, rowvar, dtype=dtype)
    if not np.ndim(plain(c)):
        return c / c
    deviation = np.sqrt(np.diag(c).real)
    c = c / deviation[:, None] / deviation[None, :]
    return np.clip(c.real, -1, 1) + 1j * np.clip(c.imag, -1, 1)


def _over(total, count):
    """In the precision of the total, as NumPy divides by counts."""
    found = total / count
    return found if found.dtype == total.dtype else found.astype(total.dtype)


def nanvar(a, axis=None, dtype=None, ddof=0, keepdims=False, *, correction=np._NoValue, **others):
    """The variance of what is not NaN."""
    if dtype is not None or any(value is not np._NoValue for value in others.values()):
        refuse("nanvar", "of complex arrays dtype=, where= and mean= are not known: leave them away")
    ddof = ddof if correction is np._NoValue else correction
    missing = np.isnan(plain(a))
    kept = np.where(missing, 0, a)
    count = np.sum(~missing, axis=axis, keepdims=True)
    away = np.where(missing, 0, kept - _over(np.sum(kept, axis=axis, keepdims=True), count))
    total = np.sum((away * away.conj()).real, axis=axis, keepdims=keepdims is True)
    return _over(total, np.sum(~missing, axis=axis, keepdims=keepdims is True) - ddof)


def nanstd(a, *args, **kwargs):
    """The deviation of what is not NaN; where it is 0, so is its derivative."""
    found = nanvar(a, *args, **kwargs)
    if not np.any(plain(found) == 0):
        return np.sqrt(found)
    still = plain(found) == 0
    return np.where(still, 0.0, np.sqrt(np.where(still, 1.0, found)))[()]


def median(a, axis=None, overwrite_input=False, keepdims=False):
    """The mean of the middle one or two, in the order of real parts, then of imaginary parts."""
    a = as_array(a)
    along = axes_of(a.ndim, axis if axis is None else normalize_axis_tuple(axis, a.ndim))
    others = [k for k in range(a.ndim) if k not in along]
    rows = np.transpose(a, (*others, *along)).reshape(*(a.shape[k] for k in others), -1)
    n = rows.shape[-1]
    ordered = np.sort(rows, axis=-1)
    found = np.mean(ordered[..., (n - 1) // 2 : n // 2 + 1], axis=-1)
    spoiled = np.isnan(plain(rows)).any(-1)
    if spoiled.any():
        found = np.where(spoiled, ordered[..., -1], found)[()]
    return np.reshape(found, [1 if k in along else m for k, m in enumerate(a.shape)]) if keepdims else found


def histogram(a, bins=10, range=None, density=None, weights=None):
    """Of weights that are complex, part by part."""
    if density:
        refuse("histogram", "of complex weights no derivative of densities is known: divide the counts")
    if weights is None or np.iscomplexobj(plain(as_array(a))):
        refuse("histogram", "complex samples have no derivative here: take `z.real`, or codipy.value(z)")
    weights = as_array(weights)
    (real, edges), (imag, _) = (np.histogram(a, bins, range, weights=part) for part in (weights.real, weights.imag))
    return real + 1j * imag, edges


# ---- order -----------------------------------------------------------------------------------------------------------
def _present(name, extreme, a, axis, others):
    """An extreme of what is not NaN."""
    if others.keys() - {"keepdims"}:
        refuse(name, "of complex arrays only axis=, keepdims= and out= are known")
    missing = np.isnan(plain(a))
    if np.any(missing.all(axis)):
        refuse(name, "a slice holds NaN only: take it out before")
    worst = -np.inf if extreme is np.max else np.inf
    return extreme(np.where(missing, complex(worst, worst), a), axis=axis, **others)


def nanmax(a, axis=None, **others):
    """The largest, of which NaN is none."""
    return _present("nanmax", np.max, a, axis, others)


def nanmin(a, axis=None, **others):
    """The smallest, of which NaN is none."""
    return _present("nanmin", np.min, a, axis, others)


def clip(a, a_min=np._NoValue, a_max=np._NoValue, *, min=np._NoValue, max=np._NoValue, **others):
    """Bounded from below, then from above."""
    if others:
        refuse("clip", "of complex arrays no keyword but the bounds and out= is known")
    low, high = bounds(a_min, a_max, min, max)
    if low is None and high is None:
        return np.positive(a)
    found = a if low is None else np.maximum(a, low)
    return found if high is None else np.minimum(found, high)


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """The elements around the kth: a movement."""
    if axis is None:
        a, axis = a.reshape(-1), -1
    found = np.take_along_axis(a, np.argpartition(plain(a), kth, axis, kind), axis)
    if not np.array_equal(plain(found), np.partition(plain(a), kth, axis, kind), equal_nan=True):
        refuse("partition", "NumPy places these elements in another order than it tells: use `np.sort`")
    return laid_out_as(a, found)


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, **more):
    """The first of each of the different elements, in order."""
    values = plain(ar)
    if axis is not None:
        refuse("unique", "of complex arrays axis= is not known: leave it away")
    if not more.get("sorted", True):
        refuse("unique", "of complex arrays sorted=False is not known: leave it away")
    _, first, *rest = np.unique(values, True, return_inverse, return_counts, equal_nan=equal_nan)
    found = ar.reshape(-1)[first]
    rest = ([first] if return_index else []) + rest
    return (found, *rest) if rest else found


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Each part by itself."""
    in_place = not copy and isinstance(plain(x), np.ndarray)
    if not (copy or in_place):
        np.array(plain(x), copy=False)      # of a number or a list: NumPy's error, where it has one
    found = x if in_place else as_complex(x)
    found = found.copy("K") if copy and found is x else found
    for part in (found.real, found.imag):
        part[...] = np.nan_to_num(part, True, nan, posinf, neginf)
    return found[()]


def pad(array, pad_width, mode="constant", **kwargs):
    """In every mode of NumPy that is no function."""
    data = padding.copied(mode, kwargs)
    if data:
        return move(np.pad, (array, pad_width, padding.filled(mode, kwargs)), kwargs, data)
    if holds(kwargs):
        refuse("pad", "active end values have no derivative: concatenate a np.linspace")
    return padding.extended(as_array(array), pad_width, mode, kwargs)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """Between ends that may be active, with the step if it is asked for."""
    if dtype is not None and np.dtype(dtype).kind != "c":
        refuse("linspace", f"dtype={np.dtype(dtype)} of active complex ends would lose the derivative: leave it away")
    if retstep and not (np.iscomplexobj(plain(as_array(start))) or np.iscomplexobj(plain(as_array(stop)))):
        made, step = np.linspace(start, stop, num, endpoint, True, axis=axis)  # whose step is real
        return made.astype(dtype), step
    options = {"num": num, "endpoint": endpoint, "retstep": bool(retstep), "dtype": dtype, "axis": axis}
    return record("linspace", (start, stop), options)


# ---- functions of functions ------------------------------------------------------------------------------------------
def piecewise(x, condlist, funclist, *args, **kw):
    """Each function sees its elements; what no condition takes is 0."""
    x = as_array(x)
    found, numbered = as_complex(np.zeros_like(plain(x))), np.arange(x.size).reshape(x.shape)
    for condition, function in zip(pieces(value_tree(condlist), len(funclist), x.ndim), funclist):
        if (places := numbered[condition]).size:
            part = function(x.reshape(-1)[places], *args, **kw) if callable(function) else function
            found[condition] = part
    return found


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """`func1d` sees each row."""
    axis, rows, lead = rows_along(axis, as_array(arr))
    results = [copied(as_array(func1d(rows[k], *args, **kwargs))) for k in np.ndindex(lead)]
    return placed_along(np.stack(results), lead, axis)


# ---- numpy.emath, whose functions of complex arrays are those of numpy ----------------------------------------------
def logn(n, x):
    """The quotient of two logarithms."""
    return np.emath.log(x) / np.emath.log(n)


# ---- writes ----------------------------------------------------------------------------------------------------------
def at(ufunc, a, indices, *b):
    """In place, one after the other where a place comes more than once."""
    _writable(f"{ufunc.__name__}.at", a)
    if not a.ndim:
        a, indices = a.reshape(1), np.zeros(np.shape(np.zeros(())[value_tree(indices)]), int)
    places = np.arange(a.size).reshape(a.shape)[value_tree(indices)]
    b = [np.broadcast_to(as_array(x), places.shape) for x in b]
    if ufunc in (np.add, np.subtract):
        ufunc.at(a.pairs, np.unravel_index(places, a.shape), *map(pairs_for, b))
        return
    given = [a.pairs.copy(), *(pairs_for(x.reshape(-1).copy()) for x in b)]
    in_turn(ufunc, a, places.reshape(-1), [x.reshape(-1) for x in b])

    def one_by_one(pairs, *others):
        z = complex_of_pairs(np.array(pairs))
        ufunc.at(z.reshape(-1), places.reshape(-1), *map(complex_of_pairs, others))
        return pairs_of_complex(z)

    # A product of arrays may have other last bits than one of two numbers.
    a.pairs[...] = with_values_of(f"np.{ufunc.__name__}.at", one_by_one, given, a.pairs.copy())


def _asked(function):
    """A function that NumPy asks for negative numbers first, which warns of complex ones that are not a number."""

    def asked(*args):
        for x in args:
            np.less(np.asarray(value_tree(x)), 0)
        return function(*args)

    return asked


def _writable(name, a):
    if not hasattr(a, "pairs"):
        refuse(name, "complex elements into such an array would lose the derivative: make it a codipy.ComplexArray")


FUNCTIONS = {
    function.__name__: function
    for function in (
        apply_along_axis, clip, corrcoef, cov, histogram, linspace, median, nan_to_num, nanmax,
        nanmin, nanstd, nanvar, pad, partition, piecewise, poly, polyadd, polyder, polydiv, polyint, polymul,
        polysub, roots, unique,
    )
}  # fmt: skip
FUNCTIONS |= {f"lib.scimath.{name}": getattr(np, name) for name in ("arccos", "arcsin", "arctanh")}
FUNCTIONS |= {f"lib.scimath.{name}": _asked(getattr(np, name)) for name in ("log", "log10", "log2", "sqrt")}
FUNCTIONS["lib.scimath.power"] = _asked(lambda x, p: np.power(element_of(x), element_of(p)))
FUNCTIONS["lib.scimath.logn"] = logn
FUNCTIONS["gradient"] = COMPOSITES["gradient"]
FUNCTIONS |= {"apply_over_axes": apply_over_axes, "trim_zeros": trim_zeros}
