# SPDX-License-Identifier: Apache-2.0
"""sinc and i0: rules against differences and SciPy."""

import numpy as np
import pytest

from codipy.numpy.rules.elementary import PRIMITIVES
from tests.numpy.rules.checking import check


def slope(name, *args, k=0, **kwargs):
    p = PRIMITIVES[name]
    out = p.forward(*args, **kwargs)
    return p.vjp(np.ones(np.shape(out)), out, args, kwargs, (k,))[0]


@pytest.mark.parametrize("name", ["sinc", "i0"])
def test_special(name):
    check(PRIMITIVES[name], [np.array([[0.0, 0.01, -0.15], [0.17, 2.0, -3.3]])])
    check(PRIMITIVES[name], [np.array(0.4)])


def test_sinc_slope_is_smooth_where_the_series_ends():
    x = np.nextafter(0.5 / np.pi, [0.0, 1.0])
    np.testing.assert_allclose(*slope("sinc", x), rtol=1e-13)
    np.testing.assert_allclose(slope("sinc", np.array([1e-200, 0.0, 1.0])), [-(np.pi**2) / 3 * 1e-200, 0.0, -1.0])


def test_slope_of_i0_is_i1():
    special = pytest.importorskip("scipy.special")
    x = np.concatenate((np.linspace(-700.0, 700.0, 57), [0.0, 1e-8, 29.99, 30.01]))
    np.testing.assert_allclose(slope("i0", x), special.i1(x), rtol=1e-13)
