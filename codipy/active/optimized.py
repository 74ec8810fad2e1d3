# SPDX-License-Identifier: Apache-2.0
"""``tape.optimize()``: a new tape with what some outputs need of a recording, and its variables."""
from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from codipy.active.placed import is_variable, placed, shown
from codipy.errors import TapeError
from codipy.tape.contents.assemble import fill, give_numbers
from codipy.tape.contents.dissect import contents_of, has_long_arrays
from codipy.tape.passes.optimize import Passes, Saved, optimized
from codipy.tape.provenance.watching import unwatched

__all__ = ["OptimizedTape", "optimize"]


class OptimizedTape(NamedTuple):
    """What ``tape.optimize()`` gives.

    Attributes
    ----------
    tape : Tape
        The new tape.
    inputs, outputs : list of Real and Array
        Its variables, in the order of those that were asked for.
    saved : Saved
        What each pass saved.
    """

    tape: Any
    inputs: list
    outputs: list
    saved: Saved


def optimize(tape, inputs, outputs, dead, equal, merge, renumber):
    """See `Tape.optimize`."""
    if tape.is_active:
        raise TapeError("optimize() while the tape records: call it when the recording is over")
    if not outputs:
        raise TapeError("optimize() of a tape without outputs would leave nothing: name them, "
                        "tape.optimize(outputs=[y]), or call register_output() while recording")
    at = {name: [_identifiers(tape, x, f"{name}[{k}]") for k, x in enumerate(given)]
          for name, given in (("inputs", inputs), ("outputs", outputs))}
    # With the order of additions of this tape: its sweeps give the same bits.
    contents = replace(contents_of(tape), long_arrays=has_long_arrays(tape))
    found = optimized(contents, np.concatenate([np.zeros(0, np.int32), *map(np.ravel, at["outputs"])]),
                      Passes(dead, equal, merge, renumber))
    for k, identifiers in enumerate(at["inputs"]):
        if np.any((found.inputs[identifiers] == 0) & (identifiers != 0)):
            raise TapeError(f"inputs[{k}] is no input of this tape: register_input() makes one")
    new = unwatched(type(tape), **found.contents.parameters)
    fill(new, found.contents)
    give_numbers(new, [(int(found.inputs[x.identifier]), x.value) for x in tape.inputs
                       if not np.ndim(x) and found.inputs[x.identifier]])
    new_inputs = [_placed(x, new, found.inputs[ids][()], True, f"inputs[{k}]")
                  for k, (x, ids) in enumerate(zip(inputs, at["inputs"]))]
    new_outputs = []
    for k, (y, ids) in enumerate(zip(outputs, at["outputs"])):
        part = _of_inputs(new_inputs, found.outputs[ids])
        # An input that was written to has other values than what was copied from it before.
        if part is None or np.asarray(part.value).tobytes() != np.asarray(y.value).tobytes():
            part = _placed(y, new, found.outputs[ids][()], False, f"outputs[{k}]")
        new_outputs.append(part)
    return OptimizedTape(new, new_inputs, new_outputs, found.saved)


def _of_inputs(inputs, identifiers):
    """An output that is a part of an input is a view of that: a column, say, of which the identifiers lie apart."""
    views = [shown(x, identifiers) for x in inputs if np.ndim(x) and np.ndim(identifiers)]
    return next((view for view in views if view is not None), None)


def _placed(x, tape, identifiers, is_input, name):
    try:
        return placed(x, tape, identifiers, is_input)
    except TapeError as error:
        raise TapeError(f"{name}: {error}") from None


def _identifiers(tape, x, name):
    """Those of a variable of the tape, an array of its shape; an error that names the argument."""
    if not is_variable(x):
        raise TypeError(f"{name} must be a Real or an Array, got {type(x).__name__}")
    try:
        known = np.asarray(x.identifier, np.int32)
    except TapeError as error:
        raise TapeError(f"{name}: {error}") from None
    if not known.any():
        return known
    adjoints = tape.new_adjoints()
    try:
        adjoints[x]
    except TapeError as error:
        raise TapeError(f"{name}: {error}") from None
    return known
