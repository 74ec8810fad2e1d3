# SPDX-License-Identifier: Apache-2.0
"""Drivers that are called while this thread records: derivatives of derivatives."""

from __future__ import annotations

import math

import numpy as np

from codipy.active.array import from_nested, is_active, plain
from codipy.tools.arguments.trees import labelled
from codipy.tools.callee import check_result, name_of
from codipy.tools.runs.columns import is_reverse
from codipy.tools.runs.run import Run

__all__ = ["jacobian_blocks", "value_and_gradient"]


def value_and_gradient(choice, run, f, args, kwargs, has_aux):
    """The value, with `has_aux` a pair, and the gradient, as `tools.derivatives.gradient` outside of recordings."""

    def number(*args, **kwargs):
        return check_result(run(*args, **kwargs), f)

    def pair(*args, **kwargs):
        result = run(*args, **kwargs)
        return (check_result(result[0], f), result[1]) if isinstance(result, tuple) and len(result) == 2 else result

    number.__name__, number.__wrapped__ = pair.__name__, pair.__wrapped__ = name_of(f), run
    with Run(f, pair if has_aux else number, choice, args, kwargs, has_aux, None) as inner:
        found = inner.recording.reverse(inner.tape.new_adjoints(), [1.0])
        return (inner.value, inner.aux) if has_aux else inner.value, choice.give(inner.trees, inner.leaves, found)


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
