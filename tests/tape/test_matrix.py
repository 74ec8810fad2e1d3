# SPDX-License-Identifier: Apache-2.0
"""The catalogue on every strategy, granularity and chunk size, against plain Python and complex steps."""

import random
import sys

import pytest

import codipy
from tests.covering import in_turn, label
from tests.functions import CATALOGUE
from tests.namespaces import PLAIN, jacobian, outputs_of
from tests.recording import record, stored_bytes
from tests.strategies import AS_VALUES, VARIANTS, each_pair

POINTS = [(case, point) for case in CATALOGUE for point in case.points]
# Not those that take another path at another point, nor values from outside.
REPLAYED = [(case, point) for case, point in POINTS if case.replays and "handmade" not in case.name]
IDS = [f"{case.name}-{case.points.index(point)}" for case, point in POINTS]

REPEATED = [variant for variant in VARIANTS if variant[0] in AS_VALUES]
each_point = pytest.mark.parametrize(("case", "point"), POINTS, ids=IDS)
OPTIONS = [(*variant, chunk_size) for variant in VARIANTS for chunk_size in (4, None)]


def close(numbers, wanted, tolerance):
    flat = [x for row in numbers for x in row], [x for row in wanted for x in row]
    scale = max([abs(x) for x in flat[1]] or [0.0])
    assert len(flat[0]) == len(flat[1])
    for number, expected in zip(*flat, strict=True):
        assert abs(number - expected) <= tolerance * max(abs(expected), 1e-3 * scale, 1e-12), (numbers, wanted)


@pytest.mark.parametrize(("options", "at"), in_turn(OPTIONS, POINTS, others=5), ids=label)
def test_values_gradients_and_sweeps(options, at):
    case, point = at
    tape = codipy.Tape(*options)
    recording = record(tape, case.f, point)
    plain = outputs_of(case.f(PLAIN, *point))
    if sys.version_info >= (3, 12) and "sum" in case.f.__code__.co_names:
        assert recording.values == pytest.approx(plain, rel=1e-15)  # that built-in compensates for plain floats alone
    else:
        assert [value.hex() for value in recording.values] == [float(value).hex() for value in plain]

    gradients = recording.jacobian()
    close(gradients, jacobian(case.f, point), 2e-11)
    tape._check()

    check_directions(recording, gradients)
    check_forward(recording)
    first = stored_bytes(tape)
    tape.reset()
    again = record(tape, case.f, point)
    assert stored_bytes(tape) == first
    assert again.jacobian() == gradients


def check_directions(recording, gradients):
    """All outputs seeded in one wide sweep give what one sweep for each gives."""
    count = len(recording.outputs)
    adjoints = recording.tape.new_adjoints(width=count + 1)
    for k, output in enumerate(recording.outputs):
        seed = adjoints[output]
        seed[k] = 1.0
        adjoints[output] = seed
    recording.tape.evaluate(adjoints=adjoints)
    for i, x in enumerate(recording.inputs):
        assert adjoints[x].tolist() == [row[i] for row in gradients] + [0.0]


def check_forward(recording):
    """Dot product: y_bar . y_dot == x_bar . x_dot."""
    draw = random.Random(1)
    tangents = [draw.uniform(-1, 1) for _ in recording.inputs]
    seeds = [draw.uniform(-1, 1) for _ in recording.outputs]
    forward = recording.forward(tangents)
    reverse = recording.reverse(seeds)
    left = [a * b for a, b in zip(seeds, forward, strict=True)]
    right = [a * b for a, b in zip(reverse, tangents, strict=True)]
    assert abs(sum(left) - sum(right)) <= 1e-11 * (1e-3 + max(map(abs, left + right), default=0.0))


@each_point
def test_strategies_agree(case, point):
    reference = None
    for strategy, granularity in VARIANTS:
        gradients = record(codipy.Tape(strategy=strategy, granularity=granularity), case.f, point).jacobian()
        reference = reference or gradients
        close(gradients, reference, 1e-13 if case.name != "logistic_map" else 1e-11)


@pytest.mark.parametrize(("options", "at"), in_turn(OPTIONS, POINTS, others=4), ids=label)
def test_sub_ranges_make_the_whole(options, at):
    case, point = at
    tape = codipy.Tape(*options)
    recording = record(tape, case.f, point, positions=True)
    seeds = [0.5 + k for k in range(len(recording.outputs))]
    whole = recording.reverse(seeds)
    places = recording.positions

    def in_parts():
        tape.evaluate(None, places[-1])
        for start, end in zip(places[:0:-1], places[-2::-1], strict=True):
            tape.evaluate(start, end)
        tape.evaluate(places[0], None)

    assert recording.reverse(seeds, in_parts) == whole
    tangents = [0.25 + i for i in range(len(point))]
    whole = recording.forward(tangents)
    tape.clear_adjoints()
    for x, tangent in zip(recording.inputs, tangents, strict=True):
        x.gradient = tangent
    for start, end in zip([None, *places], [*places, None], strict=True):
        tape.evaluate_forward(start, end)
    assert [output.gradient for output in recording.outputs] == whole


@pytest.mark.parametrize(("variant", "at"), in_turn(REPEATED, REPLAYED, others=3), ids=label)
def test_evaluate_primal_replays_at_new_inputs(variant, at):
    case, point = at
    tape = codipy.Tape(*variant, chunk_size=4)
    recording = record(tape, case.f, point, positions=True)
    new = [value * 1.001 for value in point]
    fresh = record(codipy.Tape(*variant, chunk_size=4), case.f, new)
    for x, value in zip(recording.inputs, new, strict=True):
        tape.set_primal(x, value)
    tape.evaluate_primal()
    tape._check()
    close([[tape.get_primal(output) for output in recording.outputs]], [fresh.values], 1e-14)
    close(recording.jacobian(), fresh.jacobian(), 1e-11)
    for x, value in zip(recording.inputs, point, strict=True):
        tape.set_primal(x, value)
    for start, end in zip([None, *recording.positions], [*recording.positions, None], strict=True):
        tape.evaluate_primal(start, end)
    close([[tape.get_primal(output) for output in recording.outputs]], [recording.values], 1e-15)


@each_pair("strategy, granularity")
def test_handmade_values_cannot_be_replayed(strategy, granularity):
    tape = codipy.Tape(strategy=strategy, granularity=granularity)
    case = next(case for case in CATALOGUE if case.name == "handmade_of_few")
    recording = record(tape, case.f, case.points[0])
    gradients = recording.jacobian()
    with pytest.raises(codipy.errors.TapeError, match="evaluate_primal"):
        tape.evaluate_primal()
    assert recording.jacobian() == gradients
