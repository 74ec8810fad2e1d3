# SPDX-License-Identifier: Apache-2.0
"""Views of passive arrays as subclasses of `ndarray` or as other dtypes: the values of the plain run, or a refusal."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError


class Grid(np.ndarray):
    def total(self):
        return float(np.asarray(self).sum())


class Made(np.ndarray):
    def __new__(cls, values):
        return np.asarray(values, float).view(cls)


def filled():
    u = np.ones(4)
    u[1] = 4.0
    return u


READING = [
    lambda x: x * filled().view(Grid).total(),
    lambda x: x * np.asarray(filled(), float).view(type=Grid).total(),
    lambda x: x * float(np.asarray(Made(filled())).sum()),
    lambda x: x * float(filled().view(np.uint8).sum()),
    lambda x: x * float(filled().view([("a", float), ("b", float)])["b"].sum()),
]


@pytest.mark.parametrize("k", range(len(READING)))
def test_what_is_passive_is_seen(k):
    assert codipy.value_and_grad(READING[k])(3.0) == (READING[k](3.0), READING[k](1.0))


def writes_there(x):
    u = filled()
    u.view(np.int64)[0] += 1
    return x * u[0]


def writes_here(x):
    u = filled()
    v = u.view(Grid)
    u[0] = 7.0
    return x * v.total()


def test_what_is_written_is_refused():
    for f, why in ((writes_there, "wrote to an array"), (writes_here, "would not be seen")):
        with pytest.raises(ActiveError, match=why):
            codipy.grad(f)(3.0)
    with pytest.raises(TypeError, match="an active Array has no views"):
        codipy.grad(lambda x: (filled() * x).view(Grid).total())(3.0)


def test_a_list_of_arrays_that_is_added_to():
    """One that is an argument itself has derivatives; of another one the message says what to write."""

    def loss(arrays, x):
        for i in range(2):
            arrays[i] += x
        return np.sum(arrays[0] * arrays[1])

    def mended(arrays, x):
        for i in range(2):
            arrays[i] = np.array(arrays[i])
            arrays[i] += x
        return np.sum(arrays[0] * arrays[1])

    at = [np.zeros(2), np.ones(2)], np.array([1.0, 2.0])
    assert [g.tolist() for g in codipy.grad(loss)(*at)] == [[2.0, 3.0], [1.0, 2.0]]
    with pytest.raises(ActiveError, match=r"`arrays\[i\] = np.array\(arrays\[i\]\)`, before"):
        codipy.grad(loss, argnums=1)(*at)
    at = [np.zeros(2), np.ones(2)], np.array([1.0, 2.0])
    assert codipy.grad(mended, argnums=1)(*at).tolist() == [3.0, 5.0]
