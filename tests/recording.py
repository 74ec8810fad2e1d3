# SPDX-License-Identifier: Apache-2.0
"""Record a catalogue function on a tape, read what was stored, and sweep it: shared by the tests of the tape."""

from dataclasses import dataclass

import numpy as np

import codipy
from tests.namespaces import active, outputs_of

EVERY_MARKS = 3  # a position is taken at every third place that a function offers


@dataclass
class Recording:
    tape: codipy.Tape
    inputs: list
    outputs: list
    positions: list  # in the order of recording

    @property
    def values(self):
        return [output.value for output in self.outputs]

    def reverse(self, seeds, sweep=None):
        """Gradients of the inputs; seeds add up where one variable is several outputs."""
        self.tape.clear_adjoints()
        for output, seed in zip(self.outputs, seeds, strict=True):
            output.gradient += seed
        (sweep or self.tape.evaluate)()
        return [x.gradient for x in self.inputs]

    def forward(self, tangents):
        """Tangents of the outputs."""
        self.tape.clear_adjoints()
        for x, tangent in zip(self.inputs, tangents, strict=True):
            x.gradient = tangent
        self.tape.evaluate_forward()
        return [output.gradient for output in self.outputs]

    def jacobian(self):
        """One reverse sweep per output."""
        count = len(self.outputs)
        return [self.reverse([float(i == k) for i in range(count)]) for k in range(count)]


def record(tape, f, point, positions=False):
    """Run f on the tape; every recording is checked."""
    taken, offered = [], [0]

    def mark():
        offered[0] += 1
        if offered[0] % EVERY_MARKS == 1:
            taken.append(tape.position())

    with tape:
        inputs = [tape.register_input(float(value)) for value in point]
        if positions:
            taken.append(tape.position())
        results = f(active(tape, mark if positions else lambda: None), *inputs)
        if positions:
            taken.append(tape.position())
        outputs = [tape.register_output(result) for result in outputs_of(results)]
    tape._check()
    return Recording(tape, inputs, outputs, taken)


def fields(tape):
    """What is stored: one list per stream (root first) of arrays, one per field."""
    return [
        [np.concatenate([stream.chunk_views(i)[k] for i in range(stream.chunks)] or [np.empty(0, dtype)])
         for k, dtype in enumerate(stream.dtypes)]
        for stream in tape.store.streams
    ]  # fmt: skip


def stored_bytes(tape):
    """What is stored, as bytes, without what a statement of primal-reuse overwrote: that is history."""
    return [[field.tobytes() for field in stream[:2]] for stream in fields(tape)]


def still_works(tape):
    """The tape records, sweeps and is whole after what went wrong; what it had is on it still. Its new variables."""
    with tape:
        x = tape.register_input(3.0)
        y = tape.register_output(x * x + 1.0)
    tape._check()
    tape.clear_adjoints()
    y.gradient = 1.0
    tape.evaluate()
    assert (y.value, x.gradient) == (10.0, 6.0)
    return x, y
