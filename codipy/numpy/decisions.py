# SPDX-License-Identifier: Apache-2.0
"""What values decided while a tape recorded: a replay at inputs where they decide otherwise raises.

A function that moves elements by their values (`clip`, the set operations), and one whose result is passive but
depends on values (`argsort`, `floor`, `searchsorted`), leaves on the tape what was so at the inputs of the recording.
Tapes that can be run at others therefore get a call beside it, which has no derivative and whose result is to be the
same: `codipy/tape/records/call.pyx` compares all that a call gives without a derivative, pivots too. A condition of the
user's (`x > 0.0`) is not among these functions: control flow is that of the recording. Rejected: to record conditions
as well, which costs a call for each comparison of two floats in a loop.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

from codipy.active.array import Array, Real, call
from codipy.active.messages.callers import frames_of_users, place
from codipy.active.scalar.kinds import converted
from codipy.numpy.primitive import Primitive
from codipy.tape import active_tape
from codipy.tape.activity import depth

__all__ = ["PRIMITIVES", "decision", "is_replayed", "keep"]

PRIMITIVES: dict[str, Primitive] = {}  # by name, as tape files have them


def is_replayed():
    """Whether what is recorded now can be run at other inputs: on this tape, or on that of a recording around it."""
    tape = active_tape()
    return tape is not None and tape.keeps_values and (tape.loans is None or depth() > 1)


def decision(name, function):
    """The primitive of what a function of values decides.

    Parameters
    ----------
    name : str
        What messages call it.
    function : callable
        Of plain values.

    Raises
    ------
    ValueError
        If another one has the name.
    """
    name = f"{name} of values"
    if name in PRIMITIVES:
        raise ValueError(f"two decisions are called {name!r}, and a tape file knows them by their names")
    PRIMITIVES[name] = Primitive(name, partial(_decided, function), _no_cotangent, _no_tangent, keep_args=False)
    return PRIMITIVES[name]


def keep(primitive, args):
    """Put on a tape that can be run at other inputs that a decision is what it is now.

    Parameters
    ----------
    primitive : Primitive
        Of `decision`.
    args : sequence
        Active ones and others, in lists, tuples and dictionaries.
    """
    if is_replayed():
        operands = []
        form = _taken(tuple(args), operands)
        frames = frames_of_users(sys._getframe())
        call(primitive, operands, {"form": form, "line": place(frames[0]) if frames else ""})


def _taken(tree, operands):
    """The tree with a slice that tells the number of an operand in the place of each that is active."""
    if type(tree) in (Array, Real):
        if not tree.is_active:
            return np.array(tree.value)
        operands.append(_in_double(tree))
        return slice("operand", len(operands) - 1)
    if isinstance(tree, dict):
        return {key: _taken(x, operands) for key, x in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)([_taken(x, operands) for x in tree])
    if isinstance(tree, np.ndarray) and tree.dtype == object:
        return [_taken(x, operands) for x in tree.ravel()] if tree.ndim == 1 else np.array(tree)
    return np.array(tree) if isinstance(tree, np.ndarray) else tree


def _in_double(x):
    """What can be replayed: primitives of float32 cannot, and what is decided is the same of doubles."""
    if type(x) is Real:
        return converted(x, np.float64)
    return x.astype(np.float64) if x.dtype == np.float32 else x


def _given(tree, operands):
    if type(tree) is slice and tree.start == "operand":
        return operands[tree.stop]
    if isinstance(tree, dict):
        return {key: _given(x, operands) for key, x in tree.items()}
    return type(tree)([_given(x, operands) for x in tree]) if isinstance(tree, (list, tuple)) else tree


def _decided(function, *operands, form, line):
    found = function(*_given(form, operands))
    return tuple(map(_bits, found)) if isinstance(found, tuple) else _bits(found)


def _bits(x):
    """Numbers as integers, which have no derivative."""
    x = np.asarray(x)
    return np.array(x, np.float64).view(np.int64) if x.dtype.kind == "f" else np.array(x)


def _no_cotangent(g, out, args, kwargs, argnums):
    return [None] * len(argnums)


def _no_tangent(tangents, out, args, kwargs):
    return (None,) * len(out) if isinstance(out, tuple) else None
