# SPDX-License-Identifier: Apache-2.0
"""Products of vectors, matrices and tensors: rules against differences for every combination of shapes."""

import warnings

import numpy as np
import pytest

from codipy.errors import ActiveError
from codipy.numpy.rules.products import PRIMITIVES
from tests.numpy.newer import has
from tests.numpy.rules.checking import check

RNG = np.random.default_rng(13)


def arrays(*shapes):
    return [RNG.standard_normal(shape) for shape in shapes]


@pytest.mark.parametrize("shapes", [
    ((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)),
    ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 1, 2, 3), (4, 3, 2)),
    ((1, 2, 3), (5, 3, 4)), ((1, 3), (3, 1)), ((6, 5, 1, 3), (3,)), ((3,), (6, 5, 3, 1)), ((1,), (1,)),
    ((2, 0), (0, 3)),
])  # fmt: skip
def test_matmul(shapes):
    check(PRIMITIVES["matmul"], arrays(*shapes))


@pytest.mark.parametrize("name, shapes", [case for case in [
    ("matvec", ((2, 3), (3,))), ("matvec", ((5, 2, 3), (3,))), ("matvec", ((2, 3), (5, 3))),
    ("matvec", ((5, 1, 2, 3), (4, 3))), ("vecmat", ((3,), (3, 2))), ("vecmat", ((3,), (5, 3, 2))),
    ("vecmat", ((5, 3), (3, 2))), ("vecmat", ((4, 3), (5, 1, 3, 2))), ("vecdot", ((3,), (3,))),
    ("vecdot", ((5, 3), (3,))), ("vecdot", ((5, 1, 3), (4, 3))), ("vecdot", ((1, 3), (4, 3))),
] if has(case[0])])  # fmt: skip
def test_generalised_ufuncs(name, shapes):
    check(PRIMITIVES[name], arrays(*shapes))


def test_vecdot_along_an_axis():
    for axis in (0, 1, -1):
        check(PRIMITIVES["vecdot"], arrays((3, 3, 2), (3, 3, 2)), {"axis": axis})
        check(PRIMITIVES["vecdot"], arrays((3, 3, 2), (3, 3, 2)), {"axis": axis, "keepdims": True})


def test_axes_are_refused():
    a, b = arrays((2, 3), (3, 4))
    kwargs = {"axes": [(0, 1), (0, 1), (0, 1)]}
    with pytest.raises(ActiveError, match="matmul"):
        PRIMITIVES["matmul"].vjp(np.ones((2, 4)), a @ b, (a, b), kwargs, (0,))


@pytest.mark.parametrize("shapes", [
    ((), ()), ((), (3, 2)), ((2, 3), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)),
    ((5, 2, 3), (4, 3, 6)), ((5, 2, 3), (3,)), ((3,), (4, 3, 2)),
])  # fmt: skip
def test_dot(shapes):
    check(PRIMITIVES["dot"], arrays(*shapes))


@pytest.mark.parametrize("shapes", [
    ((), ()), ((), (3, 2)), ((2, 3), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (4, 3)), ((5, 2, 3), (4, 3)),
])  # fmt: skip
def test_inner(shapes):
    check(PRIMITIVES["inner"], arrays(*shapes))


@pytest.mark.parametrize("shapes", [((3,), (4,)), ((2, 3), (4,)), ((), (2, 2)), ((1,), (3, 2))])
def test_outer(shapes):
    check(PRIMITIVES["outer"], arrays(*shapes))


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 3), (2, 3)), ((2, 3), (6,)), ((), ())])
def test_vdot(shapes):
    check(PRIMITIVES["vdot"], arrays(*shapes))


@pytest.mark.parametrize("shapes, axes", [
    (((3, 4, 2), (4, 2, 5)), 2), (((3, 4), (4, 5)), 1), (((3,), (4, 5)), 0), (((3, 4), (3, 4)), 2),
    (((3, 4, 2), (4, 3, 5)), ((0, 1), (1, 0))), (((3, 4, 2), (5, 2, 3)), ([2, 0], [1, 2])),
    (((3, 4, 2), (3, 2)), ((0, 2), (0, 1))), (((3, 4), (4,)), (1, 0)), (((3, 4), (4, 5)), (-1, -2)),
    (((2, 3, 4, 5), (5, 3, 2)), ((0, 3, 1), (2, 0, 1))), (((), ()), 0), (((), (3, 2)), 0),
])  # fmt: skip
def test_tensordot(shapes, axes):
    check(PRIMITIVES["tensordot"], [*arrays(*shapes), axes])
    check(PRIMITIVES["tensordot"], arrays(*shapes), {"axes": axes})


@pytest.mark.parametrize("shapes", [
    ((2,), (3,)), ((2, 3), (4, 5)), ((3,), (2, 2)), ((2, 2), (3,)), ((2, 1, 3), (2, 2)), ((), (2, 3)), ((2, 3), ()),
])  # fmt: skip
def test_kron(shapes):
    check(PRIMITIVES["kron"], arrays(*shapes))


# NumPy 2.5 takes vectors of three dimensions only.
FLAT = [] if hasattr(np.polynomial.polynomial, "polyvalnd") else [
    (((4, 2), (4, 3)), {}), (((4, 3), (4, 2)), {}), (((4, 2), (4, 2)), {}), (((2,), (5, 2)), {}),
]  # fmt: skip


@pytest.mark.parametrize("shapes, kwargs", [
    (((3,), (3,)), {}), (((4, 3), (4, 3)), {}), (((4, 3), (3,)), {}), (((1, 3), (5, 3)), {}),
    (((3, 4), (3, 4)), {"axis": 0}), (((3, 4), (4, 3)), {"axisa": 0}),
    (((5, 3, 4), (5, 4, 3)), {"axisa": 1, "axisc": 0}),
    *FLAT,
])  # fmt: skip
def test_cross(shapes, kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        check(PRIMITIVES["cross"], arrays(*shapes), kwargs)
