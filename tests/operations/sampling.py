# SPDX-License-Identifier: Apache-2.0
"""Arguments for the operations' tests: inside a row's domain, at its edges, and any double at all."""

import itertools
import math
import random
import struct

from codipy.operations import TABLE

SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 3.0, 1 / 3, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 1e300, -1e300,
    1.7976931348623157e308, 709.0, 710.0, -745.0, 1e16, 1e22, math.pi / 2, 171.7, math.inf, -math.inf, math.nan,
]  # fmt: skip


def bits(x):
    """The eight bytes of a double: they tell zeros apart, and all NaN are one."""
    return struct.pack("d", math.nan if x != x else x)


def names(rows=TABLE):
    return [row.name for row in rows]


def _any_double(rng):
    kind = rng.random()
    if kind < 0.3:
        return struct.unpack("d", struct.pack("Q", rng.getrandbits(64)))[0]
    if kind < 0.6:
        return rng.uniform(-10, 10)
    if kind < 0.7:
        return float(rng.randint(-30, 30))
    if kind < 0.85:
        return rng.choice([-1, 1]) * 10 ** rng.uniform(-18, 18)
    return rng.uniform(-800, 800)


def _as_row(row, arguments):
    """Whole numbers where the row wants them."""
    return tuple(
        float(int(max(-5000.0, min(a, 5000.0)))) if k in row.constant and a == a else 1.0 if k in row.constant else a
        for k, a in enumerate(arguments)
    )


def anywhere(row, count, seed=1):
    """All pairs of special values, the row's edges, and `count` random doubles of every size."""
    rng = random.Random(f"{row.name} {seed}")
    few = SPECIAL if row.arity < 3 else SPECIAL[::3]
    points = list(itertools.product(few, repeat=row.arity)) + list(row.edges)
    points += [tuple(_any_double(rng) for _ in range(row.arity)) for _ in range(count)]
    return [_as_row(row, point) for point in points]


def inside(row, count, seed=1):
    """The corners of the row's domain and `count` random points of it."""
    rng = random.Random(f"{row.name} {seed}")
    domain = row.domain[: row.arity]
    points = list(itertools.product(*domain))
    points += [tuple(rng.uniform(*interval) for interval in domain) for _ in range(count)]
    return [_as_row(row, point) for point in points]


def slope(f, x, step):
    """The derivative of `f` at `x` by extrapolated central differences (Ridders), and the error it promises."""
    best, error, previous = math.nan, math.inf, []
    for k in range(10):
        h = step / 2**k
        high, low = x + h, x - h
        row = [(f(high) - f(low)) / (high - low)]
        for j, coarse in enumerate(previous):
            row.append(row[j] + (row[j] - coarse) / (4 ** (j + 1) - 1))
            spread = max(abs(row[-1] - row[-2]), abs(row[-1] - coarse))
            if spread < error:
                best, error = row[-1], spread
        previous = row
    return best, error
