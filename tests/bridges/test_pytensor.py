# SPDX-License-Identifier: Apache-2.0
"""Operations of PyTensor made of NumPy functions, against PyTensor's own derivatives."""

import numpy as np
import pytest

import codipy.bridges

pytensor = pytest.importorskip("pytensor")
pt = pytest.importorskip("pytensor.tensor")
X = np.linspace(0.1, 1.0, 5)


def filled(x, k):
    work = np.zeros(x.size)
    work[:] = k * np.sin(x)
    work[0] = x[1] * x[2]
    return work


def compiled(inputs, output):
    return pytensor.function(inputs, output, mode="FAST_COMPILE")


def test_gradients():
    x, k, found = pt.dvector("x"), pt.dscalar("k"), []
    theirs = pt.concatenate([(x[1] * x[2])[None], k * pt.sin(x[1:])])
    for y in (codipy.bridges.to_pytensor(filled, pt.dvector)(x, k), theirs):
        found.append(compiled([x, k], [y, *pytensor.grad((y**3).sum(), [x, k])])(X, 1.3))
    for ours, expected in zip(*found):
        np.testing.assert_allclose(ours, expected, rtol=1e-12)


def test_what_has_no_derivative_is_refused():
    x, y = pt.dvector("x"), codipy.bridges.to_pytensor(lambda x: np.sum(x**3), pt.dscalar)
    with pytest.raises(NotImplementedError):
        pytensor.gradient.hessian(y(x), x)
    with pytest.raises(TypeError, match="all must be floats"):
        y(pt.lvector("n"))
