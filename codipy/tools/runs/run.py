# SPDX-License-Identifier: Apache-2.0
"""A driver's run of its function, recorded on a tape from the pool, be it inside of another recording or not."""
from __future__ import annotations

from functools import partial

from codipy.active.recordings.recognised import recognised
from codipy.tape import active_tape
from codipy.tape.strategies.table import FORWARD_STRATEGY
from codipy.tools.arguments.leaves import in_dtypes
from codipy.tools.arguments.lending import Lending, lends
from codipy.tools.arguments.trees import labelled, match, plain_copy, value
from codipy.tools.callee import is_rebound, with_aux
from codipy.tools.pool import borrow, give_back, wait_for_rebound
from codipy.tools.runs.recording import ForwardRun, Recording, demand_computed

__all__ = ["Run", "seeds_of"]

# Inside of another recording, whatever `strategy` says: of all ways this one keeps what can be run again there.
NESTED = ("primal", "statement")


class Run:
    """One run of a function, and sweeps from trees to trees. The tape goes back to the pool at the end of a `with`.

    Parameters
    ----------
    f : callable
        The user's function, for messages.
    run : callable
        That or what was made of it.
    choice : Choice
        By which arguments it is differentiated.
    args, kwargs : tuple, dict
        Its arguments; inside of another recording they may be variables of that.
    has_aux : bool
        Whether it returns a second result.
    settings : tuple
        Strategy and granularity.
    numbers : bool
        Whether derivatives are numbers, also inside of another recording: those of variables of that are not known.
    readable : bool
        Whether the steps of the recording will be read, and the identifiers of inputs and outputs.
    seeded : callable, optional
        ``seeded(trees, leaves)`` gives tangents of all leaves and how many directions they have, or None and None.
        Where nothing is lent, the run then is one of strategy 'forward'.
    kind : str or None
        How the driver was called, see `Lending`.
    called : callable, optional
        What is called in the place of `run`, with the same arguments, and calls that.

    Attributes
    ----------
    recording : Recording
    trees, leaves : list
        The arguments that are differentiated by, as plain numbers, and their leaves.
    aux : object
        The second result.
    """

    def __init__(self, f, run, choice, args, kwargs, has_aux, settings, *, numbers=False, readable=False, seeded=None,
                 kind=None, called=None):
        nested = active_tape() is not None
        self.choice, self.settings, self.aux = choice, NESTED if nested or readable else settings, None
        self.tape, self._lends, self._kind = None, nested or readable, kind
        self._is_asked = readable or not numbers      # by the user, and not by a solver for its own ends
        try:
            self._record(f, run, called or run, args, kwargs, has_aux, nested and not numbers,
                         None if self._lends else seeded)
        except BaseException:
            self.close()
            raise

    def _record(self, f, run, called, args, kwargs, has_aux, replayed, seeded):
        self.choice.check(args, f)
        given, args, kwargs, origins, theirs = args, list(args), dict(kwargs), None, None
        if replayed:
            places = self.choice.places(args, kwargs, f)
            origins = [leaf for place in places for _, leaf in labelled(_at(args, kwargs, place), "argument")]
            theirs = [_at(args, kwargs, place) for place in places]
            for place in places:
                (kwargs if isinstance(place, str) else args)[place] = value(_at(args, kwargs, place))
        called, kept = with_aux(called, lambda aux: aux) if has_aux else (called, None)
        self.trees, self.leaves, places = self.choice.take(args, kwargs, f)
        place = self.choice.placer(self.trees, places, kwargs, theirs)
        seeds, width = seeded(self.trees, self.leaves) if seeded is not None else (None, None)
        if seeds is not None:
            self.settings = (FORWARD_STRATEGY, self.settings[1], width)
        self.tape = borrow(self.settings)
        if is_rebound(run):
            wait_for_rebound(self.tape, self.leaves)
            if lends(run, args, kwargs):
                place = Lending(place, run, given, kwargs, self.leaves, self._kind)
        if self._lends:
            self.tape.loans = []      # to which the enclosing recording lends its variables
        before = recognised[0]
        recorded = Recording if seeds is None else partial(ForwardRun, seeds)
        self.recording = recorded(self.tape, called, args, kwargs, self.leaves, place, origins, kept,
                                  self.choice.with_complex)
        if self._is_asked and (recognised[0] != before or all(y is None for y in self.recording.outputs)):
            demand_computed(f, run, called, place, args, kwargs, self.leaves)
        if has_aux:
            self.aux = self.recording.aux[0] if self.program is not None else plain_copy(self.recording.aux[0])

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        """End the loan of the tape."""
        if self.tape is not None:
            give_back(self.settings, self.tape)

    @property
    def value(self):
        """What the function returned, as plain numbers and arrays or variables of the enclosing recording."""
        return self.recording.value

    @property
    def program(self):
        """What runs the sweeps, where this depends on variables of an enclosing recording; else None."""
        return self.recording.program

    def push(self, tangents):
        """The tangent of the result, for one of each argument."""
        return self.in_form(self.recording.forward(self.tape.new_adjoints(), seeds_of(self.trees, tangents)))

    def in_form(self, found):
        """The tree of the result with a tangent for each leaf."""
        return self.recording.rebuild(in_dtypes(found, [leaf for _, leaf in labelled(self.value, "result")]))

    def pull(self, cotangent):
        """A list of the cotangents of all leaves, for one of the result."""
        seeds = []
        match(cotangent, self.value, "cotangent", seeds)
        return self.recording.reverse(self.tape.new_adjoints(), seeds)


def seeds_of(trees, tangents):
    """The leaves of tangents, one of the form of each argument."""
    if len(trees) != len(tangents):
        raise ValueError(f"tangents must be one for each of the {len(trees)} arguments, got {len(tangents)}")
    seeds = []
    match(list(tangents), trees, "tangents", seeds)
    return seeds


def _at(args, kwargs, place):
    return (kwargs if isinstance(place, str) else args)[place]
