# SPDX-License-Identifier: Apache-2.0
"""What a solver tells while it runs: its callback gets iterates, of which nobody has the derivatives.

A callback runs in a recording of its own, of which the iterates are the inputs, and which is over when the solver
returns. So it prints, compares and stops as in the plain run, and what it keeps is of a recording that is over: its
value after the gradient, and an error where the function computes with it. Rejected: plain numbers, which are constants
in silence; a class of its own for numbers that may only be looked at, which what is computed of them would leave.
"""

from __future__ import annotations

import numpy as np

from codipy.active.array import is_active
from codipy.errors import ActiveError
from codipy.implicit.trajectory import Reads
from codipy.implicit.wrapped import Wrapped
from codipy.numpy.arguments import value_tree
from codipy.tools.pool import borrow, give_back
from codipy.tools.swallowed import demand_none_swallowed, said_before

__all__ = ["CALLBACKS", "Iterates"]

CALLBACKS = ("callback", "accept_test", "inner_callback")

_SETTINGS = ("auto", None)
_KEPT = 1 << 26      # bytes of iterates, after which the recording begins anew


class Iterates:
    """The iterates of one solver, as a context in which it runs.

    Parameters
    ----------
    name : str
        The solver.
    vary : bool
        Whether they are known to depend on active values.

    Attributes
    ----------
    has_stopped : bool
        Whether a callback asked the solver to stop: what it then says of its success is not about the solution.
    """

    def __init__(self, name, vary):
        self._name, self._vary = name, vary
        self._tells = self._has_told = False      # whether there is a callback; whether it was called
        self.has_stopped = False
        self._tape, self._arrays, self._bytes = None, {}, 0
        self._current = []      # arrays that the callback which runs has been told, as the solver and as it has them

    def __enter__(self):
        self.has_stopped = False
        return self

    def __exit__(self, *exception):
        tape, self._tape, self._arrays = self._tape, None, {}
        if tape is not None:
            give_back(_SETTINGS, tape)

    def asked(self, function):
        """The function that is solved for: what its first call reads tells whether the iterates depend on that."""
        if self._vary or not self._tells:
            return function
        is_asked = False

        def called(*args, **kwargs):
            nonlocal is_asked
            if is_asked:
                return function(*args, **kwargs)
            is_asked = True
            with Reads() as reads:
                found = function(*args, **kwargs)
            self._vary = reads.found
            return found

        return Wrapped(function, called)

    def demand_noticed(self, u):
        """Raise if the solution is active and a callback was given constants."""
        if self._has_told and not self._vary and is_active(u):
            raise ActiveError(f"the callback of {self._name} was given its iterates as constants, since the first call "
                              "of the function read nothing active, and a later one did: take away the callback, or "
                              "compute in the first call what the function depends on")

    def told(self, callback):
        """What calls the user's callback with them, and returns plain numbers; before the function is `asked`."""
        self._tells = True

        def called(*args, **kwargs):
            try:
                found = value_tree(self._called(callback, args, kwargs))
            except StopIteration:
                self.has_stopped = True
                raise
            self.has_stopped = self.has_stopped or isinstance(found, (bool, np.bool_)) and bool(found)
            return found

        return Wrapped(callback, called)

    def _called(self, callback, args, kwargs):
        if self._tape is None:
            self._tape = borrow(_SETTINGS)
        tape, self._has_told, self._current = self._tape, True, []
        if self._bytes > _KEPT:
            tape.reset()
            self._arrays, self._bytes = {}, 0
        tape.loans = []      # what the callback reads of the function around it
        try:
            with tape:
                args, kwargs = self._varied(args), self._varied(kwargs)
                found = callback(*args, **kwargs)
                self._write_back()
        except Exception as error:
            if (before := said_before(tape, error)) is not error:
                raise before from error
            raise
        demand_none_swallowed(tape)
        return found

    def _varied(self, told):
        """The same with variables in the places of numbers, where they vary."""
        if not self._vary:
            return told
        if isinstance(told, dict):
            varied = {key: self._varied(each) for key, each in told.items()}
            return varied if type(told) is dict else type(told)(varied)
        if type(told) in (list, tuple):
            return type(told)(map(self._varied, told))
        if isinstance(told, np.ndarray) and told.dtype.kind in "fc" and told.ndim:
            return self._array(told)
        return self._tape.register_input(told) if isinstance(told, (float, np.inexact)) else told

    def _array(self, told):
        """One Array for one array: solvers go on in the memory that they have handed out."""
        self._bytes += told.nbytes
        fresh = self._tape.register_input(np.array(told))
        _, known = self._arrays.setdefault(id(told), (told, fresh))
        if known is not fresh:
            known[...] = fresh
        self._current.append((told, known))
        return known

    def _write_back(self):
        """What the callback wrote into an iterate, the solver goes on with."""
        for told, known in self._current:
            numbers = known.value
            if numbers.tobytes() != told.tobytes():
                told[...] = numbers
