# SPDX-License-Identifier: Apache-2.0
"""Results that an earlier plain run has kept: a cache that knows its arguments again hands out a constant.

Where all that a driver got depends on none of its inputs, or the function has recognised something
(`codipy.active.recordings.recognised`), and it may write to what was there before, it runs again close by. If it then
leaves something active where a plain number was, as a cache does when it misses, it runs once more at the same
arguments, with the numbers that stood in that place as variables. If the result depends on one of these, it is made of
what was kept. What these runs leave is undone; a function that fails in one of them has told nothing. What was
rejected: docs/design/kept_results.md.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import io
import random
import warnings
from threading import get_ident

import numpy as np

from codipy.active.array import is_active, is_complex_variable
from codipy.errors import ActiveError
from codipy.implicit.over import SCALARS
from codipy.implicit.places import (
    MISSING,
    Attributes,
    Cache,
    Cell,
    Class,
    Deque,
    Dict,
    Globals,
    List,
    Numbers,
    Slots,
    got,
    is_users,
)
from codipy.implicit.state import State
from codipy.numpy.arguments import PLAIN, fillable
from codipy.tape import active_tape, passive
from codipy.tools.arguments.trees import labelled
from codipy.tools.callee import is_rebound, name_of
from codipy.tools.pool import borrow, give_back, wait_for_rebound
from codipy.tools.runs.recording import register_leaves
from codipy.tools.swallowed import unnoticed

__all__ = ["demand_computed"]

# How far arguments are moved, relative to them and beside that: most caches compare exactly, and some round. Up and
# down, as a kink may be at either side.
_MOVES = ((2.0**-20, 0.0), (-(2.0**-6), 0.0), (2.0**-3, 2.0**-3))
_SETTINGS = ("auto", None)
_TRYING: set = set()  # threads
_SHARED = random._inst, np.random.mtrand._rand  # whose methods the functions of both modules are
_DEEP = 8  # containers in containers


def demand_computed(f, run, called, put, args, kwargs, leaves):
    """Raise if a result that depends on none of the inputs is one that an earlier run has kept.

    Parameters
    ----------
    f : callable
        What messages call it.
    run, called : callable
        What was run, and what calls that.
    put : callable
        ``put(args, inputs)`` puts the inputs into the arguments.
    args, kwargs : list, dict
        The arguments of the run.
    leaves : list
        The values of the inputs.

    Raises
    ------
    ActiveError
        With the name of the place where it was kept.
    """
    if get_ident() in _TRYING:  # of a driver inside of such a run
        return
    where, state = None, State(run, *args, *kwargs.values())
    state.places = [place for place in state.places if type(place) is not Cache]  # which keep what they have
    _TRYING.add(get_ident())
    try:
        if state.may_write:
            with passive() if active_tape() is not None else contextlib.nullcontext(), unnoticed():
                trial = _Trial(state, run, called, put, args, kwargs)
                where = next(filter(None, (trial.kept(leaves, move) for move in _MOVES)), None)
    finally:
        _TRYING.discard(get_ident())
        state.end()
        state.close()
    if where is not None:
        raise ActiveError(
            f"the result of {name_of(f)} is made of what stands in {where}, where an earlier run without derivatives "
            "has kept it, so its own derivative is lost: empty that before the gradient, or take the value and the "
            "gradient of one run, codipy.value_and_grad"
        )


def _moved(leaf, by, beside):
    if isinstance(leaf, np.ndarray):
        return np.array(np.where(leaf == 0.0, by, leaf * (1.0 + by)) + beside, leaf.dtype)
    return (leaf * (1.0 + by) if leaf else type(leaf)(by)) + beside


class _Trial:
    """Further runs of a function, in recordings of their own, of which nothing stays."""

    def __init__(self, state, run, called, put, args, kwargs):
        self._state, self._run, self._called, self._put = state, run, called, put
        self._args, self._kwargs, self._aux = args, kwargs, getattr(called, "kept", [])

    def kept(self, leaves, move):
        """Where the result was taken from, in words; None if it was not, as far as a run that is moved tells."""
        places = self._recorded([_moved(leaf, *move) for leaf in leaves], lambda tape, made: None, self._stored) or ()
        for place, keys in places:

            def put(tape, made, place=place, keys=keys):
                held = place.before.copy()
                for key in keys:
                    held[key] = _as_variables(got(held[key]), tape, made)
                place.put(held)

            if self._recorded(leaves, put, _depends, place):
                return self._said(place, keys[0])
        return None

    def _recorded(self, leaves, prepare, look, place=None):
        """What ``look(tape, outputs, made)`` finds when a run is over; None if its result is passive, or it fails."""
        tape, aux, made = borrow(_SETTINGS), list(self._aux), []
        drawn = [(put, now()) for now, put in map(_drawing, (*_SHARED, *self._state.generators()))]
        if is_rebound(self._run):
            wait_for_rebound(tape, leaves)
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                with tape:
                    args = [_own(x) for x in self._args]
                    self._put(args, register_leaves(tape, leaves))
                    prepare(tape, made)
                    found = labelled(self._called(*args, **self._kwargs), "result")
                    outputs = [tape.register_output(leaf) for _, leaf in found if _is_variable(leaf)]
                return look(tape, outputs, made) if outputs else None
        except Exception:  # it may fail at other arguments, and with variables where numbers were
            return None
        finally:
            give_back(_SETTINGS, tape)
            self._aux[:] = aux
            for put, before in drawn:
                put(before)
            self._state.put_back()
            if place is not None:
                place.put(place.before)  # also where only arrays are put back

    def _stored(self, *_):
        """Where such a run left something active in the place of numbers: pairs of a place and keys."""
        found = []
        for place in self._state.places:
            if not place.has_changed():
                continue
            if type(place) is Numbers:  # others are filled by each run; a table has a mark where nothing is yet
                is_table = place.before.dtype.kind in "fc" and np.any(np.isnan(place.before))
                found += [(holder, [key]) for holder, key in getattr(place.it, "where", ()) if is_table]
            else:
                found += [(place, keys) for keys in _keys(place)]
        return found

    def _said(self, place, key):
        if type(place) is Globals:
            return f"the variable {key}"
        if type(place) in (Attributes, Slots, Class):
            it = place.whose if type(place) is Attributes else place.it
            return f"{getattr(it, '__name__', type(it).__name__)}.{key}"
        if type(place) is Cell:
            return "a variable of an enclosing function"
        kind = type(place.it).__name__
        for other in self._state.places:
            for name, x in _items(other.before).items():
                if x is place.it and isinstance(other, (Attributes, Slots, Class, Globals)):
                    return f"the {kind} {self._said(other, name).removeprefix('the variable ')}"
        variables = getattr(inspect.unwrap(getattr(self._run, "__func__", self._run)), "__globals__", {})
        name = next((name for name, x in variables.items() if x is place.it), None)
        return f"a {kind}" if name is None else f"the {kind} {name}"


def _keys(place):
    """Keys of a place where numbers were that are now active, each by itself; of a dict or list, which grows, all."""
    now, before = (_items(held) for held in (place.now(), place.before))
    new = [key for key, x in now.items() if x is not before.get(key, MISSING) and _holds(x, _is_variable)]
    grows = type(place) in (Dict, List, Deque)
    keys = [key for key in (before if grows else new) if new and _holds(before.get(key), _is_number)]
    return [keys] if grows and keys else [[key] for key in keys]


def _items(held):
    return held if isinstance(held, dict) else dict(enumerate(held)) if isinstance(held, list) else {}


def _drawing(generator):
    """What gives the state of a generator of random numbers, and what sets it."""
    if isinstance(generator, random.Random):
        return generator.getstate, generator.setstate
    if isinstance(generator, np.random.RandomState):
        return generator.get_state, generator.set_state
    bits = generator.bit_generator
    return functools.partial(getattr, bits, "state"), functools.partial(setattr, bits, "state")


def _own(x):
    """An argument that a run may write to."""
    return fillable(x.copy()) if type(x) is np.ndarray else x


def _is_variable(x):
    return (is_active(x) or is_complex_variable(x)) and x.is_active


def _is_number(x):
    return isinstance(x, SCALARS) or isinstance(got(x), np.ndarray) and got(x).dtype.kind in "fc"


def _holds(x, asked, deep=_DEEP):
    """Whether something of a kind is in a value, in containers and attributes of it too."""
    if asked(x):
        return True
    if type(x) in PLAIN or not deep or isinstance(x, type):
        return False
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, (tuple, list)) else _attributes(x).values()
    return any(_holds(each, asked, deep - 1) for each in parts)


def _attributes(x):
    return x.__dict__ if is_users(type(x)) and type(getattr(x, "__dict__", None)) is dict else {}


def _depends(tape, outputs, made):
    """Whether one of the outputs depends on one of the variables that were made."""
    adjoints = tape.new_adjoints()
    for part in _parts(outputs):
        adjoints[part] = np.ones(np.shape(part.value)) if np.ndim(part.value) else 1.0
    tape.evaluate(adjoints=adjoints)
    return any(np.any(adjoints[part] != 0.0) for part in _parts(made))


def _parts(variables):
    for x in variables:
        yield from filter(is_active, (x.real, x.imag)) if is_complex_variable(x) else (x,)


def _as_variables(x, tape, made, deep=_DEEP):
    """The same with inputs of a tape in the places of numbers, which are added to those that were made."""
    if _is_number(x):
        made.append(tape.register_input(x.copy() if isinstance(x, np.ndarray) else x))
        return made[-1]
    if type(x) in PLAIN or not deep or isinstance(x, type):
        return x
    if isinstance(x, dict):
        return {key: _as_variables(each, tape, made, deep - 1) for key, each in x.items()}
    if isinstance(x, (tuple, list)):
        parts = [_as_variables(each, tape, made, deep - 1) for each in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    if not _attributes(x):
        return x
    other = copy.copy(x)
    other.__dict__.update({key: _as_variables(each, tape, made, deep - 1) for key, each in x.__dict__.items()})
    return other
