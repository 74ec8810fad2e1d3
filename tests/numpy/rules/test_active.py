# SPDX-License-Identifier: Apache-2.0
"""Rules on active arrays: the same cotangents as on plain ones, and their derivatives (second order) by differences."""

import numpy as np
import pytest

import codipy
from codipy.active.array import Array, call, plain
from codipy.numpy.registry import PRIMITIVES
from tests.numpy.newer import has

RNG = np.random.default_rng(31)
M, N = RNG.uniform(0.5, 2.0, (3, 4)), RNG.uniform(0.5, 2.0, (3, 4))
V, W = RNG.uniform(0.5, 2.0, 5), RNG.uniform(0.5, 2.0, 4)
KNOTS, VALUES = np.array([0.0, 0.9, 3.0]), np.array([1.0, 5.0, 2.0])

CASES = {
    "sum": [(M, 0)], "mean": [(M, 1)], "prod": [(M,), (M, 0)], "var": [(M, 0)], "std": [(M,), (M, 0)],
    "nansum": [(M, 0)], "nanmean": [(M, 0)], "nanprod": [(M, 0)], "nanvar": [(M, 0)], "nanstd": [(M, 0)],
    "average": [(M, 1, W)], "max": [(M,), (M, 0)], "min": [(M, 0)], "nanmax": [(M, 0)], "ptp": [(M, 0)],
    "sort": [(M, 0)], "partition": [(M, 1)], "median": [(M, 0)], "nanmedian": [(M, 0)], "quantile": [(M, 0.3, 1)],
    "percentile": [(M, [10, 50])], "unique": [(V,)],
    "cumsum": [(M, 0)], "cumprod": [(M, 0)], "nancumprod": [(M, 0)], "cumulative_prod": [(V,)],
    "maximum.accumulate": [(M, 0)], "logaddexp.accumulate": [(M,)], "logaddexp.reduce": [(M,)],
    "hypot.reduce": [(M,)], "maximum.reduce": [(M,)], "multiply.reduceat": [(V, [0, 2])], "add.reduceat": [(V, [0, 2])],
    "diff": [(M, 1, 0)], "ediff1d": [(V,)], "convolve": [(V, W, "same")], "correlate": [(V, W, "full")],
    "unwrap": [(V,)],
    "matmul": [(M, W), (M, N.T.copy()), (W, M.T.copy())], "dot": [(M, W)], "inner": [(M, W)], "outer": [(V, W)],
    "vdot": [(M, N)], "vecdot": [(M, W)], "matvec": [(M, W)], "vecmat": [(W, M.T.copy())], "tensordot": [(M, N, 2)],
    "kron": [(V, W)], "cross": [(M[:, :3], N[:, 1:])], "einsum": [("ij,kj->ik", M, N), ("ii->i", M[:, :3])],
    "interp": [(V, KNOTS, VALUES)], "linspace": [(1.5, 2.5, 4)], "logspace": [(0.5, 1.5, 4)],
    "geomspace": [(0.5, 1.5, 4)],
    "polyval": [(V, W)], "polyder": [(V,)], "polyint": [(V,)], "poly": [(V,)], "polyadd": [(V, W)],
    "polymul": [(V, W)], "polydiv": [(V, W[:2])], "roots": [(np.array([1.0, -3.0, 2.0]),)], "vander": [(V, 3)],
    "polyfit": [(V, V * V * V, 1)],
    "cov": [(M,)], "corrcoef": [(M,)], "bincount": [(np.array([0, 1, 1, 2]), W)], "sinc": [(V,)], "i0": [(V,)],
}  # fmt: skip
CASES = {name: calls for name, calls in CASES.items() if has(name)}
PASSIVE = {"quantile": (1,), "percentile": (1,)}  # positions that have no derivative


def active_positions(name, args):
    return tuple(
        k for k, a in enumerate(args)
        if k not in PASSIVE.get(name, ()) and isinstance(a, float | np.ndarray) and np.asarray(a).dtype.kind == "f"
    )  # fmt: skip


def weighted(p, args, g, chosen, weights):
    """The sum of all cotangents, weighted, on arrays of any kind."""
    bars = p.vjp(g, call(p, args), args, {}, chosen)
    return bars, sum(np.sum(bar * weight) for bar, weight in zip(bars, weights))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, args", [(name, args) for name, calls in CASES.items() for args in calls])
def test_second_order(name, args):
    p = PRIMITIVES[name]
    chosen = active_positions(name, args)
    out = p.forward(*args)
    g = tuple(np.asarray(RNG.standard_normal(np.shape(o))) for o in (out if isinstance(out, tuple) else (out,)))
    g = g if isinstance(out, tuple) else g[0]
    weights = [RNG.standard_normal(np.shape(args[k])) for k in chosen]
    expected, _ = weighted(p, args, g, chosen, weights)
    tape = codipy.Tape()
    with tape:
        inputs = {k: tape.register_input(Array(args[k])) for k in chosen}
        shaken = [inputs.get(k, a) for k, a in enumerate(args)]
        found, total = weighted(p, shaken, g, chosen, weights)
        for one, other in zip(found, expected):
            np.testing.assert_allclose(plain(one), other, rtol=1e-12, atol=1e-12)
        if isinstance(total, float | np.ndarray):
            total = None
        else:
            tape.register_output(total)
    for k in chosen:
        step = 1e-6
        direction = RNG.standard_normal(np.shape(args[k]))
        moved = [
            weighted(p, [a + s * step * direction if j == k else a for j, a in enumerate(args)], g, chosen, weights)[1]
            for s in (1.0, -1.0)
        ]
        slope = (moved[0] - moved[1]) / (2.0 * step)
        if total is None:
            assert abs(slope) < 1e-6
            continue
        tape.clear_adjoints()
        total.gradient = 1.0
        tape.evaluate()
        np.testing.assert_allclose(np.sum(inputs[k].gradient * direction), slope, rtol=1e-5, atol=1e-6)
