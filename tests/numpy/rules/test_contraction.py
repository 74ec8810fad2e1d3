# SPDX-License-Identifier: Apache-2.0
"""einsum in every form: rules against differences."""

import numpy as np
import pytest

from codipy.numpy.rules.contraction import PRIMITIVES, parse
from tests.numpy.rules.checking import check

RNG = np.random.default_rng(11)
SIZES = {"i": 3, "j": 4, "k": 2, "l": 3, "A": 2, "B": 5}


def operand(letters):
    """An array with the sizes of its letters; a digit 1 is an axis of length 1, an ellipsis two axes."""
    letters = letters.replace("...", "AB")
    return RNG.standard_normal(tuple(1 if c == "1" else SIZES[c] for c in letters))


SPECS = [
    "ij,jk->ik", "ij,jk", "ij,ij->", "ij,ij", "ij->ji", "ij", "ji", "ij->", "ij->i", "ii", "ii->i", "ii->", "iij->ji",
    "iii", "iii->i", "i,j->ij", "i,i", "i,j", ",ij->ij", ",", "ij,jk,kl->il", "ij,jk,kl", "i,i,i->i", "ij,kj,lj->ikl",
    "ijk,k->", "bij,bjk->bik".replace("b", "A"), "ii,jj->ij", "ii,ij->j", "iij,ji->", "ij,ji->", "i,ij,j->",
    "...ij,...jk->...ik", "...i,...i", "...i,...i->...", "i...->...", "...ii->...i", "...,...->...", "...i,i",
    "i...,j...->ij...", "...->...", "ijk,jk->i", "kj,ji", " i j , j k -> i k ",
]  # fmt: skip


@pytest.mark.parametrize("optimize", [False, True, "optimal"])
@pytest.mark.parametrize("spec", SPECS)
def test_subscripts(spec, optimize):
    operands = [operand(s) for s in spec.replace(" ", "").split("->")[0].split(",")]
    check(PRIMITIVES["einsum"], [spec, *operands], {"optimize": optimize})


@pytest.mark.parametrize("spec, shapes", [
    ("...i,...i->...i", [(2, 5, 3), (5, 3)]),
    ("...i,...i->...", [(2, 1, 3), (5, 3)]),
    ("...i,i...->...", [(1, 5, 3), (3, 2, 1)]),
    ("ij,jk->ik", [(3, 1), (4, 2)]),
    ("ij,ij->", [(3, 1), (3, 4)]),
    ("ij,ij->j", [(1, 4), (3, 4)]),
    ("i,ij->", [(1,), (3, 4)]),
])  # fmt: skip
def test_broadcasting(spec, shapes):
    check(PRIMITIVES["einsum"], [spec, *(RNG.standard_normal(s) for s in shapes)])


@pytest.mark.parametrize("args", [
    ("ij", [0, 1], "jk", [1, 2], [0, 2]),
    ("ij", [0, 1], "jk", [1, 2]),
    ("ij", [30, 1], "jk", [1, 2]),
    ("ii", [0, 0], [0]),
    ("ii", [0, 0]),
    ("...ij", [Ellipsis, 0, 1], "...jk", [Ellipsis, 1, 2], [Ellipsis, 0, 2]),
    ("...i", [Ellipsis, 0], "i", [0]),
])  # fmt: skip
def test_interleaved(args):
    check(PRIMITIVES["einsum"], [operand(a) if isinstance(a, str) else a for a in args])


def test_parse():
    a = np.zeros((2, 3))
    assert parse(("ij,jk", a, a))[1:] == (["ij", "jk"], "ik")
    assert parse((a, [0, 1], a, [1, 2]))[::2] == ([0, 2], "AC")
    assert parse(("...i", a))[2] == "Zi"


def test_zero_size():
    check_shape = PRIMITIVES["einsum"].vjp(
        np.ones((2, 3)), None, ("ij,jk", np.ones((2, 0)), np.ones((0, 3))), {}, (1, 2)
    )
    assert [bar.shape for bar in check_shape] == [(2, 0), (0, 3)]
