# SPDX-License-Identifier: Apache-2.0
"""``scipy.optimize`` as rebound code has it: SciPy solves with plain numbers, and the solution has its derivative.

Roots, fixed points and minima are differentiated by the implicit function theorem (`codipy.implicit`), not through the
steps of the solver: those of a minimiser have another derivative than the minimum, to which they come near. Where
nothing is active the result is SciPy's own. The user's function is run once more, at the solution; what it keeps on
the side meanwhile is that of the plain run (`codipy.implicit.effects`).
"""

from __future__ import annotations

import copy
import functools
import inspect
import sys

import numpy as np
import scipy.optimize

from codipy.active.array import Array, is_active, plain
from codipy.errors import ActiveError, TapeError
from codipy.implicit.constrained import Constraints, Held
from codipy.implicit.effects import Effects
from codipy.implicit.fits import curve_fit, lsq_linear, nnls
from codipy.implicit.handed import Arguments, functions_of, handed, naming_writes, unrecorded
from codipy.implicit.held import AT_KINKS, OF_MINIMA, Bounds, with_bounds
from codipy.implicit.iterates import Iterates
from codipy.implicit.opened import may_read_variables
from codipy.implicit.returned import Returned
from codipy.implicit.solution import demand_finite, solution_of
from codipy.implicit.steps import anchored
from codipy.implicit.vertices import linprog, milp
from codipy.implicit.withheld import told, withhold
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.decisions import is_replayed
from codipy.numpy.modules import module_for
from codipy.scipy import solvers
from codipy.tape import passive
from codipy.tape.activity import depth
from codipy.tools.derivatives.drivers import grad

__all__ = ["FUNCTIONS", "optimize"]

# How far a step of Newton's method may move a root, relative to 1 + its size; minimisers stop earlier.
_OF_ROOTS = 1e-6
_AS_NEAR = 2      # the status of a minimiser that cannot come nearer
_AT_JUMPS = ("; where the function jumps over zero, the place of the jump is no root: say by codipy.implicit.root "
             "which equation holds there")
_AT_BARRIERS = ("; trust-constr may have stopped by gtol while a barrier held it off bounds: options={'gtol': 0.0} "
                "lets it go on until the barrier is small (barrier_tol)")
_SLOPES = ("jac", "fprime", "fprime2")
# To whose functions ``args=`` is one argument where it is a list; to those of others what is in it are several.
_OF_ONE = frozenset(("basinhopping", "bisect", "brent", "brenth", "brentq", "fmin", "fmin_powell", "fsolve", "golden",
                     "leastsq", "minimize", "minimize_scalar", "ridder", "root", "root_scalar", "toms748"))


def _stand_in(name, equation_of, key, near, answers=lambda function, u: {}, value_of=None):
    """What is called in the place of a solver.

    Parameters
    ----------
    equation_of : callable
        From the user's function, of the unknown alone, to the one that is zero at the solution.
    key : str
        Where an object that SciPy returns has the solution.
    near : float
        How exact it must be.
    answers : callable
        Other numbers of such an object, as the user's function gives them at the solution.
    value_of : int, optional
        Where a tuple that SciPy returns has the value of the user's function.
    """
    original = solvers.FUNCTIONS.get(name) or getattr(scipy.optimize, name)
    signature = inspect.signature(original)
    [first, *_] = signature.parameters

    def differentiated(bound, given, effects):
        function, inner = given[first], given.get("minimizer_kwargs") or {}
        holder = inner if name == "basinhopping" else given
        args, names = holder.get("args", ()), given.get("kwargs") or {}
        args = args if isinstance(args, tuple) else (args,) if name in _OF_ONE or not np.iterable(args) else tuple(args)
        arguments, may_write = Arguments(args, effects.are_possible), effects.are_possible
        run = _number_of(name, effects.fresh(function, first=_at_first, of_unknown=True), given, inner, names)
        asked = list(given.values())
        bounds = Bounds(name, holder) if near == OF_MINIMA else None
        constraints = Constraints(holder, args, functools.partial(effects.fresh, first=lambda *_: None))
        cost = _cost_of(given)
        iterates = Iterates(f"scipy.optimize.{name}", holds_active(list(given.values())))
        args, returned = arguments.parameters, Returned(may_write)
        for parameter in given.keys() - {"args", "inner_M"}:
            given[parameter] = handed(given[parameter], parameter, iterates, returned, may_write)
        given[first] = effects.noted(iterates.asked(given[first]))
        found, held, known = None, None, None

        def number(u, *args):
            return run(u, *arguments.with_parameters(args))

        def solve(*args):
            nonlocal found
            args = arguments.with_parameters(args)
            if name == "basinhopping":
                given["minimizer_kwargs"] = {**(given.get("minimizer_kwargs") or {}), "args": args}
            elif args:
                given["args"] = args
            with iterates, returned, naming_writes(name, equation.__name__):
                found = original(*bound.args, **bound.kwargs)
            if not iterates.has_stopped:
                _demand_success(name, found)
            return _solution_in(found, key)

        def residual_of(u, *args):
            if cost is not None:
                return _minimum(lambda u: cost(number(u, *args)), u)
            return equation_of(lambda u: number(u, *args), u)

        def equation(u, *args):
            nonlocal held, known
            residual = residual_of(u, *args)
            if bounds is None:
                return residual
            if known is not found:
                here = bounds.held_by(lambda u: residual_of(u, *args), value_tree(u), OF_MINIMA)
                if known is not None and not np.array_equal(here, held):
                    raise TapeError(f"other bounds hold the minimum of {equation.__name__} than when it was recorded: "
                                    "record again at these inputs")
                held, known = here, found
            return with_bounds(held, bounds, residual, u) if np.any(held) else residual

        equation.__name__ = getattr(function, "__name__", name)

        def answer(u):
            iterates.demand_noticed(u)
            effects.again(lambda u: number(u, *args), (u,), near)
            known = answers(lambda u: number(u, *args), u) if isinstance(found, (tuple, dict)) else {}
            if cost is not None and known:
                known["cost"] = cost(known["fun"])
            if near == OF_MINIMA and not is_active(u):
                demand_finite(number(u, *args), equation.__name__)
            # where bounds hold the solution, its value may be a variable yet
            is_constant = not is_active(u) and not any(map(is_active, known.values()))
            return found if is_constant else _with(name, found, u, key, near, value_of, known)

        unsolved = _AT_JUMPS if near == _OF_ROOTS else AT_KINKS
        if str(given.get("method")).lower() == "trust-constr" and ("bounds" in given or constraints):
            unsolved = _AT_BARRIERS + unsolved
        known_as = near, sys._getframe(2), asked, unsolved, effects
        if not constraints:
            return answer(solution_of(equation, solve, *known_as)(*args))

        def least(u, *args):
            return _like(number(u, *args), 0.0)

        effects.begin()
        with passive():
            at = solve(*value_tree(args))
        effects.solved()
        if not (holds_active([least(at, *args)]) or constraints.are_active(at) or bounds.are_active
                or may_read_variables(*asked)):
            return answer(at)
        held = Held(least, args, bounds, constraints, at, near)
        if held.is_free:
            return answer(solution_of(equation, constraints.avoided(solve, at, near), *known_as)(*args))
        return answer(held.solved(equation.__name__, *known_as[1:-1]))

    @functools.wraps(original)
    def solver(*positional, **named):
        bound = signature.bind(*positional, **named)
        if not depth():
            return unrecorded(original, bound)
        given = bound.arguments
        with Effects(*functions_of(given)) as effects:
            return differentiated(bound, given, effects)

    return solver


def _at_first(known, args):
    return known[0], *args[1:]


def _number_of(name, function, given, inner, names):
    """The user's function, of the unknown and its arguments, without what it returns beside its value."""
    has_more = any(given.get(slope) is True or inner.get(slope) is True for slope in _SLOPES)
    if name in ("fmin_l_bfgs_b", "fmin_tnc"):
        has_more = given.get("fprime") is None and not given.get("approx_grad")
    if given.get("vectorized"):
        return lambda u, *args: function(np.reshape(u, (-1, 1)), *args)[0]

    if name == "brute":      # one number is handed over as a vector, and returned as it is
        return lambda u, *args: function(np.reshape(u, (-1,)), *args)

    def number(u, *args):
        return function(u, *args, **names)[0] if has_more else function(u, *args, **names)

    return number


def _cost_of(given):
    """From residuals to what `least_squares` makes least, where that is not half the sum of their squares."""
    loss = given.get("loss", "linear")
    if loss == "linear":
        return None
    if callable(loss):
        raise ActiveError("scipy.optimize.least_squares with a loss of your own has no derivative here: take one of "
                          "SciPy's by name, or scipy.optimize.minimize of the sum")
    scale, robust = given.get("f_scale", 1.0), _ROBUST[loss]
    return lambda residuals: 0.5 * np.sum(scale**2 * robust((as_numbers(residuals) / scale) ** 2))


_ROBUST = {
    "huber": lambda z: np.where(z <= 1.0, z, 2.0 * np.sqrt(np.where(z <= 1.0, 1.0, z)) - 1.0),
    "soft_l1": lambda z: 2.0 * z / (1.0 + np.sqrt(1.0 + z)),
    "cauchy": np.log1p,
    "arctan": np.arctan,
}


def _with(name, found, u, key, near, value_of, known):
    """What SciPy returned, with variables; its other numbers would be constants, and are withheld."""
    if not isinstance(found, (tuple, dict)):
        return u
    if isinstance(found, dict):
        return told(name, copy.copy(found), {key: u, **_of_root(near, found), **_anchored(known, found)})
    rest = []
    for position, part in enumerate(found[1:], start=1):
        if position == value_of:
            rest.append(_anchored(known, {"fun": part})["fun"])
        elif isinstance(part, dict):
            rest.append(told(name, copy.copy(part), {"root": u, **_of_root(near, part), **_anchored(known, part)}))
        else:
            rest.append(withhold(name, position, part))
    return type(found)(u, *rest) if hasattr(found, "_fields") else (u, *rest)


def _of_root(near, found):
    """What a root leaves of its equation, which does not vary: it is as near to zero whatever the parameters are."""
    return {key: found[key] for key in ("fun", "fvec") if near == _OF_ROOTS and key in found}


def _anchored(known, found):
    """The answers that the user's function gives, with SciPy's values, in which it may have rounded otherwise."""
    return {key: x if is_replayed() or np.array_equal(plain(x), found[key]) else anchored(x, found[key])
            for key, x in known.items() if key in found}


def _demand_success(name, found):
    """Raise where a solver says that it has failed; that it could not come nearer is left to the residual."""
    *_, state = found if isinstance(found, tuple) else (found,)
    for key in ("success", "converged") if isinstance(state, dict) else ():
        has = state.get(key, True)
        if has is not True and np.any(np.logical_not(has)) and state.get("status") != _AS_NEAR:
            raise ArithmeticError(f"what the solver gave is no solution: scipy.optimize.{name} reports failure "
                                  f"({state.get('message', state.get('flag', ''))}), so there is no derivative")


def _solution_in(found, key):
    """The solution in what SciPy returned."""
    return found[0] if isinstance(found, tuple) else found[key] if isinstance(found, dict) else found


def _like(residual, u):
    """A residual in the shape of the unknown: SciPy takes lists, and arrays of one number for numbers."""
    if type(residual) is Array and residual.shape == np.shape(u) != ():
        return residual
    if np.ndim(u):
        return np.reshape(as_numbers(residual), np.shape(u))
    return np.reshape(residual, (-1,))[0] if np.ndim(residual) else residual


def _root(function, u):
    return _like(function(u), u)


def _fixed_point(function, u):
    return u - _like(function(u), u)


def _minimum(function, u):
    return grad(lambda u: _like(function(u), 0.0), rebind=False)(u)


def _squares(function, u):
    return grad(lambda u: 0.5 * np.sum(as_numbers(function(u)) ** 2), rebind=False)(u)


def _vector(key):
    """What the user's function gives at the solution, by the name that it has there."""
    return lambda function, u: {key: function(u)}


def _number(function, u):
    return {"fun": _like(function(u), 0.0)}


def _residuals(function, u):
    residuals = as_numbers(function(u))
    return {"fun": residuals, "cost": 0.5 * np.dot(residuals, residuals)}


_ROOTS = "bisect brenth brentq newton ridder root_scalar toms748"
_VECTORS = "anderson broyden1 broyden2 diagbroyden excitingmixing linearmixing newton_krylov"
# Where the tuple of each has the value.
_MINIMA = {"brent": 1, "brute": 1, "fmin": 1, "fmin_bfgs": 1, "fmin_cg": 1, "fmin_cobyla": None, "fmin_l_bfgs_b": 1,
           "fmin_ncg": 1, "fmin_powell": 1, "fmin_slsqp": 1, "fmin_tnc": None, "fminbound": 1, "golden": 1}  # fmt: skip
_OBJECTS = "basinhopping differential_evolution direct dual_annealing minimize minimize_scalar shgo"
FUNCTIONS = {name: _stand_in(name, _root, "root", _OF_ROOTS) for name in _ROOTS.split()}
FUNCTIONS |= {name: _stand_in(name, _root, "x", _OF_ROOTS) for name in _VECTORS.split()}
FUNCTIONS |= {name: _stand_in(name, _minimum, "x", OF_MINIMA, _number, value_of) for name, value_of in _MINIMA.items()}
FUNCTIONS |= {name: _stand_in(name, _minimum, "x", OF_MINIMA, _number) for name in _OBJECTS.split()}
FUNCTIONS |= {
    "curve_fit": curve_fit,
    "linear_sum_assignment": solvers.linear_sum_assignment,
    "linprog": linprog,
    "lsq_linear": lsq_linear,
    "milp": milp,
    "nnls": nnls,
    "root": _stand_in("root", _root, "x", _OF_ROOTS),
    "fsolve": _stand_in("fsolve", _root, "x", _OF_ROOTS),
    "fixed_point": _stand_in("fixed_point", _fixed_point, "x", _OF_ROOTS),
    "leastsq": _stand_in("leastsq", _squares, "x", OF_MINIMA, _vector("fvec")),
    "least_squares": _stand_in("least_squares", _squares, "x", OF_MINIMA, _residuals),
}
optimize = module_for(scipy.optimize, FUNCTIONS)
