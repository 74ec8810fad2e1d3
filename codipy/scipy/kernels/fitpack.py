# SPDX-License-Identifier: Apache-2.0
"""FITPACK's splines of one variable, `splrep`, `splev`, `UnivariateSpline`: by values, points, knots and weights.

A spline through all values solves equations, one near them that has its knots is the nearest in the squares: both have
a derivative. One that is smoothed (``s > 0``) has knots and a parameter that FITPACK searches for until the sum of
squares is `s` within 0.1%, which is no function with a derivative.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import _fitpack as _others

from codipy.active.array import call
from codipy.active.array import plain as value_of
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.decisions import decision, keep
from codipy.numpy.modules import module_for
from codipy.numpy.primitive import Primitive
from codipy.scipy.kernels import fitpack_loops as loops
from codipy.scipy.kernels import knots, surfaces
from codipy.scipy.kernels.bsplines import collected, valued
from codipy.scipy.kernels.calls import on_values, refused_loop, write
from codipy.scipy.kernels.exact import with_values_of

__all__ = ["FUNCTIONS"]

# What stands beyond the knots; FITPACK clamps values alone, and continues derivatives in its place.
_CONTINUED_BEYOND, _ZERO, _CLAMPED = 0, 1, 3
_POLYNOMIAL, _THROUGH = -2, -1  # what FITPACK says that it has found


def _spline(t, k, order, beyond, run):
    """The Primitive of the values of a spline, or of its derivative."""
    low, high = t[k], t[len(t) - k - 1]

    def met(x):
        """The points where there is a value, and which of them move it."""
        values = value_of(x)
        inside = (values >= low) & (values <= high)
        counts = inside if beyond == _ZERO else np.ones(len(values), bool)
        return (np.clip(x, low, high) if beyond == _CLAMPED else x), counts, inside if beyond == _CLAMPED else counts

    def vjp(g, out, args, kwargs, argnums):
        c, x = args
        x, counts, moves = met(x)
        bars = []
        for place in argnums:
            if place == 0:
                bars.append(collected(t, k, np.where(counts, g, 0.0)[:, None], x, order)[:, 0])
            else:
                bars.append(np.where(moves, g * valued(t, k, c[:, None], x, order + 1)[:, 0], 0.0))
        return bars

    def jvp(tangents, out, args, kwargs):
        c, x = args
        x, counts, moves = met(x)
        found = 0.0
        if 0 in tangents:
            found = np.where(counts, valued(t, k, tangents[0][:, None], x, order)[:, 0], 0.0)
        if 1 in tangents:
            found = found + np.where(moves, valued(t, k, c[:, None], x, order + 1)[:, 0] * tangents[1], 0.0)
        return found

    def forward(c, x):
        return run(t, np.append(c, np.zeros(len(t) - len(c))), k, x)[0]

    return Primitive("scipy.interpolate spline", forward, vjp, jvp, linear=(0,))


def _inside(low, high, x):
    return (x >= low) & (x <= high)


_INSIDE = decision("scipy.interpolate points inside of knots", _inside)


def _of_knots(t, c, k, x, order, beyond, run):
    """Values of a spline whose knots are active."""
    low, high = t[k], t[-k - 1]
    at = np.clip(x, low, high) if beyond == _CLAMPED else x
    formula = knots.spline(t, k, c[:, None], at, order)[:, 0]
    if beyond == _ZERO:
        keep(_INSIDE, (low, high, x))
        formula = np.where(_inside(*value_tree([low, high, x])), formula, 0.0)

    def forward(t, c, x):
        return run(t, np.append(c, np.zeros(len(t) - len(c))), k, x)[0]

    return with_values_of("a spline", forward, (t, c, x), formula)


def _valued(name, place=0):
    """`splev`, or `splder` with the order before or behind of the points, which are the argument of this place."""
    original = getattr(loops.compiled, name)

    def function(t, c, k, *rest):
        plain = value_tree([t, c, k, *rest])
        found, x = original(*map(_own, plain)), rest[place]
        if not holds_active((t, c, x)):
            return found
        error = found[1]
        order, beyond = [0, *(int(number) for at, number in enumerate(plain[3:]) if at != place)][-2:]
        if name == "splder" and beyond == _CLAMPED:
            beyond = _CONTINUED_BEYOND
        k = int(k)

        def run(t, c, k, x):
            given = plain[3:]
            given[place] = np.array(x)
            return original(t, c, k, *given)

        c = as_numbers(c)[: len(t) - k - 1]
        if holds_active((t,)):
            return _of_knots(as_numbers(t), c, k, as_numbers(x), order, beyond, run), error
        rule = _spline(np.array(plain[0]), k, order, beyond, run)
        return call(rule, (c, as_numbers(x))), error

    return function


def _own(x):
    return np.array(x) if isinstance(x, np.ndarray) else x


def _integral(t, c, k, a, b):
    found = loops.compiled.splint(*map(_own, value_tree([t, c, k, a, b])))
    if not holds_active((t, c, a, b)):
        return found
    t, c, k = as_numbers(t), as_numbers(c), int(k)
    c = c[: len(t) - k - 1]

    def forward(t, c, ends):
        area = loops.compiled.splint(t, np.append(c, np.zeros(len(t) - len(c))), k, *map(float, ends))
        return area if loops.IN_C else area[0]

    ends = np.stack([as_numbers(a), as_numbers(b)])
    formula = knots.integral(t, k, c[:, None], ends[0], ends[1])[0]
    area = with_values_of("splint", forward, (t, c, ends), formula)
    return area if loops.IN_C else (area, found[1])


def _derivatives(t, c, k1, x):
    found = loops.compiled.spalde(*map(_own, value_tree([t, c, k1, x])))
    if not holds_active((t, c, x)) or found[1]:
        return found
    t, c, k = as_numbers(t), as_numbers(c), int(k1) - 1
    c, at = c[: len(t) - k - 1], np.reshape(as_numbers(x), (1,))

    def forward(t, c, x):
        return loops.compiled.spalde(t, np.append(c, np.zeros(len(t) - len(c))), k + 1, float(x[0]))[0]

    formula = np.concatenate([knots.spline(t, k, c[:, None], at, order)[0] for order in range(k + 1)])
    return with_values_of("spalde", forward, (t, c, at), formula), 0


def _fit(what, x, y, w, k, low, high, given, s, run):
    """Knots, coefficients and sum of squares of a spline that FITPACK has fitted.

    Parameters
    ----------
    given : Array or None
        Inner knots that it was told.
    run : callable
        ``run(x, y, w, low, high, inner)`` of plain values: knots, coefficients, sum of squares, and what it is.
    """
    names = ("x", "y", "w", "xb", "xe", "t")
    if holds_active((s,)):
        raise ActiveError(refusal(f"{what} by s", "pass codipy.value(s)"))
    operands = [x, y, w, low, high, np.zeros(0) if given is None else given]
    t_values, c_values, _, kind = run(*map(_own, value_tree(operands)))
    x, y, low, high, inner = map(as_numbers, (x, y, low, high, operands[-1]))
    weights = np.ones(len(x)) if w is None else as_numbers(w)
    if given is not None:
        t = np.concatenate([np.stack([low] * (k + 1)), inner, np.stack([high] * (k + 1))])
    elif kind == _THROUGH:
        t = surfaces.knots_through(x, k, low, high)
    elif kind == _POLYNOMIAL:
        t = np.concatenate([np.stack([low] * (k + 1)), np.stack([high] * (k + 1))])
    else:
        t = None
    if t is None or not np.array_equal(value_of(t), t_values) or len(c_values) != len(t_values) - k - 1:
        raise ActiveError(refusal(
            f"{what} of active {', '.join(name for name, part in zip(names, operands) if holds_active((part,)))}",
            "FITPACK searches for knots and a parameter by s, within 0.1%, which has no derivative: say s=0, give "
            "knots (LSQUnivariateSpline, make_lsq_spline), or take make_smoothing_spline(x, y, lam=...)"))  # fmt: skip
    if w is None:
        operands[2] = weights
    formula = knots.fitted(t, k, x, y[:, None], weights)[:, 0]
    c = with_values_of(what, lambda *plain: run(*plain)[1], operands, formula)
    if kind == _THROUGH:
        return t, c, 0.0
    rest = np.sum((weights * (y - knots.spline(t, k, c[:, None], x)[:, 0])) ** 2)
    return t, c, with_values_of(what, lambda *plain: run(*plain)[2], operands, rest)


def _filled(new, old):
    """An array of SciPy's, which is longer than what it holds, with active values at its beginning."""
    return np.concatenate([new, old[len(new):]])


def _class_fit(x, y, k, t=None, w=None, xb=None, xe=None, s=None, iopt=0, **options):
    """What the classes call: for a spline through or near values, one of given knots, and one that is continued."""
    named = {"w": w, "xb": xb, "xe": xe, **options}
    if iopt == 1:
        return _CONTINUED(x, y, k, t=t, s=s, iopt=iopt, **named)
    if not holds_active((x, y, w, xb, xe, t, s)):
        parts = value_tree([x, y, k, t, s])
        return loops.class_fit(*map(_own, parts), **{key: _own(value_tree(part)) for key, part in named.items()})
    low, high = (x[0] if xb is None else xb), (x[-1] if xe is None else xe)

    def run_all(x, y, w, xb, xe, inner):
        whole = None if t is None else np.concatenate([[xb] * (k + 1), inner, [xe] * (k + 1)])
        return loops.class_fit(x, y, k, whole, s, w=w, xb=xb, xe=xe, **options)

    def run(*plain):
        data = run_all(*plain)
        size = data[7]
        return data[8][:size], data[9][:size - k - 1], data[10], data[13] if t is None else 0

    inner = None if t is None else as_numbers(t)[k + 1:-k - 1]
    what = "UnivariateSpline" if t is None else "LSQUnivariateSpline"
    knots_of, c, rest = _fit(what, x, y, w, k, low, high, inner, s, run)
    data = run_all(*map(_own, value_tree([x, y, w, low, high, inner])))
    return (x, y, data[2] if w is None else w, low, high, *data[5:8], _filled(knots_of, data[8]),
            _filled(c, data[9]), rest, *data[11:])  # fmt: skip


def _fit_of_splrep(task, x, y, w, xb, xe, k, s, t, wrk, iwrk):
    if not holds_active((x, y, w, t, xb, xe, s)):
        return on_values(loops.curfit, (task, x, y, w, xb, xe, k, s, t, wrk, iwrk))
    if task == 1:
        raise ActiveError(refusal("splrep with task=1", "say task=0 or task=-1"))
    low, high, sizes = (x[0] if xb is None else xb), (x[-1] if xe is None else xe), (len(t), len(wrk), len(iwrk))

    def run_all(x, y, w, low, high, inner):
        own = np.zeros(sizes[0])
        own[k + 1:k + 1 + len(inner)] = inner
        numbers = np.zeros(sizes[2], loops.INTEGER)
        return loops.curfit(task, x, y, w, float(low), float(high), k, s, own, np.zeros(sizes[1]), numbers)

    def run(*plain):
        n, own, c, rest, kind = run_all(*plain)
        return own[:n], c[:n - k - 1], rest, kind

    inner = as_numbers(t)[k + 1:-k - 1] if task == -1 else None
    knots_of, c, rest = _fit("splrep", x, y, w, k, low, high, inner, s, run)
    inner = np.zeros(0) if inner is None else inner
    n, own, full, _, kind = run_all(*map(_own, value_tree([x, y, w, low, high, inner])))
    return n, _filled(knots_of, own), _filled(c, full), rest, kind


def _curfit(task, x, y, w, t, wrk, iwrk, xb=None, xe=None, k=3, s=0.0):
    """`splrep`, which hands FITPACK in Fortran an array for the knots and two to work in."""
    n, own, c, rest, kind = _fit_of_splrep(task, x, y, w, xb, xe, k, s, t, wrk, iwrk)
    if own is not t:
        write(t, own)
    return n, c, rest, kind


def _checked(x, t, k):
    return on_values(loops.compiled.fpchec, (x, t, k))


_INSTEAD = {
    "sproot": "take the root that you want by scipy.optimize.brentq(lambda u: splev(u, tck), a, b), which has a "
              "derivative",
    "percur": "take make_interp_spline(x, y, bc_type='periodic')",
    "pardtc": "say dx= and dy= in the call of the spline itself",
    "parcur": "take make_interp_spline(u, np.stack(x, axis=1))",
    "insert": "take BSpline(t, c, k).insert_knot(x)",
}
_OTHER = "take RectBivariateSpline with s=0, RBFInterpolator, or LinearNDInterpolator"
_CONTINUED = refused_loop("set_smoothing_factor", loops.CONTINUED, "of FITPACK",
                          "make the spline anew, with s=0 or given knots")  # fmt: skip
FUNCTIONS = {"fpchec": _checked, "splev": _valued("splev"), "splder": _valued("splder", 1 if loops.IN_C else 0),
             "splint": _integral, "spalde": _derivatives, "curfit": _fit_of_splrep if loops.IN_C else _curfit,
             **surfaces.FUNCTIONS}  # fmt: skip
FUNCTIONS |= {"_curfit": _class_fit} if loops.IN_C else {"fpcurf0": _class_fit, "fpcurfm1": _class_fit,
                                                         "fpcurf1": _CONTINUED}  # fmt: skip


def _refused(module):
    """What stands for those loops of a module that have no rule."""
    return {name: refused_loop(name, original, "of FITPACK", _INSTEAD.get(name.lstrip("_"), _OTHER))
            for name, original in vars(module).items()
            if callable(original) and not isinstance(original, type) and name not in FUNCTIONS
            and name[:2] != "__"}  # fmt: skip


FUNCTIONS |= _refused(loops.compiled) | _refused(_others)


def _stand_in(module):
    return module_for(module, {name: new for name, new in FUNCTIONS.items() if hasattr(module, name)})


_fitpack = _stand_in(_others)
if not loops.IN_C:
    _dfitpack = _stand_in(loops.compiled)
