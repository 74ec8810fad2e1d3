# SPDX-License-Identifier: Apache-2.0
"""Each allocation of array operations fails once: nothing leaks, and values and derivatives stay together."""

import gc
import itertools
import threading
import tracemalloc

import numpy as np
import pytest

import codipy
from tests.no_memory import failing_allocations
from tests.strategies import each_pair, new_tape

pytestmark = pytest.mark.usefixtures("older_objects_stay")

allocations = failing_allocations()

FAILURES = MemoryError, SystemError  # the second is what some functions of NumPy make of it
ROWS = np.array([2, 0, 2])
MASK = np.array([True, False, True, True])
START = np.array([[0.5, 1.5, 2.5], [1.0, 2.0, 3.0], [0.25, 0.75, 1.25], [4.0, 5.0, 6.0]])
MANY = np.arange(40) % 7  # of a vector: more places than runs


# What makes a result of x and y, two active arrays of four rows.
READS = {
    "rows": lambda x, y: x[ROWS],
    "a vector's elements": lambda x, y: x[:, 1].copy()[MANY % 4],
    "contiguous elements": lambda x, y: x.reshape(-1)[np.arange(3, 9)],
    "a mask": lambda x, y: x[MASK],
    "an element": lambda x, y: x[1, 2] * y,
    "a part": lambda x, y: x[:, ::2] * 2.0,
    "pieces": lambda x, y: np.concatenate((x, y[:1], x * y)),
    "a stack": lambda x, y: np.stack((x[0], y[1], x[2] * 2.0)),
    "numbers": lambda x, y: np.array([[x[0, 0], 1.0], [y[1, 1], x[2, 2]]], like=x),
    "a choice": lambda x, y: np.where(MASK[:, None], x, y),
    "a sum": lambda x, y: (x * y).sum(axis=0),
    "a product of matrices": lambda x, y: x.T @ y,
    "a sorted array": lambda x, y: np.sort(x * y, axis=1),
    "an expression": lambda x, y: np.sin(x) * y + x / y,
}


def written(where, what):
    def write(w, x, y):
        w[where] = what(x, y)

    return write


# What writes into w, which has the shape of x and y.
WRITES = {
    "everything": written(..., lambda x, y: x * y),
    "everything, a number": written(..., lambda x, y: 2.0),
    "a row": written(1, lambda x, y: x[0] * y[2]),
    "a row, a number": written(2, lambda x, y: 7.0),
    "columns": written((slice(None), slice(0, 2)), lambda x, y: y[:, 1:] * x[:, :2]),
    "most": written(slice(1, None), lambda x, y: x[1:] * y[:3]),
    "an element": written((1, 1), lambda x, y: x[0, 0] * y[0, 0]),
    "rows by number": written([3, 0], lambda x, y: x[:2] * y[1:3]),
    "a mask": written(np.array([[False, True, False]] * 4), lambda x, y: x[:, 0] * 2.0),
    "itself": lambda w, x, y: w.__imul__(x),
    "a part of itself": lambda w, x, y: w[1:].__iadd__(w[:-1] * y[1:]),
}


def attempts(action):
    """Run an action with its n-th allocation failing, for n = 0, 1, ... until none fails: how many did."""
    for n in itertools.count():
        failed = False
        allocations.fail(n)
        try:
            action()
        except FAILURES:
            failed = True
        finally:
            allocations.restore()
        yield failed
        if not failed:
            return


def inputs(tape):
    return tape.register_input(START), tape.register_input(np.cos(START))


def gradients(tape, result, x, y):
    weights = np.linspace(1.0, 2.0, np.size(codipy.value(result))).reshape(np.shape(codipy.value(result)))
    loss = tape.register_output(np.sum(result * weights))
    tape.clear_adjoints()
    loss.gradient = 1.0
    tape.evaluate()
    return x.gradient, y.gradient


def test_other_threads_have_memory():
    """The one that receives messages of a test runner, among others."""
    begin, found = threading.Event(), []

    def allocate():
        begin.wait()
        try:
            found.append(len([bytearray(100) for _ in range(5000)]))
        except MemoryError:
            found.append(None)

    thread = threading.Thread(target=allocate)
    thread.start()
    kept, failed = [], False
    allocations.fail(2000)
    try:
        begin.set()
        thread.join()
        for _ in range(5000):
            kept.append(bytearray(100))
    except MemoryError:
        failed = True
    finally:
        allocations.restore()
    assert found == [5000] and failed and len(kept) <= 2000


@each_pair()
@pytest.mark.parametrize("name", READS)
def test_reads(name, variant):
    plain = READS[name](START, np.cos(START))
    tape, fresh = new_tape(variant), new_tape(variant)
    with fresh:
        x, y = inputs(fresh)
        right = gradients(fresh, READS[name](x, y), x, y)
    with tape:
        x, y = inputs(tape)
        kept = []
        for failed in attempts(lambda: kept.append(READS[name](x, y))):
            tape._check()
            assert np.array_equal(x.value, START)
            if failed:
                kept.clear()
        assert np.array_equal(kept[0].value, plain)
        found = gradients(tape, kept[0], x, y)
    for a, b in zip(found, right, strict=True):
        assert np.array_equal(a, b)


@each_pair()
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", WRITES)
def test_writes(name, shared, variant):
    """A write that failed has changed neither values nor derivatives, or both."""

    def gradients_of(tape, w, x, y, shown):
        found = gradients(tape, w, x, y)
        return found + (gradients(tape, shown, x, y) if shown is not None else ())

    for n in itertools.count():
        tape, fresh = new_tape(variant), new_tape(variant)
        failed = False
        with tape:
            x, y = inputs(tape)
            w = x * y + 0.5
            shown = w * w if shared else None
            repr(w), repr(shown)
            before = w.value.copy()
            allocations.fail(n)
            try:
                WRITES[name](w, x, y)
            except FAILURES:
                failed = True
            finally:
                allocations.restore()
            tape._check()
            changed = not np.array_equal(w.value, before)
            found = gradients_of(tape, w, x, y, shown)
            values = w.value
        with fresh:
            x, y = inputs(fresh)
            w = x * y + 0.5
            shown = w * w if shared else None
            repr(w), repr(shown)
            if changed:
                WRITES[name](w, x, y)
            assert np.array_equal(w.value, values), (n, "values")
            right = gradients_of(fresh, w, x, y, shown)
        for a, b in zip(found, right, strict=True):
            assert np.array_equal(a, b), (n, failed, changed)
        if not failed:
            return


def test_nothing_leaks():
    """A hundred failures at each place leave less than one's identifiers or values: Python loses 64 bytes at some."""
    tape = codipy.Tape("primal-reuse")
    big = np.linspace(0.5, 1.5, 3000).reshape(1000, 3)
    rows, places, mask = np.arange(999, -1, -3), np.arange(2999, -1, -2), big > 1.0
    with tape:
        x = tape.register_input(big)
        flat = x.reshape(-1)
        y = x * x
        repr(y)
        place = tape.position()
        reads = [lambda: x[rows], lambda: flat[places], lambda: flat[::-3] * 2.0, lambda: np.concatenate((x, y * y)),
                 lambda: np.where(mask, x, y), lambda: np.stack((flat, flat)), lambda: np.sin(x)]  # fmt: skip
        for read in reads:
            read()
            grown = []
            for n in itertools.count():
                failed = 0
                tracemalloc.start()
                for k in range(110):
                    if k == 10:
                        gc.collect()
                        begin = tracemalloc.get_traced_memory()[0]
                    allocations.fail(n)
                    try:
                        read()
                    except FAILURES:
                        failed += 1
                    finally:
                        allocations.restore()
                    tape.reset(place)
                gc.collect()
                grown.append(tracemalloc.get_traced_memory()[0] - begin)
                tracemalloc.stop()
                if not failed:
                    break
            assert max(grown) < 100 * 64 + 2000, grown
