# SPDX-License-Identifier: Apache-2.0
"""Covariances and correlations, and counts whose weights are active.

Conventions: the bins of a histogram are found from plain values; counts do not depend on where the samples lie, and the
edges that NumPy takes from the extremes of the samples follow the first of each. The correlation of a variable with
itself is constant.
"""

import numpy as np

from codipy.active.array import plain
from codipy.errors import ActiveError
from codipy.numpy.rules.building import dense, primitive

__all__ = ["COMPOSITES", "PRIMITIVES"]


def _variables(m, rowvar, is_second=False):
    """One row for each variable."""
    rows = m if m.ndim == 2 else np.reshape(m, (1, -1))
    turn = not rowvar and (rows.shape[0] != 1 if is_second else m.ndim != 1)
    return rows.T if turn else rows


def _restored(rows, m, rowvar, is_second=False):
    """A cotangent of the variables, in the shape of the argument."""
    turn = not rowvar and (m.ndim == 2 and m.shape[0] != 1 if is_second else m.ndim != 1)
    return np.reshape(rows.T if turn else rows, m.shape)


class _Covariance:
    """What the rules of cov share: centred variables, weights, divisor."""

    def __init__(self, m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None):
        m, y = dense(m), dense(y)
        self.m, self.y, self.rowvar = m, y, rowvar
        first = _variables(m, rowvar)
        self.split = first.shape[0]
        x = first if y is None else np.concatenate((first, _variables(y, rowvar, True)), axis=0)
        ddof = (0 if bias else 1) if ddof is None else ddof
        n = x.shape[1]
        w = np.ones(n)
        w = w if fweights is None else w * np.asarray(fweights)
        counts, aweights = w, dense(aweights)
        w = w if aweights is None else w * aweights
        total = np.sum(w)
        excess = ddof if aweights is None else ddof * np.sum(w * aweights) / total
        # The weighted sum of the centred variables is 0, so that the mean contributes no derivative.
        self.centred = x - np.sum(x * w, axis=1, keepdims=True) / total
        self.divisor = np.maximum(total - excess, 0.0)
        self.weighted = self.centred * (w / self.divisor)
        self._counts, self._slopes = counts, (None if aweights is None else (ddof * 2.0 * aweights - excess) / total)

    @property
    def value(self):
        return np.matmul(self.centred, self.weighted.T)

    def reverse(self, g):
        """Cotangents of both arguments."""
        g = np.reshape(g, (self.centred.shape[0],) * 2)
        found = np.matmul(g + g.T, self.weighted)
        first = _restored(found[: self.split], self.m, self.rowvar)
        return first, None if self.y is None else _restored(found[self.split :], self.y, self.rowvar, True)

    def by_weights(self, g):
        """The cotangent of `aweights`, on which the divisor depends too."""
        g = np.reshape(g, (self.centred.shape[0],) * 2)
        own = np.sum(self.centred * np.matmul(g, self.centred), axis=0)
        return self._counts * (own - np.sum(g * self.value) * (1.0 - self._slopes)) / self.divisor

    def along_weights(self, t):
        """The tangent of the whole matrix for that of `aweights`."""
        moved = self._counts * t / self.divisor
        return np.matmul(self.centred, (self.centred * moved).T) - self.value * np.sum((1.0 - self._slopes) * moved)

    def forward(self, t, part):
        """The tangent of the whole matrix."""
        rows = _variables(t, self.rowvar, part == 1)
        behind = self.centred.shape[0] - rows.shape[0]
        rest = np.zeros((behind, rows.shape[1]))
        half = np.matmul(np.concatenate((rest, rows) if part else (rows, rest), axis=0), self.weighted.T)
        return half + half.T


def _cov_rules(part):
    def vjp(g, out, *args, **kwargs):
        return _Covariance(*args, **kwargs).reverse(g)[part] if np.size(out) else None

    def jvp(t, out, *args, **kwargs):
        if not np.size(out):  # of no variables, whatever stands beside them
            return np.zeros(np.shape(out))
        return np.reshape(_Covariance(*args, **kwargs).forward(t, part), np.shape(out))

    return vjp, jvp


def _cov_by_weights(g, out, *args, **kwargs):
    return _Covariance(*args, **kwargs).by_weights(g)


def _cov_along_weights(t, out, *args, **kwargs):
    return np.reshape(_Covariance(*args, **kwargs).along_weights(t), np.shape(out))


def _scales(c):
    return np.sqrt(np.diagonal(c))


def _corrcoef_rules(part):
    def vjp(g, out, x, y=None, rowvar=True, dtype=None):
        if not np.size(out):
            return None
        covariance = _Covariance(x, y, rowvar)
        c = covariance.value
        s = _scales(c)
        g = np.where(np.eye(s.size) == 1, 0.0, np.reshape(g, c.shape))
        shared = g / (s[:, None] * s)
        own = -0.5 * (np.sum(shared * c, axis=0) + np.sum(shared * c, axis=1)) / np.diagonal(c)
        return covariance.reverse(shared + np.diag(own))[part]

    def jvp(t, out, x, y=None, rowvar=True, dtype=None):
        if not np.size(out):
            return np.zeros(np.shape(out))
        covariance = _Covariance(x, y, rowvar)
        c = covariance.value
        s = _scales(c)
        change = covariance.forward(t, part)
        own = 0.5 * np.diagonal(change) / np.diagonal(c)
        tangent = change / (s[:, None] * s) - c / (s[:, None] * s) * (own[:, None] + own)
        return np.reshape(np.where(np.eye(s.size) == 1, 0.0, tangent), np.shape(out))

    return vjp, jvp


def _by_position(rules):
    return ({k: rules(k)[i] for k in (0, 1)} for i in (0, 1))


def _bincount_vjp(g, out, x, weights=None, minlength=0):
    return g[np.asarray(x, np.intp).reshape(weights.shape)]  # numbers of bins, also where they are given as truths


def _bincount_jvp(t, out, x, weights=None, minlength=0):
    return np.bincount(x, t, minlength)


def _bins(a, edges):
    """The bin of each sample, the last edge included, and whether there is one."""
    a = np.reshape(a, -1)
    place = np.searchsorted(edges, a, side="right") - 1
    place = np.where(a == edges[-1], edges.size - 2, place)
    inside = (place >= 0) & (place < edges.size - 1)
    return np.where(inside, place, 0), inside


def _histogram_vjp_weights(g, out, a, bins=10, range=None, density=None, weights=None):
    counts, edges = out
    g = g[0]
    place, inside = _bins(a, edges)
    if density:
        # counts = n / width / sum(n): a sample adds to its bin and, through the sum, takes from all of them.
        width = np.diff(edges)
        total = np.sum(np.where(inside, np.reshape(weights, -1), 0.0))
        g = (g / width - np.sum(g * counts)) / total
    return np.reshape(np.where(inside, g[place], 0.0), weights.shape)


def _histogram_jvp_weights(t, out, a, bins=10, range=None, density=None, weights=None):
    counts, edges = out
    place, inside = _bins(a, edges)
    change = np.bincount(place, np.where(inside, np.reshape(t, -1), 0.0), edges.size - 1)
    if density:
        total = np.sum(np.where(inside, np.reshape(weights, -1), 0.0))
        change = (change / np.diff(edges) - counts * np.sum(change)) / total
    return change, np.zeros(edges.shape)


def _edge_shares(a, edges, bins, range, density):
    """How the edges of equal bins hang on the samples: shares of the first minimum and of the first maximum."""
    if np.ndim(bins) or range is not None or not a.size:
        return None
    if isinstance(bins, str) or density:
        raise ActiveError("histogram: no derivative of chosen bins or of densities is known with respect to samples")
    share = np.arange(edges.size) / (edges.size - 1)
    flat = np.reshape(a, -1)
    return np.argmin(flat), np.argmax(flat), share


def _histogram_vjp_samples(g, out, a, bins=10, range=None, density=None, weights=None):
    found = _edge_shares(a, out[1], bins, range, density)
    if found is None or g[1] is None:
        return np.zeros(a.shape)
    low, high, share = found
    ends = np.matmul(np.stack([1.0 - share, share]), g[1])
    return np.reshape(np.bincount(np.stack([low, high]), ends, a.size), a.shape)


def _histogram_jvp_samples(t, out, a, bins=10, range=None, density=None, weights=None):
    found = _edge_shares(a, out[1], bins, range, density)
    still = None if out[0].dtype.kind in "iu" else np.zeros(out[0].shape)
    if found is None:
        return still, np.zeros(out[1].shape)
    low, high, share = found
    flat = np.reshape(t, -1)
    return still, flat[low] * (1.0 - share) + flat[high] * share


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """`numpy.histogram_bin_edges` of active samples, for a number of bins."""
    if isinstance(bins, str):
        raise ActiveError("histogram_bin_edges: no derivative of chosen bins is known; pass a number of bins")
    ends = range if range is None else [plain(end) for end in range]
    np.histogram_bin_edges(plain(a), plain(bins), ends, plain(weights))  # which raises of what has none
    if np.ndim(bins):
        edges = dense(bins)
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError("bins must increase monotonically")
        return edges
    if range is not None or np.size(a) == 0:
        low, high = (0.0, 1.0) if range is None else range
    else:
        low, high = (f(np.reshape(a, -1)) for f in (np.min, np.max))
    if plain(low) == plain(high):
        low, high = low - 0.5, high + 0.5
    dtype = np.result_type(plain(low), plain(high), getattr(a, "dtype", float))  # to which the edges are rounded
    return np.linspace(low, high, bins + 1, dtype=dtype if dtype.kind == "f" else float)


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """`numpy.histogramdd` of active samples and weights: one count of the flattened bins, as NumPy does it."""
    columns = hasattr(sample, "shape") and np.ndim(sample) == 2  # NumPy would look into a list of active samples
    if columns:
        samples = [sample[:, k] for k in np.arange(sample.shape[1])]
    else:  # one variable, or a list of them
        several = not hasattr(sample, "shape") and hasattr(sample, "__len__") and any(np.ndim(x) for x in sample)
        if (max(map(np.ndim, sample)) + 1 if several else np.ndim(sample)) > 2:
            raise ValueError("too many values to unpack (expected 2)")  # which is what NumPy says, of the axes
        if not several:
            sample = [np.reshape(np.stack(sample) if hasattr(sample, "append") and sample else dense(sample), -1)]
        samples = [dense(x) for x in sample]
    bins = bins if hasattr(bins, "__len__") else [bins] * len(samples)
    range = [None] * len(samples) if range is None else range
    if not len(bins) == len(range) == len(samples):
        raise ValueError(f"{len(samples)} variables, but bins for {len(bins)} and ranges for {len(range)}")
    # Ends that are not those of the samples are doubles.
    edges = [histogram_bin_edges(x if np.size(x) and ends is None else np.zeros(0), count, ends)
             for x, count, ends in zip(samples, bins, range)]
    shape = tuple(e.size + 1 for e in edges)  # with one bin for what lies outside at each end
    places = []
    for x, e in zip(samples, edges):
        place = np.searchsorted(e, x, side="right")
        places.append(np.where(x == e[-1], place - 1, place))
    size = int(np.prod(shape))
    flat = np.bincount(np.ravel_multi_index(tuple(places), shape), None if weights is None else dense(weights), size)
    flat = flat.astype(float) if flat.dtype.kind == "i" else flat  # also of no samples with weights
    counts = np.reshape(flat, shape)[(slice(1, -1),) * len(shape)]
    if density:
        total = np.sum(counts)
        for k, e in enumerate(edges):
            counts = counts / np.reshape(np.diff(e), tuple(-1 if i == k else 1 for i, _ in enumerate(shape)))
        counts = counts / total
    return counts, edges


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """`numpy.histogram2d` of active weights."""
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if hasattr(bins, "__len__") and len(bins) not in (1, 2):
        bins = [np.asarray(bins)] * 2
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, *edges


PRIMITIVES = {
    p.name: p
    for p in (
        primitive("cov", np.cov, *(rules | {6: own} for rules, own in zip(
            _by_position(_cov_rules), (_cov_by_weights, _cov_along_weights))), keep_out=False),
        primitive("corrcoef", np.corrcoef, *_by_position(_corrcoef_rules), keep_out=False),
        primitive("bincount", np.bincount, {1: _bincount_vjp}, {1: _bincount_jvp}, keep_out=False),
        primitive(
            "histogram", np.histogram, {0: _histogram_vjp_samples, 4: _histogram_vjp_weights},
            {0: _histogram_jvp_samples, 4: _histogram_jvp_weights},
        ),
    )
}  # fmt: skip

COMPOSITES = {"histogram_bin_edges": histogram_bin_edges, "histogramdd": histogramdd, "histogram2d": histogram2d}
