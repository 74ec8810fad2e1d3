# SPDX-License-Identifier: Apache-2.0
"""Functions with derivative rules of the user's: compiled code, tables, solvers, functions of other packages."""

from __future__ import annotations

import functools
import threading

import numpy as np

from codipy.active.array import Array, call, is_active, is_complex_variable, plain, saved_apart
from codipy.errors import ActiveError, TapeError, UndifferentiableError
from codipy.numpy.primitive import Primitive
from codipy.tools.arguments.guarded import demand_new, run_guarded
from codipy.tools.arguments.trees import labelled
from codipy.tools.callee import name_of, rebound
from codipy.tools.derivatives.products import vjp
from codipy.tools.driver import found_by_name
from codipy.tools.runs.returned_objects import had_elsewhere

__all__ = ["primitive"]


def primitive(f=None, *, saves=False):
    """A function whose derivatives are rules that are written beside it; a decorator.

    Parameters
    ----------
    f : callable
        ``f(*args, **kwargs)`` gets plain numbers and arrays and returns one, or a tuple of them. Derivatives are by its
        positional arguments. What it does inside is never recorded.
    saves : bool or tuple of int
        Whether `f` returns a pair: its result, and anything that the rules need again (factors, an object of another
        package), which they get as the keyword argument ``saved``. A tuple says by their positions on which arguments
        that depends, True on all: rules can be differentiated themselves by the others only.

    Returns
    -------
    OwnPrimitive
        Callable as `f` is, in any function, with the decorators ``vjp`` and ``jvp``. One rule is enough, if it is
        written in NumPy: it is linear, and the other one is its transpose, which codipy finds.

        * ``@f.vjp``: ``rule(g, out, *args, **kwargs)`` returns one cotangent for each positional argument, of its
          shape, or None for zero; of a single argument not in a tuple. `g` has the shape of `out`; of several results
          both are tuples.
        * ``@f.jvp``: ``rule(tangents, out, *args, **kwargs)`` returns the tangent of `out`; `tangents` is a tuple with
          one for each positional argument, zeros where nothing depends on it, None for what is no number. It may
          return None for zero, too.

        ``@f.vjp(batched=True)`` and ``@f.jvp(batched=True)`` say that the rule takes any number of directions at once:
        each cotangent and each tangent, taken and returned, has one axis more, the first, for these.

    Raises
    ------
    UndifferentiableError
        In a sweep, where there is no rule, or the only one cannot be run on variables, as it would have to be, is not
        linear, or uses a variable that is no argument.
    ActiveError
        When it is called with variables in keyword arguments or in lists, or with complex ones, and where `f` writes to
        what it was given, or returns it.

    Notes
    -----
    Rules that are written in NumPy are differentiated themselves where second derivatives are asked for.

    Rules get cotangents and tangents of their own, in which they may work; arguments and results are read-only.

    An Array that is returned and that others have, too, as one that the differentiated function has made and `f` fills,
    is that object here as in the plain run. Arrays made before, which are returned or saved and which `f` or others
    keep and may write to again, are copied while a function is differentiated: what the differentiated function writes
    to them or reads from them elsewhere is not the result, so return a copy. That `f` overwrites one while its result
    of before is in use is an error.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> @codipy.primitive
    ... def wave(x, k):
    ...     return np.sin(k * x)
    >>> @wave.vjp
    ... def rule(g, out, x, k):
    ...     return g * k * np.cos(k * x), np.sum(g * x * np.cos(k * x))
    >>> codipy.grad(lambda x: np.sum(wave(x, 2.0)))(np.array([0.0, np.pi]))
    array([2., 2.])
    >>> round(codipy.hessian(lambda k: wave(1.0, k))(0.5), 6), round(-np.sin(0.5), 6)
    (-0.479426, np.float64(-0.479426))
    """
    if f is None:
        return functools.partial(primitive, saves=saves)
    if not isinstance(saves, (bool, tuple)) or isinstance(saves, tuple) and not all(type(k) is int for k in saves):
        raise TypeError(f"saves must be a bool or a tuple of positions of arguments, got {saves!r}")
    if not callable(f):
        raise TypeError(f"codipy.primitive takes a function, got {type(f).__name__}")
    return OwnPrimitive(f, saves)


class _Saved:
    """What a function saved for its rules: no result."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        """Whatever it is: rules alone see it, so that no branch of a function depends on it when a tape runs again."""
        return type(other) is _Saved

    __hash__ = None


class _Latest(threading.local):
    """What the function returned in a call that is recorded, and what of it others have."""

    is_asked_for, returned = False, None


def _put_back(found, returned, had):
    """Results in the Arrays that the function returned, where others have these: they are what it returns here."""
    if isinstance(returned, tuple):
        parts = [_put_back(part, each, had) for part, each in zip(found, returned)]
        return type(found)(*parts) if hasattr(found, "_fields") else tuple(parts)
    if id(returned) not in had or not isinstance(returned, Array):
        return found
    returned[...] = found
    return returned


class OwnPrimitive:
    """What `primitive` returns."""

    def __init__(self, f, saves):
        functools.update_wrapper(self, f)
        self._f, self._saves, self._rules, self._given = f, saves is not False, {}, {}
        self._depends = saves        # what was saved, on which arguments
        self._batched = set()        # the rules that take directions
        self._primitive, self._latest = None, _Latest()

    def __call__(self, *args, **kwargs):
        self._demand_plain(args, kwargs)
        if not any(map(is_active, args)):
            result = self._f(*args, **kwargs)
            result = self._pair(result)[0] if self._saves else result
            if _any_active(result):
                raise ActiveError(f"{name_of(self)} gave a variable, and got none as an argument: its rules would not "
                                  "be asked; hand over all that it depends on, or take codipy.value(...) inside")
            return result
        if self._primitive is None:
            self._primitive = Primitive(name_of(self), self._run, self._pull, self._push,
                                        vjp_batch=self._pull_batch if "vjp" in self._batched else None,
                                        jvp_batch=self._push_batch if "jvp" in self._batched else None)
        latest = self._latest
        latest.is_asked_for = True
        try:
            found = self._unsaved(call(self._primitive, args, kwargs))[0]
            return found if latest.returned is None else _put_back(found, *latest.returned)
        finally:
            latest.is_asked_for, latest.returned = False, None

    def vjp(self, rule=None, *, batched=False):
        """Make a function the rule for sweeps backwards; a decorator."""
        return functools.partial(self.vjp, batched=batched) if rule is None else self._set("vjp", rule, batched)

    def jvp(self, rule=None, *, batched=False):
        """Make a function the rule for sweeps forwards; a decorator."""
        return functools.partial(self.jvp, batched=batched) if rule is None else self._set("jvp", rule, batched)

    def __repr__(self):
        return f"<codipy.primitive {name_of(self)} with {' and '.join(self._rules) or 'no rule'}>"

    def __reduce__(self):
        return found_by_name(self) or (_again, (self._f, self._depends, self._given))

    # ---- What the tape calls ----

    def _run(self, *args, **kwargs):
        holder = [None]
        holder[0], args, kwargs = run_guarded(self._f, name_of(self), args, kwargs)
        had = had_elsewhere(holder)
        result, saved = holder.pop(), None
        if self._saves:
            saved, result = saved_apart(self._pair(result)), result[0]
        if had and self._latest.is_asked_for:      # and not when a tape runs again
            self._latest.returned = result, had
        demand_new(name_of(self), result if isinstance(result, tuple) else (result,), args, kwargs)
        if not self._saves:
            return result
        return (*result, _Saved(saved)) if isinstance(result, tuple) else (result, _Saved(saved))

    def _pull(self, g, out, args, kwargs, argnums):
        self._demand_fixed(args)
        out, saved, several = self._split(out)
        if self._saves:
            g = g[:-1] if several else g[0]
        if "vjp" in self._rules:
            found = self._by_vjp(g, out, args, kwargs, saved)
        else:
            known = [_zeros(x) for x in args]
            by = [k for k, zero in enumerate(known) if zero is not None]

            def on(*t):
                given = tuple(t[by.index(k)] if k in by else None for k in range(len(args)))
                return self._tangents(self._by_jvp(given, out, args, kwargs, saved), out)

            back = dict(zip(by, self._transposed("jvp", on, [known[k] for k in by], g)))
            found = [back.get(k) for k in range(len(args))]
        self._demand_numbers(found, g, out, args)
        for k in argnums:
            if type(found[k]) in _FLOATS and type(args[k]) in _FLOATS:
                continue
            if found[k] is not None and np.shape(found[k]) != np.shape(args[k]):
                raise TapeError(f"{name_of(self)}: the vjp rule returned shape {np.shape(found[k])} for argument {k} "
                                f"of shape {np.shape(args[k])}")
            self._demand_real("vjp", found[k])
        return [found[k] if found[k] is None or is_active(found[k]) else np.asarray(found[k], np.float64)
                for k in argnums]

    def _push(self, tangents, out, args, kwargs):
        self._demand_fixed(args)
        out, saved, several = self._split(out)
        if "jvp" in self._rules:
            given = tuple(tangents.get(k, _zeros(x)) for k, x in enumerate(args))
            found = self._tangents(self._by_jvp(given, out, args, kwargs, saved), out)
        else:
            def back(g):
                shares = self._by_vjp(g, out, args, kwargs, saved)
                return [shares[k] if shares[k] is not None else _zeros(args[k]) for k in tangents]

            zero = tuple(map(_zeros, out)) if several else _zeros(out)
            found = self._transposed("vjp", back, [zero], list(tangents.values()))[0]
        self._demand_numbers(found, tuple(tangents.values()), out, args)
        if not self._saves:
            return found
        return (*found, None) if several else (found, None)

    def _pull_batch(self, g, out, args, kwargs, argnums):
        out, saved, several = self._split(out)
        if self._saves:
            g = g[:-1] if several else g[0]
        if several:       # what nothing flows from stands for zeros
            lanes = next(len(x) for x in g if x is not None)
            g = tuple(np.zeros((lanes, *np.shape(y))) if x is None else x for x, y in zip(g, out))
        found = self._shares(g, out, args, kwargs, saved)
        self._demand_numbers(found)
        for k in argnums:
            self._demand_real("vjp", found[k])
        return [None if found[k] is None else np.asarray(found[k], np.float64) for k in argnums]

    def _push_batch(self, tangents, out, args, kwargs):
        out, saved, several = self._split(out)
        lanes = len(next(iter(tangents.values())))
        zeros = [None if k in tangents else _zeros(x) for k, x in enumerate(args)]
        given = tuple(tangents[k] if k in tangents else None if zero is None else np.zeros((lanes, *np.shape(zero)))
                      for k, zero in enumerate(zeros))
        found = self._tangents(self._ruled("jvp", given, out, args, kwargs, saved), out, (lanes,))
        self._demand_numbers(found)
        if not self._saves:
            return found
        return (*found, None) if several else (found, None)

    # ---- The rules as they are for one direction ----

    def _ruled(self, kind, flows, out, args, kwargs, saved):
        """What a rule gives for cotangents or tangents, of which it gets copies: it may work in them.

        Where it runs on variables, plain ones are copied as plain ones first, since compiled code takes nothing else.
        """
        try:
            try:
                return self._rules[kind](_copied(flows), out, *args, **kwargs, **saved)
            except ActiveError:
                if not _any_plain_array(flows) or not _any_active(flows, out, args):
                    raise
            # It may have written a variable into one of them, which only an Array can hold.
            return self._rules[kind](_copied(flows, Array), out, *args, **kwargs, **saved)
        except (ActiveError, TapeError) as error:
            # To find the other rule it is run on variables, which it may not know what to do with.
            if _any_active(out, args) or isinstance(error, ActiveError) and _any_active(flows):
                raise
            raise self._of_outside(kind, f". It raised {type(error).__name__}: {error}") from error

    def _demand_numbers(self, found, *given):
        """That what rules give for numbers are numbers."""
        if _any_active(found) and not _any_active(*given):
            raise self._of_outside("vjp" if "vjp" in self._rules else "jvp")

    def _of_outside(self, kind, cause=""):
        return UndifferentiableError(
            f"the {kind} rule of {name_of(self)} uses a variable of the function that is differentiated, which is none "
            f"of its arguments: hand it over as an argument of {name_of(self)}, or take codipy.value(...) of what is a "
            f"constant{cause}")

    def _shares(self, g, out, args, kwargs, saved):
        found = self._ruled("vjp", g, out, args, kwargs, saved)
        found = found if isinstance(found, (tuple, list)) else (found,)
        if len(found) != len(args):
            raise TypeError(f"the vjp rule of {name_of(self)} must return one cotangent for each of the "
                            f"{len(args)} arguments, got {len(found)}")
        return found

    def _by_vjp(self, g, out, args, kwargs, saved):
        if "vjp" not in self._batched:
            return self._shares(g, out, args, kwargs, saved)
        found = self._shares(_lane(g), out, args, kwargs, saved)
        return [None if x is None else self._only(x, "vjp") for x in found]

    def _by_jvp(self, tangents, out, args, kwargs, saved):
        if "jvp" not in self._batched:
            return self._ruled("jvp", tangents, out, args, kwargs, saved)
        found = self._ruled("jvp", _lane(tangents), out, args, kwargs, saved)
        return tuple(self._only(x, "jvp") for x in found) if isinstance(out, tuple) else self._only(found, "jvp")

    def _tangents(self, found, out, lanes=()):
        """What a rule gave, one of the shape of each result; zeros for None."""
        several = isinstance(out, tuple)
        outs = out if several else (out,)
        if several and not (isinstance(found, (tuple, list)) and len(found) == len(outs)):
            got = len(found) if isinstance(found, (tuple, list)) else type(found).__name__
            raise TypeError(f"the jvp rule of {name_of(self)} must return one tangent for each of the {len(outs)} "
                            f"results, got {got}")
        parts = list(found) if several else [found]
        for k, y in enumerate(outs):
            if not is_active(y) and np.asarray(y).dtype.kind != "f":
                continue      # nothing that has a derivative
            if parts[k] is None:
                parts[k] = np.zeros(lanes + np.shape(y))[()]
            if np.shape(parts[k]) != lanes + np.shape(y):
                of = "its result, and the directions before, since it is batched" if lanes else "its result"
                raise TypeError(f"the jvp rule of {name_of(self)} must return a tangent of the shape "
                                f"{lanes + np.shape(y)} of {of}: got {np.shape(parts[k])}")
            self._demand_real("jvp", parts[k])
        return tuple(parts) if several else parts[0]

    def _demand_real(self, kind, x):
        if is_complex_variable(x) or np.iscomplexobj(x):
            raise TypeError(f"the {kind} rule of {name_of(self)} returned complex numbers: a primitive takes and "
                            "returns real ones, so take the real part of what it computes")

    def _only(self, x, kind):
        if np.ndim(x) == 0 or np.shape(x)[0] != 1:
            raise TypeError(f"the {kind} rule of {name_of(self)} was said to be batched: for one direction the first "
                            f"axis of what it returns must have the length 1, got the shape {np.shape(x)}")
        return x[0]

    def _transposed(self, kind, rule, zeros, seeds):
        """What the transpose of a linear rule, which is the other rule, gives."""
        missing = "jvp" if kind == "vjp" else "vjp"
        if kind not in self._rules:
            raise UndifferentiableError(f"{name_of(self)} has no rule: write one, `@{name_of(self)}.vjp` or `.jvp`")
        # A linear rule has one slope everywhere. It is taken where nothing is zero, since rules may skip zeros.
        points = _generic(zeros)
        try:
            out, back = vjp(rule, *points, rebind=False)
            found = back(seeds)
        except UndifferentiableError:
            raise
        except Exception as error:      # compiled code has exceptions of its own for what is no plain number
            raise UndifferentiableError(
                f"{name_of(self)} has no {missing} rule, and its {kind} rule cannot be run on variables to find the "
                f"other one: write `@{name_of(self)}.{missing}`. It raised {type(error).__name__}: {error}") from error
        with np.errstate(all="ignore"):
            (there, size), (here, other_size) = _product(seeds, out), _product(found, points)
            is_linear = not abs(there - here) > _NOT_LINEAR * (size + other_size)       # true of NaN
        if not is_linear:
            flows = "cotangents" if kind == "vjp" else "tangents"
            raise UndifferentiableError(
                f"{name_of(self)} has no {missing} rule, and its {kind} rule is not linear in the {flows}, so that it "
                f"does not say what the other one is: let it give a sum of {flows} times numbers, without "
                f"codipy.value(...) of them, or write `@{name_of(self)}.{missing}`")
        return found

    # ---- Forms ----

    def _demand_fixed(self, args):
        """That saved values are not taken for constants where the rule is differentiated itself."""
        if not self._saves:
            return
        depends = range(len(args)) if self._depends is True else self._depends
        if any(k < len(args) and is_active(args[k]) for k in depends):
            raise UndifferentiableError(f"what {name_of(self)} saved depends on its arguments in a way that is not "
                                        "known: say on which, saves=(0,), if not on all; or write it without, for "
                                        "further derivatives")

    def _demand_plain(self, args, kwargs):
        for path, leaf in labelled((list(args), kwargs), ""):
            if is_complex_variable(leaf) and leaf.is_active:
                raise ActiveError(f"{name_of(self)} got a complex variable: a primitive takes and returns real "
                                  "numbers, so hand over z.real and z.imag")
            if isinstance(leaf, np.ndarray) and leaf.dtype == object and any(map(is_active, leaf.flat)):
                raise ActiveError(f"{name_of(self)} got variables in an array of objects: hand over one array of them, "
                                  "np.stack([...])")
            if is_active(leaf) and not any(leaf is x for x in args):
                raise ActiveError(f"{name_of(self)} got a variable inside of {path[3:]}: a primitive is differentiated "
                                  "by its positional arguments, each a number or an array")

    def _pair(self, result):
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(f"{name_of(self)} must return (result, saved) since saves=True, "
                            f"got {type(result).__name__}")
        return result

    def _unsaved(self, found):
        """The result as `f` gave it, and whether it is several."""
        if not self._saves:
            return found, isinstance(found, tuple)
        return (found[0], False) if len(found) == 2 else (found[:-1], True)

    def _split(self, out):
        result, several = self._unsaved(out)
        return result, {"saved": out[-1].value} if self._saves else {}, several

    def _set(self, kind, rule, batched=False):
        if not callable(rule):
            raise TypeError(f"the {kind} rule of {name_of(self)} must be a function, got {type(rule).__name__}")
        self._given[kind], self._rules[kind], self._primitive = (rule, batched), rebound(rule), None
        (self._batched.add if batched else self._batched.discard)(kind)
        return rule


def _again(f, saves, rules):
    """The primitive that was pickled."""
    new = OwnPrimitive(f, saves)
    for kind, (rule, batched) in rules.items():
        new._set(kind, rule, batched)
    return new


_FLOATS = {float, np.float64}
_GOLDEN = 0.6180339887498949
_NOT_LINEAR = 1e-3      # of the terms: what rounding leaves of badly conditioned equations is less


def _any_active(*given):
    return any(is_active(x) for some in given for x in (some if isinstance(some, (tuple, list)) else (some,)))


def _any_plain_array(flows):
    return any(isinstance(x, np.ndarray) for x in (flows if isinstance(flows, tuple) else (flows,)))


def _copied(flows, kind=np.array):
    """Cotangents or tangents that nobody else has; `kind` makes the copy of a plain array."""
    if isinstance(flows, tuple):
        return tuple(_copied(x, kind) for x in flows)
    return kind(flows) if isinstance(flows, np.ndarray) else flows.copy() if isinstance(flows, Array) else flows


def _lane(x):
    """One direction as the only one of several."""
    return tuple(map(_lane, x)) if isinstance(x, tuple) else None if x is None else np.reshape(x, (1, *np.shape(x)))


def _generic(zeros, first=1):
    """Numbers of the shapes of `zeros`, in tuples as those are, none of them zero and none like another."""
    found = []
    for zero in zeros:
        if isinstance(zero, tuple):
            found.append(tuple(_generic(zero, first)))
        else:
            steps = np.arange(first, first + np.size(zero)).reshape(np.shape(zero))
            found.append(None if zero is None else (0.5 + steps * _GOLDEN % 1.0)[()])
            first += np.size(zero)
    return found


def _product(flows, values):
    """The dot product of what has the same form, and that of their magnitudes."""
    if isinstance(values, (tuple, list)):
        return np.sum([(0.0, 0.0), *map(_product, flows, values)], axis=0)
    if flows is None or values is None:
        return 0.0, 0.0
    terms = plain(flows) * plain(values)
    return np.sum(terms), np.sum(np.abs(terms))


def _zeros(x):
    """The tangent of what nothing depends on."""
    kind = getattr(np.asarray(x), "dtype", np.dtype(object)).kind if not is_active(x) else "f"
    return np.zeros(np.shape(x))[()] if kind in "fiub" else None
