# SPDX-License-Identifier: Apache-2.0
"""The strategy `forward`: the tangent sweep's numbers bit for bit, seeds in time, nothing kept, whatever happens."""

import copy
import gc
import itertools
import math
import threading
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

import codipy
from codipy.errors import TapeError, UndifferentiableError
from tests.active.catalogue import CASES
from tests.active.recording import assert_same_values, record, run_forward, seeds_for, value
from tests.functions import CATALOGUE
from tests.namespaces import active, outputs_of
from tests.no_memory import failing_allocations
from tests.strategies import FORWARD

pytestmark = pytest.mark.usefixtures("older_objects_stay")

WIDTHS = (1, 2, 3, 8, 32, 33)  # a Real has room for 2, 8 or 32 tangents; those of 33 lie in the tape's vector
POINTS = [(case, point) for case in CATALOGUE for point in case.points]
each_width = pytest.mark.parametrize("width", WIDTHS)
sin = codipy.math.sin


def new_tape(width=1, granularity="statement", **settings):
    return codipy.Tape("forward", granularity, width=width, **settings)


def directions(count, width, seed=0):
    """One row of tangents for each input."""
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (count, width))


@pytest.mark.parametrize("tape", [codipy.Tape(), codipy.Tape("forward"), codipy.Tape("primal-reuse")])
def test_what_has_no_tangent_says_so_to_hasattr(tape):
    with tape:
        x, a = tape.register_input(codipy.Real(2.0)), tape.register_input(codipy.Array(np.ones(2)))
        for variable in (x, a, x * x, a * 2.0):
            assert hasattr(variable, "tangent") == (tape.parameters["strategy"] == "forward")
        for passive in (codipy.Real(1.0), codipy.Array(np.ones(2))):
            assert getattr(passive, "tangent", None) is None
            with pytest.raises(TapeError, match="has no tangent"):
                passive.tangent


def swept(f, point, rows, **settings):
    """Tangents of the results, by the sweep over a recording of single operations."""
    tape = codipy.Tape("jacobian", "operation", **settings)
    with tape:
        xs = [tape.register_input(float(x)) for x in point]
        ys = [tape.register_output(y) for y in outputs_of(f(active(tape), *xs))]
    adjoints = tape.new_adjoints(rows.shape[1])
    for x, row in zip(xs, rows, strict=True):
        adjoints[x] = row if len(row) > 1 else row[0]
    tape.evaluate_forward(adjoints=adjoints)
    return np.array([adjoints[y] for y in ys]).reshape(len(ys), -1)


def forward(f, point, rows, tape):
    with tape:
        xs = [tape.register_input(float(x)) for x in point]
        for x, row in zip(xs, rows, strict=True):
            x.tangent = row if len(row) > 1 else row[0]
        ys = [tape.register_output(y) for y in outputs_of(f(active(tape), *xs))]
        found = np.array([y.tangent for y in ys]).reshape(len(ys), -1)
    tape._check()
    return found, [y.value for y in ys]


# ---- The numbers of the sweep ----


@each_width
@pytest.mark.parametrize(("case", "point"), POINTS, ids=lambda x: getattr(x, "name", None))
def test_scalars_have_the_bits_of_the_sweep(case, point, width):
    rows = directions(len(point), width)
    found, values = forward(case.f, point, rows, new_tape(width))
    expected = swept(case.f, point, rows)
    assert found.tobytes() == expected.tobytes()
    plain = codipy.Tape()
    with plain:
        known = outputs_of(case.f(active(plain), *[plain.register_input(float(x)) for x in point]))
    assert [float(codipy.value(y)) for y in known] == values or any(map(math.isnan, values))


@pytest.mark.parametrize("skip", [True, False])
def test_what_is_skipped_is_skipped_as_on_a_tape(skip):
    def f(m, x, y):
        return x * 0.0 + y, m.sqrt(x - 1.0) * y

    rows = np.array([[math.inf], [2.0]])
    settings = {"skip_zero_jacobians": skip, "skip_invalid_jacobians": skip}
    found, _ = forward(f, (1.0, 2.0), rows, new_tape(**settings))
    assert np.array_equal(found, swept(f, (1.0, 2.0), rows, **settings), equal_nan=True)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.parametrize("granularity", [g for _, g in FORWARD])
def test_arrays_have_the_bits_of_the_sweep(case, granularity):
    tangents = seeds_for(case.inputs, 7)
    recording = record(codipy.Tape("auto", granularity), case.f, case.inputs)
    expected = recording.forward(tangents)
    outputs, found = run_forward(case.f, case.inputs, tangents, granularity)
    assert_same_values([value(y) for y in outputs], [value(y) for y in recording.outputs])
    for x, y in zip(found, expected, strict=True):
        if granularity == "operation":
            assert x.tobytes() == y.tobytes()
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.parametrize("width", [3, 8, 33])
def test_directions_do_not_mix(case, width):
    wide = [np.random.default_rng(k).uniform(-1.0, 1.0, (*x.shape, width)) for k, x in enumerate(case.inputs)]
    _, found = run_forward(case.f, case.inputs, wide, width=width)
    for d in range(width):
        _, alone = run_forward(case.f, case.inputs, [x[..., d].copy() for x in wide])
        for x, y in zip(found, alone, strict=True):
            if case.name == "matmul_of_views":  # NumPy adds in another order where directions lie side by side
                np.testing.assert_allclose(x[..., d], y, rtol=1e-13)
            else:
                assert x[..., d].tobytes() == np.ascontiguousarray(y).tobytes()


def test_float32_is_rounded_as_numpy_rounds_it():
    def f(u):
        v = np.exp(u) * u
        v[1:] = v[:-1] * np.float32(3.0)
        return v, v[0] * v[1]

    u = np.linspace(0.5, 1.5, 7, dtype=np.float32)
    (v, s), (dv, ds) = run_forward(f, [u], [np.ones(7)])
    plain = f(u.copy())
    assert v.dtype == np.float32
    assert v.value.tobytes() == plain[0].tobytes()
    assert s.value == plain[1]
    assert type(s.value) is np.float32
    exact = run_forward(f, [u.astype(float)], [np.ones(7)])[1]
    np.testing.assert_allclose(dv, exact[0], rtol=1e-5)
    np.testing.assert_allclose(ds, exact[1], rtol=1e-5)


def test_slots_that_serve_again_keep_nothing_of_before():
    tape = new_tape()
    with tape:
        x = tape.register_input(np.arange(1.0, 6.0))
        x.tangent = np.full(5, 100.0)
        for _ in range(3):
            y = x * x
            del y
        still = tape.register_input(np.ones(5))
        assert not np.any(still.tangent)
        made = np.zeros(5)
        made = np.where(np.arange(5) > 2, still, codipy.Array(made))
        assert not np.any(made.tangent)
        passive = tape.register_output(3.0)
        assert passive.tangent == 0.0
        number = tape.register_input(2.0)
        assert (number * number).tangent == 0.0
    tape._check()


# ---- Seeds ----


def test_tangents_read_what_stands_there_now():
    tape = new_tape()
    with tape:
        x = tape.register_input(np.array([1.0, 2.0, 3.0]))
        x.tangent = [1.0, 10.0, 100.0]
        x[0] = 5.0
        x[1:] = x[1:] * 2.0
        assert x.tangent.tolist() == [0.0, 20.0, 200.0]
        assert x[::-1].tangent.tolist() == [200.0, 20.0, 0.0]
        assert x[2].tangent == 200.0
        y = x[1] * x[2]
    assert y.tangent == 20.0 * 6.0 + 4.0 * 200.0


@each_width
def test_seeds_broadcast_over_directions(width):
    tape = new_tape(width)
    with tape:
        x = tape.register_input(np.ones((2, 3)))
        s = tape.register_input(1.0)
        x.tangent = 2.0
        s.tangent = 3.0
        shape = (2, 3) if width == 1 else (2, 3, width)
        assert np.array_equal(x.tangent, np.full(shape, 2.0))
        assert np.array_equal(s.tangent, 3.0 if width == 1 else np.full(width, 3.0))
        x[1].tangent = np.arange(3.0)
        assert np.array_equal(x.tangent[1].reshape(3, -1)[:, 0], np.arange(3.0))
        with pytest.raises(ValueError, match="must have the shape"):
            x.tangent = np.ones((7, 7, 7))
        with pytest.raises(TypeError, match="plain real numbers"):
            s.tangent = "a"
        with pytest.raises((TypeError, TapeError)):
            s.tangent = x


READERS = {
    "an operation": lambda x: x * 2.0,
    "an array of numbers": lambda x: np.array([x, x], like=codipy.Array(np.ones(2))),
    "an element": lambda x: codipy.Array(np.ones(2)).__setitem__(0, x),
    "a copy": copy.copy,
    "an expression of arrays": lambda x: codipy.Array(np.ones(2)) * x,
    "a product that was dropped": lambda x: (x * x) and None,
}


@each_width
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_number_is_not_seeded_after_it_was_read(read, width):
    tape = new_tape(width)
    with tape:
        x, other = tape.register_input(2.0), tape.register_input(3.0)
        x.tangent = 1.0
        x.tangent = 2.0
        _kept = read(x)
        with pytest.raises(TapeError, match="before the input is used"):
            x.tangent = 1.0
        assert np.all(x.tangent == 2.0)
        if "array" not in str(read):
            assert np.all(other.tangent == 0.0)


def test_an_element_that_is_stored_keeps_its_tangent():
    tape = new_tape()
    with tape:
        x, u = tape.register_input(2.0), codipy.Array(np.ones(3))
        x.tangent = 1.0
        u[1] = x
        with pytest.raises(TapeError, match="before the input is used"):
            x.tangent = 5.0
        assert u.tangent.tolist() == [0.0, 1.0, 0.0]


ARRAY_READERS = {
    "an expression": lambda x: x * 2.0,
    "one that was computed": lambda x: np.sum(x * 2.0),
    "an element": lambda x: x[1],
    "elements": lambda x: list(x),
    "a copy": lambda x: x.copy(),
    "a gather": lambda x: x[[0, 0]],
    "a join": lambda x: np.concatenate([x, x]),
    "a primitive": lambda x: np.sort(x),
    "a product": lambda x: x @ x,
    "a write": lambda x: x.__setitem__(0, 1.0),
    "a whole write": lambda x: x.__setitem__(slice(None), x * 2.0),
    "a part of an expression": lambda x: x[:2] + 1.0,
    "a store elsewhere": lambda x: codipy.Array(np.ones(9)).__setitem__(slice(2), x[:2]),
}


@pytest.mark.parametrize("read", ARRAY_READERS.values(), ids=ARRAY_READERS)
@pytest.mark.parametrize("keeps", [True, False])
def test_an_array_is_not_seeded_after_it_was_read(read, keeps):
    tape = new_tape()
    with tape:
        x = tape.register_input(np.arange(3.0))
        x.tangent = 1.0
        kept = read(x)
        if not keeps:
            del kept
        before = x.tangent
        try:
            x.tangent = 2.0
        except TapeError as error:
            assert "before the input is used" in str(error)
            assert np.array_equal(x.tangent, before)
        else:  # nobody can tell: what was made of it is gone
            assert not keeps


def test_several_inputs_are_registered_before_any_is_seeded():
    tape = new_tape()
    with tape:
        x, s, y = tape.register_input(np.ones(3)), tape.register_input(2.0), tape.register_input(np.ones(2))
        y.tangent, s.tangent, x.tangent = 3.0, 2.0, 1.0
        z = np.sum(x) * s * np.sum(y)
        late = tape.register_input(np.ones(3))
        late.tangent = 1.0
        assert np.sum(late).tangent == 3.0
    assert z.tangent == 3.0 * 4.0 + 3.0 * 2.0 * 2.0 + 3.0 * 2.0 * 6.0


def test_only_inputs_are_seeded():
    tape = new_tape()
    with tape:
        x, u = tape.register_input(2.0), tape.register_input(np.ones(2))
        y, v = x * x, u * u
        for result in (y, tape.register_output(v), tape.register_output(y), u[0], u + 1.0 - 1.0):
            if result is not y and isinstance(result, codipy.Array):
                _ = result.tangent  # it waits no longer
            with pytest.raises(TapeError, match="no input"):
                result.tangent = 1.0
        for passive in (codipy.Real(1.0), codipy.Array(np.ones(2))):
            with pytest.raises(TapeError, match="passive|no input"):
                passive.tangent = 1.0
            with pytest.raises(TapeError, match="passive"):
                _ = passive.tangent


# ---- What there is not ----


@pytest.mark.parametrize("action", ["evaluate", "evaluate_forward", "evaluate_primal", "new_adjoints", "clear_adjoints",
                                    "delete_adjoints"])  # fmt: skip
def test_nothing_is_swept(action):
    tape = new_tape()
    with tape:
        tape.register_input(1.0)
    with pytest.raises(TapeError, match="keeps nothing"):
        getattr(tape, action)()


def test_gradients_positions_and_values_are_refused():
    tape = new_tape()
    with tape:
        x, u = tape.register_input(2.0), tape.register_input(np.ones(2))
        y, v = x * 2.0, tape.register_output(u * 2.0)
        position = tape.position()
        z = y * x
        for variable in (x, u, y, v, z):
            with pytest.raises(TapeError, match="keeps nothing"):
                _ = variable.gradient
            with pytest.raises(TapeError, match="keeps nothing"):
                variable.gradient = 1.0
            with pytest.raises(TapeError, match="keeps nothing"):
                tape.get_primal(variable)
            with pytest.raises(TapeError, match="keeps nothing"):
                tape.set_primal(variable, 1.0)
    with pytest.raises(TapeError, match="keeps nothing"):
        tape.reset(position)
    assert z.tangent == 0.0


@pytest.mark.parametrize("seed", [0.5, np.float64(0.5), np.float32(0.5), np.array(0.5), True, 2, Fraction(1, 2)])
def test_tangents_of_numbers_are_set_as_numbers(seed, monkeypatch):
    """A numpy.float64 took fourteen times as long as a float: studies set the tangent of each number so."""
    def refused(*args):
        raise AssertionError

    tape = codipy.Tape("forward")
    monkeypatch.setattr(np, "broadcast_to", refused)
    with tape:
        x = tape.register_input(3.0)
        x.tangent = seed
        assert (x * x).tangent == 6.0 * seed


def test_other_tapes_have_no_tangents():
    tape = codipy.Tape()
    with tape:
        x, u = tape.register_input(2.0), tape.register_input(np.ones(2))
        for variable in (x, u):
            with pytest.raises(TapeError, match="strategy='forward'"):
                _ = variable.tangent
            with pytest.raises(TapeError, match="strategy='forward'"):
                variable.tangent = 1.0
    with pytest.raises(ValueError, match="strategy='forward'"):
        codipy.Tape(width=2)
    for wrong, error in ((0, ValueError), (True, TypeError), (1.5, TypeError), (1 << 21, ValueError)):
        with pytest.raises(error, match="width"):
            new_tape(wrong)


def test_a_reset_makes_variables_stale():
    tape = new_tape()
    with tape:
        x, u = tape.register_input(2.0), tape.register_input(np.ones(3))
        y = x * 2.0
        tape.reset()
        for stale in (x, u, y):
            with pytest.raises(TapeError, match="reset"):
                _ = stale.tangent
            with pytest.raises(TapeError):
                stale * 2.0
        x = tape.register_input(3.0)
        x.tangent = 1.0
        assert (x * x).tangent == 6.0
    tape.reset_hard()
    tape._check()
    assert tape.statistics().total.allocated < 1 << 16
    with tape:
        x = tape.register_input(3.0)
        x.tangent = 1.0
        assert (x * x).tangent == 6.0


def test_tangents_outlive_the_recording():
    tape = new_tape()
    with tape:
        x, u = tape.register_input(2.0), tape.register_input(np.ones(3))
        x.tangent, u.tangent = 1.0, [1.0, 2.0, 3.0]
        y, v = sin(x) * 2.0, tape.register_output(u * x)
        waits = u * 3.0
    assert y.tangent == 2.0 * math.cos(2.0)
    assert v.tangent.tolist() == [3.0, 5.0, 7.0]
    with pytest.raises(TapeError, match="register_output"):
        _ = waits.tangent
    with tape:  # resumed
        assert (y * x).tangent == y.tangent * 2.0 + y.value


# ---- What is kept ----


@pytest.mark.parametrize("width", [1, 8, 40])
def test_memory_is_flat_in_the_number_of_steps(width):
    tape = new_tape(width)

    def run(steps):
        with tape:
            x, u = tape.register_input(0.3), tape.register_input(np.linspace(0.1, 0.9, 200))
            x.tangent, u.tangent = 1.0, 1.0
            for k in range(steps):
                x = sin(x * 1.01) + u[k % 200] * 1e-3
                u = u + np.sin(u) * 0.01 + np.linspace(0.0, 1e-3, 200)
                u[1:-1] = (u[2:] + u[:-2]) * 0.5
                u[k % 7] = x
                u = np.concatenate([u[100:], np.sort(u[:100])])
                v = tape.register_input(float(k))
                v.tangent = 1.0
            tape._check()
        allocated = tape.statistics().total.allocated
        tape.reset()
        return allocated

    run(20)
    gc.collect()
    tracemalloc.start()
    try:
        run(200)      # what Python keeps for its next objects is not the steps'
        before = tracemalloc.get_traced_memory()[0]
        short = run(20)
        tracemalloc.reset_peak()
        long = run(600)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert long == short
    assert after - before < 20_000
    assert peak - before < 200_000 * width


def test_statements_and_bytes_are_none():
    tape = new_tape()
    with tape:
        x = tape.register_input(np.ones(5))
        _ = tape.register_output(np.sum(x * x))
    assert tape.statements == 0
    assert "forward" in repr(tape)
    assert tape.parameters["width"] == 1


# ---- Whatever happens ----


def test_nested_drivers():
    def f(x):
        inner = codipy.grad(lambda y: y * y * x)(x)          # 2 x^2
        return inner + codipy.jvp(lambda z: z * x, (x,), (1.0,))[1]     # + x

    tape = new_tape()
    with tape:
        x = tape.register_input(3.0)
        x.tangent = 1.0
        y = f(x)
        assert (y.value, y.tangent) == (21.0, 13.0)
        u = tape.register_input(np.array([1.0, 2.0]))
        u.tangent = [1.0, 0.0]
        g = codipy.grad(lambda v: np.sum(v * v * v))(u)
        np.testing.assert_allclose(g.tangent, [6.0, 0.0], rtol=1e-14)
        assert u.tangent.tolist() == [1.0, 0.0]
    tape._check()


def test_one_inside_of_another():
    outer, inner = new_tape(), new_tape(2)
    with outer:
        x = outer.register_input(3.0)
        x.tangent = 1.0
        with inner:
            y = inner.register_input(2.0)
            y.tangent = [1.0, 2.0]
            z = y * y
            with pytest.raises(TapeError):
                x * y
        assert z.tangent.tolist() == [4.0, 8.0]
        assert (x * x).tangent == 6.0


def test_an_exception_leaves_the_tape_usable():
    tape = new_tape()

    def fails(x):
        y = x * x
        raise ArithmeticError(y)

    with pytest.raises(ArithmeticError), tape:
        fails(tape.register_input(np.ones(3)))
    assert not tape.is_active
    gc.collect()
    tape._check()
    tape.reset()
    with tape:
        x = tape.register_input(np.ones(3))
        x.tangent = 1.0
        assert np.sum(x * x).tangent == 6.0


def test_a_primitive_without_a_rule_for_tangents_is_refused():
    double = codipy.primitive(lambda x: 2.0 * x)
    tape = new_tape()
    with tape:
        x = tape.register_input(np.ones(3))
        with pytest.raises(UndifferentiableError, match="rule"):
            double(x)
        x2 = x * 2.0
        assert x2.tangent.tolist() == [0.0, 0.0, 0.0]
    tape._check()


def test_threads():
    found = {}

    def run(k):
        tape = new_tape(3)
        with tape:
            x, u = tape.register_input(0.1 * k), tape.register_input(np.full(50, 0.1 * k))
            x.tangent, u.tangent = [1.0, 2.0, 3.0], 1.0
            for _ in range(200):
                x = sin(x) + u[3] * 0.01
                u = np.sin(u) * 1.01
            found[k] = [*x.tangent, *u.tangent[7]]

    threads = [threading.Thread(target=run, args=(k % 4,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    at_once = dict(found)
    found.clear()
    for k in range(4):
        run(k)
    assert found == at_once


def test_no_memory_for_tangents():
    tape = new_tape(1 << 20)
    with tape:
        x = tape.register_input(2.0)
        x.tangent = 1.0
        with pytest.raises(MemoryError):
            tape.register_input(np.ones(1_000_000))
        assert (x * x).tangent[-1] == 4.0
    tape._check()


@pytest.mark.parametrize("width", [1, 8, 40])
def test_each_allocation_fails_once(width):
    allocations = failing_allocations()

    def f(x, u):
        y = sin(x) * x + u[1]
        v = u * u + y
        v[0] = y
        w = [y * k for k in (1.0, 2.0, 3.0)]
        return np.sum(v) + w[0] * w[1] * w[2]

    def run(tape):
        with tape:
            x, u = tape.register_input(0.5), tape.register_input(np.array([1.0, 2.0, 3.0]))
            x.tangent, u.tangent = 1.0, 2.0
            return np.array(f(x, u).tangent)

    expected = run(new_tape(width))
    failed = 0
    for n in itertools.count(0, 1):
        tape = new_tape(width)
        allocations.fail(n)
        try:
            found = run(tape)
        except (MemoryError, SystemError):
            allocations.restore()
            failed += 1
            while tape.is_active:
                tape.set_passive()
            tape._check()
            tape.reset()
            found = run(tape)
        else:
            allocations.restore()
            if failed and n > 400:
                break
        assert found.tobytes() == expected.tobytes()
    assert failed
