# SPDX-License-Identifier: Apache-2.0
"""What do sparse Jacobians and Hessians cost, and finding which of their elements can be other than zero?"""
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


QUESTIONS = {"sparse-jacobian": jacobian, "sparse-detection": detection, "sparse-colouring": colouring,
             "sparse-hessian": hessian, "sparse-hessian-detection": hessian_detection}
