# SPDX-License-Identifier: Apache-2.0
"""Least squares, triangular equations and singular values of sparse matrices with active values; graphs say why not."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import STRATEGIES

sp = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")
csgraph = pytest.importorskip("scipy.sparse.csgraph")

SHAPE = (7, 4)
ROWS = np.array([0, 1, 2, 3, 4, 5, 6, 0, 2, 5, 6])
COLUMNS = np.array([0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 0])
POINT = 1.0 + 0.5 * np.cos(3.0 * np.arange(11)) + 0.1 * np.arange(11)
RIGHT = np.linspace(0.4, 1.3, 7)
EXACT = {"atol": 1e-14, "btol": 1e-14}
V0 = np.ones(4)


def tall(x, form="csr"):
    return sp.coo_array((x, (ROWS, COLUMNS)), shape=SHAPE).asformat(form)


def lower(x, form="csr"):
    return sp.coo_array((x[:7], ([0, 1, 2, 3, 1, 3, 2], [0, 1, 2, 3, 0, 1, 1])), shape=(4, 4)).asformat(form)


CASES = {
    "lsqr": lambda x: linalg.lsqr(tall(x), RIGHT * x[0], **EXACT)[0],
    "lsqr, of columns": lambda x: linalg.lsqr(tall(x, "csc"), RIGHT, **EXACT)[0],
    "lsqr, norms": lambda x: np.stack([linalg.lsqr(tall(x), RIGHT, **EXACT)[k] for k in (3, 4, 8)]),
    "lsqr, damped": lambda x: linalg.lsqr(tall(x), RIGHT, damp=0.7, **EXACT)[0],
    "lsqr, damped norms": lambda x: np.stack([linalg.lsqr(tall(x), RIGHT, damp=0.7, **EXACT)[k] for k in (3, 4, 8)]),
    "lsqr, wide": lambda x: linalg.lsqr(tall(x).T, RIGHT[:4] * x[1], **EXACT)[0],
    "lsqr, wide and damped": lambda x: linalg.lsqr(tall(x).T, RIGHT[:4], damp=0.3, **EXACT)[0],
    "lsqr, of a passive matrix": lambda x: linalg.lsqr(tall(POINT), x[:7], **EXACT)[0],
    "lsqr, damped as its message says": lambda x: linalg.lsqr(
        sp.vstack([tall(x), x[0] * sp.eye(tall(x).shape[1])]), np.concatenate([RIGHT, np.zeros(tall(x).shape[1])]),
        **EXACT)[0],
    "lsqr, of an ndarray": lambda x: linalg.lsqr(tall(POINT).toarray(), x[:7], **EXACT)[0],
    "lsmr": lambda x: linalg.lsmr(tall(x), RIGHT * x[0], **EXACT)[0],
    "lsmr, norms": lambda x: np.stack([linalg.lsmr(tall(x), RIGHT, damp=0.2, **EXACT)[k] for k in (3, 7)]),
    "triangular": lambda x: linalg.spsolve_triangular(lower(x), RIGHT[:4] * x[0]),
    "triangular of columns": lambda x: linalg.spsolve_triangular(lower(x, "csc"), np.outer(RIGHT[:4], x[:2])),
    "triangular, upper": lambda x: linalg.spsolve_triangular(lower(x).T.tocsr(), RIGHT[:4], lower=False),
    "triangular, passive": lambda x: linalg.spsolve_triangular(lower(POINT), x[:4], unit_diagonal=True),
}
PAIRS = {
    "values": lambda x: linalg.svds(tall(x), k=2, v0=V0, return_singular_vectors=False),
    "values with vectors": lambda x: linalg.svds(tall(x), k=2, v0=V0)[1],
    "left vectors": lambda x: linalg.svds(tall(x, "csc"), k=2, v0=V0)[0] ** 2,
    "right vectors": lambda x: linalg.svds(tall(x), k=2, v0=V0)[2] ** 2,
    "products": lambda x: np.einsum("ik,k,kj->ij", *linalg.svds(tall(x), k=3, v0=V0)),
    "wide": lambda x: np.einsum("ik,k,kj->ij", *linalg.svds(tall(x).T, k=2, v0=V0)),
}


@pytest.fixture(autouse=True)
def _with_triangles(request):
    """SciPy 1.16 itself refuses the integers that its conversions give, where it solves with triangles."""
    if "triangular" in request.node.name:
        pytest.importorskip("scipy", "1.17")


def number(case):
    def f(x):
        found = case(x)
        return np.sum(found * np.cos(np.arange(np.size(found))).reshape(np.shape(found)) * (1.0 + found))

    return f


def slope(f, direction, h=1e-3):
    """By four differences."""
    near, far = (f(POINT + s * h * direction) - f(POINT - s * h * direction) for s in (1.0, 2.0))
    return (8.0 * near - far) / (12.0 * h)


@pytest.mark.parametrize("name", [*CASES, *PAIRS])
def test_first_derivatives(name):
    f = number({**CASES, **PAIRS}[name])
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    np.testing.assert_allclose(gradient, [slope(f, unit) for unit in np.eye(11)], rtol=1e-7, atol=1e-8)
    direction = np.sin(np.arange(11) + 1.0)
    assert codipy.jvp(f, (POINT,), (direction,))[1] == pytest.approx(gradient @ direction, rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_second_derivatives(name):
    f, direction = number(CASES[name]), np.sin(np.arange(11) + 1.0)
    (product,) = codipy.hvp(f, (POINT,), (direction,))
    np.testing.assert_allclose(product, slope(codipy.grad(f), direction), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", ["lsqr", "triangular", "left vectors"])
def test_every_strategy(name, strategy):
    f = number({**CASES, **PAIRS}[name])
    np.testing.assert_allclose(codipy.grad(f, strategy=strategy)(POINT), codipy.grad(f)(POINT), rtol=1e-13)


@pytest.mark.parametrize("name", ["lsqr", "triangular", "values"])
def test_at_other_inputs(name):
    tape, f = codipy.Tape("primal"), number({**CASES, **PAIRS}[name])
    with tape:
        x = tape.register_input(POINT.copy())
        y = tape.register_output(codipy.rebind(f)(x))
    tape.set_primal(x, POINT * 1.1)
    tape.evaluate_primal()
    assert tape.get_primal(y) == pytest.approx(f(POINT * 1.1), rel=1e-12)


@pytest.mark.parametrize("refused, error, text", [
    (lambda x: linalg.lsqr(tall(x), RIGHT, iter_lim=1)[0], ArithmeticError, "within"),
    (lambda x: linalg.lsqr(tall(x * (COLUMNS > 0)), RIGHT)[0], ArithmeticError, "within"),
    (lambda x: linalg.lsqr(tall(x), RIGHT, damp=x[0])[0], ActiveError, r"options.*sparse\.vstack"),
    (lambda x: linalg.lsqr(linalg.aslinearoperator(tall(POINT).T), x[:5])[0], ActiveError, "fewer rows than columns"),
    (lambda x: linalg.spsolve_triangular(lower(x), RIGHT[:4], unit_diagonal=True), ActiveError, "ones"),
    (lambda x: csgraph.dijkstra(lower(x)), ActiveError, "predecessors"),
    (lambda x: csgraph.shortest_path(x[:9].reshape(3, 3)), ActiveError, "predecessors"),
    (lambda x: csgraph.minimum_spanning_tree(lower(x)).data, ActiveError, "edges"),
    (lambda x: csgraph.connected_components(lower(x))[0] * x[0], ActiveError, "numbers of nodes"),
])  # fmt: skip
def test_what_has_no_derivative_says_so(refused, error, text):
    with pytest.raises(error, match=text):
        codipy.grad(lambda x: np.sum(refused(x)))(POINT)


def test_where_nothing_is_active_it_is_scipys():
    def f(x):
        graph = csgraph.dijkstra(lower(POINT)) + csgraph.shortest_path(np.eye(4) + 1.0)
        rest = linalg.lsmr(tall(POINT), RIGHT)[3] + linalg.svds(tall(POINT), k=1, v0=V0)[1][0]
        return x[0] * rest * graph[1, 0] * csgraph.connected_components(lower(POINT))[0]

    assert codipy.value_and_grad(f)(POINT)[0] == f(POINT)
