# SPDX-License-Identifier: Apache-2.0
"""Record a function of arrays on a tape and on the twin, run it plainly and with complex numbers: for all tests."""

from dataclasses import dataclass

import numpy as np

import codipy
from tests.strategies import BY_STATEMENT, VARIANTS, each_pair
from tests.strategies import new_tape as new_tape
from tests.twin.array_twin import TwinArray, TwinTape

EVERY = VARIANTS
each_variant = each_pair()
each_strategy = each_pair(pairs=BY_STATEMENT)
ACTIVE = (codipy.Array, codipy.Real)


@dataclass
class Recording:
    tape: codipy.Tape
    inputs: list
    outputs: list           # what the function returned; active ones are registered

    def reverse(self, seeds, sweep=None):
        """Gradients of the inputs."""
        self.tape.clear_adjoints()
        for y, seed in zip(self.outputs, seeds, strict=True):
            if is_active(y):
                y.gradient = y.gradient + seed      # two outputs may be views of the same elements
        (sweep or self.tape.evaluate)()
        return [x.gradient for x in self.inputs]

    def forward(self, tangents):
        """Tangents of the outputs."""
        self.tape.clear_adjoints()
        for x, tangent in zip(self.inputs, tangents, strict=True):
            x.gradient = tangent
        self.tape.evaluate_forward()
        return [np.array(y.gradient) if is_active(y) else np.zeros(np.shape(value(y))) for y in self.outputs]


def is_active(y):
    return isinstance(y, ACTIVE) and y.is_active


def shares(x, y):
    return isinstance(y, codipy.Array) and isinstance(x, codipy.Array) and np.shares_memory(x, y)


def value(y):
    """A plain array of the values of anything."""
    return np.array(y.value if isinstance(y, (*ACTIVE, TwinArray)) else y)


def outputs_of(results):
    return list(results) if isinstance(results, tuple) else [results]


def record(tape, f, inputs):
    """Run f on the tape with Arrays of its own for the inputs."""
    with tape:
        xs = [tape.register_input(codipy.Array(x)) for x in inputs]
        # What shows an input's elements cannot be an output too: its gradient is that of what was registered.
        ys = [y.copy() if any(shares(x, y) for x in xs) else y for y in outputs_of(f(*xs))]
        for y in ys:
            if is_active(y):
                tape.register_output(y)
    tape._check()
    return Recording(tape, xs, ys)


def run_forward(f, inputs, tangents, granularity="statement", width=None):
    """(outputs, their tangents) on a tape of strategy 'forward', the directions of width > 1 along a last axis."""
    tape = codipy.Tape("forward", granularity, width=width)
    with tape:
        xs = [tape.register_input(codipy.Array(x)) for x in inputs]
        for x, tangent in zip(xs, tangents, strict=True):
            x.tangent = tangent
        ys = outputs_of(f(*xs))
        directions = () if width in (None, 1) else (width,)
        dots = [np.array(y.tangent) if is_active(y) else np.zeros((*np.shape(value(y)), *directions)) for y in ys]
    tape._check()
    return ys, dots


def plainly(f, inputs):
    """The plain results, as arrays."""
    return [np.array(y) for y in outputs_of(f(*[np.array(x) for x in inputs]))]


def on_twin(f, inputs):
    """(results, reverse(seeds) -> gradients, forward(tangents) -> tangents of the results)"""
    tape = TwinTape()
    xs = [tape.register_input(x) for x in inputs]
    slots = [x.identifiers.copy() for x in xs]
    ys = outputs_of(f(*xs))
    slots_out = [y.identifiers.copy() if isinstance(y, TwinArray) else np.zeros(np.shape(y), int) for y in ys]
    for slot in slots_out:
        assert slot.max(initial=0) <= tape.largest

    def reverse(seeds):
        bars = tape.reverse([(slot[slot > 0], np.broadcast_to(seed, slot.shape)[slot > 0])
                             for slot, seed in zip(slots_out, seeds, strict=True)])  # fmt: skip
        return [bars[slot] for slot in slots]

    def forward(tangents):
        dots = tape.forward(list(zip(slots, tangents)))
        return [np.where(slot > 0, dots[slot], 0.0) for slot in slots_out]

    return ys, reverse, forward


def complex_step(f, inputs, tangents, step=1e-40):
    """Tangents of the results: exact to rounding for functions that NumPy extends to complex numbers."""
    moved = [np.array(np.array(x) + 1j * step * np.asarray(t)) for x, t in zip(inputs, tangents, strict=True)]
    return [np.imag(y) / step for y in outputs_of(f(*moved))]


def seeds_for(arrays, seed=1):
    """Numbers of the shape of each."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.5, 1.5, np.shape(value(y))) * rng.choice([-1.0, 1.0], np.shape(value(y))) for y in arrays]


def dot(xs, ys):
    return sum(float(np.sum(np.multiply(x, y))) for x, y in zip(xs, ys, strict=True))


def assert_close(found, expected, scale=1.0):
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11 * scale)


def assert_same_values(found, expected):
    """Bit for bit, zeros' signs too."""
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert np.shape(x) == np.shape(y)
        assert np.ascontiguousarray(x).tobytes() == np.ascontiguousarray(y, dtype=np.float64).tobytes(), (x, y)
