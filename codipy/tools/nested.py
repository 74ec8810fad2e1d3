# SPDX-License-Identifier: Apache-2.0
"""Drivers that are called while this thread records: derivatives of derivatives."""

from __future__ import annotations

import contextlib
import math

import numpy as np

from codipy.active.array import from_nested, is_active, plain
from codipy.tools.callee import check_result, with_aux
from codipy.tools.jacobian import is_reverse
from codipy.tools.pool import borrow, give_back
from codipy.tools.recording import Recording
from codipy.tools.trees import labelled, plain_copy, value

__all__ = ["aux_of", "inner_tape", "jacobian_blocks", "kept_tape", "nested_recording", "value_and_gradient"]

# Whatever `strategy` says: of all ways to record, this one keeps what can be run again on the enclosing recording.
SETTINGS = ("primal", "statement")


def kept_tape():
    """A tape for one recording inside of another, to which that lends its variables; whoever asks keeps it."""
    tape = borrow(SETTINGS)
    tape.loans = []
    return tape


@contextlib.contextmanager
def inner_tape():
    """The same for a recording that is over at the end of a block."""
    tape = kept_tape()
    try:
        yield tape
    finally:
        tape.loans = None
        give_back(SETTINGS, tape)


def plain_arguments(args, kwargs, places):
    """The arguments with those that are differentiated by as plain numbers; the others stay, active or not."""
    args, kwargs = list(args), dict(kwargs)
    for place in places:
        if isinstance(place, str):
            kwargs[place] = value(kwargs[place])
        else:
            args[place] = value(args[place])
    return args, kwargs


def origins_of(args, kwargs, places):
    """The leaves of the arguments that are differentiated by, as the caller has them."""
    trees = [kwargs[place] if isinstance(place, str) else args[place] for place in places]
    return [leaf for tree in trees for _, leaf in labelled(tree, "argument")]


def nested_recording(choice, run, f, args, kwargs, has_aux, tape):
    """One run inside of another recording; its arguments are plain, whatever the caller has."""
    places = choice.places(args, kwargs, f)
    origins = origins_of(args, kwargs, places)
    args, kwargs = plain_arguments(args, kwargs, places)
    called, kept = with_aux(run, lambda aux: aux) if has_aux else (run, None)
    trees, leaves, places = choice.take(args, kwargs, f)
    recording = Recording(tape, called, args, kwargs, leaves, choice.placer(trees, places, kwargs), origins, kept)
    return recording, trees, leaves


def aux_of(recording):
    """What the function gave beside its result."""
    return recording.aux[0] if recording.program is not None else plain_copy(recording.aux[0])


def value_and_gradient(choice, run, f, args, kwargs, has_aux):
    """What `codipy.tools.gradient` does outside of recordings: the value, with `has_aux` a pair; and the gradient."""

    def number(*args, **kwargs):
        return check_result(run(*args, **kwargs), f)

    def pair(*args, **kwargs):
        result = run(*args, **kwargs)
        return (check_result(result[0], f), result[1]) if isinstance(result, tuple) and len(result) == 2 else result

    with inner_tape() as tape:
        recording, trees, leaves = nested_recording(choice, pair if has_aux else number, f, args, kwargs, has_aux, tape)
        found = recording.reverse(tape.new_adjoints(), [1.0])
        aux = (aux_of(recording),) if has_aux else ()
    return ((recording.value, *aux) if has_aux else recording.value), choice.give(trees, leaves, found)


def jacobian_matrix(recording, leaves, mode):
    """All derivatives of a recording with a program: rows or columns, each a list of one for each leaf; which it is."""
    likes = [plain(leaf) for _, leaf in labelled(recording.value, "result")]
    outputs = [np.shape(like) for like in likes]
    inputs = [np.shape(leaf) for leaf in leaves]
    by_rows = is_reverse(mode, sum(map(math.prod, outputs)), sum(map(math.prod, inputs)))
    sweep, seeded = (recording.reverse, outputs) if by_rows else (recording.forward, inputs)
    lines = []
    for leaf, shape in enumerate(seeded):
        for number in range(math.prod(shape)):
            seeds = [None] * len(seeded)
            seeds[leaf] = np.zeros(math.prod(shape))
            seeds[leaf][number] = 1.0
            seeds[leaf] = seeds[leaf].reshape(shape)
            lines.append(sweep(None, seeds))
    return lines, by_rows


def jacobian_blocks(recording, leaves, mode):
    """For each leaf of the result, for each of the argument, the derivatives: the shape of the one, then the other."""
    lines, by_rows = jacobian_matrix(recording, leaves, mode)
    outputs = [np.shape(plain(leaf)) for _, leaf in labelled(recording.value, "result")]
    inputs = [np.shape(leaf) for leaf in leaves]
    blocks, row = [], 0
    for i, output in enumerate(outputs):
        blocks.append([])
        for j, given in enumerate(inputs):
            if by_rows:
                parts = [line[j] for line in lines[row:row + math.prod(output)]]
                block = _stacked(parts, output + given)
            else:
                start = sum(map(math.prod, inputs[:j]))
                parts = [line[i] for line in lines[start:start + math.prod(given)]]
                block = _stacked(parts, given + output)
                if np.ndim(block):
                    block = np.transpose(block, [*range(len(given), len(given) + len(output)), *range(len(given))])
            blocks[-1].append(block)
        row += math.prod(output)
    return blocks


def _stacked(parts, shape):
    if not parts:
        return np.zeros(shape)
    if not shape:
        return parts[0]
    if np.ndim(parts[0]):
        return np.reshape(np.stack(parts), shape)
    return np.reshape(from_nested(parts) if any(map(is_active, parts)) else np.array(parts), shape)
