# SPDX-License-Identifier: Apache-2.0
"""Solutions of equations as functions: derivatives by the implicit function theorem, not through the solver's steps.

The solver runs on plain numbers, whatever it is made of. A solution u of f(u, p) = 0 has the derivative
-(df/du)^-1 df/dp (see Griewank and Walther, "Evaluating Derivatives", 2008, section 15.1), so that a sweep takes one
linear solve with the transposed Jacobian, and df/dp is that of one more evaluation of f.
"""

from __future__ import annotations

import functools

import numpy as np

from codipy.active.array import Real, call, is_active, plain
from codipy.numpy.primitive import Primitive
from codipy.tape import passive
from codipy.tape.activity import depth
from codipy.tools.callee import check_function, name_of, rebound
from codipy.tools.choice import Choice
from codipy.tools.driver import Driver
from codipy.tools.jacobian import matrix_of
from codipy.tools.leaves import join, split
from codipy.tools.orders import orders
from codipy.tools.run import Run
from codipy.tools.trees import labelled, rebuild, value

__all__ = ["fixed_point", "root"]

_SOLVES = ("dense", "gmres", "cg")
_SETTINGS = ("auto", None)
_BY_SOLUTION = Choice(0)


def root(f, solver, *, tolerance=1e-6, solve="dense", has_aux=False):
    """The solution of an equation, as a function of its parameters that can be differentiated any number of times.

    Parameters
    ----------
    f : callable
        ``f(u, *args, **kwargs)``, numbers of the form and shapes of `u`, zero at the solution. It may use variables of
        the function around it.
    solver : callable
        ``solver(*args, **kwargs)`` returns the solution: a number, an array of floats, or lists, tuples, dicts and
        dataclasses of them. It gets plain numbers, and nothing in it is recorded: SciPy, compiled code, a table.
    tolerance : float
        How far the solution may be from that of one more step of Newton's method, relative to 1 + its largest number.
    solve : {"dense", "gmres", "cg"} or callable
        How linear equations with the Jacobian of `f` by `u`, or with its transpose, are solved. ``"dense"`` forms it.
        The others need products with vectors alone, each one sweep: SciPy's GMRES; its method of conjugate gradients,
        for a symmetric positive definite Jacobian; ``solve(product, right)``, which returns x so that ``product(x)`` is
        `right`, both vectors. A residual above ``tolerance / 1000``, relative to `right`, is an error.
    has_aux : bool
        Whether `solver` returns a pair: the solution, and something else, which comes back as it is: a constant, as
        the count of iterations; what depends on the parameters, compute from the solution.

    Returns
    -------
    callable
        ``solution(*args, **kwargs)`` is what `solver` returns; in a function that is differentiated variables of it. It
        can be pickled where `f` and `solver` can.

    Raises
    ------
    ArithmeticError
        From the returned function, where it is differentiated: what `solver` gave is no solution within the tolerance,
        or the Jacobian of `f` by `u` is singular there, or `solve` did not solve.
    TypeError
        From the returned function: the solution is no number or array of floats, or `f` returns another form or shape.
    ValueError
        There is no such `solve`.
    ImportError
        From the returned function: SciPy is not installed, and `solve` needs it.

    Notes
    -----
    A dense Jacobian is for some thousands of numbers at most. Without it the recording of one run of `f` is kept, and
    swept once for each product.

    ``tape.evaluate_primal()`` does not call `solver` again: it takes one step of Newton's method from the recorded
    solution, with the recorded Jacobian. Record again where inputs are other than near by.

    Examples
    --------
    >>> import codipy, math
    >>> cube_root = codipy.implicit.root(lambda u, p: u**3 - p, lambda p: p ** (1.0 / 3.0))
    >>> round(codipy.grad(cube_root)(8.0), 12), round(codipy.grad(codipy.grad(cube_root))(8.0), 12)
    (0.083333333333, -0.006944444444)
    """
    return _solution(root, f, solver, tolerance, solve, has_aux)


def fixed_point(g, solver, *, tolerance=1e-6, solve="dense", has_aux=False):
    """The fixed point u = g(u, p) of an iteration: `root` of u - g(u, p).

    Parameters
    ----------
    g : callable
        ``g(u, *args, **kwargs)``, numbers of the form and shapes of `u`.
    solver : callable
        See `root`: it may iterate `g` until nothing changes.
    tolerance, solve, has_aux : optional
        See `root`.

    Returns
    -------
    callable
        See `root`.

    Raises
    ------
    ArithmeticError, TypeError, ValueError, ImportError
        See `root`.

    Examples
    --------
    >>> import codipy, math
    >>> def iterate(p, u=1.0):
    ...     for _ in range(200):
    ...         u = math.cos(p * u)
    ...     return u
    >>> angle = codipy.implicit.fixed_point(lambda u, p: math.cos(p * u), iterate)
    >>> round(codipy.grad(angle)(1.0), 9)
    -0.297474342
    """
    return _solution(fixed_point, g, solver, tolerance, solve, has_aux)


def _solution(maker, f, solver, tolerance, solve, has_aux):
    for function in (f, solver):
        check_function(function, f"codipy.implicit.{maker.__name__}")
    if not callable(solve) and solve not in _SOLVES:
        raise ValueError(f"unknown solve {solve!r}: choose one of {', '.join(map(repr, _SOLVES))}, or give a function "
                         "solve(product, right)")
    options = {"solver": solver, "tolerance": tolerance, "solve": solve, "has_aux": has_aux}
    return Solution(maker, f, options)


class Solution(Driver):
    """What `root` and `fixed_point` return."""

    def __init__(self, maker, f, options):
        super().__init__(maker, f, options, "")
        functools.update_wrapper(self, options["solver"])
        self._residual = None

    def __call__(self, *args, **kwargs):
        with passive():
            found = self.options["solver"](*value(args), **value(kwargs))
        if not self.options["has_aux"]:
            return self._differentiated(found, args, kwargs) if depth() else found
        if not isinstance(found, tuple) or len(found) != 2:
            raise TypeError(f"the solver must return (solution, aux) since has_aux=True, got {type(found).__name__}")
        return (self._differentiated(found[0], args, kwargs) if depth() else found[0]), found[1]

    def _equation(self):
        """What is zero at the solution."""
        if self._residual is None:
            run = rebound(self.f)

            def residual(u, *args, **kwargs):
                image = _alike(run(u, *args, **kwargs), u, self.f)
                return rebuild(u, [leaf - other for (_, leaf), other in zip(labelled(u, "u"), image)])

            residual.__name__ = name_of(self.f)
            self._residual = run if self.maker is root else residual
        return self._residual

    def _differentiated(self, found, args, kwargs):
        """The solution as variables, where the equation depends on some; each step gives one more order."""
        run, options = self._equation(), self.options
        leaves = [leaf for _, leaf in labelled(found, "solution")]
        for leaf in leaves:
            dtype = np.asarray(leaf).dtype
            if dtype != np.float64:
                raise TypeError(f"the solver must return numbers or arrays of float64, got {type(leaf).__name__}"
                                f"{f' of dtype {dtype}' if dtype.kind != 'O' else ''}")
        u = found
        residual = run(u, *args, **kwargs)
        given = [*labelled(residual, ""), *labelled(args, ""), *labelled(kwargs, "")]
        if not any(is_active(leaf) for _, leaf in given):
            return found
        # Nothing of it is a variable: a step with a Jacobian that is constant goes one order farther, too.
        equation = Run(self.f, run, _BY_SOLUTION, (found, *value(args)), value(kwargs), False, _SETTINGS, numbers=True)
        step_of = _dense(equation, self.f) if options["solve"] == "dense" else _Inverse(equation, self.f, options)
        largest = max([np.max(np.abs(leaf), initial=0.0) for leaf in leaves], default=0.0)
        for order in range(orders()):
            if order:
                residual = run(u, *args, **kwargs)
            step = step_of(_vector(_alike(residual, found, self.f)))
            size = float(np.max(np.abs(plain(step)), initial=0.0))
            if not size <= options["tolerance"] * (1.0 + largest):
                raise ArithmeticError(f"what the solver gave is no solution of {name_of(self.f)} = 0: a step of "
                                      f"Newton's method moves it by {size:.3g}; let it iterate on, or say how far it "
                                      "may be (tolerance=)")
            u = _moved(u, plain(step) - step)      # the value stays the solver's
        return u


def _alike(residual, found, f):
    """The leaves of a residual, which must have the form and the shapes of the solution."""
    leaves, wanted = labelled(residual, ""), labelled(found, "")
    if [path for path, _ in leaves] != [path for path, _ in wanted]:
        kinds = [type(x).__name__ for x in (found, residual)]
        if kinds[0] == kinds[1]:
            kinds = [f"{kind} with the numbers {', '.join(path for path, _ in tree)}"
                     for kind, tree in zip(kinds, (wanted, leaves))]
        raise TypeError(f"{name_of(f)} must return the form of the solution, a {kinds[0]}, got a {kinds[1]}")
    for (path, leaf), (_, like) in zip(leaves, wanted):
        if np.shape(leaf) != np.shape(like):
            raise TypeError(f"{name_of(f)} must return numbers of the shape {np.shape(like)} of the solution{path}, "
                            f"got {np.shape(leaf)}")
    return [leaf for _, leaf in leaves]


def _vector(leaves):
    """All numbers, active or not, in a row."""
    rows = [np.reshape(np.reshape(x, (1,)) if type(x) is Real else x, (-1,)) for x in leaves]
    return rows[0] if len(rows) == 1 else np.concatenate(rows)


def _moved(u, step):
    """The solution plus a vector of all numbers."""
    moved, start = [], 0
    for _, leaf in labelled(u, "u"):
        shape, size = np.shape(leaf), int(np.prod(np.shape(leaf)))
        part = step[start:start + size]
        moved.append(leaf + (np.reshape(part, shape) if shape else part[0]))
        start += size
    return rebuild(u, moved)


# ---- Linear solves with the Jacobian by the solution -----------------------------------------------------------------
def _dense(equation, f):
    with equation:
        slope = matrix_of(equation.recording, equation.leaves, "auto", None)

    def solve(right):
        try:
            return np.linalg.solve(slope, right)
        except np.linalg.LinAlgError as error:
            raise ArithmeticError(f"the Jacobian of {name_of(f)} by the solution is singular there: it has no "
                                  "derivative") from error

    return solve


class _Inverse:
    """Solves with a Jacobian, and with its transpose, of which products with vectors alone are known.

    Each is a primitive, of which the rules are the two again: derivatives of any order take solves only.
    """

    def __init__(self, equation, f, options):
        self._equation, self._f, self._with, self._bound = equation, f, options["solve"], options["tolerance"] / 1000.0
        name = f"the linear solve of {name_of(f)}"
        self._forward, self._back = (
            Primitive(f"{name}, transposed" if transposed else name, functools.partial(self._solved, transposed),
                      vjp=functools.partial(self._pull, transposed), jvp=functools.partial(self._push, transposed),
                      keep_args=False, keep_out=False)
            for transposed in (False, True))

    def __call__(self, right, transposed=False):
        return call(self._back if transposed else self._forward, (right,)) if is_active(right) else self._solved(
            transposed, right)

    def _pull(self, transposed, g, out, args, kwargs, argnums):
        return [self(g, not transposed)]

    def _push(self, transposed, tangents, out, args, kwargs):
        return self(tangents[0], transposed)

    def _product(self, transposed, vector):
        equation = self._equation
        sweep = equation.recording.reverse if transposed else equation.recording.forward
        return join(sweep(equation.tape.new_adjoints(), split(np.reshape(vector, -1), equation.leaves)))

    def _solved(self, transposed, right):
        product, scale = functools.partial(self._product, transposed), np.linalg.norm(right)
        if scale == 0.0:
            return np.zeros(right.shape)
        solve = self._with if callable(self._with) else functools.partial(_by_scipy, self._with)
        found = np.asarray(solve(product, right.copy()))
        if found.shape != right.shape or found.dtype != np.float64:
            raise TypeError(f"solve(product, right) must return a vector of {right.size} float64, got one of shape "
                            f"{found.shape} and dtype {found.dtype}")
        residual = np.linalg.norm(product(found) - right) / scale
        if not residual <= self._bound:
            by = name_of(self._with) if callable(self._with) else self._with
            raise ArithmeticError(f"a linear equation with the {'transposed ' if transposed else ''}Jacobian of "
                                  f"{name_of(self._f)} was not solved by {by}: the residual is {residual:.3g} "
                                  "of the right side; is the Jacobian singular, or badly conditioned? Give a solve of "
                                  "your own, with a preconditioner")
        return found


def _by_scipy(name, product, right):
    try:
        from scipy.sparse.linalg import LinearOperator, cg, gmres
    except ImportError as error:
        raise ImportError(f"codipy.implicit needs SciPy for solve={name!r}: install it, or give a function "
                          "solve(product, right)") from error
    operator = LinearOperator((right.size, right.size), matvec=product, dtype=np.float64)
    if name == "cg":
        return cg(operator, right, rtol=1e-13, atol=0.0)[0]
    # Whether it converged is judged by the residual: rounding may keep it above what is asked for here.
    return gmres(operator, right, rtol=1e-13, atol=0.0, restart=min(right.size, 60))[0]
