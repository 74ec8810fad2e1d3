# SPDX-License-Identifier: Apache-2.0
"""Nonlinear programs as Ipopt takes them from cyipopt: derivatives with the structures of their sparse matrices."""
from __future__ import annotations

import numpy as np

from codipy.tools.callee import rebound
from codipy.tools.derivatives.optimization import problem, weighted
from codipy.tools.derivatives.second import hessian
from codipy.tools.derivatives.sparsity import hessian_sparsity, sparsity

__all__ = ["NonlinearProgram", "nlp"]


def nlp(objective, constraints=None, *, x0, rebind=True):
    """An objective and constraints with their derivatives, an object that ``cyipopt.Problem`` takes.

    Parameters
    ----------
    objective : callable
        ``objective(x)`` returns one real number for a vector.
    constraints : callable, optional
        ``constraints(x)`` returns a vector, or a list of numbers.
    x0 : array_like
        A point; its structures are those of all. Elements of the matrices that are missing there, since another branch
        is taken elsewhere, are an error there.
    rebind : bool
        See `codipy.grad`.

    Returns
    -------
    NonlinearProgram

    Raises
    ------
    TypeError, ValueError
        See `codipy.problem`; and an objective that does not return one number.

    Examples
    --------
    >>> import codipy.bridges
    >>> p = codipy.bridges.nlp(lambda x: x[0] ** 2 + x[1] ** 2, lambda x: [x[0] * x[1]], x0=[3.0, 2.0])
    >>> p.objective(p.x0), p.gradient(p.x0), p.jacobianstructure(), p.jacobian(p.x0)
    (13.0, array([6., 4.]), (array([0, 0]), array([0, 1])), array([2., 3.]))
    >>> p.hessianstructure(), p.hessian(p.x0, [5.0], 1.0)
    ((array([0, 1, 1]), array([0, 0, 1])), array([2., 5., 2.]))
    """
    return NonlinearProgram(objective, constraints, x0, rebind)


class NonlinearProgram:
    """What `nlp` returns; the names and the forms of its methods are cyipopt's.

    Attributes
    ----------
    x0 : ndarray
        The point that was given.
    n, m : int
        How many variables and how many constraints there are.
    """

    def __init__(self, objective, constraints, x0, rebind):
        self._objective = problem(objective, x0, rebind=rebind)
        self.x0 = self._objective.x0
        if np.ndim(self._objective.fun(self.x0)):
            raise TypeError(f"{self._objective!r} returns several numbers, and an objective is one: constraints are "
                            "the second argument")
        self._run = rebound(objective) if rebind else objective
        self.n, self.m, self._constraints = self.x0.size, 0, None
        if constraints is not None:
            pattern = sparsity(constraints, self.x0, rebind=rebind)
            self._constraints = problem(constraints, self.x0, sparsity=pattern, rebind=rebind)
            self._run_constraints = rebound(constraints) if rebind else constraints
            self.m, self._rows = pattern.shape[0], (pattern.rows(), pattern.indices)
        pattern = hessian_sparsity(self._lagrangian, self.x0, np.ones(self.m), 1.0, rebind=False)
        self._hessian = hessian(self._lagrangian, sparsity=pattern, rebind=False)
        rows, columns = pattern.rows(), pattern.indices
        self._lower = np.flatnonzero(rows >= columns)
        self._triangle = rows[self._lower], columns[self._lower]

    def _lagrangian(self, x, weights, factor):
        found = factor * self._run(x)
        return found if self._constraints is None else found + weighted(self._run_constraints(x), weights)

    def objective(self, x):
        """The value of the objective."""
        return self._objective.fun(x)

    def gradient(self, x):
        """The gradient of the objective."""
        return self._objective.jac(x)

    def constraints(self, x):
        """The values of the constraints, a vector."""
        return np.zeros(0) if self._constraints is None else self._constraints.fun(x)

    def jacobianstructure(self):
        """Rows and columns of the derivatives of constraints that can be other than zero."""
        return (np.zeros(0, int),) * 2 if self._constraints is None else self._rows

    def jacobian(self, x):
        """These derivatives, one axis."""
        return np.zeros(0) if self._constraints is None else self._constraints.jac(x).data

    def hessianstructure(self):
        """Rows and columns of the second derivatives of the Lagrangian that can be other than zero, lower triangle."""
        return self._triangle

    def hessian(self, x, lagrange, obj_factor):
        """These of ``obj_factor * objective + lagrange @ constraints``, one axis."""
        return self._hessian(np.asarray(x, float), np.asarray(lagrange, float), float(obj_factor)).data[self._lower]
