# SPDX-License-Identifier: Apache-2.0
"""What functions of the user's keep on the side while a solver calls them: counts, logs, last states, work arrays.

A solver calls them with plain numbers, of which nobody has the derivatives, and they run again for the derivative. So
what they can write to is noted before and after: variables of enclosing functions and modules, attributes of objects of
the user's, lists, dicts and their like, arrays, caches. The runs for the derivative find what was there before the
solver, and what they leave is undone. Then there is what the solver has left, so that counts and lengths of logs are
those of the plain run. Its numbers become variables of a recording that is over: to compute with one raises.

Where the last call was at the solution the function runs once more there, as a variable; numbers that this run puts
where the last call did have its derivatives. It finds variables of a recording that is over in the place of what was
there, so that a number which is made of one kept before is none of these.

Rejected: a recording of all that the solver calls, as its callbacks have it, which costs several times the plain calls.
"""

from __future__ import annotations

import numpy as np

from codipy.active.array import Array, identifiers, is_active, plain
from codipy.implicit.over import SCALARS, Over
from codipy.implicit.places import MISSING, Cache, Numbers, Plain, got, is_same
from codipy.implicit.state import State, undone
from codipy.implicit.steps import anchored
from codipy.implicit.wrapped import Wrapped
from codipy.numpy.arguments import copied, holds_active, value_tree
from codipy.numpy.decisions import is_replayed
from codipy.tape import active_tape
from codipy.tools.orders import orders
from codipy.tools.pool import borrow, give_back
from codipy.tools.rebinding.exchange import lent
from codipy.tools.runs.run import NESTED
from codipy.tools.swallowed import unnoticed

__all__ = ["Effects"]

_ALIKE = 1e-3      # how far apart a number may be at the solution and where the last call was, relative to both


class Effects:
    """What functions keep while a solver calls them, as a context for the call and for the runs after it.

    Parameters
    ----------
    *given : object
        The functions, and what they are given.

    Attributes
    ----------
    are_possible : bool
        Whether there may be any.
    varies : bool
        Whether the functions lead to something active.
    """

    def __init__(self, *given):
        self._state = State(*given)
        self.are_possible = self._state.may_write
        self.varies = self._state.reads or holds_active(list(given))
        self._left = self._first = self._last = self._again = self._near = self._at = None
        self._same = {}      # by place, which elements the runs for derivatives wrote where the solver changed none
        self._is_over, self._tape, self._around = False, None, active_tape()

    def __enter__(self):
        self._state.put_was()      # what is asked of the functions first is recorded
        return self

    def __exit__(self, kind, *_):
        state, self._state = self._state, None      # who solves again for a replay leaves what that leaves
        try:
            self._end(state, kind)
        finally:
            state.close()
        self._left = self._at = self._again = None
        self._is_over = True

    def _end(self, state, kind):
        if kind is not None:
            self._again = None
            if self.are_possible and self._left is None:      # who catches the error has what was kept
                self._left = state.changed()
        state.end()
        if self._left is not None:
            self._left.update({place: place.written_again(mask) for place, mask in self._same.items()})
            if self.varies and self._left:
                self._settle(state)
            else:
                for place, held in self._left.items():
                    place.put(held)

    def noted(self, function):
        """The function that is solved for, of which the first and the last arguments are known then."""
        if not self.are_possible:
            return function

        def called(*args, **kwargs):
            if self._state is not None:
                self.note(args)
            return function(*args, **kwargs)

        return Wrapped(function, called)

    def note(self, args):
        """A solver calls the function with these arguments."""
        # It may go on in their memory.
        self._last = [np.array(x) if isinstance(x, np.ndarray) and x.ndim else x for x in args]
        if self._first is None:
            self._first = self._last

    def fresh(self, function, *given, first=None, of_unknown=False):
        """A function as it runs for derivatives: it finds what was there before the solver.

        Later, in a sweep for instance, it leaves what it finds. What it returns is a copy: it may be an array or a list
        that it fills, which holds again what was there before.

        Parameters
        ----------
        function : callable
        *given : object
            What it leads to, where itself does not show it.
        first : callable, optional
            ``first(known, args)`` are the arguments of the solver's first call, of which some were noted, or None: that
            may have kept what all others compute with, so each call comes after such a one. Where it is not given, the
            function is called for other arguments each time, as by the solver, and finds what it has kept.
        of_unknown : bool, optional
            Whether its first argument is the unknown that is solved for, and no array of the user's.
        """
        if not self.are_possible:
            return function

        def called(*args, **kwargs):
            if self._is_over:
                with undone(*given or (function,)):
                    return copied(function(*args, **kwargs))
            # What was kept in a recording within is of no use when that is over. The tape alone does not say it: where
            # second derivatives are asked for, calls of one tape have arguments of one value and several derivatives,
            # and what was kept by that value has those of the first.
            tape = active_tape()
            is_within = orders() > 1 or tape is not self._around
            is_other = first is not None or is_within or tape is not self._tape
            if is_other and self._left is not None and self._state is not None:
                self._tape = tape
                self._state.put_back()
                if first is not None and self._left and self._first is not None:
                    before = first(self._first, args)
                    if before is not None:
                        function(*before, **kwargs)
            if of_unknown:      # it may write to what solvers hand over if that stays as it is
                found = copied(lent(function, copied(args[0]), args[1:], kwargs))
            else:
                found = copied(function(*args, **kwargs))
            self._note_written()
            return found

        return Wrapped(function, called)

    def run_within(self, function, numbers):
        """Record a function of some numbers within, once it is solved, where no other run shows which arrays it fills.

        Parameters
        ----------
        function : callable
        numbers : ndarray
        """
        if not self.are_possible or self._state is None:
            return
        tape = borrow(NESTED)
        tape.loans = []      # to which the enclosing recording lends what is read
        self._state.put_back()
        tape.set_active()
        try:
            function(tape.register_input(np.array(numbers)))
            self._note_written()
        finally:
            tape.set_passive()
            self._state.put_back()
            give_back(NESTED, tape)

    def _note_written(self):
        """Note arrays that are given variables, where the solver has left the numbers that were there before it."""
        for place in self._unchanged():
            x = place.array()
            if is_active(x):
                self._same[place] = self._same.get(place, False) | (identifiers(x) != 0)

    def _unchanged(self):
        """Passive arrays that hold after the solver what they did before."""
        if self._left is None or self._state is None:
            return []
        return [place for place in self._state.places if type(place) is Numbers and place not in self._left
                and place.over is None and not is_active(place.before)]

    def are_kept(self, found):
        """Whether one of these plain arrays, which a solver of the user's has returned, is of memory that it may fill.

        Where an array holds their numbers, it may have written these anew.
        """
        for place in self._unchanged():
            x, before = plain(place.array()), plain(place.before)
            if any(np.may_share_memory(x, each) for each in found):
                return True
            if any(each.shape == before.shape and each.tobytes() == before.tobytes() for each in found):
                self._same[place] = np.ones(before.shape, bool)
        return False

    def begin(self):
        """A solver begins, and finds what was there before others and before what was run for derivatives."""
        if self.are_possible and self._state is not None:
            self._state.put_left()
            self._state.hold()
            self._left = None

    def solved(self):
        """It has returned: what it left is set aside."""
        if self.are_possible and self._state is not None:
            self._left = self._state.changed()
            self._state.put_back()

    @property
    def has_left(self):
        """Whether the solver, which has returned, has left something else than was there."""
        return bool(self._left)

    def again(self, function, args, near):
        """``function(*args)`` is a run at the solution; `near` says how exact that is."""
        if self.are_possible:
            self._again, self._at, self._near = function, args, near
            self.varies = self.varies or holds_active(list(args))

    # ---- Afterwards ----
    def _settle(self, state):
        left = self._left
        with Over() as over:
            base, found = {}, {}
            if self._is_at(self._last):
                is_fresh = not self._is_at(self._first)
                base = {place: _base(place, held, over, is_fresh) for place, held in left.items()}
                found = self._found(state, base)
            held = {place: Pairing(over).of_place(place.before, held, base[place], found[place]) if place in found
                    else over.of_place(held, place.before) for place, held in left.items()}
            for place, each in held.items():
                if type(place) is Numbers and type(place.array()) is Array:
                    over.fill(place.array(), each)
                    place.note_left()
                else:
                    place.put(each)

    def _is_at(self, args):
        """Whether a call was at the solution."""
        if self._again is None or args is None or len(args) < len(self._at):
            return False
        for x, u in zip(args, self._at):
            x, u = np.ravel(np.asarray(x, np.float64)), np.ravel(np.asarray(value_tree(u), np.float64))
            bound = self._near * (1.0 + np.max(np.abs(u), initial=0.0))
            if x.size != u.size or not np.all(np.abs(x - u) <= bound):
                return False
        return True

    def _found(self, state, base):
        """What the function leaves at the solution, by place; nothing where it asks for what was there before."""
        try:
            with unnoticed():
                for place, held in base.items():
                    place.put(held)
                self._again(*self._at)
            found = {place: place.now() for place in base}
        except Exception:  # it reads what is of a recording that is over, or fails there, as no other run has
            found = {}
        with unnoticed():
            state.put_back()
        return found


def _base(place, held, over, is_fresh):
    """What the run at the solution finds: what was there before or what the solver left, but for numbers it wrote."""
    if type(place) is Numbers:
        made = place.before.copy()
        if made.dtype.kind in "fc":
            made[plain(held) != plain(place.before)] = np.nan
        return made
    if type(place) is Cache:
        return held
    if not is_fresh:
        return over.of_place(held, place.before)
    before = place.before
    if isinstance(before, dict):
        return {key: x if is_same(held.get(key, MISSING), x) else over.of(got(x)) for key, x in before.items()}
    return before


class Pairing:
    """Gives numbers that a solver left the derivatives that they have at the solution."""

    def __init__(self, over):
        self._over = over

    def of_place(self, before, held, base, found):
        """What a place holds: `held` after `before` by the solver, `found` after `base` by the run at the solution."""
        if isinstance(held, (np.ndarray, Array)):
            return self._of_numbers(before, held, base, found)
        if isinstance(held, dict):
            return {key: x if is_same(x, before.get(key, MISSING)) else
                    self._of(x, MISSING if is_same(found.get(key, MISSING), base.get(key, MISSING)) else found.get(key))
                    for key, x in held.items()}  # fmt: skip
        if type(held) is list:
            return self._of_list(before, held, base, found)
        return self._over.of_place(held, before)

    def _of_list(self, before, held, base, found):
        old = len(before)
        has_grown = len(held) > old and len(found) > len(base)
        if has_grown and all(map(is_same, held, before)) and all(map(is_same, found, base)):
            added = found[len(base):][-(len(held) - old):]
            at = len(held) - len(added)
            return [*held[:old], *map(self._over.of, held[old:at]), *map(self._of, held[at:], added)]
        if len(held) == len(found) == len(before) == len(base):
            return [x if is_same(x, known) else self._of(x, MISSING if is_same(new, first) else new)
                    for x, known, first, new in zip(held, before, base, found)]
        return self._over.of_place(held, before)

    def _of(self, x, new):
        """One of what the solver left, and what is there at the solution."""
        if new is MISSING or type(x) is Plain:
            return self._over.of(x)
        if type(x) is type(new) is list:
            x[:] = self._of_list([], list(x), [], list(new))
            return x
        if type(x) is type(new) is dict and x.keys() == new.keys():
            x.update({key: self._of(each, new[key]) for key, each in x.items()})
            return x
        if type(x) is type(new) is tuple and len(x) == len(new):
            return tuple(map(self._of, x, new))
        numbers, others = plain(x), plain(new)
        if is_active(x) or not (_is_number(numbers) and _is_number(others)) or np.shape(numbers) != np.shape(others):
            return self._over.of(x)
        if not is_active(new):      # it depends on nothing active, where the function is once more
            return x
        known = _with_values(new, numbers)
        return self._over.of(x) if known is None else known

    def _of_numbers(self, before, held, base, found):
        """Elements that neither has written are as before; the others as those of the run, or else none is."""
        numbers, others = plain(held), plain(found)
        is_written = (numbers != plain(before)) | (identifiers(found) != identifiers(base))
        if not is_active(found):
            return held if _are_alike(numbers[is_written], others[is_written]) else self._over.of(held)
        new = _with_values(found[is_written], np.ascontiguousarray(numbers[is_written]))
        if new is None:
            return self._over.of(held)
        made = before.copy()
        made = made if type(made) is Array else found.copy()
        made[is_written] = new
        return made


def _is_number(x):
    return isinstance(x, SCALARS) or isinstance(x, np.ndarray) and x.dtype.kind in "fc"


def _with_values(new, numbers):
    """A variable at the solution with the numbers that a solver has left; None where these are others."""
    others = plain(new)
    if np.array_equal(others, numbers):
        return new
    if not _are_alike(numbers, others):
        return None
    return new if is_replayed() else anchored(new, numbers)      # a replay does not know what the solver has left


def _are_alike(x, y):
    return bool(np.all(np.abs(x - y) <= _ALIKE * (np.abs(x) + np.abs(y))))
