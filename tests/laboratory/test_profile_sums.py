# SPDX-License-Identifier: Apache-2.0
"""The lines of a profile sum to the tape's statistics, to the byte, and a profiled tape is the same as another."""

import gc

import numpy as np
import pytest

import codipy
from codipy.active.bulk import register_floats
from codipy.errors import ActiveError
from tests import functions
from tests.active import catalogue
from tests.active.recording import is_active
from tests.fuzz.generator import write
from tests.fuzz.judge import Rebound, quietly
from tests.laboratory.counted import run
from tests.namespaces import active
from tests.strategies import VARIANTS, each_pair, each_strategy
from tests.test_examples import EXAMPLES, load

pytestmark = pytest.mark.usefixtures("older_objects_stay")

PROGRAMS, PARTS = 96, 4
EACH = 10  # of so many programs one runs under every strategy
CHUNKS = (4, None)


def swept(tape, f, inputs):
    """Record, and sweep back from all results."""
    xs, ys = run(tape, f, inputs)
    for y in filter(is_active, ys):
        y.gradient = np.ones(y.shape) if np.ndim(y.value) else 1.0
    tape.evaluate()
    gc.collect()  # what lies in a cycle is there until then
    return xs, ys


def differences(f, inputs, variant):
    """What is wrong with profiles of a function at each size of chunks, as lines."""
    found = []
    for size in CHUNKS:
        tape = codipy.Tape(*variant, chunk_size=size)
        with codipy.profile() as profile:
            kept = swept(tape, f, inputs)
        after = tape.statistics()
        found += [f"{'-'.join(variant)}, chunks of {size}: {line}" for line in unlike(profile, after, tape)]
        del kept
        plain = codipy.Tape(*variant, chunk_size=size)
        kept = swept(plain, f, inputs)
        if plain.statistics() != after:
            found.append(f"{'-'.join(variant)}, chunks of {size}: another tape than without a profile")
        del kept
    return found


def unlike(profile, statistics, tape):
    """Where the sums are not the statistics."""
    lines, whole = [line.sums for line in profile.lines], profile.whole
    here = {"statements": (sum(s.statements for s in lines), tape.statements)}
    for stream in tape.store.streams:
        bytes_of = sum(s.streams.get(stream.name, 0) for s in lines)
        here[stream.name] = bytes_of, statistics[stream.name].memory.used
    titles = [section.title for section in statistics.sections]
    for title, rest, name in (
        ("array statements", "lists of records", "objects"),
        ("array values", "copies of constants", "values"),
    ):
        if title in titles:
            there = whole[rest].used if rest in whole else 0
            here[title] = sum(getattr(s, name) for s in lines) + there, statistics[title].memory.used
    used = sum(s.bytes for s in lines) + sum(amount.used for amount in whole.values())
    here["used"] = used, statistics.total.used
    unused = sum(s.bytes for s in lines) + sum(amount.allocated for amount in whole.values())
    here["allocated"] = unused, statistics.total.allocated
    here["total"] = profile.total, statistics.total
    here["live"] = sum(s.live for s in lines), tape._identifiers.live
    functions = sum(f.own.bytes for f in profile.functions) + sum(s.sums.bytes for s in profile.lines if not s.line)
    here["functions"] = functions, sum(s.bytes for s in lines)
    here["stacks"] = sum(sums.bytes for _, sums in profile.stacks()), sum(s.bytes for s in lines)
    return [f"{title}: {a} by line, {b} on the tape" for title, (a, b) in here.items() if a != b]


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs(part):
    refused = 0
    for k in range(part, PROGRAMS, PARTS):
        program = write(f"profiled:{k}", outside=False)
        for variant in VARIANTS if k % EACH == 0 else {VARIANTS[0], VARIANTS[k % len(VARIANTS)]}:
            try:
                found = quietly(differences, Rebound(program), program.inputs, variant)
            except (ActiveError, TypeError, ValueError):
                refused += 1
                continue
            assert not found, "\n".join([f"profiled:{k}", program.source, *found])
    assert refused <= PROGRAMS / PARTS / 5


@each_pair()
def test_functions_of_numbers(variant):
    for case in functions.CATALOGUE[::3]:

        def f(*xs, f=case.f):
            return f(active(codipy.active_tape()), *xs)

        assert differences(f, case.points[0], variant) == [], case.name


@each_pair()
def test_functions_of_arrays(variant):
    for case in catalogue.CASES[:: 1 if variant == VARIANTS[0] else 6]:
        assert quietly(differences, case.f, case.inputs, variant) == [], case.name


def test_examples():
    paths = sorted(EXAMPLES.glob("*.py"))
    assert len(paths) >= 5
    for path in paths:
        module = load(path.stem)
        if not hasattr(module, "main"):
            continue
        with codipy.profile() as profile:
            module.main()
        assert profile.recordings > 0, path.name
        used = sum(line.sums.bytes for line in profile.lines) + sum(a.used for a in profile.whole.values())
        assert used == profile.total.used, path.name
        assert any(line.file == str(path) and line.sums.bytes for line in profile.lines), path.name


@each_strategy
@pytest.mark.parametrize("chunk_size", [4, None])
def test_a_function_and_its_tape(strategy, chunk_size):
    def f(x):
        y = np.sin(x) * x
        return np.sum(y[1:] * y[:-1]) + x[0]

    found = codipy.profile(f, np.linspace(0.1, 1.0, 40), strategy=strategy, chunk_size=chunk_size)
    assert sum(line.sums.bytes for line in found.lines) + sum(a.used for a in found.whole.values()) == found.total.used
    assert found.recordings == 1


@each_pair()
@pytest.mark.parametrize("chunk_size", range(1, 9))
def test_inputs_that_come_all_at_once(variant, chunk_size):
    """They are noted when all are on the tape, with chunks of statements between them."""
    tape = codipy.Tape(*variant, chunk_size=chunk_size)
    with codipy.profile() as profile, tape:
        xs = register_floats(tape, [0.1 * k for k in range(11)])
        y = xs[0]
        for x in xs:
            y = y * x + 1.5 * x * xs[3]
        zs = register_floats(tape, [0.2 * k for k in range(1, 6)])
        y = tape.push_statement(2.0, [xs[1], zs[0], y], [1.0, 2.0, 3.0]) * zs[4]
        a = tape.register_input(np.linspace(0.0, 1.0, 5))
        y = tape.register_output(np.sum(np.sin(a) * y) + zs[1])
    assert unlike(profile, tape.statistics(), tape) == []
    statements = {line.source.strip().partition(" = ")[0]: line.sums.statements for line in profile.lines}
    are_statements = not (tape._identifiers and hasattr(tape._identifiers, "uses_of")) and variant[0] != "simple"
    assert [statements.get(name, 0) for name in ("xs", "zs")] == ([11, 5] if are_statements else [0, 0])
