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
from codipy.tools.arguments.trees import value

__all__ = ["Returned"]


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
    refusal : str, optional
        What to say where a function writes to what the solver has yet. Without it that is done.
    """

    def __init__(self, refusal=None):
        self._known = {}      # by the identity of an array that owns elements: it, and a weak reference to the memory
        self._refusal = refusal

    def called(self, function):
        """A function of the user's as the solver calls it: what it returns is plain."""
        def called(*args, **named):
            if self._known:
                self._take()
            found = self._found((function(*map(self._given, args), **named),))
            if self._known:
                self._show()      # an error's frames have no reference to the user's arrays, which are exchanged then
            return found

        return Wrapped(function, called)

    def beside(self, function):
        """A function that may write to what others returned, and whose own arrays nobody else fills."""
        def called(*args):
            if self._known:
                self._take()
            found = value(function(*args))
            if self._known:
                self._show()
            return found

        return called

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._known.clear()

    def _found(self, pair):
        """What a function returned, in a pair that alone has it if nobody else has: then it is the solver's own."""
        return _own(pair[0]) if _is_fresh(pair) else self._plain(pair[0])

    def _plain(self, found):
        if type(found) is tuple:
            return tuple(map(self._plain, found))
        if _is_array(found):
            return self._of_array(found)
        found = value_tree(found)
        if isinstance(found, np.ndarray) and found.dtype == object:
            return np.array([plain(number) for number in found.flat], np.float64).reshape(found.shape)
        return found

    def _of_array(self, x):
        owner, numbers = x.base if type(x.base) is type(x) else x, plain(x)
        whole = plain(owner)
        known, reference = self._known.get(id(owner), (None, None))
        memory = None if reference is None else reference()
        if memory is None:
            low, high = _reach(whole)
            memory = np.empty((high - low) // whole.itemsize, whole.dtype)
            self._known[id(owner)] = owner, weakref.ref(memory)
            _seen(memory, whole)[...] = whole
        offset = _address(numbers) - _address(whole) - _reach(whole)[0]
        return np.ndarray(numbers.shape, numbers.dtype, memory, offset, numbers.strides)

    def _given(self, x):
        """An argument: what the solver has of an Array is that to the function, which may fill it while it reads it."""
        if self._known and type(x) is np.ndarray:
            memory = x if x.base is None else x.base
            for owner, reference in self._known.values():
                if reference() is memory and type(owner) is Array:
                    return shown_as(owner, _seen(memory, plain(owner)), x)
                if reference() is memory and type(owner) is np.ndarray:
                    return np.ndarray(x.shape, x.dtype, owner.ravel("K"), _address(x) - _address(memory), x.strides)
        return x

    def _had(self):
        """Those that the solver has yet: whether somebody else may read or write them, and what the solver has."""
        for key, pair in list(self._known.items()):
            memory = pair[1]()
            if memory is None:
                del self._known[key]
            else:
                yield _references(pair) > _OURS, pair[0], _seen(memory, plain(pair[0]))

    def _take(self):
        """Write to arrays what the solver has written."""
        for is_read, owner, seen in self._had():
            numbers = plain(owner)
            if is_read and seen.tobytes() != numbers.tobytes():
                written = ~((seen == numbers) | np.isnan(seen) & np.isnan(numbers))
                owner[written] = seen[written]

    def _show(self):
        """Write to what the solver has what arrays hold, for the last time where nobody else has them any more."""
        if self._refusal is not None and not all(np.array_equal(seen, plain(owner), equal_nan=True)
                                                 for _, owner, seen in self._had()):
            raise ActiveError(self._refusal)
        for is_written_again, owner, seen in self._had():
            seen[...] = plain(owner)
            if not is_written_again:
                del self._known[id(owner)]


def _is_fresh(pair):
    """Whether what is in a pair is an array that nobody else has: it is not filled again."""
    return _is_array(pair[0]) and pair[0].base is None and _references(pair) <= _OURS


def _own(x):
    return x if type(x) is np.ndarray else np.array(plain(x))


def _is_array(x):
    if type(x) is np.ndarray:      # of the user's: what SciPy had of it nobody would find who looks for its references
        return x.ndim > 0 and x.dtype.kind in "fc"
    return (type(x) is Array or is_complex_variable(x)) and np.ndim(x) > 0


def _seen(memory, like):
    """The memory as an array in which elements lie as in another one."""
    return np.ndarray(like.shape, like.dtype, memory, -_reach(like)[0], like.strides)


def _reach(x):
    """Where the memory begins, not above 0, and where it ends, in bytes from the first element."""
    return span(0, x.shape, x.strides, x.itemsize)


def _address(numbers):
    return numbers.__array_interface__["data"][0]
