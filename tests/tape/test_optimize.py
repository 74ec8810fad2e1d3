# SPDX-License-Identifier: Apache-2.0
"""Passes over a recording: a smaller one with the same derivatives, to the bit where nothing is merged."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import codipy
from codipy import math
from codipy.tape.contents.assemble import fill
from codipy.tape.contents.dissect import contents_of, has_long_arrays
from codipy.tape.passes.optimize import Passes, optimized
from tests.active.recording import is_active, record
from tests.fuzz.generator import write
from tests.fuzz.judge import Rebound, quietly
from tests.fuzz.scalars import Scalars
from tests.laboratory.counted import run
from tests.strategies import (
    AS_JACOBIANS,
    COUNTING,
    LINEAR,
    VARIANTS,
    each_as_jacobians,
    each_pair,
    each_strategy,
    new_tape,
)

ALL = [Passes(*chosen) for chosen in itertools.product([False, True], repeat=4)]
NONE, DEAD = Passes(False, False, False, False), Passes(True, False, False, False)
EXACT = [passes for passes in ALL if not passes.equal and not passes.merge]
ULP = np.finfo(float).eps


def made(contents):
    tape = codipy.Tape(**contents.parameters)
    fill(tape, contents)
    tape._check()
    return tape


def numbers(variables):
    """Identifiers of variables in a row."""
    return np.concatenate([np.zeros(0, np.int32), *(np.ravel(x.identifier) for x in variables)])


def seeded(tape, at, sweep, read):
    """Adjoints, or tangents, after a sweep from numbers at some identifiers."""
    quietly(tape.evaluate)  # gives each identifier a slot
    tape.clear_adjoints()
    quietly(tape.evaluate)
    tape.adjoint_vector.write(at, np.linspace(0.5, 1.5, len(at) + 1)[1:, None])
    quietly(getattr(tape, sweep))
    return tape.adjoint_vector.read(read).ravel()


class Compared:
    """A recording, and its derivatives after some passes."""

    def __init__(self, tape, inputs, outputs):
        self.contents = contents_of(tape)
        self.inputs, self.outputs = numbers(inputs), numbers([y for y in outputs if is_active(y)])
        self.tape, self.variables, self.results = tape, inputs, outputs

    def derivatives(self, tape, inputs, outputs):
        gradient = seeded(tape, outputs[outputs > 0], "evaluate", inputs)
        return gradient, seeded(tape, inputs, "evaluate_forward", outputs)

    def after(self, passes):
        found = optimized(self.contents, self.outputs, passes)
        inputs, outputs = found.inputs[self.inputs], found.outputs[self.outputs]
        assert np.all(inputs > 0)
        assert np.array_equal(outputs > 0, self.outputs > 0)
        assert len(np.unique(outputs[outputs > 0])) == len(np.unique(self.outputs[self.outputs > 0]))
        return found, self.derivatives(made(found.contents), inputs, outputs)

    def judge(self, chosen):
        expected = self.derivatives(self.tape, self.inputs, self.outputs)
        for passes in chosen:
            _, derivatives = self.after(passes)
            for x, y in zip(derivatives, expected):
                if passes in EXACT:
                    assert np.array_equal(x, y, equal_nan=True), passes
                else:
                    scale = 1e-11 * (1.0 + np.max(np.abs(y), initial=0.0))
                    assert np.allclose(x, y, rtol=1e-11, atol=scale, equal_nan=True), passes


def scalars(seed, variant):
    tape = new_tape(variant, chunk_size=[None, 4, 7][seed % 3])
    with tape:
        inputs = [tape.register_input(x) for x in (0.7, -0.4, 1.3)]
        y = tape.register_output(codipy.rebind(Scalars(seed).compiled(lambda f: f))(*inputs))
    return tape, inputs, [y]


@pytest.mark.parametrize("part", range(6))
def test_random_programs_of_floats(part):
    for k in range(part, 60, 6):
        Compared(*scalars(k, VARIANTS[k % len(VARIANTS)])).judge(ALL if part == 0 else [Passes(), EXACT[-1]])


@pytest.mark.parametrize("part", range(6))
def test_random_programs_of_arrays(part):
    done = 0
    for k in range(part, 72, 6):
        program = write(f"passes:{k}")
        tape = new_tape(VARIANTS[k % len(VARIANTS)], chunk_size=[None, 4, 7][k % 3])
        try:
            recording = quietly(record, tape, Rebound(program), program.inputs)
        except Exception:
            continue  # programs that are refused are judged elsewhere
        compared = Compared(tape, recording.inputs, recording.outputs)
        named = compared.outputs[compared.outputs > 0]
        if len(np.unique(named)) == len(named):
            compared.judge(ALL if part == 0 else [Passes(), EXACT[-1], Passes(renumber=False)])
            done += 1
    assert done > 6


def rounding(tape, inputs, outputs):
    """How far the order of additions may move the gradient of a number: the sum of the magnitudes of what is added up,
    and how often that is rounded on the longest way to an input. Of a tape of strategy 'jacobian', of numbers alone."""
    compared = Compared(tape, inputs, outputs)
    (jacobians, arguments), (tags,) = compared.contents.streams
    magnitudes = replace(compared.contents, streams=[(np.abs(jacobians), arguments), (tags,)])
    sums, _ = compared.derivatives(made(magnitudes), compared.inputs, compared.outputs)
    users = np.repeat(np.arange(1, len(tags) + 1), np.where(tags == 255, 0, tags))  # results are numbered from 1 on
    uses, ways = np.bincount(arguments, minlength=len(tags) + 1), np.zeros(len(tags) + 1, int)
    for x, user in zip(arguments[::-1], users[::-1]):
        ways[x] = max(ways[x], ways[user] + uses[x] + 1)
    return sums * ways[compared.inputs]


def deep(x, y, z):
    """Nothing in it cancels, so that every rounding stays; one step is as the next, so that they all go one way."""
    for _ in range(300):
        x = x * 0.31 * y + x * 0.17 + x * x * 0.11 + math.exp(x) * 0.07
    return x * z


@pytest.mark.parametrize("part", range(4))
def test_what_is_merged_moves_a_gradient_by_an_ulp_of_the_sum_of_magnitudes_for_each_rounding(part):
    moved = 0
    for seed in range(part, 32, 4):
        for granularity in ("statement", "operation"):
            bound = rounding(*scalars(seed, ("jacobian", granularity)))
            for strategy, _ in (pair for pair in VARIANTS if pair[1] == granularity):
                compared = Compared(*scalars(seed, (strategy, granularity)))
                expected, _ = compared.derivatives(compared.tape, compared.inputs, compared.outputs)
                _, (gradient, _) = compared.after(Passes())
                assert np.all(np.abs(gradient - expected) <= ULP * bound), strategy
                moved += np.any(gradient != expected)
    assert moved


@each_pair()
def test_what_is_merged_adds_up_over_many_statements(variant):
    values = 0.7, 1.2, 0.9
    by = recorded(deep, *values, variant=("jacobian", variant[1]))
    bound = rounding(by.tape, by.variables, by.results)
    compared = recorded(deep, *values, variant=variant)
    expected, _ = compared.derivatives(compared.tape, compared.inputs, compared.outputs)
    _, (gradient, _) = compared.after(Passes())
    assert np.all(np.abs(gradient - expected) <= ULP * bound)


# ---- What goes, and what stays ----
def recorded(f, *values, variant=("jacobian", "statement")):
    tape = codipy.Tape(*variant)
    with tape:
        inputs = [tape.register_input(value) for value in values]
        results = f(*inputs)
        outputs = [tape.register_output(y) for y in (results if isinstance(results, tuple) else (results,))]
    return Compared(tape, inputs, outputs)


@each_pair()
def test_what_no_output_depends_on_goes_and_inputs_stay(variant):
    def f(x, y, u):
        unused = [math.sin(x) * k for k in range(1, 8)]
        waste = np.exp(u) * unused[-1]
        waste @ waste + math.cos(waste[0])
        return x * 2.0, (u * u).sum(), u[0] * 3.0

    compared = recorded(f, 0.5, 0.7, np.ones(3), variant=variant)
    found, _ = compared.after(DEAD)
    assert found.saved.dead_statements >= 2
    assert found.saved.dead_records >= 1
    assert found.saved[:3] == (0, 0, 0)
    assert np.all(found.inputs[compared.inputs] > 0)
    compared.judge(EXACT)
    again = optimized(found.contents, found.outputs[compared.outputs], Passes(renumber=False, equal=False, merge=False))
    assert again.saved[:5] == (0, 0, 0, 0, 0)


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v[1] == "operation"], ids="-".join)
def test_equal_statements_are_one_and_copies_are_what_they_copy(variant):
    def f(x, y):
        first, second = math.sin(x) * y, math.sin(x) * y
        return (first + second) * first, second * y

    found, _ = recorded(f, 0.5, 0.7, variant=variant).after(Passes(False, True, False))
    assert found.saved.equal_statements >= 2
    recorded(f, 0.5, 0.7, variant=variant).judge(ALL)


@each_strategy
def test_outputs_are_never_merged(strategy):
    """Each has a seed of its own: setting one must not set another, nor anything that others read."""
    def f(x, u):
        y = x * x
        return y, x * x, y * 1.0, u * 2.0, u * 2.0

    compared = recorded(f, 3.0, np.ones(2), variant=(strategy, None))
    compared.judge(ALL)
    found, _ = compared.after(Passes())
    outputs = found.outputs[compared.outputs]
    assert len(set(outputs.tolist())) == len(compared.outputs) == 7


@each_pair()
def test_inputs_that_array_statements_name(variant):
    """Under `simple` they are no statements, and records keep the distances of what they name."""
    def f(x, u, y):
        return x * u, np.array([y, x]) * u[0], (u + y).sum() * np.ones((2, 2))

    recorded(codipy.rebind(f), 0.5, np.array([0.3, 0.6]), 0.7, variant=variant).judge(ALL)


@each_pair()
def test_an_output_that_is_a_part_of_an_input(variant):
    tape = codipy.Tape(*variant)
    with tape:
        u = tape.register_input(np.arange(12.0).reshape(3, 4))
        parts = [u[:, 1], u[::-2, 1::2], u[1], u.T, u[:, 3].copy()]
        for part in parts:
            tape.register_output(part)
        other = tape.register_output(u.sum() * u[0, 0])
    small, (v,), outputs, _ = tape.optimize()
    for y, part in zip(outputs, [*parts, other]):
        assert np.array_equal(y.value, part.value)
        seed = np.linspace(1.0, 2.0, np.size(y.value)).reshape(np.shape(y.value))
        for swept, seeded in ((tape, part), (small, y)):
            swept.clear_adjoints()
            seeded.gradient = seed if seed.ndim else float(seed)
            swept.evaluate()
        assert np.array_equal(u.gradient, v.gradient)
        assert np.any(v.gradient)
    small.check()


def test_a_column_of_an_input_that_is_not_asked_for_is_refused():
    tape = codipy.Tape()
    with tape:
        u = tape.register_input(np.arange(6.0).reshape(2, 3))
        y = tape.register_output(u[:, 1])
    with pytest.raises(codipy.errors.TapeError, match=r"outputs\[0\]: .* column of an input: record `y = .*copy"):
        tape.optimize(inputs=[], outputs=[y])


@pytest.mark.parametrize("strategy", AS_JACOBIANS)
def test_equal_arguments_are_one(strategy):
    compared = recorded(lambda x, y: x * y + x * x - y * x, 3.0, 5.0, variant=(strategy, "statement"))
    found, (gradient, _) = compared.after(Passes(False, False, True))
    assert found.saved.merged_arguments == 5      # of six, and the sum for y is 0
    assert gradient.tolist() == [6.0 * 1.5, 0.0 * 1.5]
    # What cancels is left out, as zero Jacobians are; the other one is that of the output.
    assert found.contents.streams[0][0].tolist() == [6.0, 1.0]


def test_arguments_that_cancel_stay_where_zero_jacobians_do():
    tape = codipy.Tape("jacobian", skip_zero_jacobians=False)
    with tape:
        x = tape.register_input(3.0)
        y = tape.register_output(x - x)
    found, _ = Compared(tape, [x], [y]).after(Passes())
    assert found.contents.streams[0][0].tolist() == [0.0, 1.0]


@each_strategy
def test_equal_records_are_one(strategy):
    def f(u, m):
        first, second = np.exp(u) * u, np.exp(u) * u
        return (first * second).sum() + (m @ u).sum() * (m @ u)[0] + np.cumsum(u)[1] * np.cumsum(u)[2]

    compared = recorded(f, np.array([0.3, 0.6, 0.9]), np.eye(3) + 0.1, variant=(strategy, None))
    found, _ = compared.after(Passes(dead=False))
    assert found.saved.equal_records >= (2 if strategy in LINEAR else 0)
    compared.judge(ALL)


def test_a_record_whose_argument_was_overwritten_since_is_another_one():
    def f(u):
        w = u * 1.0
        first = np.exp(w)
        w[1] = u[0] * u[1]
        return (first * np.exp(w)).sum() * np.exp(w)[1]

    for variant in VARIANTS:
        recorded(f, np.array([0.3, 0.6, 0.9]), variant=variant).judge(ALL)


@pytest.mark.parametrize("strategy", [s for s in LINEAR if s != "simple"])
def test_identifiers_serve_again_where_that_takes_fewer_bytes(strategy):
    def f(x, y, steps):
        for _ in range(steps):
            x, y = x * 0.9 + y, math.sin(y) * x
        return x

    compared = recorded(lambda x, y: f(x, y, 2000), 0.5, 0.7, variant=(strategy, "statement"))
    found, _ = compared.after(Passes())
    assert found.contents.parameters["strategy"] == f"{'primal' if strategy == 'primal' else 'jacobian'}-reuse"
    assert found.contents.largest <= 8
    before, after = made(compared.contents), made(found.contents)
    for tape in (before, after):
        tape.evaluate()
    assert after.statistics().total.used < before.statistics().total.used - 8000
    compared.judge(ALL)
    few = recorded(lambda x, y: f(x, y, 3), 0.5, 0.7, variant=(strategy, "statement"))
    assert few.after(Passes())[0].contents.parameters["strategy"] == strategy
    assert compared.after(Passes(renumber=False))[0].contents.parameters["strategy"] == strategy


@pytest.mark.parametrize("strategy", COUNTING)
def test_no_more_identifiers_than_values_that_are_read_later(strategy):
    """A list that the function keeps holds all identifiers while it is recorded; nothing reads them."""
    def f(x):
        kept = []
        for _ in range(300):
            x = math.sin(x) * x
            kept.append(x)
        return x

    compared = recorded(f, 0.5, variant=(strategy, "statement"))
    assert compared.contents.largest >= 300
    assert compared.after(Passes())[0].contents.largest <= 4


@each_pair()
def test_without_passes_the_recording_is_the_same(variant):
    tape, inputs, outputs = scalars(7, variant)
    compared = Compared(tape, inputs, outputs)
    found, _ = compared.after(NONE)
    for fields, others in zip(found.contents.streams, compared.contents.streams):
        assert all(np.array_equal(a, b) for a, b in zip(fields, others))
    assert found.contents.largest == compared.contents.largest
    assert found.saved == (0, 0, 0, 0, 0, 0)


@each_pair()
def test_what_is_taken_is_not_changed(variant):
    tape, inputs, outputs = scalars(11, variant)
    compared, before = Compared(tape, inputs, outputs), contents_of(tape)
    for passes in ALL:
        compared.after(passes)
    for fields, others in zip(compared.contents.streams, before.streams):
        assert all(np.array_equal(a, b) for a, b in zip(fields, others))
    assert np.array_equal(compared.contents.primals, before.primals, equal_nan=True)


def wide(tape, inputs, outputs, width):
    """Gradients in several directions at once."""
    adjoints, rng = tape.new_adjoints(width=width), np.random.default_rng(1)
    for y in outputs:
        adjoints[y] = rng.standard_normal((*np.shape(y.value), width))
    tape.evaluate(adjoints=adjoints)
    return [adjoints[x].tobytes() for x in inputs]


def sums_of_long_arrays(x, y):
    """About as many elements for each step as directions must have to get planes; some steps are for nothing."""
    u = x.copy()
    u[0] = 0.5
    for i in range(3):
        y[i] * x[i]
    return np.sum(np.sin(np.cos(u) * y[0])) + np.min(-x)


@each_as_jacobians
def test_several_directions_give_the_same_bits(strategy, tmp_path):
    """Which memory a vector of them has follows from the number of steps, and in planes sums are added otherwise."""
    differ, widths = 0, (2, 3, 5)
    for size in range(400, 1200, 40):
        x0 = np.linspace(0.2, 1.4, size)
        tape = codipy.Tape(strategy, "operation")
        inputs, outputs = run(tape, codipy.rebind(sums_of_long_arrays), [x0, np.cos(x0)])
        expected = [wide(tape, inputs, outputs, width) for width in widths]
        found = tape.optimize(inputs, outputs, equal=False, merge=False)
        assert [wide(found.tape, found.inputs, found.outputs, width) for width in widths] == expected
        found.tape.save(tmp_path / "a.tape")
        loaded = codipy.load_tape(tmp_path / "a.tape")
        assert [wide(loaded, loaded.inputs, loaded.outputs, width) for width in widths] == expected
        new = codipy.Tape(**loaded.parameters)
        fill(new, replace(contents_of(found.tape), long_arrays=None))
        differ += has_long_arrays(new) != has_long_arrays(tape)
    assert differ  # without knowing what it is made of, the new tape would do otherwise


# Programs in which a single round leaves something: identifiers, equal statements, equal records, gaps of blocks.
@each_pair()
@pytest.mark.parametrize("seed", [6, 11, 53, 97, 108, 127, 136])
def test_what_passes_have_made_is_as_small_as_they_make_it(seed, variant):
    program, tape = write(f"optimize:{seed}", outside=False), codipy.Tape(*variant, chunk_size=4)
    xs, ys = quietly(run, tape, Rebound(program), program.inputs)
    found = tape.optimize(inputs=xs, outputs=list(filter(is_active, ys)))
    again = found.tape.optimize(inputs=found.inputs, outputs=found.outputs)
    assert not any(again.saved) and again.tape.dump() == found.tape.dump()
    assert again.tape.identifiers == found.tape.identifiers
    for x, y in zip((*found.inputs, *found.outputs), (*again.inputs, *again.outputs)):
        assert np.array_equal(x.identifier, y.identifier)


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_recording_is_larger_afterwards(variant):
    for seed in range(12):
        program = write(f"larger:{seed}", outside=False)
        tape = new_tape(variant)
        inputs, outputs = quietly(run, tape, Rebound(program), program.inputs)
        outputs = [y for y in outputs if is_active(y)]
        if outputs:
            found = quietly(tape.optimize, inputs, outputs)
            assert found.tape.statistics().total.used <= tape.statistics().total.used


@each_strategy
def test_values_of_numbers_are_kept_of_numbers_alone(strategy):
    """Arrays have identifiers, and no values by identifier: in front of them the values end earlier."""
    tape = codipy.Tape(strategy)
    with tape:
        x, s = tape.register_input(np.linspace(0.1, 1.0, 1000)), tape.register_input(0.5)
        y = tape.register_output(np.sum(np.sin(x) * x) * s * s)
    found = tape.optimize()
    assert len(contents_of(found.tape).primals) <= max(len(contents_of(tape).primals), 1)
    assert found.tape.statistics().total.used <= tape.statistics().total.used
    y.gradient = found.outputs[0].gradient = 1.0
    tape.evaluate()
    found.tape.evaluate()
    assert [x.gradient.tolist(), s.gradient] == [found.inputs[0].gradient.tolist(), found.inputs[1].gradient]


def written_to(x):
    copied = x.copy()
    x[1] += 3.0
    return copied


@each_strategy
def test_a_copy_of_an_input_that_was_written_to_keeps_its_values(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        x = tape.register_input(np.array([1.0, 2.0, 4.0]))
        y = tape.register_output(codipy.rebind(written_to)(x))
    found = tape.optimize([x], [y])
    assert found.outputs[0].value.tolist() == y.value.tolist() == [1.0, 2.0, 4.0]
    found.outputs[0].gradient = np.array([1.0, 2.0, 3.0])
    found.tape.evaluate()
    assert found.inputs[0].gradient.tolist() == [1.0, 2.0, 3.0]
