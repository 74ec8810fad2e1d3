# SPDX-License-Identifier: Apache-2.0
"""Equations, eigenvalues and exponentials of sparse matrices with active values."""

import warnings

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.scipy.test_sparse import differences
from tests.strategies import STRATEGIES

sp = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")

N = 5
BANDS = sp.diags([-1.0, 2.6, -1.1], [-1, 0, 1], shape=(N, N)).tocoo()
POINT = BANDS.data + 0.1 * np.cos(np.arange(BANDS.nnz))
RIGHT, WEIGHTS, COLUMNS = np.linspace(0.4, 1.3, N), np.cos(np.arange(N)), np.sin(np.arange(2.0 * N)).reshape(N, 2)
EXACT = {"rtol": 1e-13, "atol": 0.0}


def matrix(x, form):
    kind, name = form.partition("_")[2], form.partition("_")[0]
    return getattr(sp, f"coo_{kind}")((x, (BANDS.row, BANDS.col)), shape=(N, N)).asformat(name)


def symmetric(x):
    A = matrix(x, "csr_array")
    return A + A.T + sp.eye_array(N) * x[0]


DIRECT = {
    "spsolve": lambda A, x: WEIGHTS @ linalg.spsolve(A, RIGHT * x[0]),
    "spsolve of a column": lambda A, x: WEIGHTS @ linalg.spsolve(A, RIGHT[:, None] * x[1]),
    "spsolve of columns": lambda A, x: np.sum((WEIGHTS @ linalg.spsolve(A, COLUMNS)) ** 2),
    "spsolve as it is": lambda A, x: WEIGHTS @ linalg.spsolve(A, RIGHT, permc_spec="NATURAL"),
    "spsolve of a sparse vector": lambda A, x: WEIGHTS @ linalg.spsolve(A, sp.csc_array(RIGHT[:, None])),
    "splu": lambda A, x: WEIGHTS @ linalg.splu(A.tocsc()).solve(RIGHT),
    "splu transposed": lambda A, x: WEIGHTS @ linalg.splu(A.tocsc(), permc_spec="MMD_ATA").solve(RIGHT * x[1], "T"),
    "factorized": lambda A, x: WEIGHTS @ linalg.factorized(A.tocsc())(RIGHT),
    "twice": lambda A, x: WEIGHTS @ linalg.spsolve(A, linalg.spsolve((A.T @ A).asformat(A.format), RIGHT)),
    "expm_multiply": lambda A, x: WEIGHTS @ linalg.expm_multiply(A * 0.3, RIGHT),
    "norm": lambda A, x: linalg.norm(A),
    "aslinearoperator": lambda A, x: WEIGHTS @ (linalg.aslinearoperator(A) @ RIGHT),
    "matrix_power": lambda A, x: WEIGHTS @ (linalg.matrix_power(A, 3) @ RIGHT),
}
ITERATED = {
    "cg": lambda A, x: WEIGHTS @ linalg.cg(A, RIGHT * x[0], **EXACT)[0],
    "minres": lambda A, x: WEIGHTS @ linalg.minres(A, RIGHT, rtol=1e-14)[0],
    "gmres": lambda A, x: WEIGHTS @ linalg.gmres(A @ A, RIGHT, **EXACT)[0],
    "bicgstab": lambda A, x: WEIGHTS @ linalg.bicgstab(A, RIGHT, x0=RIGHT, **EXACT)[0],
    "preconditioned": lambda A, x: WEIGHTS @ linalg.cg(A, RIGHT, M=sp.eye_array(N) * 0.3, **EXACT)[0],
    "with factors": lambda A, x: WEIGHTS @ linalg.gmres(A, RIGHT, M=preconditioner(A), **EXACT)[0],
    "operator": lambda A, x: WEIGHTS @ linalg.cg(linalg.aslinearoperator(A), RIGHT, **EXACT)[0],
    "passive operator": lambda A, x: WEIGHTS @ linalg.gmres(linalg.aslinearoperator(BANDS), RIGHT * x[2], **EXACT)[0],
}


SKEW = (BANDS + sp.diags([0.4], [2], shape=(N, N))).toarray()
INCOMPLETE = linalg.LinearOperator((N, N), linalg.spilu(sp.csc_array(SKEW)).solve)
PRODUCTS = linalg.LinearOperator((N, N), matvec=lambda y: SKEW @ y)


class Scaled(linalg.LinearOperator):
    """A preconditioner that knows one product only, as a class of the user's."""

    def __init__(self):
        super().__init__(np.float64, (N, N))

    def _matvec(self, y):
        return y.ravel() / np.diag(SKEW)


SCALED = Scaled()


def compiled(y):
    """A product that cannot be recorded."""
    found = np.ascontiguousarray(SKEW @ y)
    return np.frombuffer(found, codipy.value(found).dtype).copy()


def incomplete():
    return linalg.LinearOperator((N, N), linalg.spilu(sp.csc_array(SKEW)).solve)


WITHOUT_ADJOINT = {
    "products": lambda b, solver: solver(PRODUCTS, b, **EXACT),
    "products in the function": lambda b, solver: solver(linalg.LinearOperator((N, N), lambda y: SKEW @ y), b, **EXACT),
    "sum": lambda b, solver: solver(PRODUCTS + Scaled(), b, **EXACT),
    "factors": lambda b, solver: solver(SKEW, b, M=incomplete(), **EXACT),
    "factors of a module": lambda b, solver: solver(SKEW, b, M=INCOMPLETE, **EXACT),
    "class": lambda b, solver: solver(SKEW, b, M=Scaled(), **EXACT),
    "object of a module": lambda b, solver: solver(sp.csr_array(SKEW), b, M=SCALED, **EXACT),
    "compiled": lambda b, solver: solver(SKEW, b, M=linalg.LinearOperator((N, N), compiled), **EXACT),
    "of active values": lambda b, solver: solver(sp.csr_array(SKEW) * b[0], b, M=incomplete(), **EXACT),
    "both": lambda b, solver: solver(linalg.LinearOperator((N, N), lambda y: SKEW @ y * b[0]), b, M=Scaled(), **EXACT),
}


class Stretched(linalg.LinearOperator):
    """A matrix whose diagonal is stretched, as a class of the user's."""

    def __init__(self, A, by):
        super().__init__(np.float64, A.shape)
        self.A_, self.by = A, by

    def _matvec(self, y):
        return self.A_ @ y.ravel() + self.by * y.ravel()


def free(A, x):
    """The products of a symmetric matrix, without one."""
    return linalg.LinearOperator((N, N), matvec=lambda y: A @ y + x[1] ** 2 * y)


def skew(A, x):
    """The products of a matrix that is not symmetric, with no others known."""
    return linalg.LinearOperator((N, N), matvec=lambda y: A @ y + x[3] * np.roll(y, 1))


def skewed(A, x):
    return linalg.LinearOperator((N, N), matvec=lambda y: A @ y + x[3] * np.roll(y, 1),
                                 rmatvec=lambda y: A.T @ y + x[3] * np.roll(y, -1))  # fmt: skip


OPERATORS = {
    "free": lambda A, x: WEIGHTS @ linalg.cg(free(A, x), RIGHT, **EXACT)[0],
    "right-hand side": lambda A, x: WEIGHTS @ linalg.cg(free(A, x), RIGHT * x[0], **EXACT)[0],
    "column": lambda A, x: WEIGHTS @ linalg.cg(free(A, x), RIGHT[:, None] * x[0], **EXACT)[0].ravel(),
    "minres": lambda A, x: WEIGHTS @ linalg.minres(free(A, x), RIGHT, rtol=1e-14)[0],
    "gmres": lambda A, x: WEIGHTS @ linalg.gmres(skew(A, x), RIGHT * x[2], **EXACT)[0],
    "bicgstab": lambda A, x: WEIGHTS @ linalg.bicgstab(skew(A, x), RIGHT, x0=RIGHT, **EXACT)[0],
    "lgmres": lambda A, x: WEIGHTS @ linalg.lgmres(skew(A, x), RIGHT, **EXACT)[0],
    "bicg": lambda A, x: WEIGHTS @ linalg.bicg(skewed(A, x), RIGHT, **EXACT)[0],
    "qmr": lambda A, x: WEIGHTS @ linalg.qmr(skewed(A, x), RIGHT, **EXACT)[0],
    "sum": lambda A, x: WEIGHTS @ linalg.gmres(skew(A, x) + 2.0 * free(A, x), RIGHT, **EXACT)[0],
    "class": lambda A, x: WEIGHTS @ linalg.cg(Stretched(A, x[1]), RIGHT, **EXACT)[0],
    "preconditioned": lambda A, x: WEIGHTS @ linalg.gmres(skew(A, x), RIGHT, M=preconditioner(A), **EXACT)[0],
    "active preconditioner": lambda A, x: WEIGHTS @ linalg.cg(
        free(A, x), RIGHT, M=linalg.LinearOperator((N, N), matvec=lambda y: y / (1.0 + x[0] ** 2)), **EXACT)[0],
    "dense": lambda A, x: WEIGHTS @ linalg.cg(linalg.aslinearoperator(A.toarray()), RIGHT, **EXACT)[0],
    "complex": lambda A, x: np.real(WEIGHTS @ linalg.gmres(linalg.LinearOperator(
        (N, N), matvec=lambda y: A @ y + 1j * x[3] * y, dtype=complex), RIGHT * (1.0 + 0.5j * x[0]), **EXACT)[0]),
    "Hermitian": lambda A, x: np.imag(WEIGHTS @ linalg.cg(linalg.LinearOperator(
        (N, N), matvec=lambda y: A @ y + 0.1j * x[3] * (np.roll(y, 1) - np.roll(y, -1)), dtype=complex), RIGHT,
        **EXACT)[0]),
    "complex right-hand side": lambda A, x: np.imag(
        WEIGHTS @ linalg.cg(free(A, x), RIGHT * (1.0 + 1j * x[0]), **EXACT)[0]),
    "without the transpose": lambda A, x: WEIGHTS @ linalg.gmres(linalg.LinearOperator(
        (N, N), matvec=lambda y: 2.0 * y + 0.1 * np.roll(y, 1)), RIGHT * x[0], **EXACT)[0],
    "twice": lambda A, x: WEIGHTS @ linalg.cg(free(A, x), linalg.cg(free(A, x), RIGHT, **EXACT)[0], **EXACT)[0],
}  # fmt: skip
PAIRS = {
    "values": lambda A, x: linalg.eigsh(A, k=2, v0=np.ones(N))[0] @ np.array([1.0, 2.0]),
    "only values": lambda A, x: linalg.eigsh(A, 2, v0=np.ones(N), return_eigenvectors=False) @ np.array([1.0, 2.0]),
    "vectors": lambda A, x: np.sum((WEIGHTS @ linalg.eigsh(A, k=2, v0=np.ones(N))[1]) ** 2),
    "near": lambda A, x: linalg.eigsh(A, k=1, sigma=0.5, v0=np.ones(N))[0][0],
}


def preconditioner(A):
    factors = linalg.spilu(codipy.value(A).tocsc())
    return linalg.LinearOperator((N, N), factors.solve, lambda y: factors.solve(y, "T"))


def check(f, second=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)
        value, gradient = codipy.value_and_grad(f)(POINT)
        assert value == f(POINT)
        np.testing.assert_allclose(gradient, differences(f, POINT, 1e-5), rtol=2e-6, atol=1e-7)
        direction = np.cos(np.arange(len(POINT)))
        for strategy in STRATEGIES:
            np.testing.assert_allclose(codipy.grad(f, strategy=strategy)(POINT), gradient, rtol=1e-9, atol=1e-12)
        _, slope = codipy.jvp(f, (POINT,), (direction,))
        np.testing.assert_allclose(slope, gradient @ direction, rtol=1e-8)
        if second:
            (product,) = codipy.hvp(f, (POINT,), (direction,))
            change = codipy.grad(f)(POINT + 1e-6 * direction) - codipy.grad(f)(POINT - 1e-6 * direction)
            np.testing.assert_allclose(product, change / 2e-6, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "coo_array"])
@pytest.mark.parametrize("name", DIRECT)
def test_direct_solutions(name, form):
    check(lambda x: DIRECT[name](matrix(x, form), x))


@pytest.mark.parametrize("name", ITERATED)
def test_iterated_solutions(name):
    check(lambda x: ITERATED[name](symmetric(x), x))


@pytest.mark.parametrize("name", OPERATORS)
def test_equations_by_products(name):
    check(lambda x: OPERATORS[name](symmetric(x), x))


@pytest.mark.parametrize("name", WITHOUT_ADJOINT)
def test_the_product_with_the_transpose_need_not_be_said(name):
    check(lambda x: WEIGHTS @ WITHOUT_ADJOINT[name](x[:N], linalg.gmres)[0], second=name in ("products", "both"))

    def f(x, solver):
        return WEIGHTS @ WITHOUT_ADJOINT[name](x[:N], solver)[0]

    for solver in (linalg.bicgstab, linalg.lgmres):
        np.testing.assert_allclose(codipy.grad(f)(POINT, solver), codipy.grad(f)(POINT, linalg.gmres), rtol=1e-8)


@pytest.mark.parametrize("solver", ["gmres", "bicgstab"])
def test_complex_numbers_and_products_without_the_transpose(solver):
    def f(x):
        found = getattr(linalg, solver)(PRODUCTS, x[:N] * (1.0 + 0.5j), M=SCALED, **EXACT)[0]
        return WEIGHTS @ (found.real * found.imag)

    np.testing.assert_allclose(codipy.grad(f)(POINT), differences(f, POINT, 1e-5), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("with_preconditioner", [False, True])
def test_a_complex_product_without_the_transpose(with_preconditioner):
    def diagonal(y):
        return y / (4.0 + 2.0j * np.cos(np.arange(N)))

    A = linalg.LinearOperator((N, N), matvec=lambda y: SKEW @ y + 0.3j * np.roll(y, 2), dtype=complex)
    M = linalg.LinearOperator((N, N), matvec=diagonal, dtype=complex) if with_preconditioner else None

    def f(x):
        found = linalg.gmres(A, x[:N] * (1.0 + 0.5j), M=M, **EXACT)[0]
        return WEIGHTS @ (found.real * found.imag)

    np.testing.assert_allclose(codipy.grad(f)(POINT), differences(f, POINT, 1e-5), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", [float, complex])
def test_a_product_that_is_not_recorded_says_what_to_write(dtype):
    operator = linalg.LinearOperator((N, N), compiled, dtype=dtype)
    with pytest.raises(ActiveError, match="without rmatvec would lose its derivative.*say rmatvec="):
        codipy.grad(lambda x: linalg.bicgstab(operator, x[:N], **EXACT)[0].sum())(POINT)


@pytest.mark.parametrize("form", [np.array, sp.csr_array, linalg.aslinearoperator])
def test_conjugate_gradients_of_a_matrix_that_is_not_symmetric_are_refused(form):
    A = form(np.eye(N) * 4.0 + np.diag([0.1] * (N - 1), 1))
    assert linalg.cg(A, RIGHT)[1] == 0
    with pytest.raises(ArithmeticError, match="cg is for symmetric matrices"):
        codipy.grad(lambda x: linalg.cg(A, x[:N])[0].sum())(POINT)


def test_a_preconditioner_with_which_tfqmr_stops_early_is_refused():
    A = np.diag(np.linspace(2.0, 6.0, 30)) + 0.3 * np.cos(np.arange(900.0)).reshape(30, 30)
    M = np.diag(1.0 / np.diag(A))

    def f(x):
        return linalg.tfqmr(A, np.ones(30) * x[0], M=M, rtol=1e-10)[0].sum()

    assert f(POINT) != pytest.approx(np.linalg.solve(A, np.ones(30) * POINT[0]).sum(), rel=1e-6)
    with pytest.raises(ArithmeticError, match="take bicgstab or gmres"):
        codipy.grad(f)(POINT)


@pytest.mark.parametrize("name", PAIRS)
def test_eigenpairs(name):
    check(lambda x: PAIRS[name](symmetric(x), x), second=False)


def test_a_complex_matrix_that_is_made_in_the_function():
    def f(x):
        return np.sum(np.abs(linalg.gmres(np.array([[4.0, 1j], [-1j, 3.0]]), x[:2] * (1.0 + 1j), **EXACT)[0]))

    np.testing.assert_allclose(codipy.grad(f)(POINT), differences(f, POINT, 1e-5), rtol=1e-6, atol=1e-8)


def test_second_order_of_eigenvalues_is_refused():
    with pytest.raises(codipy.errors.UndifferentiableError, match="eigh"):
        codipy.hvp(lambda x: PAIRS["values"](symmetric(x), x), (POINT,), (POINT,))


def test_a_solver_that_gives_up_has_no_derivative():
    with pytest.raises(ArithmeticError, match="cg: the equations were not solved"):
        codipy.grad(lambda x: linalg.cg(symmetric(x), RIGHT, maxiter=1, **EXACT)[0].sum())(POINT)


def test_a_solver_of_products_that_gives_up_has_no_derivative():
    with pytest.raises(ArithmeticError, match="cg: the equations were not solved"):
        codipy.grad(lambda x: linalg.cg(free(symmetric(x), x), RIGHT, maxiter=1, **EXACT)[0].sum())(POINT)


@pytest.mark.parametrize("scale", [1e-40, 1e-9, 1e30])
@pytest.mark.parametrize("name", ["cg", "bicgstab", "gmres", "minres"])
def test_derivatives_are_as_exact_whatever_the_size_of_the_loss(name, scale):
    """An absolute tolerance is meant for the user's equations, not for those of the sweep."""
    tolerances = {"rtol": 1e-13} | ({} if name == "minres" else {"atol": 1e-12})

    def f(x):
        return scale * (WEIGHTS @ getattr(linalg, name)(symmetric(x), RIGHT * x[0], **tolerances)[0])

    def g(x):
        return WEIGHTS @ linalg.spsolve(symmetric(x).tocsc(), RIGHT * x[0])

    gradient, direction = codipy.grad(g)(POINT), np.cos(np.arange(len(POINT)))
    np.testing.assert_allclose(codipy.grad(f)(POINT) / scale, gradient, rtol=1e-8, atol=1e-10)
    slope = codipy.jvp(f, (POINT,), (scale * direction,))[1]
    np.testing.assert_allclose(slope / scale**2, gradient @ direction, rtol=1e-8)


def test_products_of_an_operator_put_nothing_on_the_tape():
    """What is kept does not grow with the iterations, each of which multiplies 200 numbers."""
    diagonal, counts = np.linspace(1.0, 50.0, 200), []

    def f(x, rtol):
        A = linalg.LinearOperator((200, 200), matvec=lambda y: (diagonal + np.exp(x[0])) * y)
        counts.append(0)
        return linalg.cg(A, np.ones(200), rtol=rtol, callback=lambda _: counts.append(counts.pop() + 1))[0].sum()

    def bytes_of(rtol):
        tape = codipy.Tape()
        with tape:
            tape.register_output(codipy.rebind(f)(tape.register_input(POINT), rtol))
        return tape.statistics().total.used

    more = bytes_of(1e-12) - bytes_of(1e-1)
    assert counts[0] > counts[1] + 20
    assert abs(more) < 200 * 8


def test_a_singular_matrix_gives_what_scipy_gives():
    def f(x):
        return linalg.spsolve(matrix(x * 0.0 + np.where(BANDS.row == 0, 0.0, x), "csc_array"), RIGHT).sum()

    with pytest.warns(linalg.MatrixRankWarning):
        value, gradient = codipy.value_and_grad(f)(POINT)
    assert np.isnan(value) and np.isnan(gradient).any()


@pytest.mark.parametrize(
    "call",
    [
        lambda A, x: linalg.spilu(A.tocsc()).solve(RIGHT),
        lambda A, x: linalg.splu(A.tocsc()).L.data,
        lambda A, x: linalg.eigs(A, 2)[0],
        lambda A, x: linalg.lobpcg(A, COLUMNS)[0],
        lambda A, x: linalg.spsolve(A, sp.csc_array(COLUMNS)).data,
        lambda A, x: linalg.eigsh(sp.eye_array(N), 2, M=A)[0],
    ],
)
def test_what_has_no_rule_says_what_to_write(call):
    with pytest.raises((ActiveError, AttributeError), match=r"value\(|write|take|give"):
        codipy.grad(lambda x: np.sum(call(symmetric(x), x)))(POINT)


@pytest.mark.parametrize("form", ["csc_matrix", "csr_matrix"])
def test_finite_elements(form):
    m = 8
    ends = np.stack([np.arange(m), np.arange(1, m + 1)], axis=1)
    rows, columns = np.repeat(ends, 2, axis=1).ravel(), np.tile(ends, (1, 2)).ravel()
    inside = (rows > 0) & (columns > 0) & (rows < m) & (columns < m)

    def f(k):
        data = (k[:, None] * np.array([1.0, -1.0, -1.0, 1.0])).ravel()[inside]
        A = sp.coo_matrix((data, (rows[inside] - 1, columns[inside] - 1)), shape=(m - 1, m - 1)).asformat(form[:3])
        return np.sum(linalg.spsolve(A, np.ones(m - 1)) ** 2)

    point = np.linspace(1.0, 2.0, m)
    value, gradient = codipy.value_and_grad(f)(point)
    assert value == f(point)
    np.testing.assert_allclose(gradient, differences(f, point), rtol=1e-6, atol=1e-6)


HOPPING = sp.coo_array(sp.diags([1.0, 1.0], [-1, 1], shape=(N, N)))


@pytest.mark.parametrize("name", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("times", [{}, {"start": 0.0, "stop": 1.0, "num": 3}])
@pytest.mark.parametrize("diagonal", [None, -2.0])
def test_exponentials_of_matrices_with_a_constant_diagonal(name, times, diagonal):
    """SciPy takes the mean of the diagonal off, and leaves out the zeros that it leaves."""
    filled = np.arange(N if diagonal else 0)
    places = [np.concatenate([part, filled]) for part in (HOPPING.row, HOPPING.col)]
    values = np.concatenate([np.linspace(0.5, 1.5, HOPPING.nnz), np.full(filled.size, diagonal or 0.0)])

    def f(x):
        A = sp.coo_array((x, tuple(places)), shape=(N, N)).asformat(name)
        return np.sum(linalg.expm_multiply(A, RIGHT * x[0], **times) @ WEIGHTS)

    value, gradient = codipy.value_and_grad(f)(values)
    assert value == f(values)
    steps = 1e-6 * np.eye(values.size)
    np.testing.assert_allclose(gradient, [(f(values + h) - f(values - h)) / 2e-6 for h in steps], rtol=1e-6, atol=1e-8)


def test_exponential_of_a_multiple_of_the_identity_is_refused():
    def f(x):
        return np.sum(linalg.expm_multiply(sp.coo_array((x, (np.arange(N), np.arange(N)))).tocsr(), RIGHT))

    with pytest.raises(ActiveError, match="leaves out an entry that is exactly 0"):
        codipy.grad(f)(np.full(N, 2.0))


def test_exponential_of_a_passive_operator():
    def f(x):
        return np.sum(linalg.expm_multiply(linalg.aslinearoperator(SKEW), x, traceA=1.0) ** 2)

    value, gradient = codipy.value_and_grad(f)(RIGHT)
    assert value == f(RIGHT)
    np.testing.assert_allclose(codipy.jvp(f, (RIGHT,), (WEIGHTS,))[1], gradient @ WEIGHTS, rtol=1e-12)
    np.testing.assert_allclose(gradient @ RIGHT, 2.0 * value, rtol=1e-12)      # it is a square form


SORTING = {
    "spsolve": lambda A: linalg.spsolve(A, RIGHT),
    "splu": lambda A: linalg.splu(A).solve(RIGHT),
    "spilu": lambda A: linalg.spilu(A).solve(RIGHT),
    "factorized": lambda A: linalg.factorized(A)(RIGHT),
    "inv": lambda A: linalg.inv(A),
    "onenormest": lambda A: linalg.onenormest(A),
    "value": lambda A: linalg.spsolve(codipy.value(A).copy(), RIGHT),
}


@pytest.mark.parametrize("form", ["csc_array", "csr_array", "csc_matrix"])
@pytest.mark.parametrize("is_active", [False, True])
@pytest.mark.parametrize("is_twice", [False, True])
@pytest.mark.parametrize("name", SORTING)
@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_matrices_that_scipy_sorts_in_place(name, is_twice, is_active, form):
    """What SciPy does to the indices of a matrix it does to its values, which are not those that it was given."""
    A = sp.csr_array(symmetric(POINT))
    indices, values = A.indices.copy(), A.data.copy()
    for start, stop in zip(A.indptr, A.indptr[1:]):
        indices[start:stop], values[start:stop] = indices[start:stop][::-1], values[start:stop][::-1]
    if is_twice:
        indices[1] = indices[0]
    seen = []

    def f(x):
        data = x * values if is_active else np.array(values)
        B = getattr(sp, form)((data, indices.copy(), A.indptr.copy()), shape=A.shape)
        SORTING[name](B)
        seen.append((B.indptr.tolist(), B.indices.tolist(), codipy.value(B.data).tolist()))
        return np.sum((B @ RIGHT) ** 2) * x[0]

    x = np.ones(values.size)
    expected = f(x)
    if is_active and name in ("inv", "spilu", "onenormest"):
        with pytest.raises(ActiveError, match="with active values"):
            codipy.grad(lambda x: SORTING[name](getattr(sp, form)((x * values, indices, A.indptr))))(x)
        return
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == expected and seen[0] == seen[1]
    steps = 1e-6 * np.eye(x.size)[:2]
    np.testing.assert_allclose(gradient[:2], [(f(x + h) - f(x - h)) / 2e-6 for h in steps], rtol=1e-5)
