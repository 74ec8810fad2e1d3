# SPDX-License-Identifier: Apache-2.0
"""Arguments that the function fills, in drivers of second and of sparse derivatives: as one plain run leaves them."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError
from tests.strategies import STRATEGIES, each_strategy

POINT = np.array([0.7, 0.4])


def filled(p, w):
    w[0] = p[0] * p[1]
    w[1:] = w[0] * p[1]
    return (w * w).sum()


def added(p, w):
    w += p[0] * p[1]  # another run would add once more
    w[1] *= np.sin(p[0])
    return (w * w).sum()


def along_a_view(p, w, v):
    v[0] = p[0] * p[1]
    w[0] *= p[1]
    return (w * w).sum() * p[1]


def of_two(p, w):
    return along_a_view(p, w, w[1:])


def column(p, w):
    w[:] += p * p
    return w * p


def differences(f):
    """The Hessian by central differences, each run with arrays of its own."""
    h, n = 1e-4, POINT.size
    rows, steps = np.eye(n) * h, [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)]
    return np.array([[sum(s * t * f(POINT + s * rows[i] + t * rows[j], np.ones(3)) for s, t in steps)
                      for j in range(n)] for i in range(n)]) / (4 * h * h)  # fmt: skip


ALONG = np.array([1.0, -2.0])
DRIVERS = {
    "hessian": lambda f, w, s: codipy.hessian(f, strategy=s)(POINT, w) @ ALONG,
    "hessian by name": lambda f, w, s: codipy.hessian(f, strategy=s)(POINT, w=w) @ ALONG,
    "hvp": lambda f, w, s: codipy.hvp(f, (POINT, w), (ALONG,), argnums=0, strategy=s)[0],
    "sparse hessian": lambda f, w, s: codipy.hessian(f, sparsity=True, strategy=s)(POINT, w) @ ALONG,
    "linearize": lambda f, w, s: codipy.linearize(codipy.grad(f), POINT, w, argnums=0, strategy=s)[1](ALONG),
    "jacobian of gradient": lambda f, w, s: codipy.jacobian(codipy.grad(f), strategy=s)(POINT, w) @ ALONG,
    "jvp of gradient": lambda f, w, s: codipy.jvp(codipy.grad(f), (POINT, w), (ALONG,), argnums=0, strategy=s)[1],
}


@each_strategy
@pytest.mark.parametrize("f", [filled, added, of_two])
@pytest.mark.parametrize("name", DRIVERS)
def test_second_derivatives_of_what_fills_an_argument(name, f, strategy):
    work, expected = np.ones(3), np.ones(3)
    product = DRIVERS[name](f, work, strategy)
    f(POINT, expected)
    assert product == pytest.approx(differences(f) @ ALONG, rel=1e-5, abs=1e-6)
    assert type(work) is np.ndarray and np.array_equal(work, expected)


def test_a_view_that_the_caller_passes_too():
    work, expected = np.ones(3), np.ones(3)
    view = work[1:]
    found = codipy.hessian(along_a_view)(POINT, work, view)
    along_a_view(POINT, expected, expected[1:])
    assert found == pytest.approx(differences(of_two), rel=1e-5)
    assert np.array_equal(work, expected) and view.base is work


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_sparse_jacobians(strategy):
    work = np.ones(2)
    driver = codipy.jacobian(column, sparsity=True, strategy=strategy)
    for k in (1, 2):  # the first finds the pattern, by another run
        found = driver(POINT, work).toarray()
        assert found == pytest.approx(np.diag(1.0 + (k - 1) * POINT**2 + 3.0 * POINT**2))
        assert work == pytest.approx(1.0 + k * POINT**2)
    assert codipy.sparsity(column, POINT, work, argnums=0).shape == (2, 2)
    assert codipy.hessian_sparsity(filled, POINT, work, argnums=0).shape == (2, 2)


def nested(p, w, given):
    return (codipy.grad(filled)(p, given(w)) ** 2).sum()


def test_a_driver_in_the_function_takes_a_copy():
    with pytest.raises(ActiveError, match="`w` is a plain array of NumPy"):
        codipy.grad(nested)(POINT, np.ones(3), np.asarray)
    second, first = differences(filled), codipy.grad(filled)(POINT, np.ones(3))
    work = np.ones(3)
    assert codipy.grad(nested)(POINT, work, np.copy) == pytest.approx(2.0 * second @ first, rel=1e-5)
    assert work.tolist() == [1.0] * 3


def test_what_a_driver_in_the_function_has_filled_is_not_read_outside_of_it():
    def inner(q, w):
        w[0] = q[0] * q[1]
        return (w * w).sum()

    def f(p, w):
        return (codipy.grad(inner)(p, w) ** 2).sum() * w[0]

    with pytest.raises(TapeError, match="from an earlier call or recording"):
        codipy.grad(f)(POINT, np.ones(3))
