# SPDX-License-Identifier: Apache-2.0
"""What functions return to a solver of plain numbers: where the memory is the same in the plain run, so it is here."""

from __future__ import annotations

import sys
import weakref

import numpy as np

from codipy.active.array import Array, is_complex_variable, plain
from codipy.active.arrays.plain import shown_as
from codipy.errors import ActiveError
from codipy.implicit.wrapped import Wrapped
from codipy.numpy.arguments import value_tree
from codipy.numpy.laid_out import span
from codipy.tools.callee import name_of

__all__ = ["Returned", "demand_unwritten"]


def _references(pair):
    return sys.getrefcount(pair[0])


_OURS = _references((object(),))      # to what only a pair has


class Returned:
    """Plain memory for that of the arrays which the functions of one solver return, as long as the solver has it.

    A context in which it runs: afterwards what it has is its own, and no reference to the user's arrays is left here.

    A solver that keeps what it got finds there what a function has written since, whichever function of its own that
    is, and a function finds what the solver has written there. So ``least_squares`` of a function that fills one array
    does not move, and ``minimize`` takes other steps, as in the plain run. Rejected: to raise, since others, which
    copy, solve; a number of arrays that are remembered, since a function may fill any number of them in turn.

    Parameters
    ----------
    is_watched : bool
        Whether functions may not write to the arrays that the solver hands over: a derivative would not know of it.
    """

    def __init__(self, is_watched=False):
        # By the identity of an array that owns elements: it, a weak reference to the memory, and the refusal.
        self._known = {}
        self._is_watched, self._lasting = is_watched, {}

    def called(self, function, refusal=None, of=None):
        """A function of the user's as the solver calls it: what it returns is plain.

        Parameters
        ----------
        function : callable
        refusal : str, optional
            What to say where a function writes to what this one returned and the solver has yet. Without it that is
            done.
        of : callable, optional
            The user's, whose name messages say, if it is another one.
        """
        def called(*args, **named):
            if self._known:
                self._take()
            args = [*map(self.lasting, args)]
            handed = self._handed(args)
            found = self._found((function(*map(self._given, args), **named),), args, refusal)
            demand_unwritten(of or function, handed)
            if self._known:
                self._show()      # an error's frames have no reference to the user's arrays, which are exchanged then
            return found

        return Wrapped(function, called)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._known.clear()
        self._lasting.clear()

    def lasting(self, x):
        """An argument whose memory stays: MINPACK and ODEPACK free what they hand over, which a function may have kept.

        One array for each memory, which holds what is there at a call, as what the function has kept in the plain run.
        """
        if type(x) is not np.ndarray or x.base is not None or x.flags.owndata:
            return x
        key = _address(x), x.shape, x.dtype
        if key not in self._lasting:
            self._lasting[key] = np.empty_like(x)
        self._lasting[key][...] = x
        return self._lasting[key]

    def _handed(self, args):
        """Pairs of an array that is the solver's alone and what it holds, if functions may not write to these."""
        if not self._is_watched:
            return ()
        return [(x, x.copy()) for x in args if type(x) is np.ndarray and not any(
            reference() is _memory_of(x) for _, reference, _ in self._known.values())]

    def _found(self, pair, args, refusal):
        """What a function returned, in a pair that alone has it if nobody else has: then it is the solver's own."""
        if _is_fresh(pair):
            return _own(pair[0])
        return self._plain(pair[0], [id(_memory_of(x)) for x in args if type(x) is np.ndarray], refusal)

    def _plain(self, found, given, refusal):
        if type(found) is tuple:
            return tuple(self._plain(each, given, refusal) for each in found)
        if type(found) is np.ndarray and id(_memory_of(found)) in given:      # it is what the solver handed over
            return found
        if _is_array(found):
            return self._of_array(found, refusal)
        found = value_tree(found)
        if isinstance(found, np.ndarray) and found.dtype == object:
            return np.array([plain(number) for number in found.flat], np.float64).reshape(found.shape)
        return found

    def _of_array(self, x, refusal):
        owner, numbers = x.base if type(x.base) is type(x) else x, plain(x)
        whole = plain(owner)
        _, reference, _ = self._known.get(id(owner), (None, None, None))
        memory = None if reference is None else reference()
        if memory is None:
            low, high = _reach(whole)
            memory = np.empty((high - low) // whole.itemsize, whole.dtype)
            self._known[id(owner)] = owner, weakref.ref(memory), refusal
            _seen(memory, whole)[...] = whole
        offset = _address(numbers) - _address(whole) - _reach(whole)[0]
        return np.ndarray(numbers.shape, numbers.dtype, memory, offset, numbers.strides)

    def _given(self, x):
        """An argument: what the solver has of an Array is that to the function, which may fill it while it reads it."""
        if self._known and type(x) is np.ndarray:
            memory = _memory_of(x)
            for owner, reference, _ in self._known.values():
                if reference() is memory and type(owner) is Array:
                    return shown_as(owner, _seen(memory, plain(owner)), x)
                if reference() is memory and type(owner) is np.ndarray:
                    return np.ndarray(x.shape, x.dtype, owner.ravel("K"), _address(x) - _address(memory), x.strides)
        return x

    def _had(self):
        """Those that the solver has yet: array, what the solver has of it, refusal, and whether others have it."""
        for key, known in list(self._known.items()):
            memory, is_had = known[1](), _references(known) > _OURS
            if memory is None:
                del self._known[key]
            else:
                yield known[0], _seen(memory, plain(known[0])), known[2], is_had

    def _take(self):
        """Write to arrays what the solver has written."""
        for owner, seen, _, is_read in self._had():
            numbers = plain(owner)
            if is_read and seen.tobytes() != numbers.tobytes():
                written = ~((seen == numbers) | np.isnan(seen) & np.isnan(numbers))
                owner[written] = seen[written]

    def _show(self):
        """Write to what the solver has what arrays hold, for the last time where nobody else has them any more."""
        for message in self._refused():
            raise ActiveError(message)
        for owner, seen, _, is_written_again in self._had():
            seen[...] = plain(owner)
            if not is_written_again:
                del self._known[id(owner)]

    def _refused(self):
        return [refusal for owner, seen, refusal, _ in self._had()
                if refusal is not None and not np.array_equal(seen, plain(owner), equal_nan=True)]


def demand_unwritten(function, handed):
    """Raise where arrays hold something else than before a function of the user's was called.

    Parameters
    ----------
    function : callable
    handed : iterable
        Pairs of an array and what it held.
    """
    for x, before in handed:
        if x.tobytes() != before.tobytes():
            raise ActiveError(f"{name_of(function)} writes to an array of shape {x.shape} that a solver hands over, "
                              "which goes on with it, while the derivative would not know of that: let it write to a "
                              "copy, x = x.copy(), or instead of one of args= to one of the function around it")


def _is_fresh(pair):
    """Whether what is in a pair is an array that nobody else has: it is not filled again."""
    return _is_array(pair[0]) and pair[0].base is None and _references(pair) <= _OURS


def _own(x):
    return x if type(x) is np.ndarray else np.array(plain(x))


def _is_array(x):
    if type(x) is np.ndarray:      # of the user's: what SciPy had of it nobody would find who looks for its references
        return x.dtype.kind in "fc"
    return type(x) is Array or is_complex_variable(x) and np.ndim(x) > 0


def _memory_of(x):
    return x if x.base is None else x.base


def _seen(memory, like):
    """The memory as an array in which elements lie as in another one."""
    return np.ndarray(like.shape, like.dtype, memory, -_reach(like)[0], like.strides)


def _reach(x):
    """Where the memory begins, not above 0, and where it ends, in bytes from the first element."""
    return span(0, x.shape, x.strides, x.itemsize)


def _address(numbers):
    return numbers.__array_interface__["data"][0]
