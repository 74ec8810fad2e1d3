# SPDX-License-Identifier: Apache-2.0
"""Functions whose result is made of elements of the argument: extremes, sorting, order statistics, unique values.

Conventions: an extreme takes the derivative of the first element that equals it (of `initial` only if no element
does), a NaN result that of the first NaN; sorting is stable; a quantile has the derivative of the one or two order
statistics between which NumPy interpolates, for every method; the first occurrence of a unique value takes it.
"""

from functools import lru_cache, wraps

import numpy as np

from codipy.active.array import plain
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.rules import patterns
from codipy.numpy.rules.building import Picks, axes_of, is_plain, primitive, spread, to_rows
from codipy.tape.records.loops import first_place, first_places, sorted_places

__all__ = ["PRIMITIVES"]

FEW = 1024  # elements: below, sorting them takes less than looking for those in the middle


def _preserving(f):
    """`f` without its leave to overwrite the argument, whose values the tape may need."""

    @wraps(f)
    def forward(a, *args, overwrite_input=False, **kwargs):
        return f(np.array(a) if len(args) > 2 else a, *args, **kwargs)

    return forward


def _positions(shape, axis):
    """The flat position of every element, in rows along the reduced axes."""
    size = int(np.prod(shape, dtype=int))
    return to_rows(np.reshape(np.arange(size), shape), axis)


def _first(a, target, axis, keepdims, where):
    """Where along `axis` the result first occurs, and whether it does at all."""
    wanted = spread(target, a.shape, axis, keepdims)
    hit = a == wanted
    if np.any(np.isnan(target)):
        hit = hit | (np.isnan(a) & np.isnan(wanted))
    hit = to_rows(hit if where is True else hit & where, axis)
    found = np.any(hit, axis=-1)
    if hit.shape[-1] == 0:
        return np.zeros(found.shape, int), found
    if axis is None:
        return np.argmax(hit), found
    positions = np.take_along_axis(_positions(a.shape, axis), np.argmax(hit, axis=-1)[..., None], -1)[..., 0]
    return positions, found


def _extreme(a, out, axis, keepdims, where):
    positions, found = _first(a, out, axis, keepdims, where)
    shape = np.shape(out)
    return Picks(a.shape, (np.reshape(positions, shape), np.reshape(found, shape) * 1.0))


def _extreme_vjp(g, out, a, axis=None, out_=None, keepdims=False, initial=None, where=True):
    if a.size == 0:
        return np.zeros(a.shape)
    return _extreme(a, out, axis, keepdims, where).reverse(g)


def _extreme_jvp(t, out, a, axis=None, out_=None, keepdims=False, initial=None, where=True):
    if a.size == 0:
        return np.zeros(np.shape(out))
    return _extreme(a, out, axis, keepdims, where).forward(t)


def _extreme_rules(find):
    """The rules of np.max or np.min; `find` is np.argmax or np.argmin, which know the first place, of a NaN too."""

    def vjp(g, out, a, axis=None, out_=None, keepdims=False, initial=None, where=True):
        simple = a.size and where is True and initial is None
        if simple and axis is None and is_plain(g):  # an Array cannot go into a plain array
            bars = np.zeros(a.size)
            bars[find(a)] = np.reshape(g, ())
            return np.reshape(bars, a.shape)
        if not simple or not isinstance(axis, int) or a.ndim == 0:
            return _extreme_vjp(g, out, a, axis, out_, keepdims, initial, where)
        ones = (1,) * (a.ndim - 1 - axis % a.ndim)
        places, along = find(a, axis, keepdims=True), np.arange(a.shape[axis])
        return np.where(np.reshape(along, (-1, *ones)) == places, np.reshape(g, places.shape), 0.0)

    return {0: vjp, 4: _initial_vjp}, {0: _extreme_jvp, 4: _initial_jvp}


def _extreme_places(find):
    def places(out, a, axis=None, out_=None, keepdims=False, initial=None, where=True):
        if not np.ndim(a) or a.size == 0 or where is not True or initial is not None:
            return None
        if type(axis) is tuple and not axis:
            return None
        if axis is None or a.ndim == 1:
            place = first_place(a, out.item() if isinstance(out, np.ndarray) else out)
            return find(a) if place < 0 else place
        if not isinstance(axis, int) or a.ndim == 0:
            return None
        found = first_places(a, out, axis % a.ndim)
        if found is not None:
            return found
        if a.ndim == 2 and axis in (1, -1):
            return _rows(a.shape) + find(a, 1)
        if a.ndim == 2 and axis in (0, -2):
            return find(a, 0) * a.shape[1] + _rows((a.shape[1], 1))
        return None

    return places


def _extreme_forward(function, reduce):
    """`function` of NumPy as the reduction that it is: of a plain array nobody has to be asked once more."""

    @wraps(function)
    def forward(a, axis=None, *args, **kwargs):
        if args or type(a) is not np.ndarray:
            return function(a, axis, *args, **kwargs)
        return reduce(a, axis, None, **kwargs)

    return forward


def _extreme_primitive(name, find):
    forward = _extreme_forward(getattr(np, name), (np.maximum if find is np.argmax else np.minimum).reduce)
    return primitive(name, forward, *_extreme_rules(find), places=_extreme_places(find),
                     pattern=patterns.reduced())


def _initial(out, a, axis, keepdims, where):
    return np.reshape(~_first(a, out, axis, keepdims, where)[1], np.shape(out)) * 1.0


def _initial_vjp(g, out, a, axis=None, out_=None, keepdims=False, initial=None, where=True):
    return np.sum(g * _initial(out, a, axis, keepdims, where))


def _initial_jvp(t, out, a, axis=None, out_=None, keepdims=False, initial=None, where=True):
    return t * _initial(out, a, axis, keepdims, where)


def _range(a, axis, keepdims):
    high, low = (f(a, axis=axis, keepdims=keepdims) for f in (np.max, np.min))
    (up, one), (down, _) = (_extreme(a, w, axis, keepdims, True).terms[0] for w in (high, low))
    return Picks(a.shape, (up, one), (down, -one))


def _ptp_vjp(g, out, a, axis=None, out_=None, keepdims=False):
    return _range(a, axis, keepdims).reverse(g)


def _ptp_jvp(t, out, a, axis=None, out_=None, keepdims=False):
    return _range(a, axis, keepdims).forward(t)


def _rearranged(a, out, axis):
    """Where each element of a rearrangement along `axis` came from: ranks agree, whatever the algorithm was."""
    if axis is None:
        a, axis = np.reshape(a, -1), 0
    place = np.argsort(np.argsort(out, axis=axis, kind="stable"), axis=axis, kind="stable")
    source = np.take_along_axis(np.argsort(a, axis=axis, kind="stable"), place, axis)
    flat = np.reshape(np.arange(a.size), a.shape)
    return Picks(a.shape, (np.take_along_axis(flat, source, axis), 1.0))


@lru_cache(maxsize=32)
def _starts(rows, columns):
    starts = np.arange(rows) * columns
    starts.flags.writeable = False
    return starts


def _rows(shape):
    """The flat position of each row's first element."""
    return _starts(*shape) if shape[0] <= FEW else np.arange(shape[0]) * shape[1]


def _sort_places(out, a, axis=-1, kind=None, order=None, stable=None, descending=None):
    if descending:  # of NumPy 2.5; the rules know it by what came out
        return None
    # What is sorted stands in the order of a stable sort: equal elements are not told apart by their values.
    found = sorted_places(a) if axis in (-1, a.ndim - 1) or a.ndim == 1 else None
    if found is not None:
        return found
    if axis is None or a.ndim == 1:
        return _order(np.reshape(a, -1), np.reshape(out, -1))
    if a.ndim == 2 and axis in (1, -1):
        return _order(a, out) + _rows(a.shape)[:, None]
    return None


def _order(rows, out):
    """The stable order of rows that are `out` when they are sorted."""
    if rows.size > FEW:
        order = rows.argsort(-1)  # 20 times as fast; where no two elements are equal there is but one order
        if (out[..., 1:] > out[..., :-1]).all():
            return order
    return rows.argsort(-1, "stable")


def _sort_vjp(g, out, a, axis=-1, kind=None, order=None, stable=None, descending=None):
    return np.reshape(_rearranged(a, out, axis).reverse(g), a.shape)


def _sort_jvp(t, out, a, axis=-1, kind=None, order=None, stable=None, descending=None):
    return _rearranged(a, out, axis).forward(t)


def _partition_vjp(g, out, a, kth, axis=-1, kind="introselect", order=None):
    return _sort_vjp(g, out, a, axis)


def _partition_jvp(t, out, a, kth, axis=-1, kind="introselect", order=None):
    return _sort_jvp(t, out, a, axis)


def _demand_order(a, q, axis, skip_nan):
    if skip_nan and np.ndim(q) > 1 and len(axes_of(a.ndim, axis)) not in (1, a.ndim):
        raise ActiveError("nanquantile: no derivative is known for q of two or more axes over several axes")


def _order_statistics(a, q, axis, method, skip_nan):
    """The picks of quantiles; the place of a quantile in the sorted values is the quantile of 0, 1, 2, ...

    Asking NumPy for that place covers every method without a copy of their formulas. Of several q axes over several
    axes NumPy itself (2.4) mixes up the order in nanquantile.
    """
    _demand_order(a, q, axis, skip_nan)
    rows = to_rows(a, axis)
    order = np.argsort(plain(rows), axis=-1, kind="stable")
    sorted_positions = np.take_along_axis(_positions(a.shape, axis), order, -1)
    counts = np.sum(~np.isnan(plain(rows)), axis=-1) if skip_nan else np.full(rows.shape[:-1], rows.shape[-1])
    place = np.zeros(np.shape(q) + counts.shape)
    for n in np.unique(counts):
        if n:
            at = np.quantile(np.arange(float(n)), q, method=method)
            place = np.where(counts == n, np.reshape(at, np.shape(q) + (1,) * counts.ndim), place)
    low = np.floor(plain(place)).astype(int)
    fraction = place - low
    high = np.where(plain(fraction) > 0, low + 1, low)
    low, high = (np.moveaxis(k.reshape((-1,) + counts.shape), 0, -1) for k in (low, high))
    low, high = (np.moveaxis(np.take_along_axis(sorted_positions, k, -1), -1, 0) for k in (low, high))
    return [(np.reshape(k, place.shape), w * (counts > 0)) for k, w in ((low, 1.0 - fraction), (high, fraction))]


def _quantile_picks(out, a, q, axis, method, keepdims, weights, skip_nan):
    shape = np.shape(out)
    if not a.size:
        return Picks(a.shape, (np.zeros(shape, int), np.zeros(shape)))
    if weights is None:
        terms = _order_statistics(a, as_numbers(q), axis, method, skip_nan)
        return Picks(a.shape, *((np.reshape(k, shape), np.reshape(w, shape)) for k, w in terms))
    # Weighted quantiles are elements of the argument (the only method NumPy has is the inverted distribution).
    hits = [_first(a, value, axis, keepdims, True) for value in np.reshape(out, (-1,) + shape[np.ndim(q) :])]
    positions, found = (np.reshape([hit[k] for hit in hits], shape) for k in (0, 1))
    return Picks(a.shape, (positions, found * 1.0))


# Methods that go from element to element by lines, with the constants of their formula; the others jump.
_LINES = {
    "linear": (1.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
    "interpolated_inverted_cdf": (0.0, 1.0),
}


def _quantile_slopes(a, q, axis, method, weights, skip_nan):
    """The slopes of quantiles by q, of shape ``(*q.shape, *batch)``: of the line to the right, at the end to the left.

    Quantile q of n elements is at the place ``(n + 1 - alpha - beta)*q + alpha - 1``, within the first and the last.
    """
    _demand_order(a, q, axis, skip_nan)
    rows = np.sort(to_rows(a, axis), -1)
    counts = np.sum(~np.isnan(plain(rows)), axis=-1) if skip_nan else np.full(rows.shape[:-1], rows.shape[-1])
    if weights is not None or method not in _LINES:
        return np.zeros(np.shape(q) + counts.shape)
    alpha, beta = _LINES[method]
    places = counts + 1 - alpha - beta
    # The slope is constant between two elements.
    place = places * np.reshape(plain(q), np.shape(q) + (1,) * counts.ndim) + alpha - 1
    low = np.maximum(np.minimum(np.floor(place), counts - 2), 0).astype(int)
    high = np.maximum(np.minimum(low + 1, counts - 1), 0)
    ends = (np.moveaxis(k.reshape((-1,) + counts.shape), 0, -1) for k in (high, low))
    above, below = (np.moveaxis(np.take_along_axis(rows, k, -1), -1, 0).reshape(place.shape) for k in ends)
    return np.where((place >= 0) & (place <= counts - 1), (above - below) * places, 0.0)


def _quantile_rules(scale, skip_nan):
    def slopes(out, a, q, axis=None, out_=None, overwrite_input=False, method="linear", keepdims=False, weights=None):
        q = as_numbers(q) / scale
        return _quantile_slopes(a, q, axis, method, weights, skip_nan) / scale

    def by_q(g, out, a, q, *args, **kwargs):
        found = slopes(out, a, q, *args, **kwargs)
        return np.sum(np.reshape(g, found.shape) * found, axis=tuple(range(np.ndim(q), found.ndim)))

    def along_q(t, out, a, q, *args, **kwargs):
        found = slopes(out, a, q, *args, **kwargs)
        return np.reshape(found * np.reshape(t, np.shape(q) + (1,) * (found.ndim - np.ndim(q))), np.shape(out))

    def picks(out, a, q, axis=None, out_=None, overwrite_input=False, method="linear", keepdims=False, weights=None):
        q = as_numbers(q) / scale
        return _quantile_picks(out, a, q, axis, method, keepdims, weights, skip_nan)

    return {0: lambda g, *args, **kwargs: picks(*args, **kwargs).reverse(g), 1: by_q}, {
        0: lambda t, *args, **kwargs: picks(*args, **kwargs).forward(t),
        1: along_q,
    }


def _median_rules(skip_nan):
    def picks(out, a, axis=None, out_=None, overwrite_input=False, keepdims=False):
        return _quantile_picks(out, a, 0.5, axis, "linear", keepdims, None, skip_nan)

    return {0: lambda g, *args, **kwargs: picks(*args, **kwargs).reverse(g)}, {
        0: lambda t, *args, **kwargs: picks(*args, **kwargs).forward(t)
    }


def _median_places(out, a, axis=None, out_=None, overwrite_input=False, keepdims=False):
    n = np.size(a)
    if axis is not None or n == 0 or np.isnan(out).any():
        return None
    flat = np.reshape(a, -1)
    ends = (n // 2,) if n % 2 else (n // 2 - 1, n // 2)
    order = flat.argsort(kind="stable") if n <= FEW else flat.argpartition(ends)
    return order[ends[0] : ends[-1] + 1]


def _unique(a, *args, **kwargs):
    """Along an axis NumPy shows an array of rows, whose dtype, a field for each column, would stay on the tape."""
    out = np.unique(a, *args, **kwargs)
    first, *others = out if isinstance(out, tuple) else (out,)
    if first.base is not None and first.base.dtype.names:
        first = first.copy("K").view()  # a view, as NumPy's
    return (first, *others) if isinstance(out, tuple) else first


def _unique_source(out, a, axis, equal_nan):
    values = out[0] if isinstance(out, tuple) else out
    flat = np.reshape(np.arange(a.size), a.shape)
    if axis is not None:
        first = np.unique(a, return_index=True, axis=axis, equal_nan=equal_nan)[1]
        return Picks(a.shape, (np.take(flat, first, axis), 1.0))
    row = np.reshape(a, -1)
    order = np.argsort(row, kind="stable")
    return Picks(a.shape, (order[np.searchsorted(row[order], values)], 1.0))


def _unique_vjp(g, out, a, *flags, axis=None, equal_nan=True, **others):
    axis = flags[3] if len(flags) > 3 else axis
    return _unique_source(out, a, axis, equal_nan).reverse(g[0] if isinstance(out, tuple) else g)


def _unique_jvp(t, out, a, *flags, axis=None, equal_nan=True, **others):
    axis = flags[3] if len(flags) > 3 else axis
    tangent = _unique_source(out, a, axis, equal_nan).forward(t)
    return (tangent,) + (None,) * (len(out) - 1) if isinstance(out, tuple) else tangent


_EXTREME = {0: _extreme_vjp, 4: _initial_vjp}, {0: _extreme_jvp, 4: _initial_jvp}

PRIMITIVES = {
    p.name: p
    for p in (
        *(_extreme_primitive(name, np.argmax) for name in ("max", "amax")),
        *(_extreme_primitive(name, np.argmin) for name in ("min", "amin")),
        *(primitive(f.__name__, f, *_EXTREME, pattern=patterns.reduced()) for f in (np.nanmax, np.nanmin)),
        primitive("ptp", np.ptp, {0: _ptp_vjp}, {0: _ptp_jvp}, keep_out=False, pattern=patterns.reduced()),
        primitive("sort", np.sort, {0: _sort_vjp}, {0: _sort_jvp}, places=_sort_places, pattern=patterns.along(1)),
        primitive("partition", np.partition, {0: _partition_vjp}, {0: _partition_jvp}, pattern=patterns.along(2)),
        primitive("median", _preserving(np.median), *_median_rules(False), places=_median_places,
                  pattern=patterns.reduced()),
        primitive("nanmedian", _preserving(np.nanmedian), *_median_rules(True), pattern=patterns.reduced()),
        primitive("quantile", _preserving(np.quantile), *_quantile_rules(1, False)),
        primitive("nanquantile", _preserving(np.nanquantile), *_quantile_rules(1, True)),
        primitive("percentile", _preserving(np.percentile), *_quantile_rules(100, False)),
        primitive("nanpercentile", _preserving(np.nanpercentile), *_quantile_rules(100, True)),
        primitive("unique", _unique, {0: _unique_vjp}, {0: _unique_jvp}),
        *(
            primitive(f.__name__, f, {0: _unique_vjp}, {0: _unique_jvp})
            for f in (np.unique_values, np.unique_all, np.unique_counts, np.unique_inverse)
        ),
    )
}
