# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices of SciPy with active values: bits against SciPy, derivatives against differences of the plain run."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError
from tests.strategies import LINEAR

sp = pytest.importorskip("scipy.sparse")

ROWS, COLUMNS = np.array([0, 1, 2, 0, 3, 2, 1, 0]), np.array([0, 1, 2, 0, 1, 0, 3, 2])  # (0, 0) twice
POINT = np.linspace(0.7, 2.9, 8) + 0.1 * np.cos(np.arange(8.0))
VECTOR, COLUMNS3 = np.array([0.3, -1.1, 0.8, 2.1]), np.cos(np.arange(12.0)).reshape(4, 3)
OTHER = sp.csr_array([[0.0, 1.5, 0.0, 0.2], [0.3, 0.0, 0.0, -1.0], [0.0, 0.0, 0.9, 0.0], [1.1, 0.4, 0.0, 0.0]])


def total(result):
    """A number in which every element counts in another way."""
    dense = result.toarray() if sp.issparse(result) else np.asarray(result)
    return np.sum(dense * dense * np.cos(np.arange(dense.size)).reshape(dense.shape))


def with_diagonal(A, x):
    A = A.tocsr()
    A.setdiag(x[:4])
    return A


def with_element(A, x):
    A = A.tocsr()
    A[1, 1] = x[3]
    A[0, 0] += x[2]
    return A


def with_data(A, x):
    A = A.tocsr()
    A.data = A.data * x[0]
    A.data[1] = x[1]
    return A


def twice(A, x):
    """What is sorted in place after it was used."""
    B = sp.csr_array((x[:4] * 1.0, np.array([2, 0, 3, 1]), np.array([0, 2, 4])), shape=(2, 4))
    y = B @ VECTOR
    B.sort_indices()
    return y * (B @ VECTOR)


OPERATIONS = {
    "toarray": lambda A, x: A.toarray(),
    "a row, dense": lambda A, x: A.tocsr()[1].toarray() * A.tocsr()[0].toarray(order="F"),
    "one axis": lambda A, x: sp.coo_array((x, (ROWS,)), shape=(4,)).toarray(),
    "three axes": lambda A, x: sp.coo_array((x, (ROWS, COLUMNS, COLUMNS)), shape=(4, 4, 5)).toarray(),
    "three axes, in Fortran's order": lambda A, x:
        sp.coo_array((x, (ROWS, COLUMNS, COLUMNS)), shape=(4, 4, 5)).toarray(order="F"),
    "todense": lambda A, x: np.asarray(A.todense()),
    "A @ v": lambda A, x: A @ (VECTOR * x[0]),
    "A @ V": lambda A, x: A @ (COLUMNS3 * x[0]),
    "V.T @ A": lambda A, x: (COLUMNS3.T * x[1]) @ A,
    "v @ A": lambda A, x: VECTOR @ A,
    "A.dot": lambda A, x: A.dot(x[:4]),
    "A.T @ v": lambda A, x: A.T @ VECTOR,
    "A + A.T": lambda A, x: A + A.T,
    "A - A.T * x": lambda A, x: A.tocsr() - 2 * A.T.tocsr() * x[2],
    "A + B": lambda A, x: OTHER + A,
    "A - B": lambda A, x: A - OTHER,
    "A + dense": lambda A, x: np.asarray(A + np.ones((4, 4)) * x[0]),
    "A @ A": lambda A, x: A @ A,
    "A @ B": lambda A, x: A @ OTHER,
    "B @ A": lambda A, x: OTHER @ A,
    "A.multiply(A.T)": lambda A, x: A.tocsr().multiply(A.T),
    "B.multiply(A)": lambda A, x: OTHER.multiply(A),
    "A.multiply(dense)": lambda A, x: A.tocsr().multiply(np.ones((4, 4)) * x[3]),
    "A.multiply(row)": lambda A, x: A.tocsr().multiply(COLUMNS3[:, 0] * x[3]),
    "A * x / y": lambda A, x: x[2] * A.tocsr() * x[0] / x[1],
    "-A": lambda A, x: -A.tocsr(),
    "A.diagonal": lambda A, x: A.diagonal() * A.diagonal(1).sum(),
    "A.trace": lambda A, x: [A.trace()],
    "A.sum()": lambda A, x: [A.sum()],
    "A.sum(0)": lambda A, x: np.asarray(A.sum(axis=0)).ravel(),
    "A.sum(1)": lambda A, x: np.asarray(A.sum(axis=1)).ravel(),
    "A.mean(1)": lambda A, x: np.asarray(A.mean(axis=1)).ravel(),
    "A.max()": lambda A, x: [A.tocsr().max()],
    "A[1:3]": lambda A, x: A.tocsr()[1:3],
    "A[:, [2, 0]]": lambda A, x: A.tocsr()[:, [2, 0]],
    "A[::-1, 1:3]": lambda A, x: A.tocsc()[::-1, 1:3],
    "A[i, j]": lambda A, x: A.tocsr()[[0, 2, 0], [0, 0, 0]] * 1.0,
    "A[ix_]": lambda A, x: A.tocsr()[np.ix_([0, 3, 2], [1, 0])],
    "A[2, 0]": lambda A, x: [A.tocsr()[2, 0] * A.tocsr()[0, 0]],
    "A[mask]": lambda A, x: A.tocsr()[np.array([True, False, True, True])],
    "kron": lambda A, x: sp.kron(A, OTHER),
    "kron of identity": lambda A, x: sp.kron(sp.identity(2), A),
    "kronsum": lambda A, x: sp.kronsum(A, OTHER),
    "bmat": lambda A, x: sp.bmat([[A, None], [OTHER, A.T]]),
    "block_array": lambda A, x: sp.block_array([[A, OTHER]]),
    "block_diag": lambda A, x: sp.block_diag([A, OTHER, x[:4].reshape(2, 2)]),
    "hstack": lambda A, x: sp.hstack([A, OTHER]),
    "vstack": lambda A, x: sp.vstack([A, OTHER]).tocsr(),
    "tril": lambda A, x: sp.tril(A) + 2 * sp.triu(A, 1),
    "power": lambda A, x: A.tocsr().power(2),
    "sqrt": lambda A, x: abs(A.tocsr()).sqrt(),
    "data": lambda A, x: A.tocsr().data ** 2,
    "tobsr": lambda A, x: A.tocsr().tobsr(blocksize=(2, 2)) @ VECTOR,
    "tobsr @ tobsr": lambda A, x: A.tocsr().tobsr(blocksize=(2, 2)) @ A.T.tocsr().tobsr(blocksize=(2, 2)),
    "todia": lambda A, x: A.todia() @ VECTOR,
    "tolil": lambda A, x: A.tolil().tocsr(),
    "todok": lambda A, x: A.todok().tocsr(),
    "copy": lambda A, x: A.copy(),
    "reshape": lambda A, x: A.reshape((2, 8)),
    "setdiag": with_diagonal,
    "A[i, j] = x": with_element,
    "A.data = x": with_data,
    "sorted later": twice,
    "A + eye": lambda A, x: A + sp.eye(4) * x[0],
    "A @ diags": lambda A, x: A @ sp.diags(x[:4]),
    "diags @ A": lambda A, x: sp.diags([x[:4], x[:3], x[1:4]], [0, 1, -1]) @ A,
    "diags_array": lambda A, x: sp.diags_array([x[:4], x[:3]], offsets=[0, 1]) @ VECTOR,
    "diags @ diags": lambda A, x: sp.diags([x[:4], x[:3]], [0, 1]) @ sp.diags([x[2:6], x[1:4]], [0, -1]),
}  # fmt: skip


def program(name, operation):
    if name.startswith("dia"):  # without gaps, whose zeros SciPy leaves out
        diagonals = getattr(sp, "diags_array" if name == "dia_array" else "diags")
        return lambda x: total(operation(diagonals([x[:4], x[4:7]], offsets=[0, 1]), x))
    kind, triplets = getattr(sp, name), getattr(sp, f"coo_{name.partition('_')[2]}")
    return lambda x: total(operation(kind(triplets((x, (ROWS, COLUMNS)), shape=(4, 4)).tocsr()), x))


def differences(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))])


# What the formats do each in its own way.
OWN = ["toarray", "A @ v", "A @ V", "V.T @ A", "A + A.T", "A @ A", "A.multiply(A.T)", "A.diagonal", "A.sum()",
       "A.sum(0)", "A.sum(1)", "kron", "bmat", "reshape", "A @ diags", "A.T @ v"]  # fmt: skip
FORMS = [(name, form) for name in OPERATIONS for form in ("csr_array", "coo_array", "csr_matrix")]
FORMS += [(name, form) for name in OWN for form in ("csc_array", "bsr_array", "dia_array", "dia_matrix", "coo_matrix")]


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_operations(name, form):
    f = program(form, OPERATIONS[name])
    expected = f(POINT)
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == expected
    np.testing.assert_allclose(gradient, differences(f, POINT), rtol=1e-6, atol=1e-6)


EACH = ["A @ v", "A + A.T", "A @ A", "A.multiply(A.T)", "A[:, [2, 0]]", "A.sum(1)", "bmat", "setdiag", "diags @ A"]


@pytest.mark.parametrize("name", EACH)
def test_every_strategy_and_direction(name):
    codipy.check_derivatives(program("csr_array", OPERATIONS[name]), POINT)  # all of `COMPARED`


@pytest.mark.parametrize("strategy", LINEAR[:2])
@pytest.mark.parametrize("name", [*EACH, "A @ V", "A @ B", "A.diagonal", "kron"])
def test_second_order(name, strategy):
    f = program("csr_array", OPERATIONS[name])
    direction = np.sin(np.arange(8.0))
    gradient = codipy.grad(f)
    expected = (gradient(POINT + 1e-6 * direction) - gradient(POINT - 1e-6 * direction)) / 2e-6
    nested = codipy.grad(lambda x: codipy.grad(f, strategy=strategy)(x) @ direction)(POINT)
    np.testing.assert_allclose(nested, expected, rtol=1e-6, atol=1e-6)
    (product,) = codipy.hvp(f, (POINT,), (direction,))
    np.testing.assert_allclose(product, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", ["lil_matrix", "lil_array", "dok_matrix", "dok_array"])
def test_assembly_by_elements(kind):
    def f(x):
        A = getattr(sp, kind)((4, 4))
        for k in range(4):
            A[k, k] = 2.0 * x[k]
            A[k, (k + 1) % 4] += x[k + 1] * x[0]
            A[(k + 1) % 4, k] = A[k, k] - 1.0
        A = A.tocsr()
        return total(A @ VECTOR) + A.sum()

    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    np.testing.assert_allclose(gradient, differences(f, POINT), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "lost",
    [
        lambda A, x: A - A * x[0],
        lambda A, x: sp.csr_array(A.toarray() * (x[0] - 1.0)),
        lambda A, x: sp.diags_array(x[:4] - 1.0).tocsr(),
        lambda A, x: (A * (x[0] - 1.0)).eliminate_zeros(),
        lambda A, x: (A * (x[0] - 1.0)).max(axis=0),
        lambda A, x: A.todok().__setitem__((0, 1), x[0] - 1.0),
        lambda A, x: A.tolil().__setitem__((0, 1), x[0] - 1.0),
        lambda A, x: A.maximum(OTHER),
        lambda A, x: A / OTHER,
        lambda A, x: sp.linalg.inv(A.tocsc()),
    ],
)
def test_no_derivative_is_lost_with_a_zero_or_in_compiled_code(lost):
    def f(x):
        result = lost(sp.csr_array((x, (ROWS[1:], COLUMNS[1:])), shape=(4, 4)), x)
        return np.sum(x) + (0.0 if result is None else np.sum(result.data if sp.issparse(result) else result))

    with pytest.raises(ActiveError, match=r"test_sparse\.py"):
        codipy.grad(f)(np.ones(7))


def test_a_passive_matrix_gets_active_values():
    KNOWN = sp.csr_array(OTHER)

    def f(x):
        A = KNOWN.copy()
        A.data = x[: A.nnz] * 2.0
        return total(A @ VECTOR) + total(A.T)

    np.testing.assert_allclose(codipy.grad(f)(POINT), differences(f, POINT), rtol=1e-6, atol=1e-6)
    assert type(KNOWN.data) is np.ndarray


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_a_passive_matrix_that_is_written_to_between_products(form):
    def f(x):
        K = OTHER.copy().asformat(form)
        y = K @ x[:4]
        K.data *= 2.0
        z = K @ (y * x[4:]) + x[:4] @ K
        K.data *= 0.0
        return total(z * y)

    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    np.testing.assert_allclose(gradient, differences(f, POINT), rtol=1e-6, atol=1e-6)


def test_a_passive_matrix_is_kept_once():
    def recorded(count):
        tape, K = codipy.Tape(), sp.eye_array(1000).tocsr() * 0.9

        @codipy.rebind
        def f(x):
            for _ in range(count):
                x = K @ x
            return x

        with tape:
            f(tape.register_input(np.ones(1000)))
        return tape.statistics().total.used

    assert (recorded(30) - recorded(20)) / 10 < 1000 * 8      # less than the values of the matrix, and than a vector


def test_the_drop_in_module_without_rebinding():
    import codipy.numpy as cnp
    from codipy.scipy import sparse

    def f(x):
        A = sparse.csr_array((x, (ROWS, COLUMNS)), shape=(4, 4))
        return cnp.sum((A @ VECTOR) ** 2) + A.diagonal().sum()

    value, gradient = codipy.value_and_grad(f, rebind=False)(POINT)
    np.testing.assert_allclose(gradient, differences(f, POINT), rtol=1e-6, atol=1e-6)
    assert isinstance(sparse.csr_array((3, 3)), sp.csr_array)


def test_values_and_types_of_the_plain_run():
    def f(x):
        A = sp.csr_matrix((x, (ROWS, COLUMNS)), shape=(4, 4))
        plain = codipy.value(A)
        assert "__codipy_origin__" not in vars(type(plain)) and type(plain.data) is np.ndarray
        assert type(A) is sp.csr_matrix and isinstance(A, sp.spmatrix) and sp.issparse(A)
        assert isinstance(A.sum(axis=1), np.matrix) and A.sum(axis=1).shape == (4, 1)
        assert A.nnz == 7 and A.dtype == np.float64 and A.format == "csr"
        return np.sum(A.sum(axis=0).A1 * VECTOR) + (A * (A.T * VECTOR)).sum()

    np.testing.assert_allclose(codipy.grad(f)(POINT), differences(f, POINT), rtol=1e-6, atol=1e-6)


def test_the_pattern_of_a_product_is_that_of_the_matrix():
    def f(x):
        A = sp.csr_array((x[:8], (ROWS, COLUMNS)), shape=(4, 4))
        return A @ x[8:]

    pattern = codipy.sparsity(f, np.concatenate([POINT, VECTOR]))
    expected = np.zeros((4, 12), bool)
    expected[ROWS, np.arange(8)] = True
    expected[ROWS, 8 + COLUMNS] = True
    assert np.array_equal(np.asarray(pattern.toarray(), bool), expected)


def test_a_replay_has_the_new_values():
    tape = codipy.Tape("primal")
    f = codipy.rebind(program("csr_array", lambda A, x: A @ (A.T @ (A @ VECTOR) + x[:4])))
    with tape:
        x = tape.register_input(POINT.copy())
        y = tape.register_output(f(x))
    tape.set_primal(x, POINT * 1.1)
    tape.evaluate_primal()
    assert tape.get_primal(y) == program("csr_array", lambda A, x: A @ (A.T @ (A @ VECTOR) + x[:4]))(POINT * 1.1)


def test_such_a_tape_is_not_saved_and_says_so(tmp_path):
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(POINT.copy())
        tape.register_output(codipy.rebind(program("csr_array", OPERATIONS["A @ v"]))(x))
    with pytest.raises(TapeError, match="sparse"):
        tape.save(tmp_path / "tape")


@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "coo_array", "dia_array", "bsr_array", "lil_matrix",
                                  "dok_array"])
def test_numbers_among_variables_in_lists_may_be_zero(form):
    def f(x):
        A = getattr(sp, form)([[x[0], 0, 0.0], [0.0, x[1] * 2.0, 0], [1.5, 0, x[2]]])
        assert A.nnz == 4
        return np.sum((A @ np.array([1.0, 2.0, 3.0])) ** 2)

    point = np.array([0.5, -0.7, 1.2])
    value, gradient = codipy.value_and_grad(f)(point)
    assert value == f(point)
    np.testing.assert_allclose(gradient, differences(f, point), rtol=1e-7)
    with pytest.raises(ActiveError, match="leaves out an element that is exactly 0"):
        codipy.grad(lambda x: getattr(sp, form)([[x[0], 0], [x[1], 1.0]]).sum())(np.array([0.5, 0.0]))


@pytest.mark.parametrize("form", ["lil_array", "dok_array", "csr_matrix"])
def test_elements_that_are_set_to_an_active_zero(form):
    def f(x):
        A = getattr(sp, form)((2, 2))
        A[0, 0] = x[0]
        A[0, 1] = x[1] * 2.0
        return A.sum() ** 2 + A.nnz

    point = np.array([0.5, 0.0])
    if form == "csr_matrix":      # which has the zero as an element
        value, gradient = codipy.value_and_grad(f)(point)
        assert value == f(point) == 2.25
        np.testing.assert_allclose(gradient, [1.0, 2.0])
    else:
        with pytest.raises(ActiveError, match=f"of a {form[:3].upper()} matrix, which leaves out .* 0.*coo_array"):
            codipy.grad(f)(point)
