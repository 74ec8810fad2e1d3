# SPDX-License-Identifier: Apache-2.0
"""A recording from which gradients and Hessians times vectors are swept, in several directions at once."""
from __future__ import annotations

import math
from functools import partial

import numpy as np

from codipy.active import Real
from codipy.active.array import identifiers, is_active
from codipy.active.bulk import all_floats
from codipy.active.recordings.recognised import recognised
from codipy.tape import active_tape
from codipy.tape.second import SecondOrder, allow_second, has_second
from codipy.tools.arguments.aliases import demand_apart
from codipy.tools.arguments.leaves import shape_of
from codipy.tools.arguments.lending import Lending, lends
from codipy.tools.arguments.twins import Twins
from codipy.tools.callee import check_result, is_rebound
from codipy.tools.pool import borrow, give_back, wait_for_rebound
from codipy.tools.runs.recording import demand_computed, put_inputs, register_leaves
from codipy.tools.swallowed import demand_none_swallowed, said_before

__all__ = ["Curvature", "is_swept"]

_BYTES = 1 << 20      # of the tangents that one sweep carries, as far as fewer directions help ...
_FEWEST, _WIDEST = 8, 64      # ... and how many it carries


def is_swept(strategy):
    """Whether second derivatives are swept from one recording: else they go by drivers inside of drivers."""
    return strategy in ("auto", "primal") and active_tape() is None


class Curvature:
    """One run of a function of real numbers, for its gradient and Hessian; a context manager that gives the tape back.

    Parameters
    ----------
    run : callable
        What to run; returns one real number.
    f : callable
        What messages call it.
    args, kwargs : list, dict
        Its arguments; `args` is changed.
    leaves : list of float and ndarray
        The inputs' values.
    place : int, tuple of int or callable
        Which argument is the only input, or the list of inputs, if they are numbers; which is each input; or
        ``place(args, inputs)`` puts the inputs into the arguments.
    granularity : str or None
        See `Tape`.
    given : tuple
        The arguments as the caller gave them.
    kind : str or None
        How the driver was called, see `Lending`.

    Attributes
    ----------
    value : float
        What the function returned.
    fills : bool
        Whether the function has filled arrays among its arguments.
    """

    def __init__(self, run, f, args, kwargs, leaves, place, granularity, given, kind):
        self._settings = "primal", granularity or "statement"
        self.leaves, self._tape, self._lending, self.fills = leaves, borrow(self._settings), None, False
        try:
            if is_rebound(run):
                wait_for_rebound(self._tape, leaves)
                if lends(run, args, kwargs):
                    kwargs = dict(kwargs)
                    place = self._lending = Lending(partial(put_inputs, place), run, given, kwargs, leaves, kind)
                    self._lending.remember()
                    self.fills = True
            self._record(run, f, args, kwargs, place)
            if self._lending is not None and not self.known:      # what runs the function once more
                self._lending.put_back()
            self._lending = None
        except BaseException:
            self.close()
            raise

    def _record(self, run, f, args, kwargs, place):
        tape, before = self._tape, recognised[0]
        allow_second(tape)
        try:
            with tape:
                inputs = register_leaves(tape, self.leaves)
                # f may overwrite an Array: its derivatives are those by what was registered.
                known = _identifiers(inputs, self.leaves)
                put_inputs(place, args, inputs)
                made = args[place] if type(place) is int else None
                twins = Twins([self.leaves], [made]) if type(made) is list else None
                result = run(*args, **kwargs)
                demand_apart(run, args, kwargs, inputs, self.leaves, None, twins or getattr(place, "twins", None))
                number = result if type(result) is Real else check_result(result, f)
                depends = is_active(number)
                output = tape.register_output(number)
                self.value, output = output.value, int(identifiers(output))
        except Exception as error:
            if (before := said_before(tape, error)) is not error:
                raise before from error
            raise
        demand_none_swallowed(tape)
        if not depends or recognised[0] != before:
            demand_computed(f, run, run, place, args, kwargs, self.leaves)
        self.identifiers = known
        self.known = has_second(tape)
        if self.known:
            self._second = SecondOrder(tape, output, _Rules())

    def gradient(self):
        """The derivatives by all numbers of the leaves, one axis."""
        return self._second.gradient(self.identifiers)

    def products(self, tangents):
        """Hessian times vectors, one in each row."""
        return self._second.products(self.identifiers, tangents)

    def hessian(self):
        """The Hessian."""
        n, width = self.identifiers.size, self.width
        if n <= width:
            return self._second.rows(self.identifiers, 0, n)
        matrix = np.empty((n, n))
        for start in range(0, n, width):
            stop = min(start + width, n)
            matrix[start:stop] = self._second.rows(self.identifiers, start, stop)
        return matrix

    @property
    def width(self):
        """How many directions one sweep carries."""
        return min(max(_BYTES // max(16 * self._second.slots, 1), _FEWEST), _WIDEST)

    # ---- What `codipy.tools.derivatives.compressed` asks of sweeps ----

    is_active = True

    @property
    def shape(self):
        """That of the Hessian."""
        return self.identifiers.size, self.identifiers.size

    def along(self, directions, by_rows):
        """Hessian times vectors, one in each row; `by_rows` is of matrices that are not symmetric."""
        return self.products(directions)

    def coloured(self, colouring, start, stop):
        """Hessian times the direction of each colour from `start` on; that after the last is ``direction()``."""
        return self.products(colouring.seeds(start, stop))

    # ---- Forms ----

    def cut(self, vector):
        """What of a vector belongs to each leaf: a float, or a new array of its shape."""
        if all_floats(self.leaves):
            return vector.tolist()
        parts, start = [], 0
        for leaf in self.leaves:
            if isinstance(leaf, np.ndarray):
                parts.append(vector[start:start + leaf.size].reshape(leaf.shape).copy())
                start += leaf.size
            else:
                parts.append(float(vector[start]))
                start += 1
        return parts

    def blocks(self, matrix):
        """For each leaf a list with one item for each leaf: the derivatives by the pair, a float or an array."""
        if all_floats(self.leaves):
            return matrix.tolist()
        shapes, rows, row = [shape_of(leaf) for leaf in self.leaves], [], 0
        for shape in shapes:
            below, column, blocks = row + math.prod(shape), 0, []
            for other in shapes:
                right = column + math.prod(other)
                block = matrix[row:below, column:right].reshape(shape + other)
                blocks.append(block.copy() if block.ndim else float(block))
                column = right
            rows.append(blocks)
            row = below
        return rows

    def close(self):
        """Give the tape back: nothing can be swept any more."""
        if self._tape is not None:
            self._second = None
            tape, self._tape = self._tape, None
            give_back(self._settings, tape)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _identifiers(inputs, leaves):
    """Of all numbers of the inputs, one axis."""
    if not inputs:
        return np.zeros(0, np.int32)
    if all_floats(leaves):
        first, last = int(identifiers(inputs[0])), int(identifiers(inputs[-1]))
        if last - first == len(inputs) - 1:      # registered one after the other
            return np.arange(first, last + 1, dtype=np.int32)
    known = [identifiers(x).reshape(-1) for x in inputs]
    return known[0] if len(known) == 1 else np.concatenate(known)


class _Rules:
    """The rules of calls, made when the first is asked for: most recordings have none."""

    _bent = None

    def __call__(self, *call):
        if self._bent is None:
            from codipy.tools.derivatives.bent import BentRules  # here: seldom used

            self._bent = BentRules()
        return self._bent(*call)
