# SPDX-License-Identifier: Apache-2.0
"""``cg``, ``gmres`` and their like for a `LinearOperator` whose functions use active values.

There is no matrix by whose values the solution could be differentiated, so this is an equation like any other: the
solver runs on plain numbers, and the solution of A(u) - b = 0 has its derivative by the implicit function theorem.
Products with A and with its transpose are sweeps of one recorded A(u), so that no ``rmatvec`` is needed; equations with
them are solved by the same solver with the same options. Complex equations are those of their real and imaginary parts
here: the transpose of a product in parts is that with the conjugate transpose.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from codipy.implicit.solution import Solution, root
from codipy.tape import passive
from codipy.tools.arguments.trees import value
from codipy.tools.derivatives.products import vjp

__all__ = ["solution_by_operator", "with_adjoint"]

_AS_FAR_AS_SCIPY_SAYS = np.inf


def solution_by_operator(name, operator, b, first, further, effects):
    """The solution of ``operator(u) = b``, in a function that is differentiated.

    Parameters
    ----------
    name : str
        The solver.
    operator : LinearOperator
        The user's.
    b : ndarray or Array
        The right-hand side, a vector.
    first : callable
        ``first(b)``, the solution of the user's equations for plain numbers.
    further : callable
        ``further(operator, b, is_turned)``, that of other ones with the same matrix, or with its transpose.
    effects : Effects
        What the functions of the operator keep on the side.

    Returns
    -------
    Array

    Raises
    ------
    ArithmeticError
        From `first` and `further`: the solver gave up.
    """

    is_complex = np.iscomplexobj(value(b)) or operator.dtype is not None and np.dtype(operator.dtype).kind == "c"

    def whole(x):
        return _whole(x) if is_complex else x

    def apart(x):
        return _parts(x) if is_complex else x

    product_with = effects.fresh(operator.matvec, operator)

    def equation(u, right):
        return apart(np.reshape(product_with(whole(u)), -1) - whole(right))

    def solve(product, right):
        size = right.size // (2 if is_complex else 1)
        both = product, product.transposed
        products = ((lambda v, by=by: whole(by(apart(v)))) if is_complex else by for by in both)
        matrix = LinearOperator((size, size), *products, dtype=complex if is_complex else float)
        return apart(further(matrix, whole(right), product.is_turned))

    equation.__name__, solve.__name__ = f"the LinearOperator of {name}", name
    options = {"solver": lambda right: apart(first(whole(right))), "tolerance": _AS_FAR_AS_SCIPY_SAYS, "solve": solve,
               "has_aux": False}  # fmt: skip
    return whole(Solution(root, equation, options | {"is_rebuilt": True, "effects": None})(apart(b)))


def with_adjoint(operator):
    """A `LinearOperator` with the product with its conjugate transpose, which its maker may not have said.

    It is a sweep of one recorded product, of a complex one by its real and imaginary parts.

    Parameters
    ----------
    operator : LinearOperator
        Whatever its functions use is a constant.

    Returns
    -------
    LinearOperator or None
        `operator` itself, if it knows; None if it does not and its product cannot be recorded.
    """
    is_complex = operator.dtype is not None and np.dtype(operator.dtype).kind == "c"
    with passive():
        try:
            operator.rmatvec(np.ones(operator.shape[0]))
            return operator
        except NotImplementedError:
            pass
        ones = np.ones(operator.shape[1])
        try:
            if is_complex:
                _, pull = vjp(lambda parts: _parts(operator.matvec(_whole(parts))), _parts(ones), rebind=False)
            else:
                _, pull = vjp(operator.matvec, ones, rebind=False)
        except Exception:  # compiled code has errors of its own for what it is refused
            return None

    def back(vector):
        row = np.reshape(vector, -1)
        if is_complex:
            return _whole(pull(_parts(row))[0])
        if np.iscomplexobj(row):
            return back(row.real) + 1j * back(row.imag)
        return pull(np.asarray(row, np.float64))[0]

    return LinearOperator(operator.shape, operator.matvec, back, dtype=operator.dtype)


def _parts(x):
    """Complex numbers as real ones: the real parts, then the imaginary ones."""
    return np.concatenate([np.real(x), np.imag(x)])


def _whole(x):
    half = np.size(value(x)) // 2
    return x[:half] + 1j * x[half:]
