# SPDX-License-Identifier: Apache-2.0
"""Solutions of equations as functions: derivatives by the implicit function theorem, not through the solver's steps.

The solver runs on plain numbers, whatever it is made of. A solution u of f(u, p) = 0 has the derivative
-(df/du)^-1 df/dp (see Griewank and Walther, "Evaluating Derivatives", 2008, section 15.1), so that a sweep takes one
linear solve with the transposed Jacobian, and df/dp is that of one more evaluation of f.
"""

from __future__ import annotations

import functools
import sys

import numpy as np

from codipy.active.array import Array, Real, call, is_active, plain
from codipy.active.messages.callers import frames_of_users, place
from codipy.errors import ActiveError, TapeError
from codipy.implicit.effects import Effects
from codipy.implicit.handed import Arguments
from codipy.implicit.inverses import Dense, Inverse, vector_of
from codipy.implicit.opened import may_read_variables
from codipy.implicit.trajectory import Reads
from codipy.numpy.decisions import is_replayed
from codipy.numpy.solved import LESS_VALUE, SOLVED, Solver
from codipy.tape import passive
from codipy.tape.activity import depth
from codipy.tools.arguments.choice import Choice
from codipy.tools.arguments.forms import rebuild
from codipy.tools.arguments.guarded import contents_of, demand_new, run_guarded
from codipy.tools.arguments.leaves import as_array, is_without_axes
from codipy.tools.arguments.trees import labelled, value
from codipy.tools.callee import check_function, name_of, rebound
from codipy.tools.driver import Driver
from codipy.tools.orders import orders
from codipy.tools.rebinding.diverted import in_force, resume
from codipy.tools.runs.run import Run

__all__ = ["demand_finite", "fixed_point", "root", "solution_of"]

_SOLVES = ("dense", "gmres", "cg")
_SETTINGS = ("auto", None)
_BY_SOLUTION = Choice(0)
_SETTLED, _STEPS = 1e-3, 6      # to what of the tolerance so many steps must come
_ARRAYS = (np.ndarray, Array)


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

    ``tape.evaluate_primal()`` calls `solver` again with the new values of its arguments, and takes the Jacobian of `f`
    there. Where `f` depends on variables of the function around it, and these are others, it raises: hand them over
    as arguments. A tape that was loaded from a file has no solver, and raises at other inputs.

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
    check_function(f, f"codipy.implicit.{maker.__name__}")
    if not callable(solver):
        raise TypeError(f"solver must be a function that returns the solution, got {type(solver).__name__}")
    if not callable(solve) and solve not in _SOLVES:
        raise ValueError(f"unknown solve {solve!r}: choose one of {', '.join(map(repr, _SOLVES))}, or give a function "
                         "solve(product, right)")
    options = {"solver": solver, "tolerance": tolerance, "solve": solve, "has_aux": has_aux}
    return Solution(maker, f, options)


def solution_of(equation, solver, tolerance, caller, given=(), unsolved="", effects=None):
    """The `root` of an equation that codipy makes of a user's function.

    What rebuilt code hands over is rebuilt: `caller` is its frame. If that is of other code, the equation is rebuilt.
    Variables that the equation does not show are looked for in what the solver was `given`. Messages that there is no
    solution end in `unsolved`, which says what to write. What the solver leaves of the user's, `effects` sets aside.
    """
    module = sys.modules.get(caller.f_globals.get("__name__"))
    is_rebuilt = module is not None and caller.f_globals is not vars(module)
    options = {"solver": solver, "tolerance": tolerance, "solve": "dense", "has_aux": False, "is_rebuilt": is_rebuilt,
               "given": given, "unsolved": unsolved, "effects": effects}
    return Solution(root, equation, options)


class Solution(Driver):
    """What `root` and `fixed_point` return."""

    def __init__(self, maker, f, options):
        super().__init__(maker, f, options, "")
        functools.update_wrapper(self, options["solver"])
        self._residual = None

    def __call__(self, *args, **kwargs):
        if not depth() or "effects" in self.options:      # None: who made it sets them aside
            return self._called(args, kwargs)
        with Effects(self.f, self.options["solver"], args, kwargs) as effects:
            if not effects.are_possible:
                return self._called(args, kwargs)
            apart = Solution(self.maker, self.f, self.options | {"effects": effects})
            apart._residual = effects.fresh(self._equation(), self.f, first=lambda known, args: None)
            return apart._called(args, kwargs)

    def _called(self, args, kwargs):
        given = Arguments((*args, *kwargs.values()), False).handed()      # lists and dicts are those of the caller
        found, *aux = self.solved(given[:len(args)], dict(zip(kwargs, given[len(args):])))
        u = self._differentiated(found, args, kwargs) if depth() else found
        return (u, *aux) if aux else u

    def solved(self, args, kwargs):
        """What the solver gives for plain numbers, in one item or with what it gives beside it in two."""
        effects, solver = self.options.get("effects"), self.options["solver"]
        if effects is not None:
            effects.begin()
        is_guarded = depth() and "given" not in self.options      # else it is plain, or codipy's own
        with passive():
            if is_guarded:
                found, args, kwargs = run_guarded(solver, name_of(solver), args, kwargs)
                demand_new(name_of(solver), [leaf for _, leaf in labelled(found, "")], args, kwargs)
            else:
                found = solver(*args, **kwargs)
        if effects is not None:
            before = contents_of((found,), {}) if effects.are_possible else None
            effects.solved()
            arrays = [plain(x) for _, x in labelled(found, "") if is_guarded and type(x) in _ARRAYS and np.size(x)]
            if effects.are_possible and (contents_of((found,), {}) != before or effects.are_kept(arrays)):
                raise ActiveError(f"{name_of(solver)}, the solver, returned an array or a list that it fills and that "
                                  "others have, too, where the derivative would be lost: return a copy, u.copy()")
        if not self.options["has_aux"]:
            return (found,)
        if not isinstance(found, tuple) or len(found) != 2:
            raise TypeError(f"{name_of(self.options['solver'])}, the solver, must return (solution, aux) since "
                            f"has_aux=True, got {type(found).__name__}")
        return found

    def _equation(self):
        """What is zero at the solution."""
        if self._residual is None:
            run = self.f if self.options.get("is_rebuilt") else rebound(self.f)

            def residual(u, *args, **kwargs):
                image = _alike(run(u, *args, **kwargs), u, self.f)
                return rebuild(u, [leaf - other for (_, leaf), other in zip(labelled(u, "u"), image)])

            residual.__name__ = name_of(self.f)
            self._residual = run if self.maker is root else residual
        return self._residual

    def _differentiated(self, found, args, kwargs):
        """The solution as variables, where the equation depends on some; each step gives one more order."""
        run = self._equation()
        _demand_doubles(found, self.options["solver"])
        u, replayed = found, is_replayed()
        if not replayed:      # asked for first, which is less than the run for the Jacobian
            residual = run(u, *args, **kwargs)
            given = [*labelled(residual, ""), *labelled(args, ""), *labelled(kwargs, "")]
            if not any(is_active(leaf) for _, leaf in given):
                demand_finite(residual, name_of(self.f))
                # An equation that jumps where a variable says is passive on both sides of that place.
                if self._may_read_variables():
                    self._demand_root(self.linear(found, args, kwargs), found, args, kwargs)
                return found
        linear = self.linear(found, value(args), value(kwargs))
        if replayed:
            again = _Again(self, linear, args, kwargs, found)
            if not again.parameters:
                if self._may_read_variables():
                    self._demand_root(linear, found, args, kwargs)
                linear.close()
                return found
            u = again.recorded()
            residual = run(u, *args, **kwargs)
        bound = self.tolerated(found)
        for order in range(orders()):
            if order:
                residual = run(u, *args, **kwargs)
            step = linear.correction(vector_of(_alike(residual, found, self.f)))
            self.demand_solved(step, bound)
            if not order:
                self.demand_settled(linear, found, plain(step), value(args), value(kwargs))
            u = _moved(u, call(LESS_VALUE, (step,)) if is_active(step) else np.zeros(np.shape(step)))
        return u

    def _may_read_variables(self):
        return may_read_variables(*(self.options.get("given") or [self.f]))

    def linear(self, found, args, kwargs, diverting=()):
        """What solves linear equations with the Jacobian there; functions are diverted as `in_force` gave it before."""
        run = functools.partial(_resumed, diverting, self._equation()) if diverting else self._equation()
        # Nothing of it is a variable: a step with a Jacobian that is constant goes one order farther, too.
        equation = Run(self.f, run, _BY_SOLUTION, (found, *args), kwargs, False, _SETTINGS, numbers=True)
        return (Dense if self.options["solve"] == "dense" else Inverse)(equation, self.f, self.options)

    def tolerated(self, found):
        """How far a step of Newton's method may move a solution."""
        leaves = [leaf for _, leaf in labelled(found, "solution")]
        return self.options["tolerance"] * (1.0 + max([np.max(np.abs(x), initial=0.0) for x in leaves], default=0.0))

    def demand_solved(self, step, bound):
        """Raise where a step of Newton's method is too far."""
        size = float(np.max(np.abs(plain(step)), initial=0.0))
        if not size <= bound:
            raise ArithmeticError(f"what the solver gave is no solution of {name_of(self.f)} = 0: a step of "
                                  f"Newton's method moves it by {size:.3g}; let it iterate on"
                                  f"{self.options.get('unsolved', ', or say how far it may be (tolerance=)')}")

    def demand_settled(self, linear, found, step, args, kwargs):
        """Raise where steps with the Jacobian of the solution do not go on to come nearer.

        Beside a kink of what is made least, or a jump of an equation, one step can be short: it ends on the other side,
        from which the next one comes back.
        """
        enough, u = self.tolerated(found) * _SETTLED, found
        for _ in range(_STEPS):
            if not np.max(np.abs(step), initial=0.0) > enough or not isinstance(linear, Dense):
                return
            u = _moved(u, step)
            with Reads():      # where a recording within may borrow what the equation reads around it
                residual = value(self._equation()(u, *args, **kwargs))
            step = plain(linear.correction(vector_of(_alike(residual, found, self.f))))
        size = float(np.max(np.abs(step), initial=0.0))
        if not size <= max(enough, linear.rounding(found)):
            raise ArithmeticError(f"what the solver gave is no solution of {name_of(self.f)} = 0: {_STEPS} steps of "
                                  f"Newton's method come no nearer than {size:.3g}"
                                  f"{self.options.get('unsolved', '; is it at a kink or a jump?')}")

    def _demand_root(self, linear, found, args, kwargs):
        """Raise where a solution that does not vary is none, or is not the only one nearby."""
        args, kwargs = value(args), value(kwargs)
        step = linear.correction(vector_of(_alike(linear.residual, found, self.f)))
        self.demand_solved(step, self.tolerated(found))
        self.demand_settled(linear, found, plain(step), args, kwargs)


def _resumed(diverting, run, *args, **kwargs):
    """A recording at the inputs of a replay: functions lead to their rebuilt ones as they did when it was recorded."""
    resume(diverting)
    return run(*args, **kwargs)


def demand_finite(residual, name):
    """Raise where what was solved depends on nothing active and is no number: another branch may be taken there."""
    if not all(np.all(np.isfinite(leaf)) for _, leaf in labelled(value(residual), "")):
        raise ArithmeticError(f"what the solver gave is no solution of {name}, which is not a finite number there")


def _demand_doubles(found, solver):
    for path, leaf in labelled(found, "solution"):
        dtype = np.asarray(leaf).dtype
        if dtype != np.float64:
            got = f"an array of {dtype}" if isinstance(leaf, np.ndarray) else type(leaf).__name__
            where = "" if path == "solution" else f" in {path}"
            if dtype.kind == "c":
                fix = "solve for the real and for the imaginary part, which are two unknowns"
            elif dtype.kind in "biuf" or isinstance(leaf, np.ndarray):
                fix = f"return {'u.astype(float)' if np.ndim(leaf) else 'float(u)'}"
            else:
                fix = "does it return what it found?" if leaf is None else "return the numbers alone"
            raise TypeError(f"{name_of(solver)}, the solver, must return floats or arrays of float64, got "
                            f"{got}{where}: {fix}")


class _Again(Solver):
    """Solves at the inputs of a replay.

    Parameters
    ----------
    solution : Solution
        Whose equation it is.
    linear : Dense or Inverse
        Of the equation, as it was recorded.
    args, kwargs : tuple, dict
        What it was called with.
    found : tree
        What the solver gave.

    Attributes
    ----------
    parameters : tuple of Real and Array
        What the solution depends on: variables among the arguments, then those that the equation takes from around it.
    """

    def __init__(self, solution, linear, args, kwargs, found):
        frames = frames_of_users(sys._getframe())
        super().__init__(f"{name_of(solution.f)} = 0{f' ({place(frames[0])})' if frames else ''}")
        self._solution, self._linear, self._found, self._diverting = solution, linear, found, in_force()
        leaves = [leaf for _, leaf in labelled([args, kwargs], "")]
        self._active = [k for k, leaf in enumerate(leaves) if is_active(leaf)]
        around = linear.around()
        self._leaves = [np.array(x) if isinstance(x, np.ndarray) else x for x in map(value, leaves)]
        self._tree = value([args, kwargs])
        self.parameters = (*(leaves[k] for k in self._active), *around)
        self._around = [np.array(plain(x)) for x in around]

    def recorded(self):
        """The solution, as results of a call without slopes; so are the numbers of the Jacobian."""
        found = [leaf for _, leaf in labelled(self._found, "")] + self._linear.numbers
        given = tuple(np.array(plain(x)) for x in self.parameters)
        parts = call(SOLVED, self.parameters, {"solver": self, "given": given, "found": tuple(map(np.array, found))})
        count = len(found) - len(self._linear.numbers)
        self._linear.numbers = list(parts[count:])
        leaves = [as_array(x) if is_without_axes(like) else x.item() if type(like) is float else x
                  for x, like in zip(parts, found[:count])]  # fmt: skip
        return rebuild(self._found, leaves)

    def solve(self, values):
        known = len(self._active)
        if any(np.asarray(x).tobytes() != old.tobytes() for x, old in zip(values[known:], self._around)):
            raise TapeError(f"evaluate_primal() cannot solve {self.text} anew: it depends on variables of the function "
                            "around it, which are others now, and the solver does not know; hand them over as "
                            "arguments (args= of SciPy's solvers, each by itself and not in a list or dict there), or "
                            "record again")
        leaves = [np.array(x) if isinstance(x, np.ndarray) else x for x in self._leaves]
        for k, x in zip(self._active, values):
            leaves[k] = np.array(x) if isinstance(leaves[k], np.ndarray) else type(leaves[k])(x)
        args, kwargs = rebuild(self._tree, leaves)
        found = self._solution.solved(args, kwargs)[0]
        _demand_doubles(found, self._solution.options["solver"])
        linear = self._solution.linear(found, args, kwargs, self._diverting)
        residual = vector_of(_alike(linear.residual, found, self._solution.f))
        self._linear.take(linear)
        step = linear.correction(residual)
        self._solution.demand_solved(step, self._solution.tolerated(found))
        self._solution.demand_settled(linear, found, plain(step), args, kwargs)
        return tuple([np.array(x) if np.ndim(x) else np.float64(x)
                      for x in (*(leaf for _, leaf in labelled(found, "")), *linear.numbers)])

    def go_back(self):
        self._linear.take(None)


def _alike(residual, found, f):
    """The leaves of a residual, which must have the form and the shapes of the solution."""
    if type(found) is np.ndarray and type(residual) in _ARRAYS and residual.shape == found.shape:
        return [residual]
    leaves, wanted = labelled(residual, ""), labelled(found, "")
    if [path for path, _ in leaves] != [path for path, _ in wanted]:
        kinds = ["an array" if type(x) in _ARRAYS else f"a {'float' if type(x) is Real else type(x).__name__}"
                 for x in (found, residual)]
        if kinds[0] == kinds[1]:
            kinds = [f"{kind} with the numbers {', '.join(path for path, _ in tree)}"
                     for kind, tree in zip(kinds, (wanted, leaves))]
        raise TypeError(f"{name_of(f)} must return the form of the solution: the solver returned {kinds[0]}, and "
                        f"{name_of(f)} of that {kinds[1]}")
    for (path, leaf), (_, like) in zip(leaves, wanted):
        if np.shape(leaf) != np.shape(like):
            where = f" in {path}" if path else ""
            raise TypeError(f"{name_of(f)} must return numbers of the shape of the solution: the solver returned the "
                            f"shape {np.shape(like)}{where}, and {name_of(f)} of that {np.shape(leaf)}")
    return [leaf for _, leaf in leaves]


def _moved(u, step):
    """The solution less a vector of all numbers."""
    if type(u) in _ARRAYS and u.ndim == 1:
        return u - step
    moved, start = [], 0
    for _, leaf in labelled(u, "u"):
        shape, size = np.shape(leaf), int(np.prod(np.shape(leaf)))
        part = step[start:start + size]
        less = leaf - (np.reshape(part, shape) if shape else part[0].item())
        moved.append(as_array(less) if is_without_axes(leaf) else less)
        start += size
    return rebuild(u, moved)
