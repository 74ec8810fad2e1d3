# SPDX-License-Identifier: Apache-2.0
"""Rules that take several directions at once: asked once for a sweep, and the same derivatives as one by one."""

import pickle

import numpy as np
import pytest

import codipy
from codipy.errors import TapeError
from tests.strategies import each_strategy

calls = []


@codipy.primitive
def wave(x, k):
    return np.sin(k * x)


@wave.vjp(batched=True)
def wave_back(g, out, x, k):
    calls.append(("vjp", g.shape))
    slope = np.cos(k * x)
    return g * k * slope, np.sum(g * x * slope, axis=-1)


@wave.jvp(batched=True)
def wave_on(tangents, out, x, k):
    calls.append(("jvp", tangents[0].shape))
    return np.cos(k * x) * (k * tangents[0] + x * tangents[1][:, None])


@codipy.primitive(saves=True)
def polar(x, y):
    r = np.hypot(x, y)
    return (r, np.arctan2(y, x)), r


@polar.vjp(batched=True)
def polar_back(g, out, x, y, saved):
    return g[0] * x / saved - g[1] * y / saved**2, g[0] * y / saved + g[1] * x / saved**2


X, K = np.array([0.3, 0.7, 1.1]), 2.0
WIDTHS = (1, 2, 5)


@pytest.fixture(autouse=True)
def _no_calls():
    calls.clear()


@each_strategy
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_one_call_for_a_sweep(strategy, width, mode):
    options = {"mode": mode, "width": width, "strategy": strategy}
    found = codipy.jacobian(lambda x, k: wave(x, k) * x, argnums=(0, 1), **options)(X, K)
    np.testing.assert_allclose(found[0], np.diag(np.sin(K * X) + X * K * np.cos(K * X)), rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(found[1], X * X * np.cos(K * X), rtol=1e-14)
    directions = 3 if mode == "reverse" else 4
    sweeps = -(-directions // width)
    assert len(calls) == sweeps
    assert {kind for kind, _ in calls} == {"vjp" if mode == "reverse" else "jvp"}
    assert max(shape[0] for _, shape in calls) == min(width, directions)


@each_strategy
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_several_results_and_saved_values(strategy, width, mode):
    def of(function):
        def f(p):
            r, angle = function(p[:2], p[2:])
            return np.concatenate([r * angle, angle])

        return codipy.jacobian(f, mode=mode, width=width, strategy=strategy)(np.array([3.0, 1.0, 4.0, -2.0]))

    plain = of(lambda x, y: (np.sqrt(x * x + y * y), np.arctan2(y, x)))
    np.testing.assert_allclose(of(polar), plain, rtol=1e-13, atol=1e-15)


def test_the_same_rule_for_one_direction_and_for_second_derivatives():
    def own(x, k):
        return np.sum(wave(x, k) * x)

    def plain(x, k):
        return np.sum(np.sin(k * x) * x)

    for found, expected in zip(codipy.grad(own, (0, 1))(X, K), codipy.grad(plain, (0, 1))(X, K)):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    np.testing.assert_allclose(codipy.hessian(own)(X, K), codipy.hessian(plain)(X, K), rtol=1e-12, atol=1e-14)
    assert codipy.jvp(own, (X, K), (X, 0.5))[1] == pytest.approx(codipy.jvp(plain, (X, K), (X, 0.5))[1], rel=1e-14)
    # Two results of which one is used, and the transpose of the only rule.
    point = np.array([3.0, 1.0]), np.array([4.0, -2.0])
    found = codipy.grad(lambda x, y: np.sum(polar(x, y)[1]), (0, 1))(*point)
    np.testing.assert_allclose(found, codipy.grad(lambda x, y: np.sum(np.arctan2(y, x)), (0, 1))(*point), rtol=1e-14)
    along = codipy.jvp(lambda x, y: polar(x, y)[0], point, point)[1]
    np.testing.assert_allclose(along, np.hypot(*point), rtol=1e-14)


@each_strategy
def test_a_direction_without_flow_takes_no_part(strategy):
    """The partial of one element is infinite; directions that pass it by must not see it."""
    @codipy.primitive
    def root(x):
        return np.sqrt(x)

    @root.vjp(batched=True)
    def rule(g, out, x):
        with np.errstate(all="ignore"):
            return np.where(g == 0.0, 0.0, g * 0.5 / out)

    seen = []

    @codipy.primitive
    def halves(x):
        return 0.5 * x

    @halves.vjp(batched=True)
    def halves_rule(g, out, x):
        seen.append(len(g))
        return g * np.array(0.5)

    found = codipy.jacobian(lambda x: np.array([root(x[:1])[0], x[1], halves(x[1:])[0]]), width=3, mode="reverse",
                            strategy=strategy)(np.array([0.0, 4.0]))
    assert found.tolist() == [[np.inf, 0.0], [0.0, 1.0], [0.0, 0.5]]
    assert seen == [1]      # of three directions


@each_strategy
def test_one_direction_of_three_has_no_flow(strategy):
    """Its zeros would meet the infinite partial in a rule that takes all three."""
    lanes = []

    @codipy.primitive
    def root(x):
        return np.sqrt(x)

    @root.vjp(batched=True)
    def rule(g, out, x):
        lanes.append(len(g))
        return g * 0.5 / out

    found = codipy.jacobian(lambda x: np.concatenate([root(x), x[1:]]), width=3, mode="reverse",
                            strategy=strategy)(np.array([0.0, 4.0]))
    assert lanes == [2] and found[2].tolist() == [0.0, 1.0] and found[0][0] == np.inf and found[1][1] == 0.25


def test_pickled():
    again = pickle.loads(pickle.dumps(codipy.jacobian(through_wave, width=3, mode="reverse")))
    np.testing.assert_allclose(again(X), np.diag(K * np.cos(K * X)), rtol=1e-14, atol=1e-300)
    assert calls == [("vjp", (3, 3))]


def through_wave(x):
    return wave(x, K)


def test_wrong_shapes_are_refused():
    @codipy.primitive
    def twice(x):
        return 2.0 * x

    twice.vjp(lambda g, out, x: np.sum(2.0 * g, axis=0), batched=True)
    with pytest.raises((TapeError, TypeError), match="batche"):
        codipy.jacobian(twice, width=3, mode="reverse")(X)
    with pytest.raises(TypeError, match="said to be batched"):
        codipy.grad(lambda x: np.sum(twice(x)))(X)
    twice.jvp(lambda tangents, out, x: 2.0 * tangents[0][0], batched=True)
    with pytest.raises((TapeError, TypeError), match="batche"):
        codipy.jacobian(twice, width=3, mode="forward")(X)


# ---- NumPy's ------------------------------------------------------------
RANDOM = np.random.default_rng(7)
A, B, V = RANDOM.uniform(-1, 1, (4, 4)) + 3 * np.eye(4), RANDOM.uniform(-1, 1, (4, 3)), RANDOM.uniform(-1, 1, 4)
BIG = RANDOM.uniform(-1, 1, (60, 60)) + 8 * np.eye(60)
PRODUCTS = {
    "matrix, matrix": (lambda a, b: a @ b, (A, B)), "matrix, vector": (lambda a, b: np.dot(a, b), (A, V)),
    "vector, matrix": (lambda a, b: a @ b, (V, B)), "vectors": (lambda a, b: np.dot(a, b) * a, (V, V[::-1])),
    "turned": (lambda a, b: (a.T @ b[::-1]).T, (A, B)), "stacks": (lambda a, b: a @ b, (np.stack([A, B @ B.T]), B)),
    "large": (lambda a, b: (a @ b)[:5] * b[:5], (BIG, BIG[0])), "one active": (lambda b: BIG @ b, (BIG[0],)),
    "solve": (lambda a, b: np.linalg.solve(a, b), (A, V)), "solve, columns": (np.linalg.solve, (A, B)),
    "solve, large": (lambda b: np.linalg.solve(BIG, b)[:7], (BIG[1],)),
    "solve, stacks": (lambda a, b: np.linalg.solve(a, b), (np.stack([A, A.T]), np.stack([B, B]))),
}  # fmt: skip


def by_complex_steps(f, args):
    found = []
    for k, x in enumerate(args):
        columns = []
        for index in np.ndindex(x.shape):
            moved = x.astype(complex)
            moved[index] += 1e-30j
            columns.append(np.imag(f(*args[:k], moved, *args[k + 1:])) / 1e-30)
        found.append(np.reshape(np.stack(columns, axis=-1), (*np.shape(columns[0]), *x.shape)))
    return found


@each_strategy
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_and_solves_of_numpy(strategy, mode, name):
    f, args = PRODUCTS[name]
    if name == "large":      # 60 x 60 arguments: some of them
        full, args = f, (BIG[:2], BIG[0])
        def f(a, b):
            return full(np.concatenate([a, BIG[2:]]), b)
    expected = by_complex_steps(f, args)
    for width in (1, 3, None):
        found = codipy.jacobian(f, argnums=tuple(range(len(args))), mode=mode, width=width, strategy=strategy)(*args)
        for one, other in zip(found, expected):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)
