# SPDX-License-Identifier: Apache-2.0
"""The same run on a tape that counts and on tapes that keep: what each says of its memory."""

import gc

import numpy as np

import codipy
from codipy.tape.memory.statistics import collect
from tests.active.recording import is_active, outputs_of, shares, value

SIZES = (4, None, 37)
OBJECTS = "array statements"
NEAR = 0.05  # of Python's objects, which are counted with each record and not at the end


def run(tape, f, inputs):
    """Inputs and outputs, as any caller has them while a tape is swept."""
    with tape:
        xs = [tape.register_input(codipy.Array(x) if isinstance(x, np.ndarray) else float(x)) for x in inputs]
        ys = [y.copy() if any(shares(x, y) for x in xs) else y for y in outputs_of(f(*xs))]
        ys = [tape.register_output(y) if is_active(y) else y for y in ys]
    return xs, ys


def differences(f, inputs, variant, sizes=SIZES):
    """Where the count is not what tapes of these chunk sizes take, as lines; `f` is as for `run`, or takes the tape."""
    counting = codipy.Tape(*variant, chunk_size=sizes[0])
    counting._count_only(sizes[1:])
    variables = run(counting, f, inputs)
    gc.collect()  # what lies in a cycle has identifiers until then
    counts = [collect(counting, layout) for layout in range(len(sizes))]
    found = []
    for predicted, size in zip(counts, sizes):
        tape = codipy.Tape(*variant, chunk_size=size)
        kept = run(tape, f, inputs)
        gc.collect()
        real, who = tape.statistics(), f"{'-'.join(variant)}, chunks of {size}:"
        if tape.statements != counting.statements:
            found.append(f"{who} {counting.statements} statements instead of {tape.statements}")
        if [value(y).tobytes() for y in kept[1]] != [value(y).tobytes() for y in variables[1]]:
            found.append(f"{who} other values")
        found += [f"{who} {line}" for line in unlike(predicted, real)]
    return found


def unlike(predicted, real):
    """The sections that differ; those of Python's objects by more than may be."""
    here, there = ({section.title: section for section in whole.sections} for whole in (predicted, real))
    for title in {**here, **there}:
        if title not in here or title not in there:
            yield f"{title} is a section of one only"
        elif title == OBJECTS:
            used = there[title].memory.used
            if abs(here[title].memory.used - used) > NEAR * used:
                yield f"{here[title]} instead of {there[title]}"
        elif here[title] != there[title]:
            yield f"{here[title]} instead of {there[title]}"
