# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices of SciPy times Arrays, in both orders."""

import numpy as np
import pytest

import codipy

sparse = pytest.importorskip("scipy.sparse")
DENSE = np.array([[1.0, 0.0, 2.0], [0.0, -3.0, 0.0], [4.0, 0.0, 0.5]])


@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "csr_array", "coo_array"])
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
