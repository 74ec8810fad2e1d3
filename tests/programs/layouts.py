# SPDX-License-Identifier: Apache-2.0
"""What the tests of array programs share: arguments, memory layouts, and what NumPy and the scalar kernels give."""

import numpy as np
import pytest

from codipy._testing import kernels
from codipy.operations import BY_NAME

RNG = np.random.default_rng(20)


def ufunc_of(row):
    """The ufunc that means the row, None where there is none."""
    if row.numpy:
        return next(getattr(np, name) for name in row.numpy if hasattr(np, name))
    return getattr(pytest.importorskip("scipy.special"), row.scipy) if row.scipy else None


def expected(row, arguments):
    """What NumPy, SciPy or, where they have nothing, the scalar kernel gives."""
    ufunc = ufunc_of(row)
    with np.errstate(all="ignore"):
        if row.name == "scale":
            return np.ldexp(arguments[0], arguments[1].astype(int))
        if ufunc is not None:
            return ufunc(*arguments)
        scalar = np.vectorize(lambda *x: kernels.value(row.code, *x), otypes=[float])
        return scalar(*arguments)


def same_bits(a, b):
    """Whether arrays are equal to the last bit; a NaN is a NaN."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return a.shape == b.shape and bool(((a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))).all())


def draw(row, argument, shape):
    low, high = row.domain[argument]
    values = RNG.uniform(low, high, shape)
    return np.floor(values) if argument in row.constant else values


def alone(row):
    """The program that is one row."""
    return [(row.code, *range(row.arity))]


def contiguous(make):
    return make(1000)


def strided(make):
    return make(1500)[::3]


def backwards(make):
    return make(700)[::-1]


def plane(make):
    return make((70, 90))[2:-3, 1:-2]


def transposed(make):
    return make((70, 75)).T


def rows_of_three(make):
    return make((301, 3))


def part_of_rows(make):
    return make((50, 7))[:, 1:6]


def space(make):
    return make((5, 7, 12))[:, ::2, 3:9]


def long_space(make):
    return make((3, 4, 300))[:, 1:, :290]


def one(make):
    return make((1, 1))


def none(make):
    return make((4, 0, 3))


def backwards_rows(make):
    return make((9, 80))[:, ::-1]


def backwards_plane(make):
    return make((200, 5))[::-1, ::-1]


def backwards_long(make):
    return make((2, 9000))[:, ::-1]


def scalar(make):
    return make(())


LAYOUTS = [
    contiguous, strided, backwards, plane, transposed, rows_of_three, part_of_rows, space, long_space, one, none,
    scalar, backwards_rows, backwards_plane, backwards_long,
]  # fmt: skip


def layout_name(value):
    return getattr(value, "__name__", None) or getattr(value, "name", None)


def partials(row, arguments):
    """The partials of a row at each element."""
    found = []
    for x in zip(*(a.ravel().tolist() for a in arguments), strict=True):
        found.append(kernels.partials(row.code, kernels.value(row.code, *x), *x))
    return np.array(found).reshape(-1, row.arity)


def code(name):
    return BY_NAME[name].code
