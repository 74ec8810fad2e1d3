# SPDX-License-Identifier: Apache-2.0
"""What do sparse Jacobians and Hessians cost, and finding which of their elements can be other than zero?"""
from functools import partial

from bench_second import rosenbrock, rosenbrock_loop
from timing import Figure, in_turns, ratio

N = 10_000


def broyden(x):
    """Broyden's tridiagonal system as array code."""
    y = (3.0 - 2.0 * x) * x + 1.0
    y[1:] -= x[:-1]
    y[:-1] -= 2.0 * x[1:]
    return y


def broyden_loop(x):
    """The same as a loop over floats."""
    n, y = len(x), []
    for i in range(n):
        v = (3.0 - 2.0 * x[i]) * x[i] + 1.0
        if i > 0:
            v -= x[i - 1]
        if i < n - 1:
            v -= 2.0 * x[i + 1]
        y.append(v)
    return y


def _figure(name, work, plain, target, question, repeats=25):
    times, reference = in_turns([work, plain], repeats)
    reached, detail = ratio(times, reference)
    return Figure(name, reached, target, detail=detail, question=question)


def _point():
    import numpy as np
    x = np.linspace(0.1, 2.0, N)
    return x, x.tolist()


def jacobian():
    """A tridiagonal Jacobian whose pattern is known."""
    import codipy
    x, numbers = _point()
    driver = codipy.jacobian(broyden, sparsity=codipy.sparsity(broyden, x))
    assert driver(x).nnz == 3 * N - 2
    return _figure("tridiagonal Jacobian n=10,000, sparsity detected once / Python loop", lambda: driver(x),
                   lambda: broyden_loop(numbers), 0.2, "sparse-jacobian")


def detection():
    """Its pattern."""
    import codipy
    x, numbers = _point()
    return _figure("detection of the sparsity of this Jacobian / Python loop", lambda: codipy.sparsity(broyden, x),
                   lambda: broyden_loop(numbers), 10.0, "sparse-detection")


def colouring():
    """The colouring of that, which is made once."""
    import codipy
    x, numbers = _point()
    pattern = codipy.sparsity(broyden, x).tocsr()
    return _figure("pattern of this Jacobian from a SciPy matrix, and its colouring / Python loop",
                   lambda: codipy.Sparsity(pattern).colouring(), lambda: broyden_loop(numbers), 10.0,
                   "sparse-colouring")


def hessian():
    """A tridiagonal Hessian whose pattern is known."""
    import codipy
    x, numbers = _point()
    driver = codipy.hessian(rosenbrock, sparsity=codipy.hessian_sparsity(rosenbrock, x))
    assert driver(x).nnz == 3 * N - 2
    return _figure("tridiagonal Hessian, Rosenbrock n=10,000, sparsity detected once / Python loop", lambda: driver(x),
                   lambda: rosenbrock_loop(numbers), 1.0, "sparse-hessian")


def hessian_detection():
    """Its pattern."""
    import codipy
    x, numbers = _point()
    return _figure("detection of the sparsity of this Hessian / Python loop",
                   lambda: codipy.hessian_sparsity(rosenbrock, x), lambda: rosenbrock_loop(numbers), 10.0,
                   "sparse-hessian-detection")


CELLS = 100


def _mesh():
    """Triangles of a square whose corners are the nodes of a grid, and the number of each node inside, or -1."""
    import numpy as np
    i, j = (part.ravel() for part in np.meshgrid(np.arange(CELLS + 1), np.arange(CELLS + 1), indexing="ij"))
    node = i * (CELLS + 2) + j
    corners = np.concatenate([np.stack([node, node + CELLS + 2, node + 1], 1),
                              np.stack([node + CELLS + 3, node + 1, node + CELLS + 2], 1)])
    number = np.full((CELLS + 2, CELLS + 2), -1)
    number[1:-1, 1:-1] = np.arange(CELLS * CELLS).reshape(CELLS, CELLS)
    return corners, number.ravel()


def _finite_elements(form):
    """The Poisson equation with a coefficient for each of 20,402 triangles, and a loss of the solution."""
    import numpy as np
    from scipy import sparse
    from scipy.sparse.linalg import spsolve
    corners, number = _mesh()
    rows, columns = number[np.repeat(corners, 3, axis=1).ravel()], number[np.tile(corners, (1, 3)).ravel()]
    kept = np.nonzero((rows >= 0) & (columns >= 0))[0]
    rows, columns, n = rows[kept], columns[kept], CELLS * CELLS
    element = np.array([1.0, -0.5, -0.5, -0.5, 0.5, 0.0, -0.5, 0.0, 0.5])
    load, wanted = np.full(n, 1.0 / (CELLS + 1) ** 2), np.linspace(0.0, 1.0, n)

    def loss(coefficients):
        values = (coefficients[:, None] * element).ravel()[kept]
        matrix = sparse.coo_matrix((values, (rows, columns)), shape=(n, n)).asformat(form)
        return np.sum((spsolve(matrix, load) - wanted) ** 2)

    return loss, 1.0 + 0.3 * np.random.default_rng(0).random(len(corners))


def finite_elements(form, target):
    """Its gradient."""
    import codipy
    loss, coefficients = _finite_elements(form)
    driver = codipy.value_and_grad(loss)
    assert driver(coefficients)[0] == loss(coefficients)
    return _figure(f"finite elements, Poisson with 10,000 unknowns, spsolve of {form.upper()} / plain",
                   lambda: driver(coefficients), lambda: loss(coefficients), target, f"sparse-poisson-{form}", 9)


QUESTIONS = {"sparse-jacobian": jacobian, "sparse-detection": detection, "sparse-colouring": colouring,
             "sparse-hessian": hessian, "sparse-hessian-detection": hessian_detection,
             "sparse-poisson-csc": partial(finite_elements, "csc", 2.0),
             "sparse-poisson-csr": partial(finite_elements, "csr", 3.0)}
