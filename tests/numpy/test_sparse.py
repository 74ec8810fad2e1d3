# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices of SciPy times Arrays, in both orders."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

sparse = pytest.importorskip("scipy.sparse")
DENSE = np.array([[1.0, 0.0, 2.0], [0.0, -3.0, 0.0], [4.0, 0.0, 0.5]])


FORMS = ["csr_matrix", "csc_matrix", "coo_matrix", "dia_matrix", "lil_matrix", "dok_matrix", "bsr_matrix",
         "csr_array", "csc_array", "coo_array", "dia_array", "lil_array", "dok_array", "bsr_array"]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(3,), (3, 2), (2, 3)])
def test_products(form, shape):
    matrix = getattr(sparse, form)(DENSE)
    value = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    left = shape == (2, 3)
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(value)
        y = tape.register_output(x @ matrix if left else matrix @ x)
        z = tape.register_output(np.matmul(x, matrix) if left else np.matmul(matrix, x))
    expected = value @ matrix if left else matrix @ value
    assert np.array_equal(y.value, expected)
    assert np.array_equal(z.value, expected)
    weights = np.cos(np.arange(expected.size)).reshape(expected.shape)
    y.gradient = weights
    tape.evaluate()
    assert np.allclose(x.gradient, weights @ DENSE.T if left else DENSE.T @ weights, rtol=1e-14)
    tape.clear_adjoints()
    x.gradient = value
    tape.evaluate_forward()
    assert np.array_equal(z.gradient, expected)


def test_a_vector_from_the_left():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([1.0, 2.0, 3.0]))
        y = tape.register_output(x @ sparse.csr_array(DENSE))
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tolist() == DENSE.sum(1).tolist()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "text", ["a * x", "x * a", "a * m", "m.T * a", "a.T @ x", "a @ (2.0 * x)", "(x * x) @ a", "a @ m[:, ::-1]",
             "a.dot(x)", "a.dot(m)", "(a @ x[None].T).T", "a.T @ (a @ x - 1.0)"]
)  # fmt: skip
def test_forms(form, text):
    """`*` is the product of matrices, and by elements for sparse arrays, whose result would be sparse."""
    matrix = getattr(sparse, form)(DENSE)
    plain = {"x": np.array([1.0, 2.0, -0.5]), "m": np.arange(6.0).reshape(3, 2) / 7}
    tape = codipy.Tape()
    with tape:
        active = {name: tape.register_input(value) for name, value in plain.items()}
        if "*" in text.replace("x * x", "").replace("2.0 * x", "") and form.endswith("array"):
            with pytest.raises(ActiveError, match=r"toarray\(\) \* x"):
                eval(text, {"a": matrix, **active})
            return
        if ".dot" in text and form.startswith("coo"):
            with pytest.raises(ActiveError, match="matrix @ x"):
                eval(text, {"a": matrix, **active})
            return
        y = tape.register_output(eval(text, {"a": matrix, **active}))
    assert np.array_equal(y.value, eval(text, {"a": matrix, **plain}))
    weights = np.cos(np.arange(y.size)).reshape(y.shape)
    y.gradient = weights
    tape.evaluate()
    for name, x in active.items():
        slopes = np.zeros(x.shape)
        for index in np.ndindex(x.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = {key: value.copy() for key, value in plain.items()}
                moved[name][index] += step
                ends.append(np.sum(weights * eval(text, {"a": matrix, **moved})))
            slopes[index] = (ends[0] - ends[1]) / 2e-6
        assert x.gradient == pytest.approx(slopes, abs=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_a_matrix_that_changes_afterwards(form):
    """The derivative is that of the matrix at the time of the product; a matrix that does not change is kept once."""
    matrix = getattr(sparse, form)(DENSE)
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([1.0, 2.0, 3.0]))
        y = matrix @ x
        z = matrix @ y
        if form[:3] in ("lil", "dok"):
            matrix[1, 1] = 100.0
        else:
            matrix.data *= 10.0
        changed = matrix.toarray()
        w = tape.register_output(z + matrix @ x)
    if form[:3] in ("lil", "dok"):
        matrix[0, 0] = 7.0
    else:
        matrix.data *= 7.0
    w.gradient = 1.0
    tape.evaluate()
    assert x.gradient == pytest.approx((DENSE @ DENSE + changed).sum(0))


def test_one_copy_serves_as_long_as_nothing_changes():
    from codipy.numpy import sparse as products

    matrix = sparse.csr_array(DENSE)
    first = products.kept(matrix)
    assert products.kept(matrix) is first and first is not matrix
    matrix.data[0] = 9.0
    second = products.kept(matrix)
    assert second is not first and first.data[0] == 1.0
    count = len(products._copies)
    del matrix
    assert len(products._copies) == count - 1


def test_what_is_made_of_passive_arrays_can_be_filled():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(2.0)
        y = sparse.csr_array(DENSE) @ codipy.Array(np.ones(3))
        y[1] = x * x
        z = tape.register_output(y.sum())
    z.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 4.0


def test_products_without_a_derivative_are_errors():
    matrix = sparse.csr_matrix(DENSE)
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.ones(3))
        for function in (matrix.multiply, lambda x: np.dot(matrix, x), lambda x: x.dot(matrix)):
            with pytest.raises(ActiveError):
                function(x)
        with pytest.raises((TypeError, ValueError)):
            matrix * x[0]


def test_elsewhere_a_sparse_operand_is_an_error():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.ones(3))
        with pytest.raises(TypeError):
            np.add(x, sparse.csr_array(DENSE))


def test_passive_ones_give_plain_results():
    matrix = sparse.csr_array(DENSE)
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([1.0, 2.0, 3.0]))
        with codipy.passive():
            assert (matrix @ x).tolist() == (DENSE @ [1.0, 2.0, 3.0]).tolist()
            assert (x @ matrix).tolist() == ([1.0, 2.0, 3.0] @ DENSE).tolist()
    assert (codipy.Array([1.0, 2.0, 3.0]) @ matrix).tolist() == ([1.0, 2.0, 3.0] @ DENSE).tolist()
