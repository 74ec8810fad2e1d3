# SPDX-License-Identifier: Apache-2.0
"""Patterns through every function of NumPy that has rules: whatever changes, or has a slope, is in them."""

import numpy as np
import pytest

import codipy
from tests.numpy.table import evaluate, is_float, leaves, names_in, plain_results, plain_values, weights_for
from tests.numpy.texts import texts

pytestmark = pytest.mark.filterwarnings("ignore")


def flat(values):
    return np.concatenate([np.zeros(0), *(np.ravel(v) for v in values)])


def of_text(text):
    """Names, values, and the function of their numbers in one axis, on plain arrays and active ones."""
    names = [name for name in names_in(text) if name != "e"]
    values = plain_values(names_in(text))

    def f(*args):
        return [y for y in leaves(evaluate(text, {**values, **dict(zip(names, args))})) if is_float(y)]

    return f, [values[name] for name in names]


def changes(f, values):
    """Which numbers of the result change, to the bit, with which of the arguments: plain NumPy says it."""
    before, columns = flat(f(*values)), []
    for k, value in enumerate(values):
        for i in range(np.size(value)):
            moved = np.array(value, float)
            moved.reshape(-1)[i] += 1e-7
            columns.append(flat(f(*values[:k], moved if np.ndim(value) else moved[()], *values[k + 1 :])))
    changed = [(after != before) & ~(np.isnan(after) & np.isnan(before)) for after in columns]
    return np.array(changed, bool).reshape(len(columns), before.size).T


@pytest.mark.parametrize("text", texts(1, 3))
def test_what_changes_is_in_the_pattern(text):
    f, values = of_text(text)
    pattern = codipy.sparsity(f, *values, argnums=tuple(range(len(values)))).toarray()
    changed = changes(f, values)
    assert pattern.shape == changed.shape
    assert not (changed & ~pattern).any()


@pytest.mark.parametrize("text", texts(2, 3))
def test_second_derivatives_are_in_the_pattern(text):
    f, values = of_text(text)
    seeds = [s for s in weights_for(plain_results(text, plain_values(names_in(text)))) if s is not None]
    numbers = tuple(range(len(values)))

    def total(*args):
        return sum((np.sum(y * s) for y, s in zip(f(*args), seeds)), 0.0)

    blocks = codipy.hessian(total, argnums=numbers)(*values)
    sizes = [np.size(v) for v in values]
    dense = np.block([[np.reshape(blocks[i][j], (sizes[i], sizes[j])) for j in numbers] for i in numbers])
    pattern = codipy.hessian_sparsity(total, *values, argnums=numbers).toarray()
    large = np.abs(dense) > 1e-9 * (1.0 + np.max(np.abs(dense), initial=0.0))
    assert not (large & ~pattern).any()


N = np.arange(1.0, 7.0)
M = np.arange(1.0, 13.0).reshape(3, 4) / 7.0
SQUARES = np.arange(18.0).reshape(2, 3, 3) ** 1.5 + 9.0 * np.eye(3)
# Of these the pattern is what changes, element by element.
EXACT = {
    "np.diff(x)": N, "np.diff(x, n=2)": N, "np.diff(x, axis=0)": M, "np.cumsum(x)": N, "np.cumsum(x, axis=0)": M,
    "np.add.accumulate(x, axis=1)": M, "np.cumprod(x)": N, "np.convolve(x, [1.0, 2.0, 3.0])": N,
    "np.convolve(x, [1.0, 2.0, 3.0], 'same')": N, "np.convolve(x, [1.0, 2.0], 'valid')": N,
    "np.convolve([1.0, 2.0, 3.0], x, 'same')": N, "np.correlate(x, [1.0, 2.0, 3.0], 'full')": N,
    "np.correlate(x, [1.0, 2.0, 3.0], 'same')": N, "np.correlate([1.0, 2.0], x, 'same')": N,
    "np.correlate(x, [1.0, 2.0, 3.0])": N, "np.correlate([1.0, 2.0], x, 'full')": N,
    "np.linalg.inv(x)": SQUARES, "np.linalg.det(x)": SQUARES, "np.linalg.solve(x, np.ones((2, 3, 1)))": SQUARES,
    "np.linalg.solve(np.eye(3) + 1.0, x)": M, "np.matmul(np.ones((2, 3)), x)": M, "x @ np.ones((4, 2))": M,
    "np.dot(np.ones((2, 3)), x)": M, "np.dot(np.ones((2, 2, 3)), x)": M, "np.inner(x, np.ones((2, 4)))": M,
    "np.matmul(np.ones((3, 2, 3)), x)": M, "np.outer(x, np.ones(3))": N, "np.einsum('ij,j->i', x, np.ones(4))": M,
    "np.einsum('ij->ji', x)": M, "np.vecdot(x, np.ones(4))": M,
    "np.sum(x, axis=1)": M, "np.prod(x, axis=0, keepdims=True)": M, "np.mean(x, axis=1)": M, "np.var(x, axis=0)": M,
    "np.std(x, axis=1)": M, "np.linalg.norm(x, axis=1)": M, "np.linalg.norm(x)": M, "np.sinc(x)": N,
    "np.interp(x, [0.0, 3.0, 9.0], [1.0, 2.0, 5.0])": N, "np.polyval([1.0, 2.0, 3.0], x)": N,
    "np.roll(x, 1) * x": N, "np.where(x > 3, x * x, 2.0 * x)": N, "x[::-1] + 0.0 * x": N, "np.outer(x, x)": N,
}  # fmt: skip


@pytest.mark.parametrize("text", [text for text, at in EXACT.items() if at is not None])
def test_patterns_are_exact_where_they_are_said_to_be(text):
    f = eval(f"lambda x: {text}", {"np": np})
    x = EXACT[text]
    changed = changes(lambda x: [f(x)], [x])
    if "0.0 *" in text:
        changed |= np.eye(len(x), dtype=bool)      # independent of values
    assert np.array_equal(codipy.sparsity(f, x).toarray(), changed)


@pytest.mark.parametrize("text, at, axis", [("np.sort(x, axis=0)", M, 0), ("np.max(x, axis=1)", M, 1),
                                            ("np.sort(x)", M, 1), ("np.partition(x, 2, axis=0)", M, 0),
                                            ("np.min(x, axis=0, keepdims=True)", M, 0), ("np.median(x, axis=1)", M, 1)])
def test_what_is_chosen_may_be_any_element_of_its_axis(text, at, axis):
    pattern = codipy.sparsity(eval(f"lambda x: {text}", {"np": np}), at).toarray()
    out = eval(text, {"np": np, "x": at})
    other = 1 - axis
    rows = np.indices(at.shape)[other].ravel()
    results = np.indices(out.shape)[other].ravel() if out.ndim == 2 else np.arange(out.size)
    assert np.array_equal(pattern, results[:, None] == rows)


def test_sparse_matrices_of_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_array(np.diag(np.arange(1.0, 5.0)) + np.diag(np.ones(3), 1))
    x, two = np.linspace(1.0, 2.0, 4), np.linspace(1.0, 2.0, 12).reshape(4, 3)
    for f, at in ((lambda x: matrix @ x, x), (lambda x: x @ matrix, x), (lambda x: matrix @ x, two),
                  (lambda x: x @ matrix, two.T.copy())):
        assert np.array_equal(codipy.sparsity(f, at).toarray(), changes(lambda x, f=f: [f(x)], [at]))
        assert codipy.hessian_sparsity(lambda x, f=f: np.sum(f(x)), at).nnz == 0


LINEAR = [
    "np.cumsum(x)", "np.diff(x)", "np.matmul(np.ones((2, 6)), x)", "x[1:] - 2.0 * x[:-1] / 3.0", "np.sum(x)", "-x",
    "np.linalg.solve(np.eye(6) + 1.0, x)", "np.convolve(x, [1.0, 2.0])", "np.einsum('i,i->', x, np.ones(6))",
    "np.interp(np.linspace(0.0, 5.0, 4), np.arange(6.0), x)", "np.concatenate([x, x[::-1]])", "np.abs(x)",
]  # fmt: skip


@pytest.mark.parametrize("text", LINEAR)
def test_what_is_linear_has_no_second_derivatives(text):
    f = eval(f"lambda x: np.sum({text})", {"np": np})
    assert codipy.hessian_sparsity(f, N).nnz == 0


def test_products_are_curved_by_both_factors():
    a, b = np.ones((2, 3)), np.ones((3, 2))
    found = codipy.hessian_sparsity(lambda a, b: np.sum(a @ b), a, b, argnums=(0, 1)).toarray()
    assert not found[:6, :6].any() and not found[6:, 6:].any() and found[:6, 6:].any()
    solved = codipy.hessian_sparsity(lambda a, b: np.sum(np.linalg.solve(a, b)), np.eye(2), np.ones(2), argnums=(0, 1))
    assert not solved.toarray()[4:, 4:].any() and solved.toarray()[:4].all()
