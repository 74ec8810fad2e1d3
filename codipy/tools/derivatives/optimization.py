# SPDX-License-Identifier: Apache-2.0
"""Values, gradients, Jacobians and Hessians as optimizers ask for them: of one recording at each point."""
from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from codipy.tape import active_tape
from codipy.tools.arguments.choice import Choice
from codipy.tools.arguments.trees import value
from codipy.tools.callee import check_function, name_of, rebound
from codipy.tools.derivatives.compressed import Compressed, Sweeps
from codipy.tools.derivatives.drivers import grad, value_and_grad
from codipy.tools.derivatives.jacobian import jacobian
from codipy.tools.derivatives.linearized import gradient_run
from codipy.tools.derivatives.second import hessian, hvp
from codipy.tools.derivatives.sparsity import jacobian_pattern
from codipy.tools.derivatives.sparsity import sparsity as pattern_of
from codipy.tools.pool import check_settings
from codipy.tools.runs.columns import matrix_of
from codipy.tools.runs.run import Run

__all__ = ["OptimizationProblem", "problem", "weighted"]


def problem(f: Callable[..., Any], x0: ArrayLike, *, sparsity: Any = None, curve: bool = False, strategy: str = "auto",
            granularity: str | None = None, rebind: bool = True) -> OptimizationProblem:
    """What solvers of `scipy.optimize` take beside a function, of one recording at each point.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``, with a vector `x` of floats; returns one real number (`minimize`), or a vector or list of them
        (`least_squares`, `root`, `NonlinearConstraint`). With `curve`, ``f(xdata, *parameters)`` as `curve_fit` takes.
    x0 : array_like
        A point, of as many numbers as there are variables: where solvers begin.
    sparsity : True, Sparsity, Colouring or matrix, optional
        Makes Jacobians, and Hessians of one number, sparse arrays of SciPy: see `jacobian`. Of a vector it is that of
        the Jacobian, of one number that of the Hessian.
    curve : bool
        Whether `f` is a model of `curve_fit`.
    strategy, granularity : str, optional
        How `f` is recorded for gradients and Jacobians: see `Tape`.
    rebind : bool
        See `grad`.

    Returns
    -------
    OptimizationProblem

    Raises
    ------
    TypeError, ValueError
        `f` is not callable, `x0` is not a vector of real numbers, or an option is none that there is.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> p = codipy.problem(lambda x: (1.0 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2, [-1.2, 1.0])
    >>> p.fun(p.x0), p.jac(p.x0), p.hessp(p.x0, np.array([1.0, 0.0]))
    (24.199999999999996, array([-215.6,  -88. ]), array([1330.,  480.]))
    >>> from scipy.optimize import minimize  # doctest: +SKIP
    >>> minimize(p.fun, p.x0, jac=p.jac, hess=p.hess, method="trust-exact").x  # doctest: +SKIP
    array([1., 1.])
    """
    options = {"sparsity": sparsity, "curve": curve, "strategy": strategy, "granularity": granularity, "rebind": rebind}
    return OptimizationProblem(f, x0, options)


class OptimizationProblem:
    """What `problem` returns; its methods are what solvers take.

    Each method takes the point, and the `args` of the solver behind it. What is asked for at the point of the call
    before is taken from the recording of that, as long as it is something else: a function that is called twice runs
    twice. Once second derivatives were asked for, the last two points are kept, since trust regions go back. Threads
    have points of their own. It can be pickled where `f` can.

    Attributes
    ----------
    x0 : ndarray
        The point that was given.
    """

    def __init__(self, f: Callable[..., Any], x0: ArrayLike, options: dict[str, Any]) -> None:
        check_function(f, "problem")
        check_settings((options["strategy"], options["granularity"]))
        self.x0 = np.array(_real("x0", x0))
        if self.x0.ndim != 1:
            raise ValueError(f"x0 must be a vector of one axis, as SciPy's solvers have it, got the shape "
                             f"{self.x0.shape}: take x0.ravel(), and x.reshape{self.x0.shape} in the function")
        self.f, self._options, self._curve = f, options, options["curve"]
        self._sparse = options["sparsity"] is not None and options["sparsity"] is not False
        self._choice = Choice(tuple(range(1, self.x0.size + 1)) if self._curve else 0)
        self._run = rebound(f) if options["rebind"] else f
        self._kept = {name: options[name] for name in ("strategy", "granularity", "rebind")}
        self._gradient, self._with_gradient = grad(f, **self._kept), value_and_grad(f, **self._kept)
        self._compressed = Compressed(options["sparsity"], "auto", None) if self._sparse else None
        self._is_number, self._bends, self._here = None, False, threading.local()

    def __repr__(self):
        return f"<codipy.problem of {name_of(self.f)} in {self.x0.size} variables>"

    def __reduce__(self):
        return OptimizationProblem, (self.f, self.x0, self._options)

    # ---- What solvers call ----

    def fun(self, x: Any, *args: Any) -> Any:
        """The value: a float, or a vector."""
        if active_tape() is not None:
            return self.f(x, *args)
        return self._point(x, args, "fun").value

    def jac(self, x: Any, *args: Any) -> Any:
        """The gradient of a number, the Jacobian of a vector."""
        if active_tape() is not None:
            is_number = self._returns_number(x, args) and not self._curve
            return self._gradient(x, *args) if is_number else jacobian(self.f, self._choice.argnums)(x, *args)
        return self._point(x, args, "jac").derivative()

    def hess(self, x: Any, *args: Any) -> Any:
        """The Hessian of a number; of a vector ``hess(x, v)`` is that of its product with `v`, as constraints have it.

        A sparse one, and that of a vector, is a run of its own.
        """
        self._demand_vector("hess")
        if not self._returns_number(x, args if _takes(self.f, x, args) else args[1:]):
            if not args:
                raise TypeError(f"{name_of(self.f)} returns several numbers, so its Hessian needs a weight for each: "
                                "hess(x, v)")
            return self._of_product(x, *args)
        point = None if self._sparse or active_tape() is not None else self._bent(x, args, "hess")
        return self._own_hessian(x, *args) if point is None else point.hessian()

    def hessp(self, x: Any, p: ArrayLike, *args: Any) -> Any:
        """The product of the Hessian of a number with a vector."""
        self._demand_vector("hessp")
        if not self._returns_number(x, args):
            raise TypeError(f"hessp is for functions that return one number, and {name_of(self.f)} returns several: "
                            "take hess(x, v)")
        point = self._bent(x, args, None) if active_tape() is None else None
        if point is not None:
            return point.product(_real("p", p))
        return hvp(self.f, (x, *args), (_real("p", p),), argnums=0, **self._kept)[0]

    @property
    def jac_sparsity(self) -> Any:
        """The pattern of the Jacobian at `x0`, a sparse array of SciPy, for solvers that take differences."""
        self._demand_vector("jac_sparsity")
        return pattern_of(self.f, self.x0, rebind=self._options["rebind"]).tocsr()

    # ---- What they share ----

    def _demand_vector(self, name):
        if self._curve:
            raise TypeError(f"{name} is for functions of a vector, and this problem is a model of curve_fit")

    def _returns_number(self, x, args):
        """Whether `f` returns one number: its first run tells."""
        if self._is_number is None:
            if active_tape() is None:
                self._point(x, args, None)
            else:
                self._is_number = np.ndim(value(self.f(value(x), *args))) == 0
        return self._is_number

    def _point(self, x, args, name):
        """What is known at a point; `name` is what is asked for, and makes it a new one where it was asked before."""
        # curve_fit passes the data first, and then the parameters one by one.
        variables, others = (args, (x,)) if self._curve else (x, args)
        where, points = _real("x", variables).tobytes(), vars(self._here).setdefault("points", [])
        point = next((point for point in points if point.is_at(where, others)), None)
        if point is None or name in point.asked:
            if point is not None:
                points.remove(point)
                point.close()
            while len(points) > (1 if self._bends else 0):      # trust regions go back to where they were
                points.pop(0).close()
            point = self._run_at(x, args)
            point.where, point.others = where, others
            points.append(point)
        if name is not None:
            point.asked.add(name)
        return point

    def _run_at(self, x, args):
        settings = self._options["strategy"], self._options["granularity"]
        if self._bends:
            run = gradient_run(self._gradient, (x, *args), {}, self._choice, False, *settings)
            if run is not None:
                return _Bent(run)
            self._bends = None      # its second derivatives are those of drivers, by recordings of their own
        if self._is_number and not self._curve:
            return _Number(*self._with_gradient(x, *args))
        run = Run(self.f, self._run, self._choice, (x, *args), {}, False, settings)
        self._is_number = np.ndim(run.value) == 0
        return _Recorded(run, functools.partial(self._matrix, (x, *args)), self._is_number)

    def _bent(self, x, args, name):
        """The point with its second derivatives; None where sweeps do not know its recording."""
        if self._bends is False:      # from now on, each point is recorded for second derivatives
            self._bends, points = True, vars(self._here).get("points", [])
            while points:
                points.pop().close()
        point = self._point(x, args, name) if self._bends else None
        return point if isinstance(point, _Bent) else None

    def _matrix(self, args, run):
        """The Jacobian of a recording at some arguments, one row for a number."""
        if self._compressed is None or self._is_number:
            return matrix_of(run.recording, run.leaves, "auto", None)
        with Sweeps(run.recording, run.leaves) as sweeps:
            return self._compressed.matrix(
                sweeps, lambda: jacobian_pattern(self._choice, self._run, self.f, args, {}, False))

    @functools.cached_property
    def _own_hessian(self):
        return hessian(self.f, sparsity=self._options["sparsity"], **self._kept)

    @functools.cached_property
    def _of_product(self):
        options = {**self._kept, "rebind": False, "sparsity": self._sparse}      # _product calls what is rebound
        return hessian(self._product, **options)

    def _product(self, x, weights, *args):
        return weighted(self._run(x, *args), weights)


def _real(name, x):
    """A vector of real numbers: NumPy discards imaginary parts with a warning only."""
    found = np.asarray(x)
    if found.dtype.kind == "c":
        raise TypeError(f"{name} is complex, and solvers of scipy.optimize take real numbers: let real and imaginary "
                        "parts be the variables, np.concatenate([z.real, z.imag]), and in the function "
                        "z = x[:n] + 1j * x[n:]")
    return np.asarray(found, float)


def weighted(result, weights):
    """The product of what a function returns, a vector or a list of numbers, with a vector of weights."""
    if isinstance(result, (list, tuple)):
        return sum((weight * number for weight, number in zip(weights, result, strict=True)), 0.0)
    return (weights * result).sum()


def _takes(f, x, args):
    """Whether a function can be called with a point and these arguments: else the first of them are weights."""
    try:
        inspect.signature(f).bind(x, *args)
    except TypeError:
        return False
    except ValueError:      # a function of a library that has no signature
        pass
    return True


class _Point:
    """What is known at a point of a solver.

    Attributes
    ----------
    asked : set of str
        The methods that were called there.
    where, others : bytes, tuple
        The variables, and the other arguments.
    value : float or ndarray
        What the function returned.
    """

    def __init__(self, value):
        self.value, self.asked = value, set()

    def is_at(self, where, others):
        """Whether the very same point and arguments are asked for."""
        return (self.where == where and len(self.others) == len(others)
                and all(one is other for one, other in zip(self.others, others)))

    def close(self):
        """Give the recording back, if there is one."""


class _Number(_Point):
    """One number and its gradient, which costs little once the number is recorded."""

    def __init__(self, value, gradient):
        super().__init__(value)
        self._gradient = gradient

    def derivative(self):
        return self._gradient


class _Bent(_Point):
    """One number, whose recording is swept for second derivatives as well."""

    def __init__(self, run):
        super().__init__(run.number)
        self._run = run

    def derivative(self):
        return self._run.value

    def hessian(self):
        return self._run.hessian()

    def product(self, p):
        return self._run.push((p,))

    def close(self):
        self._run.close()


class _Recorded(_Point):
    """A recording, of which the Jacobian is swept when it is asked for."""

    def __init__(self, run, matrix, is_number):
        super().__init__(float(run.value) if is_number else np.asarray(run.value, float))
        self._run, self._matrix, self._is_number = run, matrix, is_number

    def derivative(self):
        matrix = self._matrix(self._run)
        return matrix[0] if self._is_number else matrix

    def close(self):
        self._run.close()
