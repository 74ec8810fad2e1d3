# SPDX-License-Identifier: Apache-2.0
"""Hessians times vectors, swept over a recording that passes have made smaller, are those of the recording."""

import numpy as np
import pytest

import codipy
from codipy.tape.contents.dissect import contents_of
from codipy.tape.passes.optimize import Passes, optimized
from codipy.tape.second import SecondOrder, allow_second, has_second
from codipy.tools.derivatives.curvature import _Rules
from tests.active.recording import is_active, record
from tests.fuzz.generator import write
from tests.fuzz.judge import Rebound, quietly
from tests.fuzz.scalars import Scalars
from tests.tape.test_optimize import made, numbers

EXACT = [Passes(dead, False, False, False) for dead in (False, True)]
MERGED = [Passes(dead, True, True, False) for dead in (False, True)]


def judge(tape, inputs, output):
    """Compare the products after each choice of passes; whether there were any."""
    if not has_second(tape):
        return False
    contents, at = contents_of(tape), numbers(inputs)
    tangents = np.random.default_rng(len(at)).uniform(-1.0, 1.0, (3, len(at)))

    def products(tape, output, at):
        second = SecondOrder(tape, int(output), _Rules())
        return second.gradient(at), second.products(at, tangents)

    expected = quietly(products, tape, output, at)
    for passes in EXACT + MERGED:
        found = optimized(contents, np.array([output]), passes)
        small = made(found.contents)
        assert has_second(small)
        for x, y in zip(quietly(products, small, found.outputs[output], found.inputs[at]), expected):
            scale = 1e-10 * (1.0 + np.max(np.abs(y), initial=0.0, where=np.isfinite(y)))
            if passes in EXACT:
                assert np.array_equal(x, y, equal_nan=True), passes
            assert np.allclose(x, y, rtol=1e-10, atol=scale, equal_nan=True), passes
    renumbered = made(optimized(contents, np.array([output]), Passes()).contents)
    assert not (renumbered.strategy.endswith("-reuse") and has_second(renumbered))
    return bool(np.any(expected[1]))


@pytest.mark.parametrize("granularity", ["statement", "operation"])
def test_random_programs_of_floats(granularity):
    curved = 0
    for seed in range(24):
        tape = codipy.Tape("primal", granularity, chunk_size=[None, 4, 7][seed % 3])
        allow_second(tape)
        with tape:
            inputs = [tape.register_input(x) for x in (0.7, -0.4, 1.3)]
            y = tape.register_output(codipy.rebind(Scalars(seed).compiled(lambda f: f))(*inputs))
        curved += judge(tape, inputs, y.identifier)
    assert curved > 12


@pytest.mark.parametrize("granularity", ["statement", "operation"])
def test_random_programs_of_arrays(granularity):
    curved = 0
    for seed in range(12):
        program = write(f"second passes:{seed}")
        tape = codipy.Tape("primal", granularity, chunk_size=[None, 4, 7][seed % 3])
        allow_second(tape)
        try:
            recording = quietly(record, tape, Rebound(program), program.inputs)
        except Exception:
            continue  # programs that are refused are judged elsewhere
        named = numbers(filter(is_active, recording.outputs))
        if np.any(named):
            curved += judge(tape, recording.inputs, named[named > 0][-1])
    assert curved > 4
