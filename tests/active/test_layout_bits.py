# SPDX-License-Identifier: Apache-2.0
"""Products and reductions of views, in whatever layout: NumPy's loops depend on it, and so do the last bits.

A matrix product of a transposed array and one of its copy are different calls of BLAS; a sum along rows adds in another
order than one along columns. So what an Array hands to NumPy must be laid out as the plain run's array is.
"""

import math
import random

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import BY_STATEMENT, each_pair

# What is made of the matrix M (n by m), the square S (n by n) and the vectors u (of n) and v (of m).
MATRICES = [
    "M", "M.T", "M[::-1]", "M[:, ::2]", "M[:, ::-1].T", "M[1:, 1:]", "M[::2, 1::2].T", "np.asfortranarray(M)",
    "np.ascontiguousarray(M.T)", "np.triu(M)", "np.tril(M.T)", "np.triu(M, 1).T", "np.diag(u)", "np.diag(u[::-1], 1)",
    "np.broadcast_to(v, M.shape)", "np.broadcast_to(u[:, None], M.shape)", "np.broadcast_to(u[0], (7, 5))",
    "windows(u, 3)", "windows(u[::-1], 3).T", "windows(M, (2, 2))[0]", "M.copy('F')", "M.copy('C')", "M * 1.5",
    "(M * 1.5).T", "(M + u[:, None]).T", "np.sin(M)[:, ::2]", "np.flip(M, 1)", "np.flipud(M).T", "np.rot90(M)",
    "np.swapaxes(M, 0, 1)", "M.reshape(-1, 1)", "M.T.reshape(M.shape)", "np.ravel(M, 'F').reshape(M.shape, order='F')",
    "np.concatenate([M, M[::-1]])", "np.stack([u, u[::-1]])", "np.stack([u, u], axis=1)", "np.tile(M, (1, 2))",
    "np.repeat(M, 2, axis=1)", "M[[2, 0, 1]]", "M[:, [2, 0]]", "np.where(M > 0.0, M, 0.5)", "np.roll(M, 1, axis=1)",
    "np.pad(M, 1)", "S + S.T", "np.outer(u, v)", "np.atleast_2d(v)", "np.kron(M[:2, :2], M[:3, :3])",
    "np.vander(u[:5])",
    "np.moveaxis(M[None], 0, 2)[:, :, 0]", "np.block([[M, M[:, :1]]])", "np.eye(len(u)) * u", "M.astype(float, 'F')",
]  # fmt: skip
VECTORS = [
    "u", "v[::-1]", "u[::2]", "M[:, 1]", "M[1]", "M[1, ::-1]", "M.T[1]", "np.diagonal(M)", "np.diag(M)",
    "np.diag(M, 1)",
    "np.diag(M[:, ::-1])", "M.ravel()", "M.T.ravel()", "M.ravel('F')", "M[:, ::2].ravel()",
    "np.broadcast_to(u[0], (9,))",
    "windows(u, 3)[:, 1]", "windows(u, 3)[1]", "M.flat[::3]", "u * 2.0", "(u * 2.0)[::-2]", "np.cumsum(u)[1:]",
    "M.sum(axis=0)", "M[M > 0.0]", "np.sort(u)[::-1]", "np.append(u, v)", "np.repeat(v, 3)", "np.take(u, [2, 0, 1, 1])",
]  # fmt: skip
OF_MATRIX = [
    "{0}.copy() @ {0}.copy().T", "np.dot({0}.T, {0}.copy())", "np.tensordot({0}.copy(), {0}, axes=([1], [1]))",
    "np.inner({0}, {0}.copy())", "np.matmul({0}.copy('K').T, {0})", "np.einsum('ij,ik->jk', {0}.copy(), {0})",
    "{0} @ np.ones({0}.shape[1])", "{0} @ np.arange(2.0 * {0}.shape[1])[::2]", "np.ones({0}.shape[0]) @ {0}",
    "{0} @ W[: {0}.shape[1]]", "{0} @ W[: {0}.shape[1]][::-1]", "W[: {0}.shape[0]] @ {0}", "W[: {0}.shape[0]].T @ {0}",
    "W[: {0}.shape[0], ::2].T @ {0}", "{0} @ F[: {0}.shape[1]]", "F[: {0}.shape[0]].T @ {0}", "{0} @ {0}.T",
    "{0}.T @ {0}",
    "np.dot({0}, {0}[0])", "np.dot({0}.T, {0}[:, -1])", "np.inner({0}, {0})", "np.inner({0}[::-1], {0}[0])",
    "np.vdot({0}, {0})", "np.vdot({0}.T, {0}.T[::-1])", "np.tensordot({0}, {0}, axes=([0], [0]))",
    "np.tensordot({0}, {0}.T, 1)", "np.tensordot({0}, {0}, 2)", "np.einsum('ij,ij', {0}, {0})",
    "np.einsum('ij,kj->ik', {0}, {0})", "np.einsum('ij->j', {0})", "np.einsum('ij->', {0})",
    "np.einsum('ij,j', {0}, {0}[0])",
    "np.einsum('ij,ik->jk', {0}, {0})", "{0}.sum()", "{0}.sum(axis=0)", "{0}.sum(axis=1)", "{0}.sum(axis=(0, 1))",
    "{0}.sum(axis=1, keepdims=True)", "np.sum({0}[::-1], axis=0)", "{0}.mean(axis=0)", "{0}.mean(axis=1)", "{0}.mean()",
    "{0}.prod(axis=0)", "{0}.prod(axis=1)", "{0}.std()", "{0}.var(axis=0)", "{0}.var(axis=1, ddof=1)",
    "{0}.max(axis=1)",
    "np.linalg.norm({0})", "np.linalg.norm({0}, axis=0)", "np.linalg.norm({0}, axis=1)", "np.linalg.norm({0}, 1)",
    "np.linalg.norm({0}, np.inf)", "np.linalg.norm({0}, 'fro')", "np.linalg.norm({0}, 3, axis=1)",
    "np.cumsum({0}, axis=0)",
    "np.cumsum({0})", "np.add.reduce({0}, axis=1)", "np.add.reduce({0})", "np.add.accumulate({0}, axis=1)",
    "np.nansum({0}, axis=0)", "np.average({0}, axis=0)",
    "np.average({0}, axis=1, weights=np.arange(1.0, 1.0 + {0}.shape[1]))",
    "np.trace({0})", "({0} * {0}).sum(axis=0)", "({0} * 1.1 - 0.3).mean(axis=1)", "np.sin({0}).sum()",
    "np.median({0}, axis=0)",
    "np.cov({0})", "np.trapezoid({0}, axis=0)", "np.matmul({0}.T, {0}[:, 0])", "np.linalg.multi_dot([{0}, {0}.T, {0}])",
    "np.linalg.matrix_power({0}[:2, :2], 3)", "np.ptp({0}, axis=1)", "np.convolve({0}[0], {0}[-1])",
]  # fmt: skip
OF_VECTOR = [
    "{0} @ {0}", "{0} @ {0}[::-1]", "np.dot({0}, {0})", "np.dot({0}, np.arange(3.0 * len({0}))[::3])",
    "np.vdot({0}[::-1], {0})",
    "np.inner({0}, {0})", "{0}.sum()", "{0}[::-1].sum()", "{0}.mean()", "{0}.prod()", "{0}.std()",
    "np.linalg.norm({0})",
    "np.linalg.norm({0}, 1)", "np.linalg.norm({0}, 3)", "np.einsum('i,i', {0}, {0})", "np.einsum('i->', {0})",
    "np.cumsum({0})",
    "np.outer({0}, {0})", "np.outer({0}, {0}).sum(axis=0)", "W[: len({0})].T @ {0}", "{0} @ W[: len({0})]",
    "{0} @ F[: len({0})]", "F[: len({0})].T @ {0}", "{0} @ W[: len({0}), ::2]", "{0} @ W[: len({0})][::-1]",
    "W[: len({0})][:, 1] @ {0}", "np.tensordot({0}, W[: len({0})], 1)", "np.add.reduce({0})",
    "np.multiply.reduce({0}[:5])",
    "np.convolve({0}, {0}[:3])", "np.sum({0} * {0})", "np.sqrt(np.sum({0} ** 2))",
    "np.average({0}, weights=np.arange(1.0, len({0}) + 1))",
]  # fmt: skip
ACTIVE = ["M", "u", "v", "W", "Mu", "MW", "MuvSWF", "F"]
SIZES = [3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 127, 129, 200, 257, 400]
TEXTS = [(of, text) for parts, ofs in ((MATRICES, OF_MATRIX), (VECTORS, OF_VECTOR)) for text in parts for of in ofs]
windows = np.lib.stride_tricks.sliding_window_view
NUMBERS = np.random.default_rng(0).normal(size=1_100_000) + 0.1  # to take from: to draw them takes longer than a case
COUNTS = {strategy: 350 if strategy == "auto" else 150 for strategy, _ in BY_STATEMENT}
LEAST = 0.3  # of so many NumPy takes at least that share


def inputs(rng):
    """The arrays by name; W has more rows than anything that it meets, F is laid out by columns."""
    n, m = rng.choice(SIZES), rng.choice(SIZES if rng.random() < 0.3 else SIZES[:9])
    long = 2 * n * m + 2 * n + 2 * m + 50
    shapes = {"M": (n, m), "u": (n,), "v": (m,), "S": (n, n), "W": (long, 3), "F": (3, long)}
    given = {name: some_numbers(rng, shape) for name, shape in shapes.items()}
    return given | {"F": given["F"].T}


def some_numbers(rng, shape):
    count = math.prod(shape)
    first = rng.randrange(NUMBERS.size - count)
    return NUMBERS[first : first + count].copy().reshape(shape)


def function(text):
    """The expression as a function of what is active."""
    return eval(f"lambda M, u, v, S, W, F: {text}", {"np": np, "windows": windows})


def bits(x):
    x = np.asarray(codipy.value(x))
    return x.dtype, x.shape, x.tobytes()


def cases(seed, count):
    """Expressions, inputs and what of these is active, of which NumPy takes the expression."""
    rng = random.Random(seed)
    for _ in range(count):
        of, part = rng.choice(TEXTS)
        names, text = set(rng.choice(ACTIVE)), of.format(f"({part})")
        given = inputs(rng)
        f = function(text)
        with np.errstate(all="ignore"):
            try:
                if max(np.shape(function(part)(**given)), default=1) > 2500:  # whose outer product fills the memory
                    continue
                expected = f(**given)
            except (ValueError, IndexError, np.linalg.LinAlgError):  # the shapes do not fit
                continue
        yield text, f, given, names & set(given), expected


@pytest.mark.parametrize(
    "product", ["a @ b.T", "np.dot(a, b.T)", "np.inner(a, b)", "np.tensordot(a, b, axes=([1], [1]))",
                "np.linalg.multi_dot([a, b.T])", "np.einsum('ij,kj->ik', a, b)"]
)  # fmt: skip
@pytest.mark.parametrize("passive", [True, False])
def test_copies_are_no_views_in_a_product(product, passive):
    """Copies share their values until one is written to, and NumPy multiplies an array by itself in another order."""
    point, seen = np.random.default_rng(0).normal(size=(127, 9)), []

    def f(x):
        one = np.array(point) if passive else x
        variables = {"np": np, "a": one.copy(), "b": one.copy()}
        seen.append([codipy.value(eval(product, variables | more)) for more in ({}, {"b": variables["a"]})])
        return np.sum(x)

    f(point)
    codipy.grad(f)(point)
    for plain, found in zip(*seen):
        np.testing.assert_array_equal(found, plain)


@pytest.mark.filterwarnings("ignore")
@each_pair("strategy, granularity", BY_STATEMENT)
def test_bits_on_tapes(strategy, granularity):
    """Of code that is rebuilt and of code that is not."""
    seen = 0
    for k, (text, f, given, active, expected) in enumerate(cases(f"tapes {strategy}", COUNTS[strategy])):
        run = codipy.rebind(f) if k % 2 else f
        with codipy.Tape(strategy, granularity) as tape:
            args = {name: tape.register_input(x) if name in active else x for name, x in given.items()}
            try:
                found = run(**args)
            except ActiveError:
                assert run is f, text
                continue
            assert bits(found) == bits(expected), (text, sorted(active), given["M"].shape)
        seen += 1
    assert seen > LEAST * COUNTS[strategy]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("strategy", [strategy for strategy, _ in BY_STATEMENT])
def test_bits_inside_of_drivers(strategy):
    seen = 0
    for text, f, given, active, expected in cases(f"drivers {strategy}", COUNTS[strategy]):
        kept = []

        def total(*args, f=f, given=given, active=active, kept=kept):
            y = f(**(given | dict(zip(sorted(active), args))))
            kept.append(bits(y))
            return np.sum(y)

        at = [given[name] for name in sorted(active)]
        codipy.value_and_grad(total, argnums=tuple(range(len(at))), strategy=strategy)(*at)
        assert kept[0] == bits(expected), (text, sorted(active), given["M"].shape)
        seen += 1
    assert seen > LEAST * COUNTS[strategy]


BACKWARDS = ["tan", "arcsin", "arctanh", "cbrt", "exp", "expm1", "log10", "log1p", "sinh", "hypot", "power"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@each_pair("strategy, granularity", BY_STATEMENT)
def test_bits_of_one_element_read_backwards(strategy, granularity, dtype):
    """NumPy's loop sees that the stride is negative, also where there is nothing that it leads to."""
    point = np.random.default_rng(0).uniform(0.05, 0.95, 20).astype(dtype)
    with codipy.Tape(strategy, granularity) as tape:
        x = tape.register_input(codipy.Array(point))
        for ufunc in (getattr(np, name) for name in BACKWARDS):
            for k in range(1, len(point)):
                first, second, plain = x[k : k - 1 : -1], x[k - 1 : k], (point[k : k - 1 : -1], point[k - 1 : k])
                assert bits(ufunc(*(first, second)[: ufunc.nin])) == bits(ufunc(*plain[: ufunc.nin]))
                halves = [y * dtype(0.5) for y in (first, second)[: ufunc.nin]]
                assert bits(ufunc(*halves)) == bits(ufunc(*[y * dtype(0.5) for y in plain[: ufunc.nin]]))
