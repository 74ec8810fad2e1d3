# SPDX-License-Identifier: Apache-2.0
"""``scipy.integrate.quad`` as rebound code has it: SciPy's value, with the derivatives by parameters and by limits.

The value is that of QUADPACK, of plain numbers. The derivative of an integral by a parameter is the integral of the
derivative (Leibniz's rule; Griewank and Walther, "Evaluating Derivatives", 2008, chapter 15), of which the intervals of
QUADPACK need not be fine enough: they are halved until Gauss' rules of two orders agree on all first derivatives within
the tolerances of the call. Then the integrand is recorded at the nodes of the finer rule. The derivative by a limit is
the integrand there; higher ones come from a rule on the interval from the limit's value to the limit, of no length.

Derivatives of higher order are those of the same nodes. A jump of the integrand that moves with a parameter contributes
nothing, as no branch does, so one that is found raises: say where it is by a limit, or by ``points=``, at which the
integral is that of two parts.

`quad_vec` is Python code, which is rebuilt; its limits are differentiated as those of `quad`.
"""

from __future__ import annotations

import functools
import heapq
import inspect
import itertools
import math
import types

import numpy as np
import scipy.integrate

from codipy.active.array import Real, identifiers, is_active, plain
from codipy.active.scalar.kinds import converted
from codipy.errors import ActiveError
from codipy.implicit.effects import Effects
from codipy.implicit.handed import unrecorded
from codipy.implicit.jumps import is_near, moving_jump
from codipy.implicit.state import undone
from codipy.numpy.arguments import copied
from codipy.numpy.decisions import decision, keep
from codipy.tape import active_tape, passive
from codipy.tape.activity import depth
from codipy.tools.arguments.trees import value
from codipy.tools.callee import name_of
from codipy.tools.orders import orders
from codipy.tools.rebind import rebind
from codipy.tools.runs.apart import Apart

__all__ = ["FUNCTIONS", "quad", "quad_vec"]

_QUAD = scipy.integrate.quad
_SIGNATURE = inspect.signature(_QUAD)
_QUAD_VEC = scipy.integrate.quad_vec
_OF_VECTORS = inspect.signature(_QUAD_VEC)
_NEAR = 64      # of the last digits of a point, beside which the integrand is that of one part
_SAME = decision("scipy.integrate.quad", lambda number: number)      # a replay does not integrate anew: it raises


@functools.lru_cache(None)
def _rule(count):
    """Nodes between 0 and 1, and weights."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (0.5 * (nodes + 1.0)).tolist(), (0.5 * weights).tolist()


@functools.wraps(_QUAD)
def quad(*positional, **named):
    bound = _SIGNATURE.bind(*positional, **named)
    if not depth():
        return unrecorded(_QUAD, bound)
    bound.apply_defaults()
    given = bound.arguments
    if given["complex_func"]:
        return _by_parts(given)
    with Effects(given["func"], given["args"]) as effects:
        return _differentiated(bound, given, effects)


def _differentiated(bound, given, effects):
    f, args = given["func"], given["args"] if isinstance(given["args"], tuple) else (given["args"],)

    def as_it_is(x):
        found = f(x, *args)
        return np.reshape(found, (-1,))[0] if np.ndim(found) else found      # some versions take arrays of one number

    as_it_is.__name__ = name_of(f)
    called = effects.fresh(as_it_is, f, args)
    limits, points = (given["a"], given["b"]), given["points"]
    bound.arguments |= {name: value(given[name]) for name in given.keys() - {"func", "args"}}
    wants, bound.arguments["full_output"] = given["full_output"], 1
    seen: list = []

    def noted(x):
        number = value(f(x, *args))
        seen.append((x, number))
        return number

    bound.arguments |= {"func": noted, "args": ()}
    effects.begin()
    with passive():
        found = _QUAD(*bound.args, **bound.kwargs)
    effects.solved()
    for x, _ in (*seen[:1], *seen[-1:]):
        effects.note((x,))
        effects.again(as_it_is, (x,), 0.0)
    _demand_still("quad", called, f, args, seen, points, given["epsabs"])
    if given["weight"] is not None:
        _demand_passive(called, limits, given)
        integral = found[0]
    else:
        integral = found[0] + _changes(called, given["a"], given["b"], found[2], given)
        for limit, sign in zip(limits, (-1.0, 1.0)):
            if is_active(limit):
                integral = integral + sign * _beyond(called, limit, name_of(f))
        integral = integral + _jumps(called, points, *limits, name_of(f))
    if type(integral) is Real:
        integral = converted(integral, float)      # a float of Python's, as SciPy's is
    return (integral, *found[1:]) if wants else (integral, *found[1:2])


def _demand_still(name, called, f, args, seen, points, epsabs):
    """Raise where the integrand jumps at a place that depends on variables, and `points` does not say so."""
    points = [] if points is None else list(points)
    with passive():
        jump = moving_jump(f, args, seen, [float(plain(point)) for point in points], epsabs)
    if jump is None or is_near(jump, [float(plain(point)) for point in points if is_active(point)]):
        return
    instead = "" if name == "quad_vec" else "say points=[...] with that place as a variable, or "
    raise ArithmeticError(f"{name_of(called)}, of which scipy.integrate.{name} is taken, jumps at {jump:.6g}, and "
                          "where it does may depend on what is differentiated by: its derivative lacks what the jump "
                          f"contributes; {instead}add the integrals of both parts")


def _by_parts(given):
    """Of a complex integrand the integrals of both parts, from the lower to the upper limit, as SciPy has them."""
    given, f = dict(given, complex_func=False), given["func"]
    given["a"], given["b"] = min(given["a"], given["b"]), max(given["a"], given["b"])
    real, imag = (
        quad(**given | {"func": functools.update_wrapper(part, f)})
        for part in (lambda *x: f(*x).real, lambda *x: f(*x).imag)
    )
    found = real[0] + 1j * imag[0], real[1] + 1j * imag[1]
    return (*found, {"real": real[2:], "imag": imag[2:]}) if given["full_output"] else found


def _demand_passive(f, limits, given):
    a, b = (float(np.clip(limit, -1.0, 1.0)) for limit in (given["a"], given["b"]))
    if any(map(is_active, limits)) or is_active(f(0.5 * (a + b) if a != b else a)):
        raise ActiveError(f"scipy.integrate.quad of {name_of(f)} with weight={given['weight']!r} has no derivative "
                          "here: write the weight into the function")


def _changes(f, a, b, info, given):
    """What the integral changes by where parameters do: zero, with its derivatives."""
    g, intervals = _on_finite(f, a, b, info)
    nodes, weights = _rule(21)
    ends = _refined(g, intervals, given["epsabs"], given["epsrel"], max(given["limit"], len(intervals)), f)
    total = 0.0
    for start, stop in sorted(ends):
        for node, weight in zip(nodes, weights):
            number = g(start + (stop - start) * node)
            if is_active(number):
                total = total + (weight * (stop - start)) * number
    if is_active(total):
        keep(_SAME, [total])
    return total - plain(total)


def _on_finite(f, a, b, info):
    """The integrand on the intervals that QUADPACK took, upwards, of a line with one or no end mapped to (0, 1)."""
    intervals = list(zip(info["alist"][:info["last"]].tolist(), info["blist"][:info["last"]].tolist()))
    sign = 1.0 if a < b else -1.0
    if math.isfinite(a) and math.isfinite(b):
        return lambda x: sign * f(x), intervals
    if math.isinf(a) and math.isinf(b):

        def both(s):
            x = (1.0 - s) / s
            return (sign / (s * s)) * (f(x) + f(-x))

        return both, intervals
    end, towards = (a, b) if math.isfinite(a) else (b, a)
    direction = math.copysign(1.0, towards)

    def half(s):
        return (sign / (s * s)) * f(end + direction * (1.0 - s) / s)

    return half, intervals


def _refined(g, intervals, epsabs, epsrel, limit, f):
    """Intervals on which the derivatives by all parameters are integrated within the tolerances."""
    order, queue, whole, error = itertools.count(), [], {}, 0.0

    def put(start, stop):
        fine, wrong = _slopes(g, start, stop)
        if not math.isfinite(wrong):
            raise ArithmeticError(f"the derivative of the integral of {name_of(f)} is not finite between "
                                  f"{start:.6g} and {stop:.6g}")
        _add(whole, fine, 1.0)
        heapq.heappush(queue, (-wrong, next(order), start, stop, fine))
        return wrong

    for start, stop in intervals:
        error += put(start, stop)
    while whole and error > max(epsabs, epsrel * max(map(abs, whole.values()))):
        if len(queue) >= limit:
            raise ArithmeticError(f"the derivative of the integral of {name_of(f)} did not converge in {limit} "
                                  f"intervals: it is known within {error:.3g}; say by points= where the integrand or "
                                  "its slope jumps, limit=, or larger tolerances")
        wrong, _, start, stop, fine = heapq.heappop(queue)
        _add(whole, fine, -1.0)
        middle = 0.5 * (start + stop)
        error = max(error + wrong + put(start, middle) + put(middle, stop), 0.0)
    return [(start, stop) for _, _, start, stop, _ in queue]


def _add(total, part, sign):
    for key, number in part.items():
        total[key] = total.get(key, 0.0) + sign * number


def _slopes(g, start, stop):
    """The derivatives of the integral by what the integrand has of the recordings around it, and how wrong they are."""

    def integrals():
        return [sum((weight * (stop - start)) * g(start + (stop - start) * node) for node, weight in zip(*_rule(count)))
                for count in (21, 10)]

    if not active_tape().can_sweep:      # its variables have their tangents already
        columns = [np.atleast_1d(number.tangent if is_active(number) else 0.0) for number in integrals()]
        return dict(enumerate(columns[0].tolist())), float(np.max(np.abs(columns[0] - columns[1])))
    with Apart(integrals, g, (), {}) as apart:
        fine, coarse = {}, {}
        if apart.outputs:      # a variable may be lent several times, by each of the drivers that the integrand calls
            for variable, places, columns in apart.inputs(apart.at, apart.matrix()):
                names = np.reshape(identifiers(variable), -1)[places].tolist()
                for total, row in ((fine, columns[0]), (coarse, columns[-1])):
                    _add(total, dict(zip(names, row.tolist())), 1.0)
    return fine, float(np.max([abs(number - coarse[name]) for name, number in fine.items()], initial=0.0))


def _jumps(f, points, a, b, name):
    """What the parts that end and begin at points change by where these move: zero, with its derivatives."""
    low, high = sorted((float(plain(a)), float(plain(b))))
    sign, total = 1.0 if plain(a) < plain(b) else -1.0, 0.0
    for point in [] if points is None else list(points):
        at = float(plain(point))
        if is_active(point) and low < at < high:
            near = min(_NEAR * np.spacing(max(abs(at), high - low)), at - low, high - at)
            total = total + sign * (_beyond(f, point, name, -near) - _beyond(f, point, name, near))
    return total


def _beyond(f, limit, name, side=0.0):
    """The integral from the value of a limit to the limit: zero, with its derivatives; so far beside it.

    The nodes differ in their derivatives alone, so `f` may not find what it has kept by the number of another one.
    """
    at, total = plain(limit), 0.0
    if math.isinf(at):
        return 0.0
    keep(_SAME, [limit])
    length = limit - at
    for node, weight in zip(*_rule(max(orders(), 1))):
        total = total + (weight * length) * f(at + side + node * length)
    if not np.all(np.isfinite(plain(total))):
        raise ArithmeticError(f"the integral up to {at:.6g} has no derivative by that limit: {name} is not "
                              "finite there")
    return total


@functools.lru_cache(None)
def _rebuilt_vec():
    """SciPy's own function as one of a user's is rebuilt."""
    copied = types.FunctionType(_QUAD_VEC.__code__, _QUAD_VEC.__globals__, _QUAD_VEC.__name__, _QUAD_VEC.__defaults__,
                                _QUAD_VEC.__closure__)
    copied.__kwdefaults__ = _QUAD_VEC.__kwdefaults__
    return rebind(copied, modules=("scipy.integrate",))


@functools.wraps(_QUAD_VEC)
def quad_vec(*positional, **named):
    bound = _OF_VECTORS.bind(*positional, **named)
    if not depth():
        return unrecorded(_QUAD_VEC, bound)
    given, limits = bound.arguments, (bound.arguments["a"], bound.arguments["b"])
    given |= {"a": plain(limits[0]), "b": plain(limits[1])}
    f, args, seen = given["f"], given.get("args", ()), []

    def noted(x, *args):
        found = f(x, *args)
        seen.append((x, value(found)))
        return found

    def anew(x):
        with undone(f, args):
            return copied(f(x, *args))

    given["f"] = noted
    integral, *rest = _rebuilt_vec()(*bound.args, **bound.kwargs)
    with undone(f, args):
        _demand_still("quad_vec", f, f, args, seen, None, given.get("epsabs", 0.0))
        for limit, sign in zip(limits, (-1.0, 1.0)):
            if is_active(limit):
                integral = integral + sign * _beyond(anew, limit, name_of(f))
    return (integral, *rest)


FUNCTIONS = {"quad": quad, "quad_vec": quad_vec}
