# SPDX-License-Identifier: Apache-2.0
"""``linprog`` and ``milp`` of ``scipy.optimize`` in rebound code.

The solution of a linear program is a vertex, where as many constraints hold as there are unknowns: it has the
derivative of their solution (`codipy.implicit.constrained`). Where it is not the only solution, or where more or fewer
constraints hold it, it has none.
"""

from __future__ import annotations

import copy
import functools
import inspect
import sys

import numpy as np
import scipy.optimize

from codipy.active.array import plain
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.implicit.constrained import Constraints, Held
from codipy.implicit.held import Bounds
from codipy.implicit.steps import anchored
from codipy.implicit.withheld import told
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.decisions import decision
from codipy.tape.activity import depth

__all__ = ["linprog", "milp"]

_LINEAR, _MIXED = scipy.optimize.linprog, scipy.optimize.milp
_OF_LINEAR = decision("scipy.optimize.linprog", lambda x: x)      # a replay does not compute it anew: it raises
_VERTEX = 1e-6      # how far SciPy's vertex may be from that of its constraints, relative to 1 + its size
_DATA = ("c", "A_ub", "b_ub", "A_eq", "b_eq")


@functools.wraps(_LINEAR)
def linprog(*positional, **named):
    bound = inspect.signature(_LINEAR).bind(*positional, **named)
    given = bound.arguments
    if not depth():
        return _LINEAR(*positional, **named)
    data = {name: _dense(given[name]) for name in _DATA if given.get(name) is not None}
    if not holds_active([*data.values(), given.get("bounds")]):
        return _LINEAR(*positional, **named)
    if np.any(value_tree(given.get("integrality"))):
        raise ActiveError(refusal("scipy.optimize.linprog of active values with integrality=", _OF_WHOLE))
    given.update({name: plain(x) for name, x in data.items()})
    unknowns = np.size(value_tree(data["c"]))
    bounds = Bounds("minimize", {"bounds": _pairs(given.get("bounds"), unknowns)})
    given["bounds"] = np.stack(bounds.ends(unknowns), axis=1)
    found = _LINEAR(*bound.args, **bound.kwargs)
    if not found.success:
        raise ArithmeticError(f"what the solver gave is no solution: scipy.optimize.linprog reports failure "
                              f"({found.message}), so there is no derivative")
    kept = []
    if "A_ub" in data:
        kept.append(scipy.optimize.LinearConstraint(data["A_ub"], -np.inf, data["b_ub"]))
    if "A_eq" in data:
        kept.append(scipy.optimize.LinearConstraint(data["A_eq"], data["b_eq"], data["b_eq"]))

    def least(u, c):
        return np.sum(c * u)

    costs = np.reshape(data["c"], (-1,))
    held = Held(least, (costs,), bounds, Constraints({"constraints": kept}, ()), found.x, _VERTEX)
    u = held.solved("linprog", sys._getframe(1))
    known = {"x": u, "fun": anchored(least(u, costs), found.fun, _OF_LINEAR)}
    for key, kind in (("slack", "ub"), ("con", "eq")):
        known[key] = found[key]
        if f"A_{kind}" in data:
            left = np.reshape(data[f"b_{kind}"], (-1,)) - data[f"A_{kind}"] @ u
            known[key] = anchored(left, found[key], _OF_LINEAR)
    return told("linprog", copy.copy(found), known)


def _dense(x):
    """An array of what may be a sparse matrix; Held takes a dense Jacobian anyway."""
    return as_numbers(x.toarray() if hasattr(x, "toarray") else x)


def _pairs(bounds, count):
    """A pair of bounds for each unknown, of what `linprog` takes."""
    if bounds is None or np.size(value_tree(bounds)) == 0:
        bounds = (0, None)
    if np.ndim(np.array(value_tree(bounds), object)) == 1:
        bounds = [bounds]
    return list(bounds) * count if len(bounds) == 1 else list(bounds)


_OF_WHOLE = ("solve with codipy.value(x), and compute with the whole numbers that it finds, which are constant but "
             "where they jump")


@functools.wraps(_MIXED)
def milp(*positional, **named):
    given = inspect.signature(_MIXED).bind(*positional, **named).arguments
    kept = given.get("constraints")
    for each in kept if isinstance(kept, (list, tuple)) else [kept]:
        parts = [each.A, each.lb, each.ub] if isinstance(each, scipy.optimize.LinearConstraint) else [each]
        if holds_active(parts):
            break
    else:
        bounds = given.get("bounds")
        ends = [bounds.lb, bounds.ub] if isinstance(bounds, scipy.optimize.Bounds) else [bounds]
        if not holds_active([given["c"], *ends]):
            return _MIXED(*positional, **named)
    raise ActiveError(refusal("scipy.optimize.milp of active values", _OF_WHOLE))
