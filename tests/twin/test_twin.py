# SPDX-License-Identifier: Apache-2.0
"""Every strategy stores exactly what its readable twin stores, and sweeps to the same gradients."""

import pytest

import codipy
from codipy.operations import TABLE
from codipy.programs.program import describe
from tests.covering import in_turn
from tests.covering import label as named
from tests.functions import CATALOGUE
from tests.namespaces import outputs_of
from tests.recording import fields, record
from tests.strategies import AS_VALUES, VARIANTS
from tests.twin import real
from tests.twin.tape import TwinTape

pytestmark = pytest.mark.skipif(not real.DISTINGUISHES, reason="reference counts do not tell temporaries apart here")

POINTS = [(case, point) for case in CATALOGUE for point in case.points]


def label(strategy, code):
    """An operator code or a program handle as the twin names it."""
    if strategy == "simple":
        if code >= len(TABLE):
            return f"handmade {code - len(TABLE)}"
        return real_text(TABLE[code])
    return f"handmade {-1 - code}" if code < 0 else describe(code)


def real_text(row):
    return f"{row.name}(...)"


def without_leaves(text):
    return f"{text.partition('(')[0]}(...)" if "(" in text else text


@pytest.mark.parametrize(("variant", "at"), in_turn(VARIANTS, POINTS, others=4), ids=named)
def test_same_statements_same_gradients(variant, at):
    (strategy, granularity), (case, point) = variant, at
    tape = codipy.Tape(strategy=strategy, granularity=granularity, chunk_size=4)
    recording = record(tape, case.f, point)
    twin = TwinTape(strategy, granularity)
    inputs = [real.register_input(twin, float(value)) for value in point]
    results = case.f(real.namespace(twin), *inputs)
    outputs = [real.register_output(twin, result) for result in outputs_of(results)]

    stored, expected = [[field.tolist() for field in stream] for stream in fields(tape)], twin.streams()
    if strategy in AS_VALUES:
        stored[2][0] = [label(strategy, code) for code in stored[2][0]]
        if strategy == "simple":
            expected[2][0] = [without_leaves(text) for text in expected[2][0]]
    assert stored == expected
    assert tape._identifiers.largest == twin.identifiers.largest
    if strategy.endswith("-reuse"):
        assert tape._identifiers.live == sum(uses > 0 for uses in twin.identifiers.uses.values())
    assert [x.identifier for x in recording.inputs + recording.outputs] == [x.identifier for x in inputs + outputs]

    gradients = recording.reverse([1.0] * len(outputs))
    for y in outputs:
        twin.adjoints[y.identifier] = twin.adjoints.get(y.identifier, 0.0) + 1.0
    twin.evaluate()
    expected = [twin.adjoints.get(x.identifier, 0.0) for x in inputs]
    if strategy.startswith("jacobian"):
        assert gradients == expected
    else:  # the same terms, added in another order
        assert gradients == pytest.approx(expected, rel=1e-11, abs=1e-12)
