# SPDX-License-Identifier: Apache-2.0
"""What the statistics say that a recording takes is what `tracemalloc` sees: every kind of record, every rule."""

import gc
import tracemalloc

import numpy as np
import pytest
import scipy.sparse
import scipy.special

import codipy
from codipy.active.array import Array
from codipy.errors import ActiveError
from codipy.numpy.primitive import Primitive
from codipy.numpy.registry import PRIMITIVES
from codipy.tape.records.record import Record
from tests.covering import in_turn
from tests.numpy import table
from tests.numpy.cases_rules import CASES as RULES
from tests.numpy.cases_ufuncs import CALLS, METHODS
from tests.strategies import BY_STATEMENT

pytestmark = pytest.mark.filterwarnings("ignore")

TOLERANCE = 0.05
# How often a step is recorded before, between and between again what is compared. Free lists (of Python, NumPy and
# codipy) fill up and empty at first; the longer run decides where the shorter one sees that.
RUNS = [(66, 8, 40), (150, 12, 212), (700, 20, 1020)]

big, small = np.linspace(0.5, 1.5, 3000), np.linspace(0.5, 1.5, 20)
sparse = scipy.sparse.csr_array(np.eye(20))

# What is recorded by other means than NumPy's functions, for arrays on both sides of where the pool begins.
KINDS = {
    "scalar statements": lambda x, r: np.sin(r * 2.0) * r + 1.0,
    "a scalar of many arguments": lambda x, r: sum([r * float(k) for k in range(1, 12)], r),
    "elementwise": lambda x, r: np.sin(x) * x + r,
    "elementwise on views": lambda x, r: x[1:] * x[:-1] - x[2:, None][0],
    "a plain array beside it": lambda x, r: x * small.repeat(len(x) // len(small)),
    "another plain array each time": lambda x, r: x * np.random.default_rng().random(len(x)),
    "a sum": lambda x, r: x.sum(),
    "a mean over an axis": lambda x, r: x.reshape(-1, 4).mean(axis=0),
    "a row of pieces": lambda x, r: np.concatenate((x, x[:3], [r, 2.0])),
    "an element": lambda x, r: x[3] * r,
    "elements by number": lambda x, r: x[[3, 1, 1]] * r,
    "writes of elements": lambda x, r: written(x, 2, r),
    "writes of slices": lambda x, r: written(x, slice(1, 4), x[:3]),
    "a choice": lambda x, r: np.where(x > 1.0, x, r),
    "a scan": lambda x, r: np.cumsum(x),
    "a sorted array": lambda x, r: np.sort(x),
    "a call with closures of its own": lambda x, r: sparse @ x[:20],
    "a repeated place": lambda x, r: added_at(x),
    "a function of SciPy": lambda x, r: scipy.special.jv(1.5, x),
    "an error that names its line": lambda x, r: np.linalg.svdvals(x[:12].reshape(3, 4)),
    "a new input": lambda x, r: codipy.active_tape().register_input(np.array(small)),
    "a solution": lambda x, r: np.linalg.solve(np.eye(4) + x[:16].reshape(4, 4), x[:4]),
}


def written(x, where, what):
    result = x * 1.0
    result[where] = what
    return result * result


def added_at(x):
    result = np.zeros(5, like=x)
    np.add.at(result, [1, 1, 2], x[:3])
    return result


@pytest.fixture(autouse=True)
def traced():
    """Nothing of before is looked at by the collector, which runs twice for each figure."""
    gc.collect()
    gc.freeze()
    tracemalloc.start()
    yield
    tracemalloc.stop()


def figures(tape):
    gc.collect()
    real = tracemalloc.get_traced_memory()[0]
    total = tape.statistics().total
    return real, total.allocated, total.used


def growth(step, variant, runs):
    """Bytes that one step adds to the process, and that the statistics say it does: allocated and used."""
    tape = codipy.Tape(*variant)
    tape.registers = False      # what is known of outputs is no record: see test_registered.py
    seen = []
    with tape:
        repeat = step(tape)
        for count in runs:
            for _ in range(count):
                for result in table.leaves(repeat()):
                    if type(result) in (Array, codipy.Real) and result.is_active:
                        tape.register_output(result)
                result = None
            seen.append(np.array(figures(tape)))
    short, long = np.diff(seen, axis=0)
    return (long - short) / (runs[2] - runs[1])


def demand_agreement(step, variant):
    for runs in RUNS:
        real, allocated, used = growth(step, variant, runs)
        if abs(allocated - real) <= TOLERANCE * real + 2.0:
            return
    raise AssertionError(f"a step takes {real:.1f} bytes, and the statistics say {allocated:.1f} (used {used:.1f})")


def of_text(text):
    code = compile(text, "<case>", "eval")

    def step(tape):
        active = {**table.PLAIN, **table.inputs(tape, table.names_in(text))}
        return lambda: eval(code, active)

    return step


def of_kind(kind, size):
    def step(tape):
        x, r = tape.register_input(np.linspace(0.5, 1.5, size)), tape.register_input(0.7)
        return lambda: KINDS[kind](x, r)

    return step


@pytest.mark.parametrize(("variant", "kind"), in_turn(BY_STATEMENT, KINDS, others=2))
def test_kinds_of_records(variant, kind):
    demand_agreement(of_kind(kind, 20), variant)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_records_of_large_arrays(kind):
    demand_agreement(of_kind(kind, 2000), BY_STATEMENT[0])


def records_of(step):
    tape = codipy.Tape()
    with tape, np.errstate(all="ignore"):
        step(tape)()
    return tape.records.items


def rules_of(records):
    return {x.name for record in records for x in record.held if isinstance(x, Primitive)}


def uses(name):
    """Texts that may call a rule: those of the tables, and what a method of a ufunc takes."""
    yield from RULES.get(name, ())
    yield from (text for text in (*CALLS, *METHODS) if text.startswith(f"np.{name}("))
    ufunc, _, method = name.rpartition(".")
    if method == "about":  # a mean that is given
        yield f"np.{ufunc}(p, mean=np.array(p[0]))"
    if isinstance(getattr(np, ufunc, None), np.ufunc):
        yield f"np.{name}(p{', [0, 2]' if method == 'reduceat' else ''})"


def telling(name):
    """The first of them that does, or None."""
    return next((text for text in uses(name) if name in rules_of(records_of(of_text(text)))), None)


TEXTS = {name: text for name in PRIMITIVES if (text := telling(name)) is not None}


@pytest.mark.parametrize("name", TEXTS)
def test_rules(name):
    demand_agreement(of_text(TEXTS[name]), BY_STATEMENT[0])


def test_nothing_is_left_out():
    records = [record for kind in KINDS for record in records_of(of_kind(kind, 20))]
    assert {type(record) for record in records} == set(Record.__subclasses__())
    for name in PRIMITIVES.keys() - TEXTS.keys():
        if name.startswith("fft."):  # of what is complex: another record, of pairs
            assert any(found.startswith("complex fft.") for found in rules_of(records_of(of_text(f"np.{name}(m)"))))
            continue
        with pytest.raises((ActiveError, np.linalg.LinAlgError), match="complex|square"):  # it leaves no record
            records_of(of_text(f"np.{name}(m)"))


def test_values_that_a_variable_shares_are_counted_once():
    tape = codipy.Tape("primal")
    with tape:
        x = tape.register_input(big)
        held = [x * x for _ in range(3)]
        before = tape.statistics()["array values"]
        held += [np.cumsum(y) * y for y in held]
    assert before.counts["number of arrays"] == 1
    assert before.memory.used == big.nbytes
    section = tape.statistics()["array values"]
    del held, x
    assert tape.statistics()["array values"] == section


def test_a_new_tape_has_no_objects():
    tape = codipy.Tape()
    assert "array statements" not in [section.title for section in tape.statistics().sections]
